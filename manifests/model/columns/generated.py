"""Generated columns: their values follow from other columns of the same row. Pure.

The log keeps the expression as SQL text in Spark's dialect, and the ids of the columns that it
reads.
Spec: docs/spec/types.md#generated-columns
"""

from __future__ import annotations

from collections.abc import Iterable

from colonnade.manifests.model.columns.stated_sql import present_text
from colonnade.manifests.model.schema import Generation, SchemaField, TableSchema, walk


def generated_fields(schema: TableSchema) -> tuple[SchemaField, ...]:
    """Return the generated columns of a schema, in order."""
    return tuple(field for field in schema.fields if field.generated is not None)


def sources_of(column: SchemaField, schema: TableSchema) -> tuple[SchemaField, ...]:
    """Return the columns that a generated column reads, in the order of the schema."""
    ids = set(() if column.generated is None else column.generated.columns)
    return tuple(field for field in schema.fields if field.id in ids)


def generated_from(columns: Iterable[int], schema: TableSchema) -> SchemaField | None:
    """Return the first generated column that is one of some columns, or reads one; or None."""
    ids = set(columns)
    for field in generated_fields(schema):
        assert field.generated is not None
        if not ids.isdisjoint((field.id, *field.generated.columns)):
            return field
    return None


def expression_of(generation: Generation, schema: TableSchema) -> str:
    """Return the expression with the present names of the columns that it reads."""
    return present_text(generation.sql, generation.references, schema)


def problem_of(schema: TableSchema) -> str | None:
    """Return what is wrong with the generated columns of a schema, or None.

    A generated column is whole and nullable, and has no default and no identity. It reads columns
    that exist, and that are neither generated nor identity columns.
    """
    generated = generated_fields(schema)
    inside = [field for top in schema.fields for field in walk(top.children()) if field.generated]
    if inside:
        return f"generates field {inside[0].name!r}, which is not a whole column"
    plain = (f for f in schema.fields if f.generated is None and f.identity is None)
    readable = {field.id for field in plain}
    for field in generated:
        others = (field.default, field.initial, field.identity)
        if not field.nullable or any(each is not None for each in others):
            return f"generates column {field.name!r}, which is NOT NULL or has another value"
        assert field.generated is not None
        if not readable.issuperset(field.generated.columns):
            return f"generates column {field.name!r} from a column that it cannot read"
    return None
