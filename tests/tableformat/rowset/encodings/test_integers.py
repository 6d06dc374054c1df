"""Integers travel between Arrow and numpy without a copy, in slices and with NULLs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from colonnade.tableformat.rowset.encodings.integers import (
    NATIVE,
    bounds_of,
    from_numpy,
    is_null,
    validity_of,
    values_of,
)

TYPES = list(NATIVE)


@pytest.mark.parametrize("arrow", TYPES, ids=str)
@pytest.mark.parametrize("start", [0, 3, 9])
def test_the_rows_of_a_slice_come_back(arrow: pa.DataType, start: int) -> None:
    numbers = [None if i % 4 == 1 else i for i in range(20)]
    array = pa.array(numbers, arrow).slice(start, 8)
    again = from_numpy(values_of(array), arrow, validity_of(array))
    assert again.equals(array)
    assert is_null(array).tolist() == [n is None for n in numbers[start : start + 8]]
    assert np.shares_memory(values_of(array), values_of(again))


def test_bounds_ignore_what_is_under_a_null() -> None:
    array = pa.array([5, None, -7], pa.int64())
    assert bounds_of(array) == (-7, 5)
    assert bounds_of(array.slice(0, 1)) == (5, 5)
    assert validity_of(array.slice(0, 1)) is None
