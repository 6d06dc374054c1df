"""The deleted rows of a live RowSet: the only place that readers ask for them."""

from __future__ import annotations

from colonnade.manifests.model.deletion_vector import DeletionVector, read_deletion_vector
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.store import ObjectStore


def read_deleted(store: ObjectStore, prefix: str, rowset: LiveRowSet) -> DeletionVector | None:
    """Return the deleted rows of a RowSet, or None if no row is deleted.

    Costs at most one read. Raises CorruptionError that names the vector, and StoreError.
    """
    vector = rowset.amendments.vector
    if vector is None:
        return None
    return read_deletion_vector(store, prefix, vector, rowset.entry.rows)
