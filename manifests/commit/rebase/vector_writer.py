"""Store the deletion vectors of one change, which may lose its slot many times.

Spec: docs/spec/epoch-log.md#commit
"""

from __future__ import annotations

from collections.abc import Collection

from pyroaring import FrozenBitMap

from colonnade.manifests.ids import ObjectId, new_job_id
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.model.deletion_vector import (
    DeletionVector,
    hold_deletion_vector,
    write_deletion_vector,
)
from colonnade.manifests.model.entries import DeletionVectorEntry
from colonnade.manifests.object_names import table_prefix
from colonnade.manifests.store.object_store import ObjectStore

ENTRY_BYTES = 256
"""The approximate bytes of a vector's entry in an epoch, without its data."""


class VectorWriter:
    """Writes each vector once. A vector from a lost slot serves for the next slot, too.

    Without a `job_id`, each object gets a job id of its own. Vectors and the rest of an epoch
    together take at most three quarters of it. If `stored` is false, every vector stays in its
    entry, for a state that is never written. An object must be used by one thread at a time.
    """

    def __init__(
        self,
        store: ObjectStore,
        job_id: str | None,
        limits: Limits = LIMITS,
        *,
        stored: bool = True,
    ) -> None:
        self._stored = stored
        self._store = store
        self._job_id = job_id
        self._inline_bytes = limits.inline_bytes
        self._all_room = self._room = limits.epoch_bytes * 3 // 4
        self._written: dict[
            tuple[str, int | str, str | None], tuple[FrozenBitMap, DeletionVectorEntry]
        ] = {}

    @property
    def previews(self) -> bool:
        """Whether the vectors are for a state that is never written, so that no object is."""
        return not self._stored

    def begin(self, taken: int, vectors: int) -> None:
        """Begin an epoch that gets `vectors` vectors. Its other operations take `taken` bytes.

        Vectors that are written afterwards are stored in the epoch only while it has room.
        """
        self._room = self._all_room - taken - vectors * ENTRY_BYTES

    def forget(self, removed: Collection[str]) -> None:
        """Forget objects that a vacuum has removed, so that they are written again if needed."""
        self._written = {
            key: each for key, each in self._written.items() if each[1].object not in removed
        }

    def write(
        self,
        table: str,
        owner: int | str,
        deleted: FrozenBitMap,
        before: DeletionVectorEntry | None,
    ) -> DeletionVectorEntry:
        """Return the vector of the RowSet `owner`. A small one is in its entry, if there is room.

        Raises InvalidInputError for a vector without deleted rows; StoreError.
        """
        predecessor = None if before is None else ObjectId(before.object)
        if not self._stored:
            return hold_deletion_vector(
                self._job_id or new_job_id(), DeletionVector(deleted), predecessor
            )
        key = (table, owner, predecessor)
        known = self._written.get(key)
        if known and known[0] == deleted and self._fits(known[1]):
            entry = known[1]
        else:
            entry = write_deletion_vector(
                self._store,
                table_prefix(table),
                self._job_id or new_job_id(),
                DeletionVector(deleted),
                predecessor,
                room=self._room,
                inline_bytes=self._inline_bytes,
            )
            self._written[key] = deleted, entry
        self._room -= len(entry.data or "")
        return entry

    def _fits(self, entry: DeletionVectorEntry) -> bool:
        return entry.data is None or len(entry.data) <= self._room
