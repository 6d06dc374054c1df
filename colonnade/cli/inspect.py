"""`ls`, `show`, `schema`, `history`, `rowsets`: print what the log says; open no data file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

import numpy as np
import typer
from rich.console import RenderableType

from colonnade.cli.arguments import (
    DatabaseArgument,
    EpochOption,
    JsonOption,
    PathArgument,
    TableArgument,
)
from colonnade.cli.output import Output, facts_table, number, rows_table
from colonnade.cli.places import DatabasePlace, open_database, open_place
from colonnade.manifests.sizes import share_text, size_text
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.table.epochs.history import HistoryEntry
from colonnade.tableformat.table.report.database_facts import (
    ColumnFacts,
    DatabaseFacts,
    EpochFacts,
    RowSetFacts,
    TableFacts,
    column_facts,
    database_facts,
    epoch_facts,
    rowset_facts,
    table_facts,
    tables_facts,
)

LimitOption = Annotated[int, typer.Option("--limit", "-n", min=1, help="List at most this many.")]


def ls(database: DatabaseArgument, json: JsonOption = False) -> None:
    """List the tables of a database."""
    place = open_database(database)
    tables = tables_facts(place.log, place.head)
    Output(json).show(tables, _tables_view(tables))


def show(path: PathArgument, json: JsonOption = False) -> None:
    """Describe a database or a table."""
    place = open_place(path)
    if place.is_table:
        table = table_facts(place.log, place.head, place.state)
        Output(json).show(table, _table_view(table))
    else:
        tables = tables_facts(place.log, place.head)
        database = database_facts(place.log, place.head, tables)
        Output(json).show(database, _database_view(database))


def schema(table: TableArgument, epoch: EpochOption = None, json: JsonOption = False) -> None:
    """List the columns of a table."""
    columns = column_facts(_state_at(open_place(table), epoch))
    Output(json).show(columns, _columns_view(columns))


def history(path: PathArgument, limit: LimitOption = 20, json: JsonOption = False) -> None:
    """List the epochs of a database, or the epochs that changed a table, newest first."""
    place = open_place(path)
    if place.is_table:
        changes = place.table.history(limit)
        Output(json).show(changes, _changes_view(changes))
    else:
        epochs = place.log.reader.read_kept_epochs(place.head, limit)
        facts = [epoch_facts(epoch, place.head) for epoch in epochs]
        Output(json).show(facts, _epochs_view(facts))


def rowsets(
    table: TableArgument,
    limit: LimitOption = 50,
    by: Annotated[
        Literal["id", "bytes", "rows", "deleted"],
        typer.Option("--by", help="Sort by this: ids ascending, anything else descending."),
    ] = "id",
    epoch: EpochOption = None,
    json: JsonOption = False,
) -> None:
    """List the RowSets of a table: their rows, bytes, deleted share and bounds."""
    place = open_place(table)
    state = _state_at(place, epoch)
    entries = place.log.rowsets.read_entries(state, which="all")
    measures = {
        "id": entries.ids,
        "bytes": -entries.byte_counts,
        "rows": -entries.rows,
        "deleted": -(entries.deleted / np.maximum(entries.rows, 1)),
    }
    order = np.argsort(measures[by], kind="stable")[:limit]
    facts = [rowset_facts(state, rowset) for rowset in entries.at(order)]
    output = Output(json)
    output.show(facts, _rowsets_view(facts))
    if len(facts) < len(entries) and not json:
        output.note(f"{len(facts):,} of {len(entries):,} RowSets; --limit shows more.")


def _state_at(place: DatabasePlace, epoch: int | None) -> TableState:
    """Return the table's state at an epoch, even if the table had another name then."""
    state = place.table._open.snapshot_at(epoch)
    return place.location.follow(place.head).require_at(state, place.head)


