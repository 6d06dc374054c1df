"""Rows that have expired and are still stored. Their keys may not be stored a second time.

Spec: docs/spec/lifetimes.md#writers
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from colonnade.manifests.arrays.bounds import BoundsFilter
from colonnade.manifests.arrays.hidden_rows import view_of, view_of_values
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.view.rows_in_regions import hidden_rows
from colonnade.tableformat.scan.plan import cut_rows


def stored_view(
    log: StatementLog, table: TableState, may_match: BoundsFilter | None
) -> tuple[View, list[LiveRowSet]]:
    """Return a view of the RowSets that `may_match` selects, and the RowSets of tombstones.

    The view shows the rows that have expired at a time, and their expired values as NULL. None as
    the time means that nothing has expired. Raises the errors of `LiveRowSets.read`.
    """
    found = log.plain.rowsets.read(table, may_match, which="all")
    live = [each for each in found if not each.has_tombstones]
    return view_of_values(table, live, log.now_ms), [each for each in found if each.has_tombstones]


def are_expired(
    store: ObjectStore,
    table: TableState,
    rowset: LiveRowSet,
    rows: NDArray[np.int64],
    now_ms: int | None,
) -> NDArray[np.bool_]:
    """Return which of some rows of a RowSet have expired at a time; None: none of them.

    Reads the columns that say when rows expire, where bounds do not decide it, and around these
    rows alone. Raises CorruptionError, StoreError.
    """
    if now_ms is None or table.lifetimes is None or not len(rows):
        return np.zeros(len(rows), np.bool_)
    view = view_of(table, [rowset], now_ms)
    if not view.rowsets:
        return np.ones(len(rows), np.bool_)
    if view.is_counted(rowset):
        return np.zeros(len(rows), np.bool_)
    cuts = np.array(cut_rows(rowset.entry))
    stretches = np.unique(np.searchsorted(cuts, rows, side="right") - 1)
    ranges = [(int(cuts[at]), int(cuts[at + 1])) for at in stretches]
    found = hidden_rows(RowSetReader(store, view, rowset), view.hidden_in(rowset), ranges)
    return np.isin(rows, np.asarray(found.to_array(), np.int64))
