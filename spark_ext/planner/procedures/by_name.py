"""The procedures that `CALL colonnade.system.<name>(...)` can call.

This module describes their parameters and result rows; the Java half passes them on to Spark.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from colonnade.manifests.checkpoint.writer import write_checkpoint
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.column_names import split_list
from colonnade.spark_ext.answer_rows import (
    DETAIL_SCHEMA,
    OPTIMIZE_SCHEMA,
    PLANNED_VACUUM_SCHEMA,
    RESTORE_SCHEMA,
    VACUUM_SCHEMA,
    detail_row,
)
from colonnade.spark_ext.history_rows import HISTORY_SCHEMA, history_row
from colonnade.spark_ext.planner.procedures.care import (
    REPAIR_SCHEMA,
    VERIFY_SCHEMA,
    plan_vacuum,
    repair,
    vacuum,
    verify,
)
from colonnade.spark_ext.planner.procedures.compaction import (
    PLAN_SCHEMA,
    compact,
    plan_compaction,
)
from colonnade.spark_ext.planner.procedures.epochs import (
    TAGS_SCHEMA,
    restore,
    tag,
    tags,
    untag,
)
from colonnade.spark_ext.planner.procedures.transaction_calls import (
    COUNTS_SCHEMA,
    begin,
    commit,
    rollback,
    statement_counts,
)
from colonnade.spark_ext.planner.read.metadata import Row, plain_rows
from colonnade.spark_ext.planner.state.storage import place
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.spark_ext.planner.write.fills import FILLED_SCHEMA, run_by_jar
from colonnade.spark_ext.types import from_json
from colonnade.tableformat.location import locate_existing
from colonnade.tableformat.table.alteration import AddColumn
from colonnade.tableformat.table.table import ArrowTable

Args = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter, with a Spark type in DDL; an `optional` argument that is left out is None.

    The procedure gets the arguments `table` and `database` as paths.
    """

    name: str
    type: str
    optional: bool
    description: str


@dataclass(frozen=True, slots=True)
class Procedure:
    """A procedure; `schema` has the columns of its result, in DDL."""

    description: str
    parameters: tuple[Parameter, ...]
    schema: str
    run: Callable[[Args], Iterable[Row]]


_TABLE = Parameter("table", "string", False, "database.table or a path")
_DRY_RUN = Parameter("dry_run", "boolean", True, "only report what would be done")
_EXPRESSION = Parameter("expression", "string", False, "its value in SQL, from columns of the row")
_TAG = Parameter("name", "string", False, "the tag")
_OF_DATABASE = (
    Parameter("table", "string", True, "a table, as database.table or a path"),
    Parameter("database", "string", True, "a database, by its name or path"),
)
_EPOCH = (
    Parameter("epoch", "bigint", True, "the number of the epoch"),
    Parameter("timestamp", "timestamp", True, "the last epoch up to a time"),
)
_COMPACTED = (
    _TABLE,
    Parameter("where", "string", True, "only RowSets that may hold such rows"),
    Parameter("options", "string", True, "the policy for this run, such as deleted-share=0"),
)
_RETAINED = (
    _TABLE,
    Parameter("retention_hours", "double", True, "instead of the table's retention.hours"),
    Parameter("retain_epochs", "int", True, "instead of the table's retention.epochs"),
)


def procedures(args: Args) -> dict[str, Any]:
    """Describe all procedures, by name."""
    return {
        name: {
            "description": each.description,
            "schema": each.schema,
            "parameters": [
                {
                    "name": parameter.name,
                    "type": parameter.type,
                    "optional": parameter.optional,
                    "description": parameter.description,
                }
                for parameter in each.parameters
            ],
        }
        for name, each in PROCEDURES.items()
    }


def call_procedure(args: Args) -> dict[str, Any]:
    """Call the procedure `name` with `arguments` and return its result rows."""
    return {"rows": plain_rows(PROCEDURES[args["name"]].run(args["arguments"]))}


def _history(arguments: Args) -> Iterable[Row]:
    limit = arguments["limit"]
    if limit is not None and limit < 0:
        raise InvalidInputError(f"The limit of a history must be a number from 0, not {limit}.")
    return map(history_row, ArrowTable.open(place(arguments["table"])).history(limit))


def _detail(arguments: Args) -> Iterable[Row]:
    table = ArrowTable.open(place(arguments["table"]))
    return [detail_row(table, table._snapshot, table._state)]


def _checkpoint(arguments: Args) -> Iterable[Row]:
    location = locate_existing(place(arguments["table"]))
    head = Log(location.store).reader.read_head(look=location.look)
    location.require(head)
    stored = write_checkpoint(location.store, head)
    return [(stored.epoch, sum(t.rowsets.rowset_count for t in stored.tables.values()))]


def _set_partitioning(arguments: Args) -> Iterable[Row]:
    TRANSACTIONS.refuse(arguments["table"], "repartitioned")
    table = ArrowTable.open(place(arguments["table"]))
    epoch = table.partition_by(*split_list(arguments["fields"]))
    return [(epoch, table._state.partition_layout_id)]


def _add_static_column(arguments: Args) -> Iterable[Row]:
    """Add a static column; `type` is a Spark schema of one column as JSON, made by the jar."""
    TRANSACTIONS.refuse(arguments["table"], "altered")
    [column] = from_json(json.loads(arguments["type"])).fields
    added = AddColumn(column.model_copy(update={"static": True}))
    return [(ArrowTable.open(place(arguments["table"])).alter(added),)]


