"""Remove the stretches that indexes rule out from a plan. Only this step of planning opens them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from colonnade.manifests.store import ObjectStore
from colonnade.manifests.store.side_by_side import side_by_side
from colonnade.tableformat.predicate import prune
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.scan.plan import RowSetScan, ScanPlan


def narrow_plan(store: ObjectStore, plan: ScanPlan) -> ScanPlan:
    """Return the plan without stretches that cannot have a row that meets its predicate.

    The rows of the result stay the same, and the caller can divide the remaining bytes into equal
    shares. For each RowSet it costs a read of the footer, and one of the index of each column of
    the predicate; RowSets are read side by side. Raises CorruptionError, StoreError.
    """
    predicate = plan.bound_predicate()
    if predicate is None or not plan.view.rowsets:
        return plan
    columns = [plan.view.columns.by_id(column) for column in predicate.column_ids]
    may_match = partial(prune, predicate)

    def narrowed(scan: RowSetScan) -> RowSetScan:
        reader = RowSetReader(store, plan.view, scan.rowset)
        ranges = reader.matching_ranges(columns, scan.ranges, may_match)
        return replace(scan, ranges=ranges)

    found = side_by_side([partial(narrowed, scan) for scan in plan.rowsets], len(plan.rowsets))
    return plan.of(each for each in found if each.ranges)
