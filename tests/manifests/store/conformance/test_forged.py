"""No store reads or writes outside of its root, whatever it is asked for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from colonnade.manifests.errors import CorruptionError, InvalidInputError
from colonnade.manifests.store import ObjectStore
from tests.manifests.store.conformance.stores import names

FORGED = [
    "",
    "/",
    "/etc/passwd",
    "..",
    "../x",
    "a/../b",
    "a/./b",
    "a//b",
    "a/",
    ".hidden",
    "a/.tmp-0123456789abcdef-b",
    "a\\b",
    "a b",
    "a\n",
    "a\0",
    "a*",
    "ä",
    "-a",
    "x" * 201,
    "/".join("a" * 9),
    "s3://bucket/a",
]


CALLS: dict[str, Callable[[ObjectStore, str], object]] = {
    "get": lambda store, name: store.get(name),
    "get_range": lambda store, name: store.get_range(name, 0, 1),
    "get_ranges": lambda store, name: store.get_ranges(name, []),
    "put_if_absent": lambda store, name: store.put_if_absent(name, b"x"),
    "put": lambda store, name: store.put(name, b"x", sync=False),
    "create": lambda store, name: store.create(name, sync=False),
    "delete": lambda store, name: store.delete(name),
    "read_many": lambda store, name: store.read_many(["a", name]),
    "remove_many": lambda store, name: store.remove_many(["a", name]),
    "remove_folder": lambda store, name: store.remove_folder(name),
}


def test_a_forged_range_takes_no_memory_and_no_byte_from_elsewhere(store: ObjectStore) -> None:
    store.put_if_absent("a", b"12345")
    with pytest.raises(CorruptionError):
        store.get_range("a", 0, 1 << 50)
    for offset, length in ((-1, 1), (0, -1), (4, -2)):
        with pytest.raises(InvalidInputError):
            store.get_range("a", offset, length)


def refuses(store: ObjectStore, call: str, name: str) -> bool:
    try:
        CALLS[call](store, name)
    except InvalidInputError:
        return True
    return False


@pytest.mark.parametrize("call", CALLS)
def test_a_forged_name_is_refused_by_every_call(store: ObjectStore, call: str) -> None:
    assert [name for name in FORGED if not refuses(store, call, name)] == []
    assert names(store) == []


@pytest.mark.parametrize("prefix", ["/", "../", "a//", ".tmp-"])
def test_a_forged_prefix_is_refused_before_the_first_item(store: ObjectStore, prefix: str) -> None:
    with pytest.raises(InvalidInputError):
        store.list(prefix)
