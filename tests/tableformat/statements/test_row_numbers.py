"""Numbers of the rows that one task wrote, in parts of 32 bits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import FrozenBitMap

from colonnade.tableformat.statements.reported import TaskReport
from colonnade.tableformat.statements.row_numbers import first_numbers, numbers_between
from tests.log_samples import entry

LARGEST = 2**32 - 1
"""The rows of the largest RowSet."""


@pytest.mark.parametrize("rowsets", [1, 2, 3])
def test_a_task_that_inserts_more_rows_than_a_bitmap_holds_counts_and_guards_all(
    rowsets: int,
) -> None:
    report = TaskReport.inserting(entry(LARGEST) for _ in range(rowsets))
    count = rowsets * LARGEST
    assert report.inserted_count == count
    for low in (0, 2**32 - 3, count - 6):
        found = numbers_between(report.inserted, low, low + 6)
        assert found.tolist() == [n for n in range(low, low + 6) if n < count]
    assert not len(numbers_between(report.inserted, count, count + 10))


@given(count=st.integers(0, 60), part_rows=st.integers(1, 20))
def test_the_first_numbers_are_all_there_however_small_a_part_is(
    count: int, part_rows: int
) -> None:
    parts = first_numbers(count, part_rows)
    assert sum(map(len, parts.values())) == count
    assert numbers_between(parts, 0, 100, part_rows).tolist() == [*range(count)]


@given(
    numbers=st.sets(st.integers(0, 80)),
    part_rows=st.integers(1, 20),
    low=st.integers(0, 80),
    count=st.integers(0, 80),
)
def test_any_numbers_are_found_between_any_bounds(
    numbers: set[int], part_rows: int, low: int, count: int
) -> None:
    parts = {
        part: FrozenBitMap(n - part * part_rows for n in numbers if n // part_rows == part)
        for part in {n // part_rows for n in numbers}
    }
    found = numbers_between(parts, low, low + count, part_rows)
    assert found.dtype == np.int64
    assert found.tolist() == sorted(n for n in numbers if low <= n < low + count)
