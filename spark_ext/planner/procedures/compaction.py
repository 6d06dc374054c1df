"""`CALL colonnade.system.compact` and `plan_compaction`.

They run on threads of the planner's process, beside the driver. `colonnade.Table.optimize()` runs
on executors instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.column_names import split_names
from colonnade.spark_ext.planner.read.metadata import Row
from colonnade.spark_ext.planner.state.storage import place
from colonnade.tableformat.compaction.optimize import Optimize
from colonnade.tableformat.table.table import ArrowTable

COMPACT_SCHEMA = (
    "epoch long, groups long, groups_waiting long, rowsets_removed long, rowsets_added long,"
    " rows_dropped long, bytes_read long, bytes_copied long, bytes_written long, seconds double,"
    " conflicts string, reason string"
)
PLAN_SCHEMA = (
    "kind string, rowsets long, rows long, deleted_rows long, bytes_in long, bytes_out long,"
    " waits boolean, reason string"
)


def compact(arguments: Mapping[str, Any]) -> Iterable[Row]:
    """Compact a table, or rewrite it in z-order; return one row of metrics."""
    begun = _begin(arguments)
    columns = split_names(arguments["zorder_by"] or "")
    report = begun.executeZOrderBy(columns) if columns else begun.executeCompaction()
    values = {**report.model_dump(), "conflicts": "\n".join(report.conflicts)}
    return [[values[each.split()[0]] for each in COMPACT_SCHEMA.split(", ")]]


def plan_compaction(arguments: Mapping[str, Any]) -> Iterable[Row]:
    """Return one row for each group that `compact` would rewrite now or in a later run."""
    plan = _begin(arguments).plan()
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


def _begin(arguments: Mapping[str, Any]) -> Optimize:
    begun = ArrowTable.open(place(arguments["table"])).optimize(arguments["where"])
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
