"""A RowSet that is left out could not hold one of the first rows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.spark_ext.planner.read.top_rows import ColumnOrder, first_rows, top_rows
from tests.spark_ext.planner.rowsets import COLUMN, Sample, Value, order_key, samples, view_of

Key = tuple[int, tuple[bool, float]]


def sort_key(value: Value, order: ColumnOrder) -> Key:
    """Ascending in this key is the order."""
    if value is None:
        return (0 if order.nulls_first else 2, (False, 0.0))
    nan, number = order_key(value)
    return (1, (not nan, -number) if order.descending else (nan, number))


@given(
    st.lists(samples(), min_size=1, max_size=6),
    st.booleans(),
    st.booleans(),
    st.integers(1, 8),
)
def test_the_first_rows_are_all_in_the_rowsets_that_are_kept(
    found: list[Sample], descending: bool, nulls_first: bool, count: int
) -> None:
    order = ColumnOrder(COLUMN, descending, nulls_first)
    kept = top_rows(view_of(s.rowset(number) for number, s in enumerate(found)), order, count)
    left = [found[rowset.id] for rowset in kept.rowsets]
    wanted, got = (
        sorted(sort_key(v, order) for s in some for v in s.live)[:count] for some in (found, left)
    )
    assert got == wanted
    # Ties are decided by other columns, so all rows that tie with the last one must be there.
    for sample in found:
        for value in sample.live:
            if wanted and sort_key(value, order) <= wanted[-1]:
                assert sample in left


def test_rowsets_behind_enough_rows_are_left_out() -> None:
    found = [Sample((1.0, 2.0)).rowset(0), Sample((2.0, 3.0)).rowset(1), Sample((7.0,)).rowset(2)]
    ascending = ColumnOrder(COLUMN, descending=False, nulls_first=True)
    assert [r.id for r in top_rows(view_of(found), ascending, 2).rowsets] == [0, 1]
    assert [r.id for r in top_rows(view_of(found), ascending, 3).rowsets] == [0, 1]
    assert [r.id for r in top_rows(view_of(found), ascending, 5).rowsets] == [0, 1, 2]
    assert [
        r.id for r in top_rows(view_of(found), ColumnOrder(COLUMN, True, False), 1).rowsets
    ] == [2]


@pytest.mark.slow
@given(st.lists(samples(), max_size=6), st.integers(0, 12))
def test_a_limit_keeps_no_rowset_more_than_it_takes(found: list[Sample], count: int) -> None:
    rowsets = [s.rowset(number) for number, s in enumerate(found)]
    kept = [*first_rows(view_of(rowsets), count).rowsets]
    rows = [r.row_count for r in kept]
    assert kept == rowsets[: len(kept)]
    assert sum(rows) >= min(count, sum(r.row_count for r in rowsets))
    assert sum(rows[:-1]) < count or not kept
