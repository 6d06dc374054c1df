"""Reads that are divided by partition, so that Spark joins and groups without a shuffle. Pure."""

from __future__ import annotations

from collections import Counter

from colonnade.manifests.model.entries import PartitionValues
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.scan.plan import RowSetScan, ScanPlan, divide_plan

MANY_TASKS = 200
"""Tasks that a shuffle has by default in Spark, so that as many are never too many."""


def divide_by_partition(
    table: TableState, plan: ScanPlan, count: int, *, apart: bool
) -> list[ScanPlan] | None:
    """A plan divided into tasks of one partition each, `count` or one for each partition.

    None where RowSets have other layouts than the table. With `apart` a task reads one RowSet.
    """
    layout = table.partition_layout_id
    if any(rowset.entry.partition_layout_id != layout for rowset in plan.rowsets):
        return None
    parts: dict[PartitionValues | None, list[RowSetScan]] = {}
    for rowset in plan.rowsets:
        parts.setdefault(rowset.entry.partition, []).append(rowset)
    tasks: list[ScanPlan] = []
    for rowsets in parts.values():
        part = plan.model_copy(update={"rowsets": tuple(rowsets)})
        share = max(1, count * part.byte_count // plan.byte_count)
        tasks += divide_plan(part, share, apart=apart)
    return tasks


def is_fair(plan: ScanPlan, read_bytes: int, count: int, most_bytes: int) -> bool:
    """Whether no partition has more than `most_bytes` of the `read_bytes`, nor there are too many.

    Spark 4.1 reads a partition in one task even where a query has no use for that, which then
    must not take longer than without. `count` is the number of tasks otherwise.
    """
    sizes: Counter[PartitionValues | None] = Counter()
    for rowset in plan.rowsets:
        sizes[rowset.entry.partition] += rowset.byte_count
    if not sizes:
        return False
    largest = max(sizes.values()) * read_bytes // plan.byte_count
    return largest <= most_bytes and len(sizes) <= max(MANY_TASKS, 2 * count)
