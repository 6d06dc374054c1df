"""Columns that the rows of a write bring into a table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import ObjectStore
from colonnade.spark_ext.planner.clauses.asked_columns import add_column, widen_column
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.types import from_json, to_json
from colonnade.tableformat.table.alteration import Alteration
from colonnade.tableformat.table.alteration.plan import plan_alterations
from colonnade.tableformat.table.wanted_columns import (
    asked_changes,
    merged_changes,
    missing_fields,
)
from colonnade.tableformat.write.column_changes import ColumnChanges

Args = Mapping[str, Any]

_ASKED = {"add_column": add_column, "widen_column": widen_column}
"""What Spark asks for in a statement WITH SCHEMA EVOLUTION, by the kind of the change."""


def with_columns(
    store: ObjectStore, base: Snapshot, table: TableState, rows: Args
) -> tuple[Snapshot, ColumnChanges]:
    """Return a state in which `table` has what it lacks at `base` for some rows, and the changes.

    `rows` is as in `wanted_columns`, which raises its errors.
    """
    wanted = wanted_columns(rows, table)
    text = "; ".join(map(str, wanted))
    changes = ColumnChanges(operations=plan_alterations(table, wanted), text=text)
    return changes.preview(SNAPSHOTS.log(store), base), changes


def wanted_columns(args: Args, table: TableState) -> tuple[Alteration, ...]:
    """Return the changes that a table needs for rows.

    Raises InvalidInputError if no change makes the rows fit.

    `args` has either the Spark schema `columns` of the rows, and whether they are matched
    `by_name`, or the `changes` that Spark asks for, in the form of `alter_table`. What the table
    has already is left out. With `exact`, a type must become the one that Spark asks for.
    """
    if (changes := args.get("changes")) is not None:
        asked = [_ASKED[change["kind"]](change) for change in changes]
        return asked_changes(table.schema, asked, exact=args["exact"])
    given = given_columns(json.loads(args["columns"]), table, args["by_name"])
    wanted = merged_changes(table.schema, given, by_name=args["by_name"])
    missing = missing_fields(table.schema, given, by_name=args["by_name"])
    if wanted and missing:
        raise InvalidInputError(
            f"The rows have no field {missing[0]!r}, which table {table.name!r} has; add it to the"
            " rows. The table is unchanged."
        )
    return wanted


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
