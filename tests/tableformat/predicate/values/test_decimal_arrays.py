"""Decimals and the integers that store them are the same values, whatever their size."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade import InvalidInputError
from colonnade.tableformat.predicate.values.decimal_arrays import (
    decimals_of,
    divided,
    integers_of,
    rescaled,
    truncated,
)
from colonnade.tableformat.types.decimals import from_unscaled


@given(st.lists(st.none() | st.integers(-(10**38) + 1, 10**38 - 1)), st.sampled_from((9, 18, 38)))
def test_integers_become_decimals_and_back(numbers: list[int | None], precision: int) -> None:
    fitting = [None if each is None else each % 10**precision for each in numbers]
    values = [None if each is None else from_unscaled(each, 2) for each in fitting]
    array = pa.array([None, *values], pa.decimal128(precision, 2)).slice(1)
    found = integers_of(array)
    assert found.tolist() == [each or 0 for each in fitting]
    assert decimals_of(found, array.is_valid().to_numpy(False), precision, 2).equals(array)


def test_an_integer_of_too_many_digits_is_refused() -> None:
    for numbers in (np.array([1000]), np.array([-1000], object)):
        with pytest.raises(InvalidInputError, match="more digits"):
            decimals_of(numbers, np.array([True]), 3, 1)
        assert decimals_of(numbers, np.array([False]), 3, 1).to_pylist() == [None]


@given(st.integers(-(10**20), 10**20), st.integers(1, 10**9))
def test_division_rounds_half_away_from_zero(number: int, divisor: int) -> None:
    exact = abs(number) * 2 + divisor
    wanted = exact // (2 * divisor) * (1 if number >= 0 else -1)
    assert divided(np.array([number], object), divisor).tolist() == [wanted]
    cut = abs(number) // divisor * (1 if number >= 0 else -1)
    assert truncated(np.array([number], object), divisor).tolist() == [cut]


def test_places_are_added_and_rounded_away() -> None:
    numbers = np.array([15, -15, 14])
    assert rescaled(numbers, -1).tolist() == [2, -2, 1]
    assert rescaled(numbers, 20).tolist() == [15 * 10**20, -15 * 10**20, 14 * 10**20]
