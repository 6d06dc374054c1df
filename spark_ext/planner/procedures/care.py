"""`CALL colonnade.system.vacuum`, `verify` and `repair`, which run in the planner's process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.answer_rows import planned_vacuum_rows, vacuum_row
from colonnade.spark_ext.planner.read.metadata import Row
from colonnade.spark_ext.planner.state.storage import place
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.table import ArrowTable

VERIFY_SCHEMA = (
    "kind string, problem string, file string, table string, rowset long, column string,"
    " block long, first_row long, last_row long"
)
REPAIR_SCHEMA = (
    "epoch long, rowset long, first_row long, last_row long, rows_lost long, columns string,"
    " certain boolean"
)


def vacuum(arguments: Mapping[str, Any]) -> Iterable[Row]:
    """Vacuum the database of a table; return one row about what was, or would be, removed."""
    table = ArrowTable.open(place(arguments["table"]))
    result = table.vacuum(
        arguments["retention_hours"],
        retain_epochs=arguments["retain_epochs"],
        dry_run=bool(arguments["dry_run"]),
        force=bool(arguments["force"]),
    )
    return [vacuum_row(table.path, result)]


def plan_vacuum(arguments: Mapping[str, Any]) -> Iterable[Row]:
    """Return one row for each file that `vacuum` would remove."""
    table = ArrowTable.open(place(arguments["table"]))
    result = table.vacuum(
        arguments["retention_hours"], retain_epochs=arguments["retain_epochs"], dry_run=True
    )
    return planned_vacuum_rows(table._log.store.url, result)


def verify(arguments: Mapping[str, Any]) -> Iterable[Row]:
    """Look for damage; return one row for each finding."""
    depth = 3 if arguments["depth"] is None else arguments["depth"]
    for each in ArrowTable.open(place(arguments["table"])).verify(depth).findings:
        first, last = each.rows or (None, None)
        yield (
            each.kind,
            each.problem,
            each.file,
            each.table,
            each.rowset,
            each.column,
            each.block,
            first,
            last,
        )


def repair(arguments: Mapping[str, Any]) -> Iterable[Row]:
    """Drop the unreadable rows of RowSets, or rebuild checkpoints if no RowSets are named.

    Returns one row for each stretch of lost rows. If no rows are lost, one row has the epoch.
    """
    TRANSACTIONS.refuse(arguments["table"], "repaired")
    table = ArrowTable.open(place(arguments["table"]))
    text, rescue = arguments["rowsets"], arguments["rescue"]
    dry_run = bool(arguments["dry_run"])
    if text is None and rescue is None:
        result = ArrowDatabase.open(table._log.store.address).repair(dry_run=dry_run)
        return [(result.epoch, *[None] * 6)]
    if text is None or rescue is None:
        raise InvalidInputError(
            "Give both `rowsets`, the damaged RowSets, and `rescue`, a new file for what can be"
            " read of their lost rows; or give neither, to rebuild checkpoints."
        )
    done = table.repair(_numbers(text), rescue=rescue, dry_run=dry_run)
    return [
        (
            done.epoch,
            each.rowset,
            each.first,
            each.last,
            each.count,
            ", ".join(each.columns),
            each.certain,
        )
        for each in done.lost
    ] or [(done.epoch, None, None, None, 0, None, None)]


def _numbers(text: str) -> list[int]:
    try:
        return [int(each) for each in text.split(",")]
    except ValueError as error:
        raise InvalidInputError(
            f"Argument rowsets must be numbers like '3, 7', not {text!r}."
        ) from error
