"""Statistics of one column as arrays: exact, and summed up without losing a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.arrays.segment_statistics import (
    StatisticsArrays,
    decode_statistics,
    encode_statistics,
)
from colonnade.manifests.arrays.statistics_block import StatisticsBlock, concat_statistics
from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.model.statistics import Bound, bound_prefix, decode_bound, encode_bound
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


WIDENINGS = (
    ("int", "long", "decimal(21,2)", "decimal(38,4)"),
    ("byte", "short", "int", "double"),
    ("decimal(5,2)", "decimal(9,2)", "decimal(20,7)"),
    ("float", "double"),
    ("date", "timestamp_ntz"),
    ("char(3)", "varchar(9)", "string"),
)


def some_bounds(data: st.DataObject, name: str) -> ColumnStatistics | None:
    """Statistics of a RowSet that was written when its column had this type."""
    if not data.draw(st.integers(0, 4)):
        return None
    kind = bound_prefix(name)
    values: st.SearchStrategy[Any] = st.integers(-127, 127)
    if kind in ("f", "s"):
        values = st.floats(-9, 9, width=32) if kind == "f" else st.text("ab", max_size=3)
    low, high = sorted((data.draw(values), data.draw(values)))
    least, most = (encode_bound(each, kind) for each in (low, high))
    return ColumnStatistics(min=least, max=most, nulls=data.draw(st.integers(0, 3)))


def values_in(statistics: ColumnStatistics | None, prefix: str) -> tuple[Bound, Bound] | None:
    """Both bounds as values of a type, found one by one."""
    if statistics is None or statistics.min is None or statistics.max is None:
        return None
    return decode_bound(statistics.min, prefix), decode_bound(statistics.max, prefix)


@given(st.sampled_from(WIDENINGS), st.data())
def test_rowsets_of_all_types_that_a_column_had_have_the_bounds_of_its_present_type(
    steps: tuple[str, ...], data: st.DataObject
) -> None:
    """Segments hold them together, are divided, summed up, stored, and read under a wider type."""
    parts: list[Lists] = [
        [some_bounds(data, name) for _ in range(data.draw(st.integers(0, 3)))] for name in steps
    ]
    every = [each for part in parts for each in part]
    blocks = [StatisticsBlock.of(part) for part in parts]
    whole = concat_statistics(blocks, [len(part) for part in parts])
    last = SchemaField(id=1, name="c", type=steps[-1])
    wanted = bound_prefix(last.type)
    if every:
        stored = encode_statistics(whole).model_dump_json()
        vectors = StatisticsArrays.model_validate_json(stored)
        whole = decode_statistics(vectors, len(every), last, "segment")
    found = whole.bounds().in_prefix(wanted)
    assert found is not None
    for at, (one, again) in enumerate(zip(every, as_list(whole), strict=True)):
        ends = values_in(one, wanted)
        assert values_in(again, wanted) == ends
        assert bool(found.known[at]) == (ends is not None)
        assert ends is None or (found.low[at], found.high[at]) == ends
    summary = whole.summary(np.full(len(every), 9, np.int64)) if every else None
    if summary is not None:
        known = [ends for each in every if (ends := values_in(each, wanted)) is not None]
        least, most = min(low for low, _ in known), max(high for _, high in known)
        assert values_in(summary, wanted) == (least, most)


@pytest.mark.parametrize("steps", WIDENINGS)
def test_bounds_of_a_wider_type_say_nothing_of_a_narrower_one(steps: tuple[str, ...]) -> None:
    narrow, wide = bound_prefix(steps[0]), bound_prefix(steps[-1])
    kinds: dict[str, Bound] = {"f": 1.0, "s": "a"}
    value = kinds.get(wide, 1)
    text = encode_bound(value, wide)
    bounds = StatisticsBlock.of([ColumnStatistics(min=text, max=text)]).bounds()
    assert (bounds.in_prefix(narrow) is None) == (narrow != wide)
    nothing = StatisticsBlock.of([ColumnStatistics(nulls=1)]).bounds()
    assert nothing.in_prefix(narrow) is not None
