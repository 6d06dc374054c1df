"""Tables and databases as a notebook shows them: as they are now, from the log alone.

A handle is what the user has: a table or database of Python, or that of Spark which holds it.
"""

from __future__ import annotations

from collections.abc import Callable

from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.log.log import Log
from colonnade.manifests.sizes import size_text
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.html import Rows, html_of
from colonnade.tableformat.table.design.description import (
    partitioning_of,
    primary_key_of,
    sort_key_of,
)
from colonnade.tableformat.table.epochs.history import changes, history_of
from colonnade.tableformat.table.open_table import OpenTable
from colonnade.tableformat.types.arrow_types import type_name

_CHANGES = 5
"""The newest changes of a table that are shown."""

_TABLES = 50
"""The most tables of a database that are shown."""


def table_html(handle: object, table: OpenTable) -> str:
    """Return a table's columns, size, keys and last changes as HTML.

    Reads the entries of its RowSets and the last epochs. What cannot be read is said in the HTML.
    """
    try:
        snapshot = table.refresh()
        state = table.location.require(snapshot)
        rows, rowsets, size = _amounts(table.log, state)
        last = history_of(table.log, snapshot, state, _CHANGES)
    except ColonnadeError as error:
        return html_of(repr(handle), [("error", error.message)])
    facts = [
        ("epoch", str(snapshot.epoch)),
        ("rows", rows),
        ("RowSets", rowsets),
        ("size", size),
        ("primary key", list(primary_key_of(state))),
        ("sort key", sort_key_of(state)),
        ("partitioning", list(partitioning_of(state))),
        ("comment", state.comment),
    ]
    columns = [
        (
            field.name,
            type_name(field.type),
            "" if field.nullable else "NOT NULL",
            field.comment or "",
        )
        for field in state.schema.fields
    ]
    shown = Rows(("column", "type", "", "comment"), columns)
    return html_of(repr(handle), facts, shown, changes(last))


def database_html(handle: object, log: Log, refresh: Callable[[], Snapshot]) -> str:
    """Return the tables of a database as HTML; reads the entries of their RowSets."""
    try:
        snapshot = refresh()
        names = snapshot.own_names()
        shown = sorted(names, key=lambda key: names[key])[:_TABLES]
        tables = [_table_row(log, snapshot, snapshot.tables[key]) for key in shown]
    except ColonnadeError as error:
        return html_of(repr(handle), [("error", error.message)])
    more = len(names) - len(shown)
    facts = [
        ("epoch", str(snapshot.epoch)),
        ("tables", f"{len(names)}, of which {len(shown)} are shown" if more else len(names)),
        ("tags", sorted(snapshot.tags)),
    ]
    return html_of(
        repr(handle), facts, Rows(("table", "rows", "RowSets", "size", "changed at epoch"), tables)
    )


def _table_row(log: Log, snapshot: Snapshot, state: TableState) -> tuple[object, ...]:
    return (state.name, *_amounts(log, state), str(state.changed_epoch))


def _amounts(log: Log, state: TableState) -> tuple[int, int, str]:
    """Return the number of rows, before expiry and deleted ranges, and RowSets, and their size."""
    entries = log.rowsets.read_entries(state, which="all")
    rows = int(entries.rows.sum() - entries.deleted.sum())
    return rows, len(entries), size_text(int(entries.byte_counts.sum()))
