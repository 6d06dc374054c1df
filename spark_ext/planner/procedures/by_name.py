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
from colonnade.spark_ext.planner.messages import procedures as messages
from colonnade.spark_ext.planner.messages.base import Rows, operation
from colonnade.spark_ext.planner.messages.procedures import (
    CallProcedure,
    ListProcedures,
    Parameter,
    ProcedureList,
)
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
from colonnade.spark_ext.planner.procedures.consumers import (
    CONSUMERS_SCHEMA,
    consumers,
    create_consumer,
    drop_consumer,
    reset_consumer,
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
class Procedure:
    """A procedure; `schema` has the columns of its result, in DDL."""

    description: str
    parameters: tuple[Parameter, ...]
    schema: str
    run: Callable[[Args], Iterable[Row]]


def _parameter(name: str, type_: str, optional: bool, description: str) -> Parameter:
    return Parameter(name=name, type=type_, optional=optional, description=description)


_TABLE = _parameter("table", "string", False, "database.table or a path")
_DRY_RUN = _parameter("dry_run", "boolean", True, "only report what would be done")
_EXPRESSION = _parameter("expression", "string", False, "its value in SQL, from columns of the row")
_TAG = _parameter("name", "string", False, "the tag")
_OF_DATABASE = (
    _parameter("table", "string", True, "a table, as database.table or a path"),
    _parameter("database", "string", True, "a database, by its name or path"),
)
_EPOCH = (
    _parameter("epoch", "bigint", True, "the number of the epoch"),
    _parameter("timestamp", "timestamp", True, "the last epoch up to a time"),
)
_CONSUMER = _parameter("name", "string", False, "the consumer")
_START = (
    _parameter("epoch", "bigint", True, "the first epoch that it reads; by default the next one"),
    _parameter("timestamp", "timestamp", True, "the first epoch from a time on"),
    _parameter("tag", "string", True, "the epoch that has this tag"),
)
_COMPACTED = (
    _TABLE,
    _parameter("where", "string", True, "only RowSets that may hold such rows"),
    _parameter("options", "string", True, "the policy for this run, such as deleted-share=0"),
)
_RETAINED = (
    _TABLE,
    _parameter("retention_hours", "double", True, "instead of the table's retention.hours"),
    _parameter("retain_epochs", "int", True, "instead of the table's retention.epochs"),
)


@operation
def list_procedures(_: ListProcedures) -> ProcedureList:
    """Read nothing."""
    return ProcedureList(
        procedures={
            name: messages.Procedure(
                description=each.description, columns=each.schema, parameters=each.parameters
            )
            for name, each in PROCEDURES.items()
        }
    )


@operation
def call_procedure(request: CallProcedure) -> Rows:
    """Raise the errors of the procedure."""
    return Rows(rows=plain_rows(PROCEDURES[request.name].run(request.arguments)))


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
    head = Log(location.store).reader.read_head(opening=location.opening)
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
        (_TABLE, _parameter("limit", "int", True, "return at most this many epochs")),
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
        (
            _TABLE,
            _parameter("fields", "string", False, "such as 'days(ts), bucket(16, id)', or ''"),
        ),
        "epoch long, layout int",
        _set_partitioning,
    ),
    "compact": Procedure(
        "Replaces small RowSets, and RowSets with deleted rows, by fewer and larger ones.",
        (*_COMPACTED, _parameter("zorder_by", "string", True, "columns to order all rows by")),
        OPTIMIZE_SCHEMA,
        compact,
    ),
    "vacuum": Procedure(
        "Removes the files that no kept epoch of a table's database needs.",
        (
            *_RETAINED,
            _parameter("force", "boolean", True, "allow a retention below 168 hours"),
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
        (_TABLE, _parameter("depth", "int", True, "1 log, 2 indexes, 3 checksums, 4 values")),
        VERIFY_SCHEMA,
        verify,
    ),
    "repair": Procedure(
        "Rebuilds checkpoints from the log, or drops the unreadable rows of named RowSets.",
        (
            _TABLE,
            _parameter("rowsets", "string", True, "ids of damaged RowSets, such as '3, 7'"),
            _parameter("rescue", "string", True, "new Parquet file for rescued values"),
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
            _parameter("tag", "string", True, "the epoch that has this tag"),
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
    "create_consumer": Procedure(
        "Creates a consumer, which reads each change of a table once.",
        (
            _CONSUMER,
            _TABLE,
            *_START,
            _parameter("keep", "string", True, "how long vacuum waits for it, such as '7 days'"),
        ),
        CONSUMERS_SCHEMA,
        create_consumer,
    ),
    "reset_consumer": Procedure(
        "Lets a consumer go on with an earlier or a later epoch, by default the next one.",
        (_CONSUMER, *_OF_DATABASE, *_START),
        CONSUMERS_SCHEMA,
        reset_consumer,
    ),
    "drop_consumer": Procedure(
        "Removes a consumer.", (_CONSUMER, *_OF_DATABASE), CONSUMERS_SCHEMA, drop_consumer
    ),
    "consumers": Procedure(
        "How far each consumer of a database has read.", _OF_DATABASE, CONSUMERS_SCHEMA, consumers
    ),
    "add_column": Procedure(
        "Adds a column with a computed value in each row, in one epoch, beside running writers.",
        (
            _TABLE,
            _parameter("name", "string", False, "the name of the new column"),
            _parameter("type", "string", False, "its type, such as 'int NOT NULL'"),
            _EXPRESSION,
        ),
        FILLED_SCHEMA,
        run_by_jar,
    ),
    "add_static_column": Procedure(
        "Adds a static column, which has one value for each partition key of a table.",
        (
            _TABLE,
            _parameter("name", "string", False, "the name of the new column"),
            _parameter("type", "string", False, "its type, such as 'array<string>'"),
        ),
        "epoch long",
        _add_static_column,
    ),
    "backfill": Procedure(
        "Gives a column a computed value in the rows that meet a condition, in one epoch.",
        (
            _TABLE,
            _parameter("column", "string", False, "a column of the table"),
            _EXPRESSION,
            _parameter("where", "string", True, "only rows where this condition is true"),
        ),
        FILLED_SCHEMA,
        run_by_jar,
    ),
    "begin": Procedure(
        "Begins a transaction: all later writes of the session to tables of a database are"
        " committed in one epoch, or not at all.",
        (
            _parameter("database", "string", False, "its name or path"),
            _parameter("user_metadata", "string", True, "a note that the history shows"),
            _parameter("txn_app_id", "string", True, "an application whose batch this is"),
            _parameter("txn_version", "bigint", True, "the number of the batch, which grows"),
            _parameter("expect_epoch", "bigint", True, "the epoch that the database must be at"),
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
        (_parameter("statement", "string", False, "the id in its tag"),),
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
