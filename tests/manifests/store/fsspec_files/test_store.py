"""Every protocol of fsspec reads like any store, and none writes that is not known to be safe."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from colonnade.manifests.clock import now_ms
from colonnade.manifests.errors import CorruptionError, InvalidInputError, NotFoundError, StoreError
from colonnade.manifests.store import LocalStore, ObjectStore
from colonnade.manifests.store.fsspec_files import FsspecStore
from tests.faults import FaultyStore

OBJECTS = {"_manifest/checkpoint/h.json": b"{}", "t/a.rowset": b"0123456789"}
URLS = ["memory://db", "memory://db/", "simplecache::memory://db", "filecache::file://{}"]
WRITES: list[Callable[[ObjectStore], object]] = [
    lambda store: store.put_if_absent("t/a.rowset", b"x"),
    lambda store: store.put("t/a.rowset", b"x", sync=True),
    lambda store: store.create("t/new", sync=True),
    lambda store: store.delete("t/a.rowset"),
    lambda store: store.remove_folder("t"),
]


@pytest.fixture(params=URLS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ObjectStore]:
    files = fsspec.filesystem("memory")
    local = LocalStore(tmp_path)
    for name, data in OBJECTS.items():
        files.pipe_file(f"/db/{name}", data)
        local.put(name, data, sync=False)
    yield FsspecStore(request.param.format(tmp_path))
    files.store.clear()
    files.pseudo_dirs[:] = [""]


def test_objects_are_read_whole_and_in_ranges(store: ObjectStore) -> None:
    for name, data in OBJECTS.items():
        assert store.get(name) == data
        assert store.get(name, limit=len(data)) == data
    assert list(store.get_ranges("t/a.rowset", [(8, 2), (3, 0), (0, 3)])) == [b"89", b"", b"012"]
    assert store.get_range("t/a.rowset", 0, 10) == b"0123456789"


def test_an_object_says_when_it_was_written(store: ObjectStore) -> None:
    written = store.modified_ms("t/a.rowset")
    assert written is None or abs(written - now_ms()) < 3_600_000
    assert written is not None or "cache" in store.url
    with pytest.raises(NotFoundError, match="t/none does not exist"):
        store.modified_ms("t/none")
    assert store.date_of_write("t/a.rowset") is None


def test_an_object_that_is_absent_too_large_or_truncated_is_named(store: ObjectStore) -> None:
    with pytest.raises(NotFoundError, match="t/none does not exist"):
        store.get("t/none")
    with pytest.raises(NotFoundError, match="t/none does not exist"):
        store.get_range("t/none", 0, 1)
    with pytest.raises(CorruptionError, match=r"t/a\.rowset"):
        store.get("t/a.rowset", limit=9)
    for offset, length in ((9, 2), (0, 11), (50, 1)):
        with pytest.raises(CorruptionError, match=r"t/a\.rowset is truncated"):
            store.get_range("t/a.rowset", offset, length)


def test_a_listing_names_objects_relative_to_the_root(store: ObjectStore) -> None:
    found = {info.name: info.size for info in store.list("")}
    assert found == {name: len(data) for name, data in OBJECTS.items()}
    assert [info.name for info in store.list("t/a")] == ["t/a.rowset"]
    assert list(store.list("none/")) == []


@pytest.mark.parametrize("write", WRITES)
def test_every_write_is_refused_with_the_reason(
    store: ObjectStore, write: Callable[[ObjectStore], object]
) -> None:
    assert store.read_only
    for one in (store, FaultyStore(store)):
        with pytest.raises(InvalidInputError, match="read-only"):
            one.require_writable()
    with pytest.raises(InvalidInputError, match=r"read-only: .*put-if-absent, and fsspec\.\w+ is"):
        write(store)
    assert store.get("t/a.rowset") == OBJECTS["t/a.rowset"]


@pytest.mark.parametrize("name", ["../a", "/a", "", "a//b", ".a", "s3://b/a"])
def test_a_forged_name_is_refused(store: ObjectStore, name: str) -> None:
    for call in (
        lambda: store.get(name),
        lambda: store.get_range(name, 0, 1),
        lambda: store.put_if_absent(name, b"x"),
        lambda: store.delete(name),
    ):
        with pytest.raises(InvalidInputError, match="not an object name"):
            call()


def test_a_store_survives_the_way_to_an_executor(store: ObjectStore) -> None:
    assert pickle.loads(pickle.dumps(store)).get("t/a.rowset") == OBJECTS["t/a.rowset"]


class StrangeFiles(MemoryFileSystem):  # type: ignore[misc]
    """A protocol that takes one option only, and fails in its own way."""

    protocol = "strange"

    def __init__(self, token: str = "") -> None:
        super().__init__()

    def cat_file(self, path: str, *args: Any, **kwargs: Any) -> bytes:
        raise LookupError("GET https://host/a?signature=canary failed")


def test_a_foreign_error_is_translated_and_gives_no_secret_away() -> None:
    fsspec.register_implementation("strange", StrangeFiles, clobber=True)
    store = FsspecStore("strange://user:canary@db", {"token": "canary"})
    said = r"strange://db/a could not be read: the file system has failed \(LookupError\)"
    with pytest.raises(StoreError, match=said) as e:
        store.get("a")
    assert isinstance(e.value.__cause__, LookupError)
    assert "canary" not in f"{e.value} {store!r} {store.url}"
    with pytest.raises(InvalidInputError, match="'wrong'") as refused:
        FsspecStore("strange://user:canary@db", {"wrong": "canary"})
    assert "canary" not in str(refused.value)
