"""Open the RowSets of a plan: several side by side behind a network, some before the plan is known.

A scan begins with a look for newer epochs, which rarely finds any. Behind a network, the RowSets of
the state that was read last are opened during that look.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from colonnade.manifests.model.deletion_vector import DeletionVector
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.predicate import Predicate
from colonnade.tableformat.rowset.reader import RowSetReader, open_stored
from colonnade.tableformat.rowset.write_options import MIB
from colonnade.tableformat.scan.plan import RowSetScan, ScanPlan

_FAR_ROWSETS = 16
"""The RowSets that are opened side by side, ahead of their use, where requests take long."""

_WHOLE_BYTES = 32 * MIB
"""The most bytes of RowSets that are read whole before the plan is known."""

_UNNEEDED_BYTES = 3 * MIB
"""The most bytes of unneeded columns that are read with them. A round takes about as long."""


class OpenedRowSet(NamedTuple):
    """A RowSet of a plan whose footer was read, with its deletion vector.

    `deleted` leaves out rows that the RowSet hides: they are looked for where they may be read.
    """

    scan: RowSetScan
    reader: RowSetReader
    deleted: DeletionVector | None


class OpenedAhead:
    """RowSets that were opened before the plan was known. Each of them can be taken once.

    Threads may share it.
    """

    def __init__(self, view: View | None = None, opened: Sequence[OpenedRowSet] = ()) -> None:
        self._view = view
        self._opened = {each.scan.rowset: each for each in opened}

    def take(self, view: View, scan: RowSetScan) -> OpenedRowSet | None:
        """Return a RowSet that was opened as a plan reads it, or None."""
        known, rowset = self._view, scan.rowset
        if known is None or (known.prefix, known.statics) != (view.prefix, view.statics):
            return None
        if known.masks_of(rowset) != view.masks_of(rowset):
            return None
        found = self._opened.pop(rowset, None)
        return None if found is None else found._replace(scan=scan)


class BegunScan(NamedTuple):
    """A scan of the state that was read last: what it selects, and the view to read.

    It serves a scan of a newer state only where that has the same `table`.
    """

    table: TableState
    predicate: Predicate | None
    view: View
    ahead: OpenedAhead


def open_ahead(store: ObjectStore, plan: ScanPlan) -> OpenedAhead:
    """Open the first RowSets of a plan while a newer state of the table is looked for.

    RowSets that the log itself holds are left out, because they cost no request.

    If the plan needs all rows, RowSets are read whole, up to 32 MiB together: all of them if it
    needs most of their columns, else up to 3 MiB of other columns. Raises CorruptionError;
    StoreError.
    """
    needed, columns = len(plan.projection), len(plan.view.columns.fields)
    left, calls = _WHOLE_BYTES if needed and plan.predicate is None else 0, []
    unneeded_left = _WHOLE_BYTES if 4 * needed >= 3 * columns else _UNNEEDED_BYTES
    # RowSets in the log cost no request.
    stored = [scan for scan in plan.rowsets if scan.rowset.entry.place != "inline"]
    for scan in stored[: min(_FAR_ROWSETS, store.parallel)]:
        size = scan.rowset.entry.bytes
        unneeded = size * (columns - needed) // columns
        whole = size <= left and unneeded <= unneeded_left
        if whole:
            left, unneeded_left = left - size, unneeded_left - unneeded
        calls.append(partial(_open, store, plan.view, scan, whole=whole))
    return OpenedAhead(plan.view, store.together(calls))


def open_rowsets(store: ObjectStore, plan: ScanPlan, ahead: OpenedAhead) -> Iterator[OpenedRowSet]:
    """Open the RowSets of a plan in order. Behind a network, many are opened ahead of their use.

    RowSets in `ahead` are open already, and cost nothing more. Raises CorruptionError; StoreError.
    """

    def opened(scan: RowSetScan) -> OpenedRowSet:
        return ahead.take(plan.view, scan) or _open(store, plan.view, scan)

    calls = [partial(opened, scan) for scan in plan.rowsets]
    width = min(_FAR_ROWSETS, store.parallel)
    groups = [calls[at : at + width] for at in range(0, len(calls), width)]
    for group in store.in_turn([partial(store.together, group) for group in groups]):
        yield from group


def _open(store: ObjectStore, view: View, scan: RowSetScan, *, whole: bool = False) -> OpenedRowSet:
    reader, deleted = open_stored(store, view, scan.rowset, whole=whole)
    return OpenedRowSet(scan, reader, deleted)
