"""Stores the deletion vectors of one change, whose slot may be lost to others again and again.

Spec: docs/spec/epoch-log.md#writer-requirements
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pyroaring import FrozenBitMap

from colonnade.manifests.ids import ObjectId, new_job_id
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.model.deletion_vector import (
    DeletionVector,
    hold_deletion_vector,
    write_deletion_vector,
)
from colonnade.manifests.model.entries import DeletionVectorEntry
from colonnade.manifests.store.base import ObjectStore

ENTRY_BYTES = 256
"""About what a vector takes in an epoch beside its data."""


class VectorWriter:
    """Writes each vector once: the one that a slot was lost with serves for the next, too.

    `prefixes` are those of the tables, by id; without a `job` each object gets one. Vectors, with
    all else that an epoch says, take at most three quarters of it. A writer that does not store
    keeps every vector in its entry, for a state that is looked at and never written. Not for use
    by several threads at once.
    """

    def __init__(
        self,
        store: ObjectStore,
        prefixes: Mapping[str, str],
        job: str | None,
        limits: Limits = LIMITS,
        *,
        stored: bool = True,
    ) -> None:
        self._stored = stored
        self._store = store
        self._prefixes = prefixes
        self._job = job
        self._inline_bytes = limits.inline_bytes
        self._all_room = self._room = limits.epoch_bytes * 3 // 4
        self._written: dict[
            tuple[str, int | str, str | None], tuple[FrozenBitMap, DeletionVectorEntry]
        ] = {}

    def begin(self, taken: int, vectors: int) -> None:
        """Begin an epoch with so many bytes of other operations, and so many vectors."""
        self._room = self._all_room - taken - vectors * ENTRY_BYTES

    def forget(self, removed: Collection[str]) -> None:
        """Write these objects again where they are needed: a vacuum has removed them."""
        self._written = {
            key: each for key, each in self._written.items() if each[1].object not in removed
        }

    def write(
        self,
        table: str,
        owner: int | str,
        gone: FrozenBitMap,
        before: DeletionVectorEntry | None,
    ) -> DeletionVectorEntry:
        """The vector of the RowSet `owner`, in its entry where it is small and there is room.

        Raises InvalidInputError for a vector that deletes nothing, StoreError.
        """
        predecessor = None if before is None else ObjectId(before.object)
        if not self._stored:
            return hold_deletion_vector(
                self._job or new_job_id(), DeletionVector(gone), predecessor
            )
        key = (table, owner, predecessor)
        known = self._written.get(key)
        if known and known[0] == gone and self._fits(known[1]):
            entry = known[1]
        else:
            entry = write_deletion_vector(
                self._store,
                self._prefixes[table],
                self._job or new_job_id(),
                DeletionVector(gone),
                predecessor,
                room=self._room,
                inline_bytes=self._inline_bytes,
            )
            self._written[key] = gone, entry
        self._room -= len(entry.data or "")
        return entry

    def _fits(self, entry: DeletionVectorEntry) -> bool:
        return entry.data is None or len(entry.data) <= self._room
