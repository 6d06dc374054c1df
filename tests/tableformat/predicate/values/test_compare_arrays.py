"""Arrays compare in Spark's order of numbers and times."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa

from colonnade.tableformat.predicate.expressions import Operator
from colonnade.tableformat.predicate.values.compare_arrays import COMPARE, compare_arrays

NAN = float("nan")


def test_nan_is_equal_to_itself_and_greater_than_every_number() -> None:
    left, right = pa.array([NAN, NAN, 1.0, -0.0]), pa.array([NAN, 1.0, NAN, 0.0])
    found = {each: compare_arrays(left, each, right).to_pylist() for each in COMPARE}
    assert found[Operator.EQUAL] == [True, False, False, True]
    assert found[Operator.LESS] == [False, False, True, False]
    assert found[Operator.GREATER_EQUAL] == [True, True, False, True]
    assert found[Operator.NOT_EQUAL] == [False, True, True, False]


def test_whole_numbers_and_decimals_keep_all_digits() -> None:
    large = pa.array([2**63 - 1, 5])
    assert compare_arrays(
        large, Operator.LESS, pa.array([Decimal(2**63), Decimal(5)])
    ).to_pylist() == [True, False]
    assert compare_arrays(pa.array([1], pa.int8()), Operator.EQUAL, large[1:]).to_pylist() == [
        False
    ]


def test_a_date_is_its_first_moment() -> None:
    day = pa.array([dt.date(2024, 1, 2)])
    noon = pa.array([dt.datetime(2024, 1, 2, 12)], pa.timestamp("us"))
    assert compare_arrays(day, Operator.LESS, noon).to_pylist() == [True]
