"""A file of names is what was written, or it is as if there were no file."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from colonnade.manifests.checkpoint.epoch_names import (
    EpochNames,
    read_epoch_names,
    write_epoch_names,
)
from colonnade.manifests.checkpoint.names_file import decode_lists, encode_lists
from colonnade.manifests.checkpoint.segment_names import NOTHING_KNOWN, read_names, write_names
from colonnade.manifests.errors import CorruptionError, NotFoundError
from colonnade.manifests.object_names import EPOCH_NAMES, SEGMENT_NAMES
from colonnade.manifests.store import MemoryStore, ObjectStore
from tests.log_samples import database


class Kind(NamedTuple):
    """One of the files: its name, how it is read and written, and what it may say."""

    name: str
    read: Callable[[ObjectStore], Any]
    write: Callable[[ObjectStore, Any], None]
    nothing: Any
    some: Any


KINDS = (
    Kind(SEGMENT_NAMES, read_names, write_names, NOTHING_KNOWN, {"1" * 32: frozenset({"2" * 32})}),
    Kind(
        EPOCH_NAMES,
        read_epoch_names,
        write_epoch_names,
        None,
        EpochNames(7, "a" * 32, (("1" * 32, "2" * 32), (), ("3" * 32,))),
    ),
)
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def begun() -> MemoryStore:
    store = MemoryStore()
    database(store)
    return store


def names(store: ObjectStore) -> set[str]:
    return {info.name for info in store.list("")}


@pytest.mark.parametrize("seed", range(20))
def test_lists_are_read_as_they_were_written(seed: int) -> None:
    order = random.Random(seed)
    lists = [
        tuple(order.randbytes(16).hex() for _ in range(order.choice((0, 1, 9))))
        for _ in range(order.randrange(1, 9))
    ]
    counts, ids = encode_lists(lists)
    assert decode_lists(counts, ids, len(lists), "a file") == lists
    with pytest.raises(CorruptionError, match="a file is malformed"):
        decode_lists(counts, ids[:-4] if ids else "AAAA", len(lists), "a file")


@each_kind
@pytest.mark.parametrize("seed", range(30))
def test_a_file_that_was_cut_or_flipped_says_nothing(kind: Kind, seed: int) -> None:
    order, store = random.Random(seed), begun()
    kind.write(store, kind.some)
    data = bytearray(store.get(kind.name))
    assert kind.read(store) == kind.some
    at = order.randrange(1, len(data))
    if seed % 2:
        data[at] ^= 1 << order.randrange(8)
    else:
        del data[at:]
    store.put(kind.name, bytes(data), sync=True)
    assert kind.read(store) == kind.nothing


@each_kind
def test_without_names_there_is_no_file_and_none_without_a_log(kind: Kind) -> None:
    with pytest.raises(NotFoundError):
        kind.write(MemoryStore(), kind.some)
    store = begun()
    assert kind.read(store) == kind.nothing
    kind.write(store, kind.some)
    kind.write(store, kind.nothing)
    assert kind.name not in names(store)


@each_kind
def test_names_that_would_be_too_many_are_neither_stored_nor_read(
    kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = begun()
    kind.write(store, kind.some)
    monkeypatch.setattr("colonnade.manifests.checkpoint.names_file.SIZE_LIMIT", 100)
    assert kind.read(store) == kind.nothing
    kind.write(store, kind.some)
    assert kind.name not in names(store)
