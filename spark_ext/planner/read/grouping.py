"""Divide reads by partition, so that Spark can join and group without a shuffle. Pure."""

from __future__ import annotations

from collections import Counter

from colonnade.manifests.model.entries import PartitionValues
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.scan.plan import RowSetScan, ScanPlan, divide_plan

MANY_TASKS = 200
"""The default number of tasks of a shuffle in Spark; at most this many tasks are acceptable."""


def divide_by_partition(
    table: TableState, plan: ScanPlan, count: int, *, apart: bool
) -> list[ScanPlan] | None:
    """Divide a plan into tasks that read one partition each, about `count` and at least one each.

    Returns None if some RowSets have another layout than the table. With `apart` each task reads
    rows of one RowSet only.
    """
    layout = table.partition_layout_id
    if any(each.entry.partition_layout_id != layout for each in plan.view.rowsets):
        return None
    parts: dict[PartitionValues | None, list[RowSetScan]] = {}
    for each in plan.rowsets:
        parts.setdefault(each.rowset.entry.partition, []).append(each)
    tasks: list[ScanPlan] = []
    for rowsets in parts.values():
        part = plan.of(rowsets)
        share = max(1, count * part.byte_count // plan.byte_count)
        tasks += divide_plan(part, share, apart=apart)
    return tasks


def is_fair(plan: ScanPlan, read_bytes: int, count: int, most_bytes: int) -> bool:
    """Whether each partition has at most `most_bytes` to read, and there are not too many.

    Spark 4.1 reads a partition in one task even if the query gains nothing from it; the query must
    not become slower then. `read_bytes` is the size of the whole read, and `count` the number of
    tasks of a read that is not split by partition.
    """
    sizes: Counter[PartitionValues | None] = Counter()
    for each in plan.rowsets:
        sizes[each.rowset.entry.partition] += each.byte_count
    if not sizes:
        return False
    largest = max(sizes.values()) * read_bytes // plan.byte_count
    return largest <= most_bytes and len(sizes) <= max(MANY_TASKS, 2 * count)
