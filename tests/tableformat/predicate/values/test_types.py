"""The types of results are those of Spark's rules."""

from __future__ import annotations

import pytest

from colonnade import InvalidInputError
from colonnade.tableformat.predicate.literals import make_literal
from colonnade.tableformat.predicate.values.row_value import RowValue, constant
from colonnade.tableformat.predicate.values.types import (
    common_type,
    counts_months,
    decimal_type,
    digits_of,
    is_interval,
    is_number,
    wider,
)


def typed(name: str) -> RowValue:
    return RowValue(name, frozenset(), lambda batch: batch.column(0))


def test_a_decimal_of_too_many_digits_loses_digits_after_the_point() -> None:
    assert decimal_type(38, 10) == "decimal(38,10)"
    assert decimal_type(50, 20) == "decimal(38,8)"
    assert decimal_type(70, 20) == "decimal(38,6)"
    assert decimal_type(40, 2) == "decimal(38,2)"


def test_a_literal_has_the_digits_that_it_is_written_with() -> None:
    assert digits_of("int") == (10, 0)
    assert digits_of("int", make_literal(-250)) == (3, 0)
    assert digits_of("decimal(9,2)") == (9, 2)


@pytest.mark.parametrize(
    ("types", "common"),
    [
        (("byte", "long"), "long"),
        (("int", "float"), "double"),
        (("float", "float"), "float"),
        (("long", "decimal(9,2)"), "decimal(22,2)"),
        (("decimal(9,2)", "double"), "double"),
        (("void", "date"), "date"),
        (("date", "timestamp_ntz"), "timestamp_ntz"),
        (("varchar(3)", "char(9)"), "string"),
    ],
)
def test_one_of_several_values_has_a_type_that_holds_all(
    types: tuple[str, ...], common: str
) -> None:
    for order in (types, types[::-1]):
        assert common_type([typed(each) for each in order], "CASE") == common


@pytest.mark.parametrize(
    "types", [("int", "string"), ("timestamp", "timestamp_ntz"), ("decimal(38,0)", "decimal(38,9)")]
)
def test_values_without_a_common_type_are_refused(types: tuple[str, str]) -> None:
    with pytest.raises(InvalidInputError, match="CASE has values of type"):
        common_type([typed(each) for each in types], "CASE")


def test_types_are_told_apart() -> None:
    assert wider("short", "int") == "int"
    assert wider("long", "float") == "double"
    assert [each for each in ("int", "decimal(3,1)", "float", "date") if is_number(each)] == [
        "int",
        "decimal(3,1)",
        "float",
    ]
    assert is_interval("interval day to second")
    assert counts_months("interval year")
    assert not counts_months("interval day")
    assert constant(make_literal("x")).text == "string"
