"""What `CALL colonnade.system.<name>(...)` can call.

Described here in full, parameters and result rows; the Java half only shows them to Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from colonnade.manifests.checkpoint.writer import write_checkpoint
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.partition_layout import split_fields
from colonnade.spark_ext.answer_rows import HISTORY_SCHEMA, VACUUM_SCHEMA, history_row
from colonnade.spark_ext.planner.care import REPAIR_SCHEMA, VERIFY_SCHEMA, repair, vacuum, verify
from colonnade.spark_ext.planner.compaction import (
    COMPACT_SCHEMA,
    PLAN_SCHEMA,
    compact,
    plan_compaction,
)
from colonnade.spark_ext.planner.epochs import (
    RESTORE_SCHEMA,
    TAGS_SCHEMA,
    restore,
    tag,
    tags,
    untag,
)
from colonnade.spark_ext.planner.metadata import Row, plain_rows
from colonnade.spark_ext.planner.transaction_calls import (
    COUNTS_SCHEMA,
    begin,
    commit,
    rollback,
    statement_counts,
)
from colonnade.spark_ext.planner.transactions import TRANSACTIONS
from colonnade.tableformat.location import locate_existing
from colonnade.tableformat.table.table import ArrowTable

Args = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument, of a Spark type in DDL; an `optional` one that is left out is None.

    The arguments `table` and `database` reach the procedure as paths.
    """

    name: str
    type: str
    optional: bool
    description: str


@dataclass(frozen=True, slots=True)
class Procedure:
    """A procedure whose result has the columns `schema`, in DDL."""

    description: str
    parameters: tuple[Parameter, ...]
    schema: str
    run: Callable[[Args], Iterable[Row]]


_TABLE = Parameter("table", "string", False, "database.table or a path")
_DRY_RUN = Parameter("dry_run", "boolean", True, "only say what would be done")
_TAG = Parameter("name", "string", False, "the tag")
_OF_DATABASE = (
    Parameter("table", "string", True, "a table, as database.table or a path"),
    Parameter("database", "string", True, "a database, by its name or path"),
)
_EPOCH = (
    Parameter("epoch", "bigint", True, "the number of the epoch"),
    Parameter("timestamp", "timestamp", True, "the last epoch not after a time"),
)
_COMPACTED = (
    _TABLE,
    Parameter("where", "string", True, "only RowSets that may hold such rows"),
    Parameter("options", "string", True, "the policy for this run, such as deleted-share=0"),
)


def procedures(args: Args) -> dict[str, Any]:
    """All procedures by name."""
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
    """The result rows of the procedure `name` called with `arguments`."""
    return {"rows": plain_rows(PROCEDURES[args["name"]].run(args["arguments"]))}


def _history(arguments: Args) -> Iterable[Row]:
    limit = arguments["limit"]
    if limit is not None and limit < 0:
        raise InvalidInputError(f"The limit of a history is a number from 0, not {limit}.")
    return map(history_row, ArrowTable.open(arguments["table"]).history(limit))


def _checkpoint(arguments: Args) -> Iterable[Row]:
    location = locate_existing(arguments["table"])
    head = Log(location.store).read_head()
    location.require(head)
    stored = write_checkpoint(location.store, head)
    return [(stored.epoch, sum(t.rowsets.rowset_count for t in stored.tables.values()))]


def _set_partitioning(arguments: Args) -> Iterable[Row]:
    TRANSACTIONS.refuse(arguments["table"], "partitioned otherwise")
    table = ArrowTable.open(arguments["table"])
    epoch = table.partition_by(*split_fields(arguments["fields"]))
    return [(epoch, table.state.partition_layout_id)]


PROCEDURES = {
    "history": Procedure(
        "The epochs that changed a table, newest first.",
        (_TABLE, Parameter("limit", "int", True, "at most so many epochs")),
        HISTORY_SCHEMA,
        _history,
    ),
    "checkpoint": Procedure(
        "Stores the state of a table's database, so that opening it reads no epochs before.",
        (_TABLE,),
        "epoch long, rowsets long",
        _checkpoint,
    ),
    "set_partitioning": Procedure(
        "Partitions new rows of a table by other fields; RowSets that are there stay as they are.",
        (_TABLE, Parameter("fields", "string", False, "such as 'days(ts), bucket(16, id)', or ''")),
        "epoch long, layout int",
        _set_partitioning,
    ),
    "compact": Procedure(
        "Puts few large RowSets in the place of small ones, and of those with deleted rows.",
        (*_COMPACTED, Parameter("zorder_by", "string", True, "columns to order all rows by")),
        COMPACT_SCHEMA,
        compact,
    ),
    "vacuum": Procedure(
        "Removes what no kept epoch of a table's database needs.",
        (
            _TABLE,
            Parameter("retention_hours", "double", True, "instead of the table's retention.hours"),
            Parameter("retain_epochs", "int", True, "instead of the table's retention.epochs"),
            _DRY_RUN,
        ),
        VACUUM_SCHEMA,
        vacuum,
    ),
    "verify": Procedure(
        "Looks for damage in a table and its log; a row for each finding, none where all is sound.",
        (_TABLE, Parameter("depth", "int", True, "1 log, 2 indexes, 3 checksums, 4 values")),
        VERIFY_SCHEMA,
        verify,
    ),
    "repair": Procedure(
        "Makes checkpoints anew from the log, or takes damaged RowSets out where they are named.",
        (
            _TABLE,
            Parameter("rowsets", "string", True, "ids of RowSets to take out, such as '3, 7'"),
            Parameter("rescue", "string", True, "new Parquet file for what can be read of them"),
            _DRY_RUN,
        ),
        REPAIR_SCHEMA,
        repair,
    ),
    "restore": Procedure(
        "Makes a table, or all tables of a database, again what they were, by a new epoch.",
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
        "Names an epoch of a database, the newest where none is said; vacuum keeps it then.",
        (_TAG, *_OF_DATABASE, *_EPOCH),
        TAGS_SCHEMA,
        tag,
    ),
    "untag": Procedure(
        "Takes a tag away, so that vacuum may remove its epoch.",
        (_TAG, *_OF_DATABASE),
        TAGS_SCHEMA,
        untag,
    ),
    "tags": Procedure("The tags of a database.", _OF_DATABASE, TAGS_SCHEMA, tags),
    "begin": Procedure(
        "Begins a transaction: what the session writes from now on to tables of a database lands"
        " in one epoch, or not at all.",
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
        "Makes what the session's transaction did one epoch.", (), "epoch long", commit
    ),
    "rollback": Procedure(
        "Ends the session's transaction; nothing of it stays.", (), "epoch long", rollback
    ),
    "statement_counts": Procedure(
        "What a statement of the session's transaction did.",
        (Parameter("statement", "string", False, "the id in its tag"),),
        COUNTS_SCHEMA,
        statement_counts,
    ),
    "refresh": Procedure(
        "Lets Spark read anew what the session has cached of tables, after a write past Spark.",
        (),
        "refreshed boolean",
        lambda _: [(True,)],
    ),
    "plan_compaction": Procedure(
        "What compact would do now, and why.", _COMPACTED, PLAN_SCHEMA, plan_compaction
    ),
}

OPS = {"procedures": procedures, "call_procedure": call_procedure}