PROCEDURES = {
    "history": Procedure(
        "The epochs that changed a table, newest first.",
        (_TABLE, Parameter("limit", "int", True, "return at most this many epochs")),
        HISTORY_SCHEMA,
        _history,
    ),
    "detail": Procedure(
        "Returns one row that describes the newest state of a table.",
        (_TABLE,),
        DETAIL_SCHEMA,
        _detail,
    ),
    "checkpoint": Procedure(
        "Stores the state of a table's database, so that opening it reads no earlier epochs.",
        (_TABLE,),
        "epoch long, rowsets long",
        _checkpoint,
    ),
    "set_partitioning": Procedure(
        "Partitions new rows of a table by other fields; existing RowSets stay unchanged.",
        (_TABLE, Parameter("fields", "string", False, "such as 'days(ts), bucket(16, id)', or ''")),
        "epoch long, layout int",
        _set_partitioning,
    ),
    "compact": Procedure(
        "Replaces small RowSets, and RowSets with deleted rows, by fewer and larger ones.",
        (*_COMPACTED, Parameter("zorder_by", "string", True, "columns to order all rows by")),
        OPTIMIZE_SCHEMA,
        compact,
    ),
    "vacuum": Procedure(
        "Removes the files that no kept epoch of a table's database needs.",
        (
            *_RETAINED,
            Parameter("force", "boolean", True, "allow a retention below 168 hours"),
            _DRY_RUN,
        ),
        VACUUM_SCHEMA,
        vacuum,
    ),
    "plan_vacuum": Procedure(
        "Returns the files that vacuum would remove now, the first thousand of them.",
        _RETAINED,
        PLANNED_VACUUM_SCHEMA,
        plan_vacuum,
    ),
    "verify": Procedure(
        "Looks for damage in a table and its log; returns a row for each finding.",
        (_TABLE, Parameter("depth", "int", True, "1 log, 2 indexes, 3 checksums, 4 values")),
        VERIFY_SCHEMA,
        verify,
    ),
    "repair": Procedure(
        "Rebuilds checkpoints from the log, or drops the unreadable rows of named RowSets.",
        (
            _TABLE,
            Parameter("rowsets", "string", True, "ids of damaged RowSets, such as '3, 7'"),
            Parameter("rescue", "string", True, "new Parquet file for rescued values"),
            _DRY_RUN,
        ),
        REPAIR_SCHEMA,
        repair,
    ),
    "restore": Procedure(
        "Restores a table, or all tables of a database, to an earlier epoch by a new epoch.",
        (
            _OF_DATABASE[0],
            *_EPOCH,
            Parameter("tag", "string", True, "the epoch that has this tag"),
            _OF_DATABASE[1],
        ),
        RESTORE_SCHEMA,
        restore,
    ),
    "tag": Procedure(
        "Tags an epoch of a database, by default the newest; vacuum then keeps it.",
        (_TAG, *_OF_DATABASE, *_EPOCH),
        TAGS_SCHEMA,
        tag,
    ),
    "untag": Procedure(
        "Removes a tag, so that vacuum may remove its epoch.",
        (_TAG, *_OF_DATABASE),
        TAGS_SCHEMA,
        untag,
    ),
    "tags": Procedure("The tags of a database.", _OF_DATABASE, TAGS_SCHEMA, tags),
    "add_column": Procedure(
        "Adds a column with a computed value in each row, in one epoch, beside running writers.",
        (
            _TABLE,
            Parameter("name", "string", False, "the name of the new column"),
            Parameter("type", "string", False, "its type, such as 'int NOT NULL'"),
            _EXPRESSION,
        ),
        FILLED_SCHEMA,
        run_by_jar,
    ),
    "add_static_column": Procedure(
        "Adds a static column, which has one value for each partition key of a table.",
        (
            _TABLE,
            Parameter("name", "string", False, "the name of the new column"),
            Parameter("type", "string", False, "its type, such as 'array<string>'"),
        ),
        "epoch long",
        _add_static_column,
    ),
    "backfill": Procedure(
        "Gives a column a computed value in the rows that meet a condition, in one epoch.",
        (
            _TABLE,
            Parameter("column", "string", False, "a column of the table"),
            _EXPRESSION,
            Parameter("where", "string", True, "only rows where this condition is true"),
        ),
        FILLED_SCHEMA,
        run_by_jar,
    ),
    "begin": Procedure(
        "Begins a transaction: all later writes of the session to tables of a database are"
        " committed in one epoch, or not at all.",
        (
            Parameter("database", "string", False, "its name or path"),
            Parameter("user_metadata", "string", True, "a note that the history shows"),
            Parameter("txn_app_id", "string", True, "an application whose batch this is"),
            Parameter("txn_version", "bigint", True, "the number of the batch, which grows"),
            Parameter("expect_epoch", "bigint", True, "the epoch that the database must be at"),
        ),
        "transaction string",
        begin,
    ),
    "commit": Procedure(
        "Commits the session's transaction as one epoch.", (), "epoch long", commit
    ),
    "rollback": Procedure(
        "Ends the session's transaction and discards its changes.", (), "epoch long", rollback
    ),
    "statement_counts": Procedure(
        "Returns what a statement of the session's transaction changed.",
        (Parameter("statement", "string", False, "the id in its tag"),),
        COUNTS_SCHEMA,
        statement_counts,
    ),
    "refresh": Procedure(
        "Has Spark drop the session's cached tables, after a write that bypassed Spark.",
        (),
        "refreshed boolean",
        lambda _: [(True,)],
    ),
    "plan_compaction": Procedure(
        "Returns what compact would do now, and why.", _COMPACTED, PLAN_SCHEMA, plan_compaction
    ),
}

OPS = {"procedures": procedures, "call_procedure": call_procedure}
