"""Refuse requests to write tables that Spark can only read, because Python fills their columns."""

from __future__ import annotations

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.generated import generated_fields
from colonnade.manifests.model.schema import TableSchema


def require_writable(table: str, schema: TableSchema) -> None:
    """Refuse a table with generated columns, before anything of it is changed.

    Raises InvalidInputError that names the table and the column.
    """
    if columns := generated_fields(schema):
        raise InvalidInputError(
            f"Table {table!r} has the generated column {columns[0].name!r}, which Spark cannot"
            " fill; write the table with colonnade.open."
        )
