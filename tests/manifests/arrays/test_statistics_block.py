"""Statistics of one column as arrays: exact, and summed up without losing a value."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.arrays.statistics_block import StatisticsBlock, concat_statistics
from colonnade.manifests.model.entries import ColumnStatistics
from tests.tagged import tagged, untagged

KINDS: tuple[st.SearchStrategy[Any], ...] = (
    st.integers(-(2**63), 2**63 - 1) | st.sampled_from((-(2**63), 2**63 - 1)),
    st.integers(-(10**38) + 1, 10**38 - 1),
    st.floats(allow_nan=False),
    st.text(max_size=4),
    st.binary(max_size=4),
)
Lists = list[ColumnStatistics | None]


@st.composite
def lists(draw: st.DrawFn) -> Lists:
    """Statistics of some RowSets of one column: absent, without a bound, with one, with both."""
    bounds = draw(st.sampled_from(KINDS))
    found: Lists = []
    for shape in draw(st.lists(st.sampled_from("-0<>b"), max_size=12)):
        low, high = sorted((draw(bounds), draw(bounds)))
        each = ColumnStatistics(
            min=tagged(low) if shape in "<b" else None,
            max=tagged(high) if shape in ">b" else None,
            nulls=draw(st.sampled_from((0, 1, 10, 2**40))),
            nans=draw(st.sampled_from((0, 3))),
            exact=draw(st.booleans()),
        )
        found.append(None if shape == "-" else each)
    return found


def as_list(block: StatisticsBlock) -> Lists:
    rows = block.statistics(np.arange(len(block.flags)))
    return [None if each is None else ColumnStatistics.model_validate(each) for each in rows]


@given(lists())
def test_statistics_read_back_as_they_were_arranged(statistics: Lists) -> None:
    assert as_list(StatisticsBlock.of(statistics)) == statistics


@given(lists(), st.data())
def test_chosen_and_divided_statistics_are_those_of_the_list(
    statistics: Lists, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(statistics)))
    parts: list[Lists] = [statistics[:at], [None, None], statistics[at:]]
    blocks = [StatisticsBlock.of(parts[0]), None, StatisticsBlock.of(parts[2])]
    whole = concat_statistics(blocks, [len(part) for part in parts])
    every = [each for part in parts for each in part]
    assert as_list(whole) == every
    rows = data.draw(st.lists(st.integers(0, len(every) - 1), max_size=20))
    assert as_list(whole.take(np.array(rows, np.int64))) == [every[row] for row in rows]


@given(lists())
def test_bounds_are_known_exactly_where_both_are_stated(statistics: Lists) -> None:
    bounds = StatisticsBlock.of(statistics).bounds()
    for index, each in enumerate(statistics):
        has_both = each is not None and each.min is not None and each.max is not None
        assert bool(bounds.known[index]) == has_both
        assert int(bounds.nulls[index]) == (-1 if each is None else each.nulls)
        assert int(bounds.nans[index]) == (-1 if each is None else each.nans)
        if has_both:
            assert each is not None
            assert bounds.low[index] == untagged(each.min or "")
            assert bounds.high[index] == untagged(each.max or "")


@given(lists(), st.data())
def test_a_summary_counts_everything_and_its_bounds_leave_no_rowset_out(
    statistics: Lists, data: st.DataObject
) -> None:
    rows = [data.draw(st.sampled_from((1, 11, 2**32 - 1))) for _ in statistics]
    summary = StatisticsBlock.of(statistics).summary(np.array(rows, np.int64))
    if None in statistics:
        assert summary is None
        return
    assert summary is not None
    present = [each for each in statistics if each is not None]
    assert summary.nulls == sum(each.nulls for each in present)
    assert summary.nans == sum(each.nans for each in present)
    bounded = [each for each in present if each.min is not None and each.max is not None]
    others = [
        (each, count)
        for each, count in zip(present, rows, strict=True)
        if each.min is None or each.max is None
    ]
    if not bounded or any(each.nulls + each.nans < count for each, count in others):
        assert summary.min is summary.max is None
        return
    assert untagged(summary.min or "") == min(untagged(e.min or "") for e in bounded)
    assert untagged(summary.max or "") == max(untagged(e.max or "") for e in bounded)
    assert summary.exact == all(each.exact for each in present)
