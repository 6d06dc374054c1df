"""Answer the Java source's requests for a read: which filters skip data, and a query's tasks.

Every request names database, table and epoch, so any planner process can answer it. The tasks read
the rows; this module opens no data files except the indexes of a few RowSets. `load.py` answers
the requests before them, which describe a table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from colonnade.manifests.arrays.bounds import Keep
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
from colonnade.manifests.store.cache.options import cache_settings
from colonnade.spark_ext.planner.clauses.brought_columns import with_columns
from colonnade.spark_ext.planner.clauses.filters import predicate_of, usable
from colonnade.spark_ext.planner.clauses.partitions import described_layout
from colonnade.spark_ext.planner.clauses.sort_keys import described_order
from colonnade.spark_ext.planner.read import aggregates
from colonnade.spark_ext.planner.read.division import divided, may_group, read_bytes, task_count
from colonnade.spark_ext.planner.read.in_order import order_of_rows
from colonnade.spark_ext.planner.read.top_rows import ColumnOrder, first_rows, top_rows
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS, Recent
from colonnade.spark_ext.planner.state.storage import place_of
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS, is_state
from colonnade.tableformat.keys.static_filters import by_partitions
from colonnade.tableformat.predicate import Predicate
from colonnade.tableformat.predicate.expressions import TRUE
from colonnade.tableformat.predicate.prune import MOST_MEMBERS
from colonnade.tableformat.predicate.storage import domain_of
from colonnade.tableformat.scan.narrow import narrow_plan
from colonnade.tableformat.scan.order import RowOrder
from colonnade.tableformat.scan.other_columns import with_columns_of
from colonnade.tableformat.scan.plan import ScanPlan, plan_scan, rowset_filter
from colonnade.tableformat.scan.task_statics import divided_bytes, is_divided, statics_of_task

MAX_OPENED = 4
"""The planner opens the indexes of a scan with a filter if it has at most this many RowSets."""

MAX_REMEMBERED = 2_000
"""The RowSets of a table are kept in memory if there are at most this many: 32 MB if all inline."""

MAX_SUMMARIZED = 10_000
"""A plan of at most this many RowSets includes the bounds of its rows, which only estimate."""

_all_rowsets: Recent[tuple[StoreAddress, str, str, int], list[LiveRowSet]] = Recent(4)


def filters(args: Mapping[str, Any]) -> dict[str, Any]:
    """Say which of `filters` can skip data: `used` has one boolean for each filter."""
    schema = _table(args).schema
    return {"used": [usable(tree, schema) is not None for tree in args["filters"]]}


def scan(args: Mapping[str, Any]) -> dict[str, Any]:
    """Plan a read of `columns` for about `parallelism` tasks at once.

    `rowsets`, if given, are the ids of the only RowSets to read. `filters` (see `filters.py`) skip
    RowSets. Without filters, `limit` and `top` ({"column",
    "descending", "nulls_first", "count"}) may skip RowSets. With `apart` a task reads rows of one
    RowSet only. `whole`, if given, is the number of tasks, each of which reads whole RowSets
    (`divide_by_rowset`). With `values_at`, a time in ms since 1970 UTC, all stored rows are read,
    without the values that have expired then.

    With `in_order` the rows of each task are in the order of the sort key, if that is possible
    (`in_order.py`). The reply's `in_order` says so, and `merges` whether a task merges RowSets.

    The reply's `statics` says once for all tasks where the values of static columns are. It is None
    if the columns have none. It is also None if each task names its own part of many values.

    With `grouped` a task reads rows of one partition only, if all RowSets have the table's layout;
    with `fair`, only if no task becomes long (`grouping.py`). The reply's `partitioning` is then
    the layout, and `partitions` has the partition values of each task.
    """
    table = _table(args)
    predicate = predicate_of(args["filters"], table.schema)
    TRANSACTIONS.note_read(args["epoch"], TableRead(table.id, rowset_filter(table, predicate)))
    with suppress(ColonnadeError):  # If static values cannot be read, the tasks report it.
        predicate = by_partitions(Log(open_store(place_of(args))), table, predicate)
    view = _view(args, rowset_filter(table, predicate))
    if (given := args.get("rowsets")) is not None:
        only = frozenset(given)
        view = view.of(each for each in view.rowsets if each.id in only)
    view = replace(_first(view, args, table.schema), columns=table.schema)
    order = _wanted_order(args, table, view.rowsets) if args.get("in_order") else None
    plan = plan_scan(view, args["epoch"], args["columns"], predicate, order)
    # Tasks share the static values, so no task names them again.
    statics = plan.view.statics
    plan = plan.model_copy(update={"view": replace(plan.view, statics=None)})
    apart = statics is not None and is_divided(statics, plan)
    size = _read_bytes(plan, statics)
    count = task_count(size, args["parallelism"])
    if count > 1 and not args.get("whole") and not may_group(args, table):
        plan = _narrowed(place_of(args), plan)
        count = task_count(_read_bytes(plan, statics), args["parallelism"])
    tasks, grouped, in_order = divided(args, table, plan, size, count)
    ordering = _order_of_tasks(table, plan, order if in_order else None, tasks)
    return {
        "tasks": _tasks(args, tasks, statics if apart else None),
        "statics": None if statics is None or apart else _json(statics),
        "rows": sum(rowset.row_count for rowset in view.rowsets),
        "bytes": size,
        "rowsets": len(view.rowsets),
        "columns": _summaries(plan, view.rowsets),
        "ordered_by": ordering,
        "in_order": in_order,
        "merges": any(task.order is not None for task in tasks),
        "partitioning": described_layout(table.partition_fields if grouped else (), table.schema),
        "partitions": [task.view.rowsets[0].entry.partition for task in (tasks if grouped else ())],
    }


def _read_bytes(plan: ScanPlan, statics: Statics | None) -> int:
    return read_bytes(plan) + (0 if statics is None else divided_bytes(statics, plan))


def _wanted_order(
    args: Mapping[str, Any], table: TableState, rowsets: Sequence[LiveRowSet]
) -> RowOrder | None:
    """Return the order that tasks can give the columns that a query reads, or None."""
    read = frozenset(args["columns"])
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


def partitions(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `partitions` of the table's current layout that have rows, as in `scan`."""
    table = _table(args)
    current = (each.entry for each in _view(args, None).rowsets)
    found = {e.partition for e in current if e.partition_layout_id == table.partition_layout_id}
    return {"partitions": list(found)}


