"""What the Spark source asks before it reads: what a table is, and what a query need read of it.

Every request names database, table and epoch, so the process that answers may be another one than
before. Rows are read by the tasks; of data files only indexes are opened here, and only of few.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from colonnade.manifests.arrays.bounds import Keep
from colonnade.manifests.commit.change import TableRead
from colonnade.manifests.errors import ColonnadeError, InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.entries import SortField
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.model.statistics import decode_bound, encode_bound
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.store import open_store
from colonnade.spark_ext.options import parse_read_options
from colonnade.spark_ext.planner import aggregates
from colonnade.spark_ext.planner.filters import predicate_of, usable
from colonnade.spark_ext.planner.grouping import divide_by_partition, is_fair
from colonnade.spark_ext.planner.partitions import described_layout
from colonnade.spark_ext.planner.snapshots import SNAPSHOTS, Recent
from colonnade.spark_ext.planner.top_rows import Order, first_rows, top_rows
from colonnade.spark_ext.planner.transactions import TRANSACTIONS, is_state
from colonnade.spark_ext.types import declared_json, refuse_fine_times
from colonnade.tableformat.predicate.storage import domain_of
from colonnade.tableformat.scan.narrow import narrow_plan
from colonnade.tableformat.scan.plan import ScanPlan, divide_plan, plan_scan, rowset_filter
from colonnade.tableformat.table.time_travel import timestamp_ms

MIN_TASK_BYTES = 2 * 2**20
"""Stored bytes of the columns read below which another task costs more than it saves."""

MAX_TASK_BYTES = 64 * 2**20
"""Stored bytes of the columns read that a task is given at most, so that a retry is cheap."""

MAX_OPENED = 4
"""The planner opens the indexes of a scan with a filter if it has at most so many RowSets."""

MAX_REMEMBERED = 2_000
"""RowSets of a table up to which they are kept in memory: 32 MB where all are inline."""

MAX_SUMMARIZED = 10_000
"""RowSets up to which a plan tells the bounds of all its rows; an estimate is worth no more."""

SPARK_VERSION_VARIABLE = "COLONNADE_SPARK_VERSION"
"""Where the Java half says which Spark it runs in."""

_declarations: Recent[int, tuple[TableSchema, str]] = Recent(64)
_all_rowsets: Recent[tuple[str, str, str, int], list[LiveRowSet]] = Recent(4)


def load(args: Mapping[str, Any]) -> dict[str, Any]:
    """The table at `path` as of the epoch, tag or time in `options`, the newest without.

    `timestampMicros` beside the public options is a time that Spark has read already.
    """
    options = dict(args["options"])
    micros = options.pop("timestampMicros", None)
    read = parse_read_options({**options, "path": args["path"]})
    at_ms = int(micros) // 1000 if micros is not None else None
    if read.timestamp is not None:
        at_ms = timestamp_ms(read.timestamp)
    location, snapshot, table = SNAPSHOTS.find(read.path, read.epoch, at_ms, read.tag)
    return {
        "url": location.store.url,
        "path": location.url,
        "database": snapshot.database,
        "table": table.name,
        "id": table.id,
        "epoch": snapshot.epoch,
        "pinned": (read.epoch, at_ms, read.tag) != (None, None, None),
        "schema": _declared(table.schema),
        "properties": dict(table.properties),
        "comment": table.comment,
        "sort_key": [_sort_field(field, table.schema) for field in table.sort_key],
        "partitioning": described_layout(table.partition_fields, table.schema),
    }


def _declared(schema: TableSchema) -> str:
    """A schema as Spark is told of it: made once, for it takes long where columns are hundreds.

    The JSON is text within the reply, because the reply's own numbers may turn from 1.0 into 1.
    Raises InvalidInputError for times that this Spark does not know.
    """
    known = _declarations.get(id(schema))  # of an object that the value keeps alive
    if known is None:
        if (version := os.environ.get(SPARK_VERSION_VARIABLE)) is not None:
            refuse_fine_times(schema, version)
        known = _declarations.put(id(schema), (schema, declared_json(schema)))
    return known[1]


def check_options(args: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a read, understood: refused here before any table is looked for.

    `epoch` is a number, or the tag that stands for one.
    """
    read = parse_read_options(args["options"])
    if read.where is not None:
        raise InvalidInputError(
            "Option where is for reading without the jar; filter the DataFrame itself, as in"
            " df.where(...), which skips the same data."
        )
    epoch = read.epoch if read.tag is None else read.tag
    return {"path": read.path, "epoch": epoch, "timestamp": read.timestamp}


