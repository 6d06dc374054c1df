"""A table cannot have a schema whose generated columns cannot be computed."""

from __future__ import annotations

from typing import Any

import pytest

from colonnade.manifests.model.columns.generated import (
    generated_fields,
    problem_of,
    sources_of,
)
from colonnade.manifests.model.schema import (
    ColumnDefault,
    Generation,
    SchemaField,
    StructType,
    TableSchema,
)

A = SchemaField(id=1, name="a", type="int")
B = SchemaField(id=2, name="b", type="int")


def generation(*columns: int) -> Generation:
    return Generation(sql="a + 1", columns=columns, time_zone="UTC")


def generated(*columns: int, **more: Any) -> SchemaField:
    field = SchemaField(id=3, name="g", type="int", generated=generation(*columns))
    return field.model_copy(update=more)


def test_a_generated_column_finds_what_it_reads_by_id() -> None:
    schema = TableSchema(fields=(A, B, generated(1)))
    assert sources_of(schema.fields[2], schema) == (A,)
    assert generated_fields(schema) == (schema.fields[2],)
    assert problem_of(schema) is None


INSIDE = SchemaField(id=3, name="s", type=StructType(fields=(generated(1, id=4),)))


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ((A, generated(1, nullable=False)), "'g', which is NOT NULL or has another value"),
        ((A, generated(1, default=ColumnDefault(sql="1"))), "NOT NULL or has another value"),
        ((A, generated(1, initial="i:1")), "NOT NULL or has another value"),
        ((A, generated(2)), "'g' from a column that it cannot read"),
        ((A, generated(3)), "'g' from a column that it cannot read"),
        ((A, generated(1), generated(3, id=4, name="h")), "'h' from a column"),
        ((A, INSIDE), "field 'g', which is not a whole column"),
    ],
)
def test_an_expression_that_cannot_be_computed_is_named(
    fields: tuple[SchemaField, ...], text: str
) -> None:
    problem = problem_of(TableSchema(fields=fields))
    assert problem is not None
    assert text in problem
