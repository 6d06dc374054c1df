"""Tombstones: keys that were deleted, in RowSets that never had a live row. Pure.

Readers do not see them. Writers compare rows with them that may have arrived late.
Spec: docs/spec/keys.md#tombstones
"""

from __future__ import annotations

from colonnade.manifests.model.entries import DeletionVectorEntry, RowSetEntry
from colonnade.manifests.model.operations import AddRowSet, Operation


def are_tombstones(entry: RowSetEntry, vector: DeletionVectorEntry | None) -> bool:
    """Return whether a RowSet has no live row. Any other RowSet is dropped with its last row."""
    return vector is not None and vector.cardinality == entry.rows


def adds_tombstones(operation: Operation) -> bool:
    """Return whether an operation adds tombstones by itself, and not in a segment."""
    return isinstance(operation, AddRowSet) and are_tombstones(operation.rowset, operation.vector)