def filters(args: Mapping[str, Any]) -> dict[str, Any]:
    """Which of `filters` can keep data from being read, as `used`: one truth value for each."""
    schema = _table(args).schema
    return {"used": [usable(tree, schema) is not None for tree in args["filters"]]}


def scan(args: Mapping[str, Any]) -> dict[str, Any]:
    """Plan a read of `columns` for about `parallelism` tasks at once.

    `filters` (see `filters.py`) leave RowSets out. Without any, `limit` and `top` ({"column",
    "descending", "nulls_first", "count"}) may do so. With `apart` a task reads rows of one
    RowSet only. With `grouped` it reads rows of one partition only, where all RowSets have the
    table's layout, with `fair` only where that makes no task long (`grouping.py`); `partitioning`
    is then the layout, and `partitions` has the values of each task.
    """
    table = _table(args)
    predicate = predicate_of(args["filters"], table.schema)
    keep = rowset_filter(table, predicate)
    rowsets = _rowsets(args, table, keep)
    rowsets = _first(rowsets, args, table.schema)
    plan = plan_scan(table, args["epoch"], rowsets, args["columns"], predicate)
    TRANSACTIONS.note_read(args["epoch"], TableRead(table.id, keep))
    size = read_bytes(plan)
    count = task_count(size, args["parallelism"])
    grouped, groups = None, args.get("grouped") and table.partition_layout_id
    if count > 1 and not groups:
        plan = _narrowed(args["url"], plan)
        count = task_count(read_bytes(plan), args["parallelism"])
    if groups:
        most = max(MAX_TASK_BYTES, size // args["parallelism"])
        if not args.get("fair") or is_fair(plan, size, count, most):
            grouped = divide_by_partition(table, plan, count, apart=args["apart"])
    tasks = grouped or divide_plan(plan, count, apart=args["apart"])
    ordered = bool(tasks) and all(len(task.rowsets) == 1 for task in tasks)
    return {
        "tasks": [_task(args["url"], task) for task in tasks],
        "rows": sum(rowset.row_count for rowset in rowsets),
        "bytes": size,
        "rowsets": len(rowsets),
        "columns": _summaries(plan, rowsets),
        "ordered_by": _ordering(table) if ordered else [],
        "partitioning": described_layout(table.partition_fields if grouped else (), table.schema),
        "partitions": [task.rowsets[0].entry.partition for task in grouped or ()],
    }


def _narrowed(url: str, plan: ScanPlan) -> ScanPlan:
    """The plan without what the indexes of its RowSets rule out, where they are few.

    Spark needs no shuffle after a single task, and that shuffle costs more than a small task. If an
    index cannot be read, the tasks report it.
    """
    if len(plan.rowsets) <= MAX_OPENED:
        with suppress(ColonnadeError):
            return narrow_plan(open_store(url), plan)
    return plan


def partitions(args: Mapping[str, Any]) -> dict[str, Any]:
    """The `partitions` of the table's layout that have rows, as `scan` gives them."""
    table = _table(args)
    current = (r.entry for r in _rowsets(args, table, None) if r.row_count)
    found = {e.partition for e in current if e.partition_layout_id == table.partition_layout_id}
    return {"partitions": list(found)}


def aggregate(args: Mapping[str, Any]) -> dict[str, Any]:
    """The values of `functions` over the whole table, or None where one is not known exactly."""
    table, functions = _table(args), args["functions"]
    TRANSACTIONS.note_read(args["epoch"], TableRead(table.id))
    if table.rowsets.row_count is not None and all(f["column"] is None for f in functions):
        return {"values": [table.rowsets.row_count] * len(functions)}
    rowsets = _rowsets(args, table, None)
    values: list[int | str | None] = []
    for function in functions:
        answer = aggregates.aggregate(function, table.schema, rowsets)
        if answer is None:
            return {"values": None}
        values.append(answer.value)
    return {"values": values}


def task_count(size: int, parallelism: int) -> int:
    """How many tasks to read stored bytes with: few for little, else as many as run at once."""
    if size < parallelism * MIN_TASK_BYTES:
        return max(1, size // MIN_TASK_BYTES)
    return parallelism * -(-size // (parallelism * MAX_TASK_BYTES))


def read_bytes(plan: ScanPlan) -> int:
    """Stored bytes of the columns that are read, taking all columns for equally large."""
    return plan.byte_count * len(plan.projection) // len(plan.table_schema.fields)


def _table(args: Mapping[str, Any]) -> TableState:
    snapshot = SNAPSHOTS.at(args["url"], args["database"], args["epoch"])
    return snapshot.tables[args["id"]]


def _rowsets(args: Mapping[str, Any], table: TableState, keep: Keep | None) -> list[LiveRowSet]:
    """The RowSets that `keep` leaves; all of them are remembered, for they are made slowly."""
    key = (args["url"], args["database"], table.id, table.changed_epoch)
    whole = keep is None and not is_state(args["epoch"])
    if whole and (known := _all_rowsets.get(key)) is not None:
        return known
    found = Log(open_store(args["url"])).read_rowsets(table, keep)
    if whole and len(found) <= MAX_REMEMBERED:
        _all_rowsets.put(key, found)
    return found


def _first(
    rowsets: list[LiveRowSet], args: Mapping[str, Any], schema: TableSchema
) -> list[LiveRowSet]:
    if (limit := args["limit"]) is not None:
        return first_rows(rowsets, limit)
    if (top := args["top"]) is not None and top["column"] in schema.names:
        field = schema.field(top["column"])
        if _has_order(schema, field.name):
            order = Order(field, top["descending"], top["nulls_first"])
            return top_rows(rowsets, order, top["count"])
    return rowsets


def _task(url: str, plan: ScanPlan) -> str:
    return f'{{"url":{json.dumps(url)},"plan":{plan.model_dump_json()}}}'


def _has_order(schema: TableSchema, name: str) -> bool:
    """Whether bounds of a column, and rows sorted by it, are in the order that Spark has."""
    data_type = schema.field(name).type
    return isinstance(data_type, str) and domain_of(data_type) is not None


def _sort_field(field: SortField, schema: TableSchema) -> dict[str, Any]:
    return {"column": schema.by_id(field.column).name, "descending": field.descending}


def _ordering(table: TableState) -> list[dict[str, Any]]:
    """The sort key up to the first column that Spark orders in another way."""
    ordering = [_sort_field(field, table.schema) for field in table.sort_key]
    for index, field in enumerate(ordering):
        if not _has_order(table.schema, field["column"]):
            return ordering[:index]
    return ordering


def _summaries(plan: ScanPlan, rowsets: Sequence[LiveRowSet]) -> dict[str, Any]:
    """Bounds and NULLs of the columns that are read, where every RowSet has statistics."""
    if len(rowsets) > MAX_SUMMARIZED:
        return {}
    found = {}
    for field in plan.output_schema.fields:
        known = [rowset.entry.statistics.get(field.id) for rowset in rowsets]
        parts = [each for each in known if each is not None]
        if parts and len(parts) == len(known):
            found[field.name] = {
                "min": _extreme([part.min for part in parts], min),
                "max": _extreme([part.max for part in parts], max),
                "nulls": sum(part.nulls for part in parts),
            }
    return found


def _extreme(bounds: Sequence[str | None], best: Callable[..., Any]) -> str | None:
    """The outermost of some bounds; None where one is not known."""
    if None in bounds:
        return None
    return encode_bound(best(decode_bound(bound) for bound in bounds if bound is not None))


OPS = {
    "load": load,
    "check_options": check_options,
    "filters": filters,
    "scan": scan,
    "aggregate": aggregate,
    "partitions": partitions,
}
