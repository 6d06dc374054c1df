"""Casts of values: what is folded into a literal, and what Colonnade does not cast."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from colonnade import InvalidInputError
from colonnade.tableformat.predicate.literals import NULL, Kind, Literal, make_literal
from colonnade.tableformat.predicate.values.casts import cast, folded
from colonnade.tableformat.predicate.values.row_value import RowValue, arrow_of, constant


def value_of(data_type: str, *values: object) -> tuple[RowValue, pa.RecordBatch]:
    array = pa.array(values, arrow_of(data_type))
    batch = pa.RecordBatch.from_arrays([array], names=["v"])
    return RowValue(data_type, frozenset((1,)), lambda each: each.column(0)), batch


def cast_values(data_type: str, target: str, *values: object) -> list[object]:
    value, batch = value_of(data_type, *values)
    found: list[object] = cast(value, target).compute(batch).to_pylist()
    return found


def test_numbers_are_cut_or_rounded_as_spark_does() -> None:
    assert cast_values("double", "int", 2.9, -2.9, None) == [2, -2, None]
    assert cast_values("double", "long", 9.223372036854775807e18) == [2**63 - 1]
    assert cast_values("double", "byte", 127.9, -128.9) == [127, -128]
    assert cast_values("double", "decimal(5,2)", 1.005, -0.125) == [
        Decimal("1.01"),
        Decimal("-0.13"),
    ]
    assert cast_values("decimal(9,2)", "long", Decimal("-1.99")) == [-1]
    assert cast_values("decimal(38,10)", "double", Decimal("0.1")) == [0.1]
    assert cast_values("long", "double", 2**62 + 1) == [2.0**62]
    assert cast_values("boolean", "decimal(3,1)", True) == [Decimal("1.0")]
    assert cast_values("decimal(9,2)", "boolean", Decimal("0.00"), Decimal("0.01")) == [False, True]


def test_text_is_read_once_for_each_value() -> None:
    assert cast_values("string", "int", " 7 ", None, " 7 ") == [7, None, 7]
    assert cast_values("string", "boolean", "TRUE") == [True]
    for whole in ("byte", "short", "int", "long"):
        assert cast_values("string", whole, "-7") == [-7]
    assert cast_values("string", "decimal(4,1)", "7") == [Decimal("7.0")]
    assert cast_values("string", "float", "0.5") == [0.5]
    with pytest.raises(InvalidInputError, match="'x' is not a valid int"):
        cast_values("string", "int", "7", "x")


@pytest.mark.parametrize(
    ("found", "target"),
    [("double", "string"), ("date", "int"), ("binary", "string"), ("timestamp", "long")],
)
def test_a_cast_that_is_not_supported_is_named(found: str, target: str) -> None:
    with pytest.raises(InvalidInputError, match=f"CAST of {found} to {target}"):
        cast_values(found, target)


def test_an_expression_without_columns_is_a_literal() -> None:
    text = constant(make_literal("12.345"))
    assert folded(cast(text, "decimal(5,2)")) == Literal(Kind.DECIMAL, Decimal("12.35"))
    assert folded(cast(constant(make_literal("2024-01-31")), "date")) == Literal(Kind.DATE, 19753)
    assert folded(cast(constant(NULL), "int")) == NULL
    assert folded(cast(text, "int")) is None  # it fails for each row that asks for it
    assert folded(value_of("int")[0]) is None
