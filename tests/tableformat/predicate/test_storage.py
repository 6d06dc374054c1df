"""A literal is located among all values that a column can store, exactly."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.predicate import bind
from colonnade.tableformat.predicate.bound import BoundCompare
from colonnade.tableformat.predicate.expressions import Column, Compare, Operator
from colonnade.tableformat.predicate.literals import Kind, Literal
from colonnade.tableformat.predicate.storage import (
    Domain,
    as_double,
    domain_of,
    fits,
    locate,
    negative,
    order,
    parse_local_timestamp,
    read_text,
    stored_literal,
)
from tests.strategies import PRIMITIVES

NUMBERS = ("byte", "short", "int", "long", "decimal(1,0)", "decimal(9,2)", "decimal(38,10)")
ORDERED = tuple(name for name in (*NUMBERS, *PRIMITIVES) if domain_of(name) is not None)
EXACT = st.integers(1 - 10**38, 10**38 - 1).map(lambda value: Literal(Kind.INTEGER, value)) | (
    st.decimals(-(10**20), 10**20, allow_nan=False, places=6).map(
        lambda value: Literal(Kind.DECIMAL, value)
    )
)


def domain(type_name: str) -> Domain:
    found = domain_of(type_name)
    assert found is not None
    return found


@given(st.sampled_from(NUMBERS), EXACT)
def test_the_two_storage_values_enclose_an_exact_number(type_name: str, literal: Literal) -> None:
    of = domain(type_name)
    at_least, at_most = locate(literal, of)
    value = Fraction(literal.value)  # type: ignore[arg-type]
    assert (at_least - 1) * of.unit < value <= at_least * of.unit
    assert at_most * of.unit <= value < (at_most + 1) * of.unit
    assert (at_least == at_most) == (value % of.unit == 0)


@given(
    st.sampled_from(("int", "long", "decimal(9,2)")),
    st.floats(allow_nan=False) | st.sampled_from((2.0**53, -(2.0**63), 2.0**63, -0.0, 0.1)),
    st.integers(-3, 3),
)
def test_a_double_is_compared_with_values_that_are_rounded_to_doubles(
    type_name: str, number: float, step: int
) -> None:
    of = domain(type_name)
    at_least, at_most = locate(Literal(Kind.DOUBLE, number), of)
    assert of.low <= at_least <= of.high + 1
    assert of.low - 1 <= at_most <= of.high
    for edge in (at_least, at_most):
        stored = min(max(edge + step, of.low), of.high)
        rounded = stored * of.unit.numerator / of.unit.denominator
        assert (stored >= at_least) == (rounded >= number)
        assert (stored <= at_most) == (rounded <= number)


@pytest.mark.parametrize(
    ("kind", "value", "type_name", "expected"),
    [
        (Kind.DATE, 1, "timestamp", (86_400_000_000, 86_400_000_000)),
        (Kind.TIMESTAMP, 1, "date", (1, 0)),
        (Kind.TIMESTAMP_NTZ, 2 * 86_400_000_000, "date", (2, 2)),
        (Kind.MONTHS, 14, "interval year to month", (14, 14)),
        (Kind.DURATION, -5, "interval day to second", (-5, -5)),
        (Kind.TIME, 7, "time(6)", (7, 7)),
    ],
)
def test_times_are_located_in_the_unit_of_the_column(
    kind: Kind, value: int, type_name: str, expected: tuple[int, int]
) -> None:
    literal = Literal(kind, value)
    assert fits(literal, domain(type_name))
    assert locate(literal, domain(type_name)) == expected


@pytest.mark.parametrize("type_name", PRIMITIVES)
def test_each_kind_of_literal_fits_one_family_of_types(type_name: str) -> None:
    found = domain_of(type_name)
    if found is None:
        assert type_name == "variant" or " collate " in type_name
        return
    samples = {kind: Literal(kind, _SAMPLES[kind]) for kind in _SAMPLES}
    fitting = {kind for kind, literal in samples.items() if fits(literal, found)}
    numbers = {Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE}
    instants = {Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ}
    assert fitting in (numbers, instants) or len(fitting) == 1


_SAMPLES: dict[Kind, Any] = {
    Kind.BOOLEAN: True,
    Kind.INTEGER: 1,
    Kind.DECIMAL: Decimal(1),
    Kind.DOUBLE: 1.0,
    Kind.STRING: "a",
    Kind.BINARY: b"a",
    Kind.DATE: 1,
    Kind.TIMESTAMP: 1,
    Kind.TIMESTAMP_NTZ: 1,
    Kind.TIME: 1,
    Kind.MONTHS: 1,
    Kind.DURATION: 1,
}


@given(data=st.data(), type_name=st.sampled_from(ORDERED))
def test_the_literal_of_a_storage_value_is_bound_to_that_value(
    data: st.DataObject, type_name: str
) -> None:
    own = domain(type_name)
    values: dict[str, st.SearchStrategy[Any]] = {
        "boolean": st.booleans(),
        "float": st.floats(allow_nan=False, width=32 if type_name == "float" else 64),
        "string": st.text(max_size=5),
        "binary": st.binary(max_size=5),
    }
    value = data.draw(values.get(own.family, st.integers(own.low, own.high)))
    schema = TableSchema(fields=(SchemaField(id=1, name="c", type=type_name),))
    if type_name == "char(3)":
        value = value[:3].ljust(3)
    literal = stored_literal(int(value) if own.family == "boolean" else value, type_name)
    root = bind(Compare(Operator.EQUAL, Column(("c",)), literal), schema).root
    assert isinstance(root, BoundCompare)
    assert root.value == value


def test_text_is_read_as_the_type_of_its_column_and_stays_text_elsewhere() -> None:
    day = Literal(Kind.STRING, "1970-01-02")
    assert read_text(day, "date") == Literal(Kind.DATE, 1)
    assert read_text(day, "timestamp_ntz") == Literal(Kind.TIMESTAMP_NTZ, 86_400_000_000)
    assert read_text(Literal(Kind.STRING, "00:00:01"), "time(6)") == Literal(Kind.TIME, 10**9)
    assert read_text(day, "string") is day
    assert read_text(Literal(Kind.INTEGER, 5), "date") == Literal(Kind.INTEGER, 5)
    for text, type_name in (("tomorrow", "date"), ("1970-01-01 00:00:00Z", "timestamp_ntz")):
        with pytest.raises(InvalidInputError, match=text):
            read_text(Literal(Kind.STRING, text), type_name)


@given(st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31)))
def test_a_local_timestamp_is_its_microseconds_since_1970(moment: dt.datetime) -> None:
    expected = (moment - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)
    assert parse_local_timestamp(moment.isoformat(sep=" ")) == expected


LITERALS = EXACT | st.floats().map(lambda value: Literal(Kind.DOUBLE, value))


@given(LITERALS, LITERALS, LITERALS)
def test_comparing_literals_is_an_order_in_which_nan_is_the_greatest(
    one: Literal, two: Literal, three: Literal
) -> None:
    assert order(one, one) == 0
    between = order(one, two)
    assert between is not None
    assert order(two, one) == -between
    if Kind.DOUBLE not in {each.kind for each in (one, two, three)}:
        following = order(two, three)
        assert following is not None
        if between <= 0 and following <= 0:
            assert (order(one, three) or 0) <= 0
    if math.isnan(as_double(two)):
        assert between == (0 if math.isnan(as_double(one)) else -1)


def test_literals_without_a_common_meaning_are_not_compared() -> None:
    assert order(Literal(Kind.STRING, "1"), Literal(Kind.INTEGER, 1)) is None
    assert order(Literal(Kind.TIME, 1), Literal(Kind.DATE, 1)) is None
    assert order(Literal(Kind.DATE, 1), Literal(Kind.TIMESTAMP, 86_400_000_001)) == -1


@given(LITERALS)
def test_a_number_is_negated_twice_into_itself(literal: Literal) -> None:
    once = negative(literal)
    assert once is not None
    twice = negative(once)
    assert twice is not None
    assert order(twice, literal) == 0
    assert once.kind is literal.kind
    assert str(as_double(Literal(Kind.DOUBLE, -0.0))) == "0.0"


def test_text_and_dates_have_no_sign() -> None:
    for literal in (Literal(Kind.STRING, "1"), Literal(Kind.DATE, 1), Literal(Kind.BOOLEAN, True)):
        assert negative(literal) is None
    assert negative(Literal(Kind.MONTHS, 3)) == Literal(Kind.MONTHS, -3)
