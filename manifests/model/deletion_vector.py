"""Deletion vectors: which rows of one RowSet are deleted.

The bytes are a bare Roaring bitmap of row numbers in the portable format. The log has their length
and checksum, and stores small vectors itself.
Spec: docs/spec/deletion-vector.md
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests import object_names
from colonnade.manifests.errors import CorruptionError, InvalidInputError, NotFoundError
from colonnade.manifests.ids import ObjectId, new_object_id
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.model.codec import byte_check, verify
from colonnade.manifests.model.entries import DeletionVectorEntry
from colonnade.manifests.store.checks import missing_object
from colonnade.manifests.store.object_store import ObjectStore

SIZE_LIMIT = 2**30
"""The most bytes of a vector; 2**32 rows take half as many."""


@dataclass(frozen=True, slots=True)
class DeletionVector:
    """The deleted row numbers of one RowSet. A value: it is replaced, never changed."""

    rows: FrozenBitMap

    @classmethod
    def of(cls, rows: Iterable[int]) -> DeletionVector:
        """Return the vector of these row numbers, each 0 or more and below 2**32."""
        return cls(FrozenBitMap(rows))

    @property
    def cardinality(self) -> int:
        """The number of deleted rows."""
        return len(self.rows)

    def keep_mask(self, first_row: int, count: int) -> NDArray[np.bool_]:
        """Return a mask of `count` rows from `first_row` on: True for a live row."""
        mask = np.ones(count, dtype=np.bool_)
        if self.count_between(first_row, count):
            mask[self.numbers_between(first_row, count)] = False
        return mask

    def count_between(self, first_row: int, count: int) -> int:
        """Return how many of `count` rows from `first_row` on are deleted."""
        return int(self.rows.range_cardinality(first_row, first_row + count))

    def numbers_between(self, first_row: int, count: int) -> NDArray[np.int64]:
        """Return the deleted ones of `count` rows, which are numbered from `first_row` on."""
        deleted = self.rows & BitMap(range(first_row, first_row + count))
        return np.asarray(deleted.to_array(), dtype=np.int64) - first_row


def encode_deletion_vector(vector: DeletionVector) -> bytes:
    """Write a vector in the portable Roaring format, with run containers where they are shorter."""
    bitmap = BitMap(vector.rows)
    bitmap.run_optimize()
    return bytes(bitmap.serialize())


def decode_deletion_vector(
    data: bytes, entry: DeletionVectorEntry, row_count: int, name: str
) -> DeletionVector:
    """Read the vector of a RowSet with `row_count` rows.

    Raises CorruptionError, which names `name`, if length, checksum or cardinality differ from the
    log, or if a row number is not below `row_count`.
    """
    verify(data, entry.check, name)
    try:
        rows = FrozenBitMap.deserialize(data)
    except (ValueError, IndexError, MemoryError) as error:
        raise CorruptionError(f"{name} is not a Roaring bitmap.") from error
    if len(rows) != entry.cardinality:
        raise CorruptionError(
            f"{name} deletes {len(rows)} rows where the log says {entry.cardinality}."
        )
    if rows.max() >= row_count:
        raise CorruptionError(
            f"{name} deletes row {rows.max()} of a RowSet that has {row_count} rows."
        )
    return DeletionVector(rows)


def write_deletion_vector(
    store: ObjectStore,
    prefix: str,
    job_id: str,
    vector: DeletionVector,
    predecessor: ObjectId | None = None,
    *,
    sync: bool = True,
    room: int | None = None,
    inline_bytes: int = LIMITS.inline_bytes,
) -> DeletionVectorEntry:
    """Store a vector, and return its entry for the log.

    The entry itself holds a vector of at most `inline_bytes` whose text in the entry takes at most
    `room`. A larger vector becomes an object. Objects are durable if `sync`.

    Raises InvalidInputError for a vector without deleted rows; StoreError.
    """
    held = _held(new_object_id(job_id), vector, predecessor)
    fits = room is None or len(held.data or "") <= room
    if held.check.length <= inline_bytes and fits:
        return held
    with store.create(object_names.deletion_vector_name(prefix, held.object), sync=sync) as writer:
        writer.write(encode_deletion_vector(vector))
    return held.model_copy(update={"data": None})


def hold_deletion_vector(
    job_id: str, vector: DeletionVector, predecessor: ObjectId | None = None
) -> DeletionVectorEntry:
    """Return an entry that holds the vector itself, however large, for states that are not stored.

    Its name follows from its rows, so a state that is made again names the same vectors.
    Raises InvalidInputError for a vector without deleted rows.
    """
    rows = hashlib.sha256(encode_deletion_vector(vector)).hexdigest()
    return _held(ObjectId(job_id + rows[:16]), vector, predecessor)


def _held(
    name: ObjectId, vector: DeletionVector, predecessor: ObjectId | None
) -> DeletionVectorEntry:
    if not vector.cardinality:
        raise InvalidInputError("A deletion vector must delete at least one row.")
    data = encode_deletion_vector(vector)
    return DeletionVectorEntry(
        object=name,
        cardinality=vector.cardinality,
        check=byte_check(data),
        predecessor=predecessor,
        data=base64.b64encode(data).decode("ascii"),
    )


def read_deletion_vector(
    store: ObjectStore, prefix: str, entry: DeletionVectorEntry, row_count: int
) -> DeletionVector:
    """Read and verify the vector of a RowSet with `row_count` rows.

    Raises CorruptionError as `decode_deletion_vector`, and if the object is missing; StoreError.
    """
    if entry.data is not None:
        name = f"Deletion vector {entry.object} in the log of {store.url}"
        try:
            data = base64.b64decode(entry.data, validate=True)
        except (ValueError, binascii.Error) as error:
            raise CorruptionError(f"{name} is not base64.") from error
        return decode_deletion_vector(data, entry, row_count, name)
    name = object_names.deletion_vector_name(prefix, entry.object)
    location = store.locate(name)
    if entry.check.length > SIZE_LIMIT:
        raise CorruptionError(f"{location} cannot have {entry.check.length} bytes.")
    try:
        data = store.get(name, limit=entry.check.length)
    except NotFoundError as error:
        raise missing_object(location, entry.object) from error
    try:
        return decode_deletion_vector(data, entry, row_count, location)
    except CorruptionError:
        store.forget(name)
        raise
