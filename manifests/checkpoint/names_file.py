"""A file of names that vacuums read once, because what names them never changes.

Names that were true once stay true. A file of them may be lost, stale or damaged: a vacuum then
reads again what names the objects.
Spec: docs/spec/checkpoint.md#segment-names
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import accumulate, chain
from typing import TypeVar, cast

import numpy as np

from colonnade.manifests.arrays.entry_block import object_ids
from colonnade.manifests.arrays.json_arrays import (
    decode_integers,
    decode_objects,
    encode_integers,
    encode_objects,
)
from colonnade.manifests.errors import (
    CorruptionError,
    NotFoundError,
    UnsupportedFormatError,
)
from colonnade.manifests.model.map_ref import IntegerArray
from colonnade.manifests.store.object_store import ObjectStore

SIZE_LIMIT = 2**28
"""The most bytes of a file. Where names would take more, a vacuum reads all that names objects."""

T = TypeVar("T")


def read_file(store: ObjectStore, name: str, decode: Callable[[bytes, str], T]) -> T | None:
    """Return what a file says, or None if it is missing, damaged or of another version.

    Costs a GET. Raises StoreError.
    """
    try:
        return decode(store.get(name, limit=SIZE_LIMIT), store.locate(name))
    except (NotFoundError, CorruptionError, UnsupportedFormatError):
        return None


def write_file(store: ObjectStore, name: str, data: bytes) -> None:
    """Replace a file, unless it would take more than `SIZE_LIMIT`. Without bytes, remove it.

    Costs a PUT or a DELETE. Raises StoreError; NotFoundError if the log was dropped.
    """
    if data and len(data) <= SIZE_LIMIT:
        store.put(name, data, sync=False)
    else:
        store.delete(name)


def encode_ids(ids: Iterable[str]) -> str:
    """Write object ids."""
    return encode_objects(np.frombuffer(bytes.fromhex("".join(ids)), np.uint8))


def encode_lists(lists: Sequence[Collection[str]]) -> tuple[IntegerArray, str]:
    """Write lists of object ids: how many are in each, and all of them. Requires: a list."""
    counts = np.array([len(each) for each in lists], np.int64)
    return encode_integers(counts), encode_ids(chain.from_iterable(lists))


def decode_lists(counts: IntegerArray, ids: str, lists: int, name: str) -> list[tuple[str, ...]]:
    """Read lists of object ids of the object `name`. Raises CorruptionError."""
    lengths = cast(list[int], decode_integers(counts, lists, name).tolist())
    if min(lengths, default=0) < 0:
        raise CorruptionError(f"{name} is malformed: a count is negative.")
    found = object_ids(decode_objects(ids, sum(lengths), name))
    ends = accumulate(lengths)
    return [tuple(found[end - length : end]) for length, end in zip(lengths, ends, strict=True)]
