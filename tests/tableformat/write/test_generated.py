"""Rows get their generated columns, or are refused for other values in them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from colonnade import InvalidInputError, SchemaField, TableSchema
from colonnade.manifests.model.schema import Generation
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.write.generated import bind_generations, fill_rows


def schema(kind: str = "int", sql: str = "a + 1") -> TableSchema:
    made = Generation(sql=sql, columns=(1,), time_zone="UTC")
    return TableSchema(
        fields=(
            SchemaField(id=1, name="a", type="int"),
            SchemaField(id=2, name="g", type=kind, generated=made),
        )
    )


def filled(given: list[dict[str, Any]], own: TableSchema) -> list[Any]:
    rows = pa.RecordBatch.from_pylist(given, arrow_schema(own))
    result = fill_rows(rows, bind_generations("t", own))
    assert result.schema.equals(rows.schema, check_metadata=True)
    return list(result.column(1).to_pylist())


def test_null_is_filled_and_the_right_value_is_kept() -> None:
    rows: list[dict[str, Any]] = [{"a": 1}, {"a": 2, "g": 3}, {"a": None}, {"a": -5, "g": None}]
    assert filled(rows, schema()) == [2, 3, None, -4]
    assert filled([], schema()) == []


@pytest.mark.parametrize("wrong", [{"a": 1, "g": 3}, {"a": None, "g": 3}])
def test_another_value_is_refused_with_the_row_that_has_it(wrong: dict[str, Any]) -> None:
    shown = "NULL" if wrong["a"] is None else "1"
    text = rf"'g' of table 't', generated as a \+ 1, has another value .* a = {shown}, g = 3;"
    with pytest.raises(InvalidInputError, match=text):
        filled([{"a": 9}, wrong], schema())


def test_a_value_that_the_column_cannot_hold_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"'g'.*cannot be computed"):
        filled([{"a": 2**31 - 1}], schema())
    text = schema("varchar(2)", "CAST(a AS STRING)")
    with pytest.raises(InvalidInputError, match=r"'g'.*cannot be computed"):
        filled([{"a": 100}], text)
    assert filled([{"a": 99}], text) == ["99"]
    assert filled([{"a": 9}], schema("char(3)", "CAST(a AS STRING)")) == ["9  "]
    assert filled([{"a": 9}], schema("long")) == [10]


@pytest.mark.parametrize(
    ("kind", "sql"), [("int", "bit_count(a)"), ("short", "a + 1"), ("string", "a")]
)
def test_an_expression_that_only_spark_computes_refuses_all_rows(kind: str, sql: str) -> None:
    with pytest.raises(InvalidInputError) as refusal:
        bind_generations("t", schema(kind, sql))
    assert "only Spark can compute its column 'g'" in str(refusal.value)
    assert "write them with Spark" in str(refusal.value)
