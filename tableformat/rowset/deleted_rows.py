"""The rows of a live RowSet that a view does not show: the only place that readers ask for them.

A deletion vector names some of them. The rest are inside the regions that the view hides.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyroaring import FrozenBitMap

from colonnade.manifests.model.deletion_vector import DeletionVector, read_deletion_vector
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.rowset.stored.reader import StoredReader
from colonnade.tableformat.rowset.view.hidden_row_cache import HiddenRowCache
from colonnade.tableformat.rowset.view.rows_in_regions import hidden_rows

_KEPT = HiddenRowCache()


def read_deleted(store: ObjectStore, view: View, rowset: LiveRowSet) -> DeletionVector | None:
    """Return the rows of a RowSet that a view does not show, or None if there are none.

    Costs at most one read, and those of `hidden_rows` where the view hides regions. Raises
    CorruptionError that names the vector, and StoreError.
    """
    deleted = read_vector(store, view.prefix, rowset)
    if view.is_counted(rowset):
        return deleted
    return with_hidden_rows(StoredReader(store, view, rowset), view, rowset, deleted)


def shown_count(store: ObjectStore, view: View, rowset: LiveRowSet) -> int:
    """Return the number of rows that a view shows. Costs nothing unless it hides regions.

    Else raises and costs what `read_deleted` does.
    """
    if view.is_counted(rowset):
        return rowset.row_count
    deleted = read_deleted(store, view, rowset)
    return rowset.entry.rows - (0 if deleted is None else deleted.cardinality)


def with_hidden_rows(
    reader: StoredReader,
    view: View,
    rowset: LiveRowSet,
    deleted: DeletionVector | None,
    ranges: Sequence[tuple[int, int]] | None = None,
) -> DeletionVector | None:
    """Return deleted rows of a RowSet and those that a view hides in `ranges` (None: all).

    Costs what `hidden_rows` does, unless the process has found these rows before.
    """
    regions = view.hidden_in(rowset)
    if not regions:
        return deleted
    found = _KEPT.get(reader.store, rowset, regions, ranges)
    if found is None:
        found = FrozenBitMap(hidden_rows(reader, regions, ranges))
        _KEPT.keep(reader.store, rowset, regions, ranges, found)
    if deleted is not None:
        found |= deleted.rows
    return DeletionVector(found) if found else None


def read_vector(store: ObjectStore, prefix: str, rowset: LiveRowSet) -> DeletionVector | None:
    """Return the rows that the vector of a RowSet deletes, without hidden rows.

    Raises CorruptionError that names the vector, and StoreError.
    """
    vector = rowset.vector
    if vector is None:
        return None
    return read_deletion_vector(store, prefix, vector, rowset.entry.rows)
