"""Divide reads into tasks that return their rows in the order of the sort key. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from colonnade.manifests.model.entries import PartitionValues
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.sort_order import order_of
from colonnade.tableformat.scan.order import RowOrder, overlapping, unsorted_rowsets
from colonnade.tableformat.scan.plan import RowSetScan, ScanPlan, divide_plan

MOST_MERGED = 16
"""A task merges at most this many RowSets, because it holds a block of each."""


def order_of_rows(
    table: TableState, rowsets: Sequence[LiveRowSet], comparable: Callable[[str], bool]
) -> RowOrder | None:
    """Return the order that tasks can give the rows of some RowSets, or None.

    `comparable` says whether the query reads a column, and Spark orders it as the sort key does.
    The order is the part of the sort key before the first other column.
    """
    fields = order_of(table, table.sort_order_id)
    names = [table.schema.by_id(field.column).name for field in fields]
    other = next((at for at, name in enumerate(names) if not comparable(name)), len(names))
    if not other or unsorted_rowsets(table, rowsets):
        return None
    return RowOrder(fields=fields[:other])


def divide_in_order(plan: ScanPlan, count: int) -> list[ScanPlan] | None:
    """Divide a plan into about `count` tasks, each of which can return its rows in order.

    A task reads RowSets that follow one another in the order, or has an order by which it merges
    RowSets that overlap. Returns None if too many RowSets overlap. Requires a plan with an order.
    """
    target = max(1, plan.byte_count // count)
    tasks: list[ScanPlan] = []
    following: list[RowSetScan] = []
    for part in _apart(plan):
        size = sum(each.byte_count for each in (*following, *part))
        if following and (len(part) > 1 or size > target):
            tasks.append(_task(plan, following))
            following = []
        if len(part) > MOST_MERGED:
            return None
        if len(part) > 1:
            tasks.append(_task(plan, part, merges=True))
        elif part[0].byte_count > target:
            share = part[0].byte_count // target
            tasks += divide_plan(_task(plan, part), share, apart=True)
        else:
            following += part
    return [*tasks, _task(plan, following)] if following else tasks


def divide_partitions_in_order(table: TableState, plan: ScanPlan) -> list[ScanPlan] | None:
    """Divide a plan into one task for each partition, which can return its rows in order.

    Returns None if too many RowSets of a partition overlap, or if some RowSets have another layout
    than the table. Requires a plan with an order.
    """
    parts: dict[PartitionValues | None, list[RowSetScan]] = {}
    for each in plan.rowsets:
        if each.rowset.entry.partition_layout_id != table.partition_layout_id:
            return None
        parts.setdefault(each.rowset.entry.partition, []).append(each)
    tasks = []
    for rowsets in parts.values():
        groups = list(_apart(plan.of(rowsets)))
        merges = len(groups) < len(rowsets)
        if merges and len(rowsets) > MOST_MERGED:
            return None
        tasks.append(_task(plan, [each for group in groups for each in group], merges=merges))
    return tasks


def _task(plan: ScanPlan, rowsets: Sequence[RowSetScan], *, merges: bool = False) -> ScanPlan:
    order = plan.order if merges else None
    return plan.of(rowsets, order=order)


def _apart(plan: ScanPlan) -> Iterator[list[RowSetScan]]:
    """Yield groups of RowSets in the order of their keys; RowSets of one group overlap."""
    assert plan.order is not None
    scans = plan.rowsets
    for group in overlapping(plan.view.rowsets, plan.order, plan.view.columns):
        yield [scans[at] for at in group]
