"""A primary key names columns that have an order and no NULL, and finds them when they widen."""

from __future__ import annotations

import pytest

from colonnade.manifests.model.primary_key import has_order, key_fields, key_of, problem_of
from colonnade.manifests.model.schema import ArrayType, SchemaField, TableSchema

ID = SchemaField(id=1, name="id", type="long", nullable=False)
WIDE = SchemaField(id=2, name="n", type="long", nullable=False)
NOTE = SchemaField(id=3, name="note", type="string")
SCHEMA = TableSchema(fields=(ID, WIDE, NOTE))


def test_a_key_names_columns_by_the_ids_that_they_had_first() -> None:
    assert key_of((WIDE, ID)) == (2, 1)
    assert key_fields((2, 1), SCHEMA) == (WIDE, ID)
    assert problem_of((2, 1), SCHEMA) is None
    assert problem_of((), SCHEMA) is None


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ((9,), "a column 9"),
        ((7,), "a column 7"),
        ((1, 2, 1), "'id' is in the primary key twice"),
        ((3,), "'note' of the primary key is nullable"),
    ],
)
def test_a_key_that_columns_do_not_allow_is_described(key: tuple[int, ...], text: str) -> None:
    assert text in str(problem_of(key, SCHEMA))


@pytest.mark.parametrize("kind", ["variant", "string collate UNICODE_CI", "array"])
def test_a_column_without_an_order_is_in_no_key(kind: str) -> None:
    item = SchemaField(id=2, name="element", type="int")
    made = ArrayType(element=item) if kind == "array" else kind
    column = SchemaField(id=1, name="c", type=made, nullable=False)
    assert not has_order(column)
    assert "has no order" in str(problem_of((1,), TableSchema(fields=(column,))))
