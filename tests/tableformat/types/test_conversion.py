"""Values become the type of their column exactly, or are refused by the path of their column."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.types.arrow_types import arrow_type
from colonnade.tableformat.types.conversion import accepts, convert, match_fields
from tests.strategies import identical, make_batch, schemas


def field(type_name: str) -> SchemaField:
    return SchemaField(id=1, name="c", type=type_name)


@settings(max_examples=25)
@given(schemas(max_columns=2), st.integers(0, 99))
def test_values_of_the_right_type_stay_as_they_are(schema: TableSchema, seed: int) -> None:
    batch = make_batch(schema, 10, seed)
    for each, column in zip(schema.fields, batch.columns, strict=True):
        assert identical(convert(column, each, each.name), column)


@pytest.mark.parametrize(
    ("values", "given_type", "wanted"),
    [
        ([1, None, -7], pa.int8(), "long"),
        (["a", None], pa.large_string(), "string"),
        ([b"a"], pa.large_binary(), "binary"),
        ([1.5, None], pa.float32(), "double"),
        ([Decimal("1.50")], pa.decimal128(5, 2), "decimal(9,2)"),
        ([None, None], pa.null(), "int"),
    ],
)
def test_a_value_that_the_column_can_keep_is_kept(
    values: list[Any], given_type: pa.DataType, wanted: str
) -> None:
    found = convert(pa.array(values, given_type), field(wanted), "c")
    assert found.type == arrow_type(field(wanted))
    assert found.to_pylist() == values


@pytest.mark.parametrize(
    ("values", "given_type", "wanted"),
    [
        ([1], pa.int64(), "byte"),
        (["1"], pa.string(), "int"),
        ([dt.date(2020, 1, 1)], pa.date32(), "int"),
        ([Decimal("1.555")], pa.decimal128(5, 3), "decimal(9,2)"),
        ([[1]], pa.list_(pa.int64()), "long"),
    ],
)
def test_a_value_that_the_column_cannot_keep_is_refused_by_its_path(
    values: list[Any], given_type: pa.DataType, wanted: str
) -> None:
    with pytest.raises(InvalidInputError, match=r"'?outer\.c'?"):
        convert(pa.array(values, given_type), field(wanted), "outer.c")


def test_fields_are_matched_exactly_or_else_without_regard_to_case() -> None:
    assert list(match_fields(["B", "a"], ["a", "b"], "It")) == [1, 0]
    with pytest.raises(InvalidInputError, match="more than once 'A'"):
        match_fields(["A", "a"], ["a"], "It")
    with pytest.raises(InvalidInputError, match="It .*c"):
        match_fields(["a"], ["a", "c"], "It")


@pytest.mark.parametrize(
    ("values", "given_type", "wanted", "narrower"),
    [
        ([7, None], pa.int32(), "double", "float"),
        ([7], pa.int16(), "double", "float"),
        ([2**40], pa.int64(), "decimal(25,3)", "decimal(21,3)"),
        ([2**63 - 1], pa.uint64(), "decimal(19,0)", "decimal(18,0)"),
        ([200], pa.uint8(), "decimal(9,1)", "decimal(5,1)"),
    ],
)
def test_a_column_takes_the_values_of_types_that_widen_to_its_type(
    values: list[Any], given_type: pa.DataType, wanted: str, narrower: str
) -> None:
    column = field(wanted)
    array = pa.array(values, given_type)
    assert convert(array, column, "c").to_pylist() == values
    assert accepts(column, given_type)
    with pytest.raises(InvalidInputError, match="'c'"):
        convert(array, field(narrower), "c")
    assert not accepts(field(narrower), given_type)
