"""Columns that the rows of a write bring into a table."""

from __future__ import annotations

import json
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import ObjectStore
from colonnade.spark_ext.planner.clauses.new_columns import add_column, widen_column
from colonnade.spark_ext.planner.messages.changes import AddColumn, Change, WidenColumn
from colonnade.spark_ext.planner.messages.views import RowsToWrite
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.types import from_json, to_json
from colonnade.tableformat.table.alteration import Alteration
from colonnade.tableformat.table.alteration.plan import plan_alterations
from colonnade.tableformat.table.evolution.needed_alterations import (
    asked_changes,
    merged_changes,
    missing_fields,
)
from colonnade.tableformat.write.column_changes import ColumnChanges


def with_columns(
    store: ObjectStore, base: Snapshot, table: TableState, rows: RowsToWrite
) -> tuple[Snapshot, ColumnChanges]:
    """Return a state in which `table` has what it lacks at `base` for some rows, and the changes.

    Raises the errors of `wanted_columns`.
    """
    wanted = wanted_columns(rows, table)
    text = "; ".join(map(str, wanted))
    changes = ColumnChanges(operations=plan_alterations(table, wanted), text=text)
    return changes.preview(SNAPSHOTS.log(store), base), changes


def wanted_columns(rows: RowsToWrite, table: TableState) -> tuple[Alteration, ...]:
    """Return the changes that a table needs for rows.

    Raises InvalidInputError if no change makes the rows fit.
    """
    if rows.columns is None:
        asked = [_asked(change) for change in rows.changes or ()]
        return asked_changes(table.schema, asked, exact=rows.exact)
    given = given_columns(json.loads(rows.columns), table, rows.by_name)
    wanted = merged_changes(table.schema, given, by_name=rows.by_name)
    missing = missing_fields(table.schema, given, by_name=rows.by_name)
    if wanted and missing:
        raise InvalidInputError(
            f"The rows have no field {missing[0]!r}, which table {table.name!r} has; add it to the"
            " rows. The table is unchanged."
        )
    return wanted


def _asked(change: Change) -> Alteration:
    """Return what Spark asks for in a statement WITH SCHEMA EVOLUTION."""
    if isinstance(change, AddColumn):
        return add_column(change)
    assert isinstance(change, WidenColumn), change
    return widen_column(change)


def given_columns(
    columns: dict[str, Any], table: TableState, by_name: bool
) -> tuple[SchemaField, ...]:
    """Return the columns of a Spark schema. What is void has the type that the table has there."""
    own = {"type": "struct", "fields": to_json(table.schema)["fields"]}
    return from_json(_without_void(columns, own, by_name)).fields


def _without_void(given: Any, own: Any, by_name: bool) -> Any:
    """Return a type in Spark's JSON with the types of `own`, or of a part of it, where it is void.

    Parts are matched as columns are: by name, or by position. What `own` lacks stays void.
    """
    if given == "void" and own is not None:
        return own
    kind = given["type"] if isinstance(given, dict) else None
    if kind is None or not isinstance(own, dict) or own["type"] != kind:
        return given
    if kind == "struct":
        names = {field["name"].casefold(): field["type"] for field in own["fields"]}
        places = dict(enumerate(names.values()))
        fields = [
            {
                **field,
                "type": _without_void(
                    field["type"],
                    names.get(field["name"].casefold()) if by_name else places.get(place),
                    by_name,
                ),
            }
            for place, field in enumerate(given["fields"])
        ]
        return {**given, "fields": fields}
    parts = {"array": ("elementType",), "map": ("keyType", "valueType")}.get(kind, ())
    return {**given, **{part: _without_void(given[part], own[part], by_name) for part in parts}}
