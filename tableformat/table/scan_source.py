"""One state of a table, of which scans choose columns and rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from colonnade.manifests.arrays.bounds import BoundsFilter
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.view import View
from colonnade.tableformat.keys.static_filters import by_partitions
from colonnade.tableformat.predicate import Predicate
from colonnade.tableformat.scan.arrow_scan import Scan
from colonnade.tableformat.scan.order import Order, key_order
from colonnade.tableformat.scan.plan import ScanPlan, plan_scan, rowset_filter
from colonnade.tableformat.scan.run import read_plan_parallel
from colonnade.tableformat.scan.selection import judge

PlanListener = Callable[[ScanPlan, BoundsFilter | None], None]
"""Gets what a scan may read: its plan, and which RowSets it leaves out."""

Again = Callable[[Sequence[str], Predicate | None, int | None], Scan]
"""Makes a scan of columns, of a condition, and of a limit. Can be pickled."""


@dataclass(frozen=True, slots=True)
class TableSource:
    """A table as of an epoch, seen at the time `now_ms`.

    `shown` has the columns that scans know, which may be older ones.

    A `staged` state is one that a transaction has changed. `on_plan` is called with every plan.
    `again` makes a scan of the same state in another process; None for a state of this process
    alone.
    """

    log: Log
    table: TableState
    epoch: int
    shown: TableState
    order: Order | None = None
    now_ms: int | None = None
    staged: bool = False
    on_plan: PlanListener | None = None
    again: Again | None = None

    def scan(self, columns: Sequence[str] | None, where: Predicate | None) -> Scan:
        """Plan to read `columns` (None: all) of the rows that meet `where` (None: all)."""
        return Scan(self.log.store, self.plan(columns, where), self, where)

    def plan(self, columns: Sequence[str] | None, where: Predicate | None) -> ScanPlan:
        """Plan a scan. Reads the entries of RowSets that the condition does not prune.

        Raises NotFoundError or InvalidInputError that names the column at fault, or says that
        retention has removed the epoch; CorruptionError, StoreError.
        """
        chosen, view = self._view(where)
        order = None if self.order is None else key_order(self.shown, view.rowsets)
        plan = plan_scan(view, self.epoch, columns, chosen, order)
        self._call_listener(plan, where)
        return plan

    def count(self, where: Predicate | None) -> int:
        """Count rows. Reads only RowSets of which the log does not tell how many rows they give.

        Raises the errors of `plan`.
        """
        chosen, view = self._view(where)
        partly = [False] * len(view.rowsets) if chosen is None else judge(view, chosen)[1]
        counted, rest = list[LiveRowSet](), list[LiveRowSet]()
        for each, some in zip(view.rowsets, partly, strict=True):
            (counted if view.is_counted(each) and not some else rest).append(each)
        known = sum(each.row_count for each in counted)
        plan = plan_scan(view.of(rest), self.epoch, (), chosen)
        self._call_listener(plan, where)
        for batch in read_plan_parallel(self.log.store, plan):
            known += int(batch.num_rows)
        return known

    def _call_listener(self, plan: ScanPlan, where: Predicate | None) -> None:
        if self.on_plan is not None:
            self.on_plan(plan, rowset_filter(self.shown, where))

    def _view(self, where: Predicate | None) -> tuple[Predicate | None, View]:
        """Return RowSets that may match, and the condition with what it says of partition keys."""
        with self.log.reader.naming_removals(self.epoch, staged=self.staged):
            chosen = by_partitions(self.log, self.shown, where)
            view = self.log.rowsets.view(self.table, rowset_filter(self.shown, chosen), self.now_ms)
            return chosen, replace(view, columns=self.shown.schema)
