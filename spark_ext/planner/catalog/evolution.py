"""Answer requests about columns that a statement WITH SCHEMA EVOLUTION brings into a table.

Spark compares the columns, and asks the catalog for the changes before it plans the statement.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.model.widening import evolved_type
from colonnade.manifests.state.snapshot import TableState
from colonnade.spark_ext.options import parse_write_options
from colonnade.spark_ext.planner.catalog.alterations import alteration, column_of
from colonnade.spark_ext.planner.state.storage import place
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.spark_ext.types import declared_json, from_json, to_json
from colonnade.tableformat.location import locate_existing
from colonnade.tableformat.table.alteration import Alteration
from colonnade.tableformat.table.alteration.plan import draft_of
from colonnade.tableformat.table.new_columns import commit_evolution
from colonnade.tableformat.table.wanted_columns import (
    asked_changes,
    merged_changes,
    missing_fields,
)
from colonnade.tableformat.write.identity import open_schema

Args = Mapping[str, Any]


def evolve_table(args: Args) -> dict[str, Any]:
    """Give the table at `path` the columns and types that the source of a statement brings.

    `changes` are those of `alter_table`. What a concurrent writer has done meanwhile is left out,
    so the request may be repeated. With `exact`, each type must become the one that is asked for.
    """
    TRANSACTIONS.refuse(args["path"], "altered")
    location = locate_existing(place(args["path"]))
    log = Log(location.store)
    asked = [alteration(change) for change in args["changes"]]

    def changes(table: TableState) -> tuple[Alteration, ...]:
        return asked_changes(table.schema, asked, exact=args["exact"])

    base = log.read_head(look=location.look)
    return {"epoch": commit_evolution(log, location, base, changes).epoch}


def merge_columns(args: Args) -> dict[str, Any]:
    """Give the table at `path` what it lacks for rows with the Spark schema `columns`.

    With `by_name` they are matched by name, and otherwise by position. The request may be repeated.
    Raises InvalidInputError for options that exclude each other, and for a new column without a
    type.
    """
    parse_write_options({**args["options"], "path": args["path"]})
    TRANSACTIONS.refuse(args["path"], "altered")
    location = locate_existing(place(args["path"]))
    log = Log(location.store)

    def changes(table: TableState) -> tuple[Alteration, ...]:
        return _wanted(args, table)

    base = log.read_head(look=location.look)
    return {"epoch": commit_evolution(log, location, base, changes).epoch}


def check_columns(args: Args) -> dict[str, Any]:
    """Refuse what `merge_columns` would refuse of the rows. Changes nothing."""
    location = locate_existing(place(args["path"]))
    _wanted(args, location.require(Log(location.store).read_head(look=location.look)))
    return {}


def _wanted(args: Args, table: TableState) -> tuple[Alteration, ...]:
    """Return the changes that a table needs for rows. Raises InvalidInputError if none would do."""
    given = _given(json.loads(args["columns"]), table, args["by_name"])
    wanted = merged_changes(table.schema, given, by_name=args["by_name"])
    missing = missing_fields(table.schema, given, by_name=args["by_name"])
    if wanted and missing:
        raise InvalidInputError(
            f"The rows have no field {missing[0]!r}, which table {table.name!r} has; add it to the"
            " rows. The table is unchanged."
        )
    return wanted


def columns_after_merge(args: Args) -> dict[str, Any]:
    """Return the Spark schema that a table would have after a MERGE of rows with `columns`.

    The reply's `schema` is None where nothing would change, or where the change is refused.
    Changes nothing.
    """
    location = locate_existing(place(args["path"]))
    table = location.require(Log(location.store).read_head(look=location.look))
    try:
        given = _given(json.loads(args["columns"]), table, by_name=True)
        changes = merged_changes(table.schema, given, by_name=True)
        schema = draft_of(table, changes).schema
    except InvalidInputError:
        return {"schema": None}
    shown = None if schema == table.schema else declared_json(open_schema(schema))
    return {"schema": shown}


def _given(columns: dict[str, Any], table: TableState, by_name: bool) -> tuple[SchemaField, ...]:
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


def may_widen(args: Args) -> dict[str, Any]:
    """Say whether a column of the Spark type `own` can widen to take values of the type `given`."""
    own, given = (column_of("c", args[name]).type for name in ("own", "given"))
    return {"may": evolved_type(own, given) is not None}


OPS = {
    "evolve_table": evolve_table,
    "merge_columns": merge_columns,
    "check_columns": check_columns,
    "columns_after_merge": columns_after_merge,
    "may_widen": may_widen,
}
