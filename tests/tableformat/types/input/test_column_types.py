"""Columns are stated by SQL names, by types of Arrow and of Python, or by fields, all alike."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Optional

import pyarrow as pa
import pytest

from colonnade import (
    AddColumn,
    ArrayType,
    InvalidInputError,
    MapType,
    ReplaceColumns,
    SchemaField,
    StructType,
    TableSchema,
    WidenColumn,
)
from colonnade.tableformat.types.input.column_types import (
    as_column,
    as_data_type,
    as_field,
    as_table_schema,
    states_columns,
)

LIST_OF_INT = ArrayType(element=SchemaField(name="element", type="int"))
LIST_OF_LONG = ArrayType(element=SchemaField(name="element", type="long"))


def map_of(key: str, value: Any) -> MapType:
    return MapType(
        key=SchemaField(name="key", type=key, nullable=False),
        value=SchemaField(name="value", type=value),
    )


FORMS: list[tuple[Any, Any]] = [
    ("BIGINT", "long"),
    ("array<int>", LIST_OF_INT),
    (pa.int64(), "long"),
    (pa.list_(pa.int32()), LIST_OF_INT),
    (pa.decimal128(9, 2), "decimal(9,2)"),
    (bool, "boolean"),
    (int, "long"),
    (float, "double"),
    (str, "string"),
    (bytes, "binary"),
    (date, "date"),
    (datetime, "timestamp"),
    (time, "time(6)"),
    (timedelta, "interval day to second"),
    (list[int], LIST_OF_LONG),
    (dict[str, list[int]], map_of("string", LIST_OF_LONG)),
    (int | None, "long"),
    (Optional[list[int]], LIST_OF_LONG),  # noqa: UP045
    (LIST_OF_INT, LIST_OF_INT),
]


@pytest.mark.parametrize(("given", "wanted"), FORMS, ids=[str(given) for given, _ in FORMS])
def test_a_type_means_the_same_in_every_place_that_takes_one(given: Any, wanted: Any) -> None:
    column = SchemaField(name="x", type=wanted)
    assert as_data_type(given, "x") == wanted
    assert as_table_schema({"x": given}).fields == (column,)
    assert as_table_schema([("x", given)]).fields == (column,)
    assert AddColumn(("x", given)).column == column  # type: ignore[arg-type]
    assert ReplaceColumns([("x", given)]).columns == (column,)  # type: ignore[arg-type]
    assert WidenColumn("x", given).type == wanted


def test_not_null_follows_a_type_or_comes_with_a_field() -> None:
    assert not as_column("x", "BIGINT NOT  NULL").nullable
    assert not as_column("x", pa.field("y", pa.int64(), nullable=False)).nullable
    assert not as_field(pa.field("x", pa.int64(), nullable=False)).nullable
    assert as_field(("x", "long")).nullable
    assert as_column("x", pa.field("y", pa.int64())).name == "x"


WRONG: list[tuple[Any, str]] = [
    ({"x": "bigint unsigned"}, "'x'.*'bigint unsigned' is not a type"),
    ({"x": "array<int"}, "'x'.*'array<int' is not a type"),
    ({"x": "int!"}, "'x'.*'int!' is not a type"),
    ({"x": "decimal(40)"}, "'x'.*1 to 38 digits"),
    ({"x": Decimal}, "'x'.*decimal"),
    ({"x": int | str}, "'x'"),
    ({"x": pa.month_day_nano_interval()}, "'x'.*month_day_nano_interval"),
    ({1: "long"}, "name of a column must be text, not 1"),
    ([5], "pair of name and type, not 5"),
    (5, "dict of types by name, not 5"),
]


@pytest.mark.parametrize(("given", "words"), WRONG, ids=[words for _, words in WRONG])
def test_what_states_no_columns_is_refused_with_the_column(given: Any, words: str) -> None:
    with pytest.raises(InvalidInputError, match=words):
        as_table_schema(given)


LONG = "x" * 5000
BAD_CHANGES: list[tuple[Callable[[Any], object], Any, str]] = [
    (lambda given: WidenColumn("n", given), "int,", "'n'.*'int,' is not a type"),
    (lambda given: WidenColumn("n", given), "text8", "'text8' is not a type that Colonnade"),
    (lambda given: WidenColumn("n", given), 5, "its type must be text such as 'long'"),
    (lambda given: WidenColumn(5, given), "int", "path"),  # type: ignore[arg-type]
    (AddColumn, "q int", "pair of name and type, not 'q int'"),
    (AddColumn, ("q", LONG), "is not a type that Colonnade stores"),
    (ReplaceColumns, [("q", "no")], "'no' is not a type"),
    (ReplaceColumns, 5, "dict of types by name, not 5"),
]


@pytest.mark.parametrize(("make", "given", "words"), BAD_CHANGES)
def test_a_change_of_columns_refuses_a_type_where_it_is_written(
    make: Callable[[Any], object], given: Any, words: str
) -> None:
    with pytest.raises(InvalidInputError, match=words) as refused:
        make(given)
    assert len(str(refused.value)) < 6000


@pytest.mark.parametrize(
    ("given", "states"),
    [
        (pa.schema([]), True),
        (TableSchema(fields=()), True),
        ({"x": "long"}, True),
        ({"x": int}, True),
        ({"x": list[int]}, True),
        ([pa.field("x", pa.int64())], True),
        ([("x", "long")], True),
        ([SchemaField(name="x", type="long")], True),
        ({"x": [1]}, False),
        ({"x": 1}, False),
        ([{"x": 1}], False),
        ([(1, 2)], False),
        ({}, False),
        ([], False),
        (pa.table({"x": [1]}), False),
    ],
)
def test_columns_are_told_from_rows(given: Any, states: bool) -> None:
    assert states_columns(given) is states


def test_a_struct_of_sql_text_has_the_fields_that_it_names() -> None:
    found = as_data_type("STRUCT<a: int NOT NULL, `b c` array<string>>", "s")
    assert isinstance(found, StructType)
    assert [(each.name, each.nullable) for each in found.fields] == [("a", False), ("b c", True)]
