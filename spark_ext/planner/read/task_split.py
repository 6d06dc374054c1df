"""Divide a read into tasks: how many, by what, and in which order of rows. Pure."""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.state.snapshot import TableState
from colonnade.spark_ext.planner.messages.queries import Scan
from colonnade.spark_ext.planner.read.grouping import divide_by_partition, is_fair
from colonnade.spark_ext.planner.read.in_order import divide_in_order, divide_partitions_in_order
from colonnade.tableformat.scan.plan import ScanPlan, divide_by_rowset, divide_plan

MIN_TASK_BYTES = 2 * 2**20
"""One more task pays if each then reads this many stored bytes of the scan's columns."""

MAX_TASK_BYTES = 64 * 2**20
"""A task reads at most this many stored bytes of these columns, so that a retry is cheap."""


def task_count(size: int, parallelism: int) -> int:
    """Return the number of tasks that read `size` stored bytes.

    Small reads get few tasks; large reads get a multiple of `parallelism`.
    """
    if size < parallelism * MIN_TASK_BYTES:
        return max(1, size // MIN_TASK_BYTES)
    return parallelism * -(-size // (parallelism * MAX_TASK_BYTES))


def read_bytes(plan: ScanPlan) -> int:
    """Estimate the stored bytes of the columns that are read; columns count as equally large."""
    return plan.byte_count * len(plan.projection) // len(plan.view.columns.fields)


def may_group(request: Scan, table: TableState) -> bool:
    """Return whether a request asks for tasks that read one partition each, and may get them."""
    return bool(not request.view.whole and request.grouped and table.partition_layout_id)


def divided(
    request: Scan, table: TableState, plan: ScanPlan, size: int, count: int
) -> tuple[list[ScanPlan], bool, bool]:
    """Divide a plan into about `count` tasks.

    Returns them, whether each reads one partition, and whether the rows of each are in the order of
    the plan.
    """
    groups = may_group(request, table)
    if groups and request.fair:
        groups = is_fair(plan, size, count, max(MAX_TASK_BYTES, size // request.parallelism))
    if found := _in_order(table, plan, count, by_partition=groups):
        return found, groups, True
    plan = replace(plan, order=None)
    if request.view.whole:
        return divide_by_rowset(plan, request.view.whole), False, False
    if groups and (found := divide_by_partition(table, plan, count, apart=request.apart)):
        return found, True, False
    return divide_plan(plan, count, apart=request.apart), False, False


def _in_order(
    table: TableState, plan: ScanPlan, count: int, *, by_partition: bool
) -> list[ScanPlan] | None:
    """Divide a plan that has an order into tasks with this order; None if that is impossible."""
    if plan.order is None or not plan.view.rowsets:
        return None
    if by_partition:
        return divide_partitions_in_order(table, plan)
    return divide_in_order(plan, count)