def _tables_view(tables: list[TableFacts]) -> RenderableType:
    return rows_table(
        ("table", "rows", "deleted", "RowSets", "size", "changed at epoch"),
        (
            (
                table.name,
                table.rows,
                share_text(table.deleted_rows, table.rows + table.deleted_rows),
                table.rowsets,
                size_text(table.bytes),
                table.changed_epoch,
            )
            for table in tables
        ),
    )


def _table_view(table: TableFacts) -> RenderableType:
    return facts_table(
        (
            ("table", table.name),
            ("path", table.path),
            ("comment", table.comment),
            ("epoch", table.epoch),
            ("rows", table.rows),
            ("deleted rows", table.deleted_rows),
            ("RowSets", table.rowsets),
            ("size", size_text(table.bytes)),
            ("columns", table.columns),
            ("sort key", ", ".join(table.sort_key)),
            ("partitions", ", ".join(table.partitioning)),
            ("created at epoch", table.created_epoch),
            ("changed at epoch", table.changed_epoch),
            *((f"property {name}", value) for name, value in sorted(table.properties.items())),
        )
    )


def _database_view(database: DatabaseFacts) -> RenderableType:
    return facts_table(
        (
            ("database", database.path),
            ("epoch", database.epoch),
            ("committed", when(database.time)),
            ("oldest readable", database.floor),
            ("tables", database.tables),
            ("rows", database.rows),
            ("RowSets", database.rowsets),
            ("size", size_text(database.bytes)),
            ("tags", ", ".join(f"{name}: {epoch}" for name, epoch in database.tags.items())),
            (
                "pins",
                ", ".join(
                    f"{name}: {pin.epoch} until {when(pin.until)}"
                    for name, pin in database.pins.items()
                ),
            ),
            ("features of readers", ", ".join(database.reader_features)),
            ("features of writers", ", ".join(database.writer_features)),
        )
    )


def _columns_view(columns: list[ColumnFacts]) -> RenderableType:
    return rows_table(
        ("id", "column", "type", "", "comment"),
        ((c.id, c.name, c.type, _rule(c), c.comment or "") for c in columns),
    )


def _rule(column: ColumnFacts) -> str:
    if column.static:
        return "static"
    return "" if column.nullable else "NOT NULL"


def _changes_view(changes: list[HistoryEntry]) -> RenderableType:
    return rows_table(
        ("epoch", "committed", "operation", "rows added", "RowSets", "size", "counted"),
        (
            (
                change.epoch,
                when(change.timestamp),
                change.operation,
                change.rows_added,
                f"+{change.rowsets_added} -{change.rowsets_dropped}",
                size_text(change.bytes_added),
                _pairs(change.metrics),
            )
            for change in changes
        ),
    )


def _epochs_view(epochs: list[EpochFacts]) -> RenderableType:
    return rows_table(
        ("epoch", "committed", "operation", "tables", "counted", "written by"),
        (
            (
                epoch.epoch,
                when(epoch.timestamp),
                epoch.operation,
                ", ".join(epoch.tables),
                _pairs(epoch.metrics),
                epoch.engine,
            )
            for epoch in epochs
        ),
    )


def _rowsets_view(rowsets: list[RowSetFacts]) -> RenderableType:
    column = rowsets[0].bounded_by if rowsets else "first column"
    partitioned = any(each.partition is not None for each in rowsets)
    return rows_table(
        (
            *("id", "epoch", "rows", "deleted", "size", "stored as"),
            *(("partition",) if partitioned else ()),
            *(f"least {column}", "greatest"),
        ),
        (
            (
                each.id,
                each.epoch,
                each.rows,
                share_text(each.deleted_rows, each.rows + each.deleted_rows),
                size_text(each.bytes),
                each.place,
                *((each.partition or "",) if partitioned else ()),
                each.low or "",
                each.high or "",
            )
            for each in rowsets
        ),
    )


def when(moment: datetime) -> str:
    """Format a time in UTC, to the second."""
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def _pairs(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {number(count)}" for name, count in counts.items() if count)