def aggregate(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of `functions` over the whole table; None if one is not known exactly."""
    table, functions = _table(args), args["functions"]
    TRANSACTIONS.note_read(args["epoch"], TableRead(table.id))
    count = None if table.hides_rows else table.rowsets.row_count
    if count is not None and all(f["column"] is None for f in functions):
        return {"values": [count] * len(functions)}
    view = _view(args, None)
    values: list[int | str | None] = []
    for function in functions:
        answer = aggregates.aggregate(function, table.schema, view)
        if answer is None:
            return {"values": None}
        values.append(answer.value)
    return {"values": values}


def _table(args: Mapping[str, Any], epoch: int | None = None) -> TableState:
    """Return the table that a request reads: with the columns of its `schema_epoch`, if it has one.

    With `evolving`, it has the columns that the statement of the request gives it (`plan_write`).
    `epoch` is another epoch than the one of the request, or says to leave both out.
    """
    address, at = place_of(args), args["epoch"] if epoch is None else epoch
    state = SNAPSHOTS.at(address, args["database"], at)
    table = state.tables[args["id"]]
    if epoch is not None:
        return table
    if (rows := args.get("evolving")) is not None:
        table = with_columns(open_store(address), state, table, rows)[0].tables[table.id]
    elif args.get("schema_epoch") is not None:
        table = with_columns_of(table, _table(args, args["schema_epoch"]))
    return table


def _view(args: Mapping[str, Any], keep: Keep | None) -> View:
    """Return a view of the RowSets that `keep` selects, with all stored rows at `values_at`."""
    table, at = _table(args, args["epoch"]), args.get("values_at")
    log = Log(open_store(place_of(args)))
    rowsets = _rowsets(args, log, table, keep)
    if at is None:
        view = view_of(table, rowsets, args.get("now"))
    else:
        view = view_of_values(table, rowsets, at)
    return log.rowsets.with_lookups(table, view)


def _rowsets(
    args: Mapping[str, Any], log: Log, table: TableState, keep: Keep | None
) -> list[LiveRowSet]:
    """Return the RowSets that `keep` selects; the full list is cached, since reading it is slow."""
    if keep is not None or is_state(args["epoch"]):
        return log.rowsets.read(table, keep)
    key = (place_of(args), args["database"], table.id, table.changed_epoch)
    if (found := _all_rowsets.get(key)) is None:
        found = log.rowsets.read(table)
        if len(found) <= MAX_REMEMBERED:
            _all_rowsets.put(key, found)
    return found


def _first(view: View, args: Mapping[str, Any], schema: TableSchema) -> View:
    if (limit := args["limit"]) is not None:
        return first_rows(view, limit)
    if (top := args["top"]) is not None and top["column"] in schema.names:
        field = schema.field(top["column"])
        if _has_order(schema, field.name):
            order = ColumnOrder(field, top["descending"], top["nulls_first"])
            return top_rows(view, order, top["count"])
    return view


def _tasks(
    args: Mapping[str, Any], plans: Sequence[ScanPlan], statics: Statics | None
) -> list[str]:
    """Return the tasks as JSON: the URL, the plan, `most_members`, and the cache of the store.

    With `statics`, a task also has the part of these static values that it needs. No task has
    storage options, which may be secrets.
    """
    address = place_of(args)
    cache = cache_settings(address.storage_options, address.url)
    kept = "" if cache is None else f',"cache":{json.dumps(cache._asdict())}'
    url, limit = json.dumps(args["url"]), f'"most_members":{MOST_MEMBERS}'
    tasks = []
    for plan in plans:
        own = ""
        if statics is not None:
            own = f',"statics":{json.dumps(_json(*statics_of_task(statics, plan)))}'
        tasks.append(f'{{"url":{url},"plan":{plan.to_json()},{limit}{kept}{own}}}')
    return tasks


def _json(statics: Statics, about: Predicate = TRUE) -> str:
    """Return where static values are, and what the wanted keys have in common, as one JSON object.

    It is equal where the values are, so that tasks of other queries use the values again.
    """
    plan = plan_scan(statics.view, statics.view.epoch, None, None if about is TRUE else about)
    return json.dumps(
        {"key": [each.name for each in statics.key], "scan": json.loads(plan.to_json())}
    )


def _has_order(schema: TableSchema, name: str) -> bool:
    """Whether Spark orders the column as its bounds and the sort key do."""
    data_type = schema.field(name).type
    return isinstance(data_type, str) and domain_of(data_type) is not None


def _order_of_tasks(
    table: TableState, plan: ScanPlan, order: RowOrder | None, tasks: Sequence[ScanPlan]
) -> list[dict[str, Any]]:
    """Return the order of the rows of each task: what they were asked for, or that of RowSets."""
    if order is not None:
        return described_order(order.fields, table.schema)
    apart = bool(tasks) and all(len(task.view.rowsets) == 1 for task in tasks)
    return _ordering(table, plan) if apart else []


def _ordering(table: TableState, plan: ScanPlan) -> list[dict[str, Any]]:
    """Return the order that the rows of all RowSets of a plan have, whenever they were written.

    It ends before the first column that Spark orders in another way.
    """
    orders = {each.entry.sort_order_id for each in plan.view.rowsets}
    ordering = described_order(common_order(table, orders), table.schema)
    for index, field in enumerate(ordering):
        if not _has_order(table.schema, field["column"]):
            return ordering[:index]
    return ordering


def _summaries(plan: ScanPlan, rowsets: Sequence[LiveRowSet]) -> dict[str, Any]:
    """Return bounds and NULL counts of the columns that have statistics in every RowSet."""
    if len(rowsets) > MAX_SUMMARIZED:
        return {}
    found = {}
    for field in plan.output_schema.fields:
        known = [rowset.entry.statistics.get(field.id) for rowset in rowsets]
        parts = [each for each in known if each is not None]
        if parts and len(parts) == len(known):
            found[field.name] = {
                "min": _extreme([part.min for part in parts], min, bound_prefix(field.type)),
                "max": _extreme([part.max for part in parts], max, bound_prefix(field.type)),
                "nulls": sum(part.nulls for part in parts),
            }
    return found


def _extreme(bounds: Sequence[str | None], best: Callable[..., Any], tag: str) -> str | None:
    """Return the least or greatest bound, by `best`, in a tag; None if one is not known."""
    if None in bounds:
        return None
    values = (decode_bound(bound, tag) for bound in bounds if bound is not None)
    return encode_bound(best(values), tag)


OPS = {
    "filters": filters,
    "scan": scan,
    "aggregate": aggregate,
    "partitions": partitions,
}
