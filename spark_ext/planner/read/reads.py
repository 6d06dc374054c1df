"""Answer the Java source's requests for a read: which filters skip data, and a query's tasks.

Every request names database, table and epoch, so any planner process can answer it. The tasks read
the rows; this module opens no data files except the indexes of a few RowSets. `load.py` answers
the requests before them, which describe a table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from colonnade.manifests.arrays.bounds import BoundsFilter
from colonnade.manifests.arrays.hidden_rows import view_of, view_of_values
from colonnade.manifests.commit.change import TableRead
from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.model.statistics import bound_prefix, decode_bound, encode_bound
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.sort_order import common_order
from colonnade.manifests.state.view import Statics, View
from colonnade.manifests.store import StoreAddress, open_store
from colonnade.spark_ext.planner.clauses.columns_of_rows import with_columns
from colonnade.spark_ext.planner.clauses.filters import predicate_of, usable
from colonnade.spark_ext.planner.clauses.partitions import described_layout
from colonnade.spark_ext.planner.clauses.sort_keys import described_order
from colonnade.spark_ext.planner.messages.base import operation
from colonnade.spark_ext.planner.messages.clauses import OrderField
from colonnade.spark_ext.planner.messages.queries import (
    Aggregate,
    Aggregated,
    ColumnSummary,
    Filters,
    ListPartitions,
    Partitions,
    PlannedScan,
    Scan,
    UsedFilters,
)
from colonnade.spark_ext.planner.messages.views import NamedView
from colonnade.spark_ext.planner.read import aggregates
from colonnade.spark_ext.planner.read.in_order import order_of_rows
from colonnade.spark_ext.planner.read.scan_tasks import scan_task, statics_json
from colonnade.spark_ext.planner.read.task_split import divided, may_group, read_bytes, task_count
from colonnade.spark_ext.planner.read.top_rows import ColumnOrder, first_rows, top_rows
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS, Recent
from colonnade.spark_ext.planner.state.storage import place_of
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS, is_state
from colonnade.tableformat.keys.static_filters import by_partitions
from colonnade.tableformat.predicate.storage import domain_of
from colonnade.tableformat.scan.narrow import narrow_plan
from colonnade.tableformat.scan.order import RowOrder
from colonnade.tableformat.scan.other_columns import with_columns_of
from colonnade.tableformat.scan.plan import ScanPlan, plan_scan, rowset_filter
from colonnade.tableformat.scan.task_statics import divided_bytes, is_divided

MAX_OPENED = 4
"""The planner opens the indexes of a scan with a filter if it has at most this many RowSets."""

MAX_REMEMBERED = 2_000
"""The RowSets of a table are kept in memory if there are at most this many: 32 MB if all inline."""

MAX_SUMMARIZED = 10_000
"""A plan of at most this many RowSets includes the bounds of its rows, which only estimate."""

_all_rowsets: Recent[tuple[StoreAddress, str, str, int], list[LiveRowSet]] = Recent(4)


@operation
def filters(request: Filters) -> UsedFilters:
    """Raise NotFoundError if retention has removed the epoch."""
    schema = _table(request.view).schema
    return UsedFilters(used=tuple(usable(tree, schema) is not None for tree in request.filters))


@operation
def scan(request: Scan) -> PlannedScan:
    """Raise the errors of `plan_scan`, and NotFoundError if retention has removed the epoch."""
    named, table = request.view, _table(request.view)
    predicate = predicate_of(request.filters, table.schema)
    TRANSACTIONS.record_read(named.epoch, TableRead(table.id, rowset_filter(table, predicate)))
    with suppress(ColonnadeError):  # If static values cannot be read, the tasks report it.
        predicate = by_partitions(Log(open_store(place_of(named))), table, predicate)
    view = _view(named, rowset_filter(table, predicate))
    if named.rowsets is not None:
        only = frozenset(named.rowsets)
        view = view.of(each for each in view.rowsets if each.id in only)
    view = replace(_first(view, request, table.schema), columns=table.schema)
    order = _wanted_order(request, table, view.rowsets) if request.in_order else None
    plan = plan_scan(view, named.epoch, request.columns, predicate, order)
    statics = plan.view.statics
    apart = statics is not None and is_divided(statics, plan)
    if not apart:  # Tasks share the static values, so no task names them again.
        plan = replace(plan, view=replace(plan.view, statics=None))
    size = _read_bytes(plan, statics)
    count = task_count(size, request.parallelism)
    if count > 1 and not named.whole and not may_group(request, table):
        plan = _narrowed(place_of(named), plan)
        count = task_count(_read_bytes(plan, statics), request.parallelism)
    tasks, grouped, in_order = divided(request, table, plan, size, count)
    return PlannedScan(
        tasks=tuple(scan_task(named, each) for each in tasks),
        statics=None if statics is None or apart else statics_json(statics),
        rows=sum(rowset.row_count for rowset in view.rowsets),
        bytes=size,
        rowsets=len(view.rowsets),
        columns=_summaries(plan, view.rowsets),
        ordered_by=_order_of_tasks(table, plan, order if in_order else None, tasks),
        in_order=in_order,
        merges=any(task.order is not None for task in tasks),
        partitioning=described_layout(table.partition_fields if grouped else (), table.schema),
        partitions=tuple(
            task.view.rowsets[0].entry.partition or () for task in (tasks if grouped else ())
        ),
    )


def _read_bytes(plan: ScanPlan, statics: Statics | None) -> int:
    return read_bytes(plan) + (0 if statics is None else divided_bytes(statics, plan))


def _wanted_order(
    request: Scan, table: TableState, rowsets: Sequence[LiveRowSet]
) -> RowOrder | None:
    """Return the order that tasks can give the columns that a query reads, or None."""
    read = frozenset(request.columns)
    return order_of_rows(
        table, rowsets, lambda name: name in read and _has_order(table.schema, name)
    )


def _narrowed(address: StoreAddress, plan: ScanPlan) -> ScanPlan:
    """Narrow the plan by the indexes of its RowSets, if there are few RowSets.

    Spark needs no shuffle after a single task, and that shuffle costs more than a small task. If an
    index cannot be read, the tasks report it.
    """
    if len(plan.view.rowsets) <= MAX_OPENED:
        with suppress(ColonnadeError):
            return narrow_plan(open_store(address), plan)
    return plan


@operation
def list_partitions(request: ListPartitions) -> Partitions:
    """Raise NotFoundError if retention has removed the epoch."""
    table = _table(request.view)
    current = (each.entry for each in _view(request.view, None).rowsets)
    found = {e.partition for e in current if e.partition_layout_id == table.partition_layout_id}
    return Partitions(partitions=tuple(each or () for each in found))


@operation
def aggregate(request: Aggregate) -> Aggregated:
    """Raise NotFoundError if retention has removed the epoch."""
    table, functions = _table(request.view), request.functions
    TRANSACTIONS.record_read(request.view.epoch, TableRead(table.id))
    count = None if table.hides_rows else table.rowsets.row_count
    if count is not None and all(call.column is None for call in functions):
        return Aggregated(values=(count,) * len(functions))
    view = _view(request.view, None)
    answers = [aggregates.aggregate(call, table.schema, view) for call in functions]
    certain = tuple(answer.value for answer in answers if answer is not None)
    return Aggregated(values=certain if len(certain) == len(answers) else None)


def _table(view: NamedView) -> TableState:
    """Return the table that a view is of, with the columns that it names."""
    state, table = SNAPSHOTS.of_view(view)
    if view.evolving is not None:
        return with_columns(open_store(place_of(view)), state, table, view.evolving)[0].tables[
            table.id
        ]
    if view.schema_epoch is None:
        return table
    other = SNAPSHOTS.of_view(view.model_copy(update={"epoch": view.schema_epoch}))[1]
    return with_columns_of(table, other)


def _view(named: NamedView, may_match: BoundsFilter | None) -> View:
    """Return a view of the RowSets that may match, with all stored rows at `values_at`."""
    table = SNAPSHOTS.of_view(named)[1]
    log = Log(open_store(place_of(named)))
    rowsets = _rowsets(named, log, table, may_match)
    if named.values_at is None:
        view = view_of(table, rowsets, named.now)
    else:
        view = view_of_values(table, rowsets, named.values_at)
    return log.rowsets.with_lookups(table, view)


def _rowsets(
    named: NamedView, log: Log, table: TableState, may_match: BoundsFilter | None
) -> list[LiveRowSet]:
    """Return the RowSets that may match; the full list is cached, since reading it is slow."""
    if may_match is not None or is_state(named.epoch):
        return log.rowsets.read(table, may_match)
    key = (place_of(named), named.database, table.id, table.changed_epoch)
    if (found := _all_rowsets.get(key)) is None:
        found = log.rowsets.read(table)
        if len(found) <= MAX_REMEMBERED:
            _all_rowsets.put(key, found)
    return found


def _first(view: View, request: Scan, schema: TableSchema) -> View:
    if request.limit is not None:
        return first_rows(view, request.limit)
    if (top := request.top) is not None and top.column in schema.names:
        field = schema.field(top.column)
        if _has_order(schema, field.name):
            order = ColumnOrder(field, top.descending, top.nulls_first)
            return top_rows(view, order, top.count)
    return view


def _has_order(schema: TableSchema, name: str) -> bool:
    """Whether Spark orders the column as its bounds and the sort key do."""
    data_type = schema.field(name).type
    return isinstance(data_type, str) and domain_of(data_type) is not None


def _order_of_tasks(
    table: TableState, plan: ScanPlan, order: RowOrder | None, tasks: Sequence[ScanPlan]
) -> tuple[OrderField, ...]:
    """Return the order of the rows of each task: what they were asked for, or that of RowSets."""
    if order is not None:
        return described_order(order.fields, table.schema)
    apart = bool(tasks) and all(len(task.view.rowsets) == 1 for task in tasks)
    return _ordering(table, plan) if apart else ()


def _ordering(table: TableState, plan: ScanPlan) -> tuple[OrderField, ...]:
    """Return the order that the rows of all RowSets of a plan have, whenever they were written.

    It ends before the first column that Spark orders in another way.
    """
    orders = {each.entry.sort_order_id for each in plan.view.rowsets}
    ordering = described_order(common_order(table, orders), table.schema)
    for index, field in enumerate(ordering):
        if not _has_order(table.schema, field.column):
            return ordering[:index]
    return ordering


def _summaries(plan: ScanPlan, rowsets: Sequence[LiveRowSet]) -> dict[str, ColumnSummary]:
    """Return bounds and NULL counts of the columns that have statistics in every RowSet."""
    if len(rowsets) > MAX_SUMMARIZED:
        return {}
    found = {}
    for field in plan.output_schema.fields:
        known = [rowset.entry.statistics.get(field.id) for rowset in rowsets]
        parts = [each for each in known if each is not None]
        if parts and len(parts) == len(known):
            found[field.name] = ColumnSummary(
                min=_extreme([part.min for part in parts], min, bound_prefix(field.type)),
                max=_extreme([part.max for part in parts], max, bound_prefix(field.type)),
                nulls=sum(part.nulls for part in parts),
            )
    return found


def _extreme(bounds: Sequence[str | None], best: Callable[..., Any], tag: str) -> str | None:
    """Return the least or greatest bound, by `best`, in a tag; None if one is not known."""
    if None in bounds:
        return None
    values = (decode_bound(bound, tag) for bound in bounds if bound is not None)
    return encode_bound(best(values), tag)
