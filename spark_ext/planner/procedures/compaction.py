"""`CALL colonnade.system.compact` and `plan_compaction`.

They run on threads of the planner's process, beside the driver. `colonnade.Table.optimize()` runs
on executors instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.column_names import split_names
from colonnade.spark_ext.answer_rows import optimize_row
from colonnade.spark_ext.planner.read.metadata import Row
from colonnade.spark_ext.planner.state.storage import place
from colonnade.tableformat.compaction.optimize import Optimize
from colonnade.tableformat.table.table import ArrowTable

PLAN_SCHEMA = (
    "kind string, rowsets long, rows long, deleted_rows long, bytes_in long, bytes_out long,"
    " waits boolean, reason string"
)


def compact(arguments: Mapping[str, Any]) -> Iterable[Row]:
    """Compact a table, or rewrite it in z-order; return one row of metrics."""
    table = ArrowTable.open(place(arguments["table"]))
    begun = _begin(table, arguments)
    columns = split_names(arguments["zorder_by"] or "")
    report = begun.executeZOrderBy(columns) if columns else begun.executeCompaction()
    return [optimize_row(table.path, report)]


def plan_compaction(arguments: Mapping[str, Any]) -> Iterable[Row]:
    """Return one row for each group that `compact` would rewrite now or in a later run."""
    plan = _begin(ArrowTable.open(place(arguments["table"])), arguments).plan()
    for waits, groups in ((False, plan.groups), (True, plan.waiting)):
        for group in groups:
            yield [
                group.kind,
                len(group.rowsets),
                group.rows,
                group.deleted_rows,
                group.bytes_in,
                group.bytes_out,
                waits,
                group.reason,
            ]


def _begin(table: ArrowTable, arguments: Mapping[str, Any]) -> Optimize:
    begun = table.optimize(arguments["where"])
    for each in (arguments["options"] or "").split(","):
        name, equals, value = each.partition("=")
        if equals:
            begun = begun.option(name.strip(), value.strip())
        elif name.strip():
            raise InvalidInputError(
                "Argument options must be like 'deleted-share=0, min-rowsets=2', not"
                f" {arguments['options']!r}."
            )
    return begun
