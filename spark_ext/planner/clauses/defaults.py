"""Defaults of columns as the Java half sends them: SQL text, and its value now; pure."""

from __future__ import annotations

from collections.abc import Mapping

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import TableSchema
from colonnade.spark_ext.planner.clauses.filters import literal_of
from colonnade.spark_ext.planner.messages.clauses import Default
from colonnade.tableformat.table.design.defaults import SqlDefault, with_default

_TEXTS = ("string", "char(", "varchar(")


def read_default(column: str, given: Default) -> SqlDefault:
    """Read a default. Raises InvalidInputError for a value that has no literal."""
    tree = given.now
    if tree is not None and str(tree.type).startswith(_TEXTS):
        tree = tree.model_copy(update={"type": "string"})
    literal = None if tree is None else literal_of(tree)
    if literal is None:
        raise InvalidInputError(
            f"Column {column!r} cannot have the default {given.sql!r}: only whole columns of"
            " other types than array, map, struct and variant can have one."
        )
    return SqlDefault(given.sql, literal)


def with_defaults(schema: TableSchema, given: Mapping[str, Default]) -> TableSchema:
    """Return the columns of a table to create, with the defaults that a statement declares.

    Raises InvalidInputError that names the column whose default is not possible.
    """
    if not given:
        return schema
    fields = (
        with_default(field, read_default(field.name, given[field.name]))
        if field.name in given
        else field
        for field in schema.fields
    )
    return TableSchema(fields=tuple(fields))


def default_texts(schema: TableSchema) -> dict[str, str]:
    """Return the SQL text of each default, by column."""
    return {field.name: field.default.sql for field in schema.fields if field.default is not None}
