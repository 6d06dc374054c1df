"""Generated columns in requests. The JVM computes them in the rows that Spark writes.

Spec: docs/spec/types.md#generated-columns
"""

from __future__ import annotations

from collections.abc import Collection

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.generated import expression_of, generated_fields, sources_of
from colonnade.manifests.model.schema import TableSchema
from colonnade.spark_ext.planner.messages.clauses import Generated
from colonnade.tableformat.table.design.generated import NewGenerated


def described(schema: TableSchema) -> tuple[Generated, ...]:
    """Return the generated columns."""
    return tuple(
        Generated(
            column=field.name,
            sql=expression_of(field.generated, schema),
            reads=tuple(source.name for source in sources_of(field, schema)),
            time_zone=field.generated.time_zone,
        )
        for field in generated_fields(schema)
        if field.generated is not None
    )


def described_generation(stated: Generated) -> NewGenerated:
    """Return the generated column that a statement states."""
    return NewGenerated(stated.column, stated.sql, stated.reads, stated.time_zone)


def require_filled(table: str, schema: TableSchema, filled: Collection[str] | None) -> None:
    """Refuse rows unless Spark computes each generated column of the table in them.

    `filled` are the columns that it computes, or None for a statement without rows. Raises
    InvalidInputError that names the table and the column.
    """
    if filled is None:
        return
    for field in generated_fields(schema):
        if field.name not in filled:
            raise InvalidInputError(
                f"Table {table!r} has the generated column {field.name!r}, which this statement of"
                " Spark does not compute; start the session with colonnade.configure, or write the"
                " table with colonnade.open."
            )
