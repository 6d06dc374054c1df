"""Columns and types that a statement of Spark asks for, as alterations of the table format."""

from __future__ import annotations

import json

from colonnade.manifests.model.schema import SchemaField
from colonnade.spark_ext.planner.clauses.defaults import read_default
from colonnade.spark_ext.planner.messages import changes
from colonnade.spark_ext.types import from_json
from colonnade.tableformat.table.alteration import AddColumn, WidenColumn


def add_column(change: changes.AddColumn) -> AddColumn:
    """Return the addition that Spark asks for. Raises InvalidInputError that names the column."""
    *parent, name = change.column
    path = ".".join(change.column)
    # Errors about the type then name the whole path.
    found = column_of(path, change.type, change.nullable, change.comment)
    column = found.model_copy(update={"name": name})
    given = change.default_value
    default = None if given is None else read_default(path, given)
    return AddColumn(column, change.after, change.first, default, tuple(parent))


def widen_column(change: changes.WidenColumn) -> WidenColumn:
    """Return the wider type that Spark asks for. Raises InvalidInputError that names the column."""
    path = change.column
    return WidenColumn(path, column_of(".".join(path), change.type).type)


def column_of(
    name: str, type_json: str, nullable: bool = True, comment: str | None = None
) -> SchemaField:
    """Return the column of a name and a Spark type. Raises InvalidInputError that names it."""
    column = {
        "name": name,
        "type": json.loads(type_json),
        "nullable": nullable,
        "metadata": {} if comment is None else {"comment": comment},
    }
    return from_json({"fields": [column]}).fields[0]
