"""Which RowSets may have rows of a region, beside a model that looks at each row."""

from __future__ import annotations

import random

import pytest
from hypothesis import given

from colonnade.manifests.arrays.bounds import bounds_table
from colonnade.manifests.arrays.region_bounds import meets
from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.regions import Interval, Region
from colonnade.manifests.model.schema import TableSchema
from tests.manifests.arrays.ranged_rows import (
    SEEDS,
    VALUES,
    Rows,
    column,
    inside,
    some_interval,
)


@pytest.mark.parametrize("name", VALUES)
@given(seed=SEEDS)
def test_bounds_tell_which_rowsets_may_have_rows_of_a_region_and_which_have_no_others(
    name: str, seed: int
) -> None:
    rng = random.Random(seed)
    other = rng.choice(list(VALUES))
    columns = (column(1, name, nullable=rng.random() < 0.5), column(2, other))
    values = {1: VALUES[name], 2: VALUES[other]}
    made = Rows.some(rng, columns, values)
    numbers = rng.choice(((1,), (1, 2), (2, 1)))
    region = Region(
        intervals=tuple(some_interval(rng, columns[n - 1], values[n]) for n in numbers),
        columns=tuple(columns[number - 1] for number in numbers),
    )
    bounds = bounds_table(
        [each.entry.statistics for each in made.rowsets],
        [each.entry.rows for each in made.rowsets],
        made.schema,
        str,
    )
    some, every = meets(region, bounds)
    for at, rows in enumerate(made.rows):
        found = [inside(row, region.intervals, made.by_id) for row in rows]
        assert some[at] or not any(found)
        assert not every[at] or all(found)
        stated = made.rowsets[at].entry.statistics.get(numbers[0])
        if len(numbers) == 1 and stated is not None and stated.min is not None and stated.exact:
            # Bounds that occur decide everything that one column can decide.
            assert every[at] == all(found)


def test_a_rowset_of_null_and_nan_alone_meets_no_region() -> None:
    field = column(1, "double")
    region = Region(intervals=(Interval(column=1),), columns=(field,))
    stated = [
        {1: ColumnStatistics(nulls=1, nans=2)},
        {1: ColumnStatistics(nulls=1, nans=1)},
        {1: ColumnStatistics(min="f:1.0", max="f:1.0", nans=1)},
        {1: ColumnStatistics(min="f:1.0", max="f:1.0")},
        {},
    ]
    bounds = bounds_table(stated, [3] * 5, TableSchema(fields=(field,)), str)
    some, every = meets(region, bounds)
    assert some.tolist() == [False, True, True, True, True]
    assert every.tolist() == [False, False, False, True, False]
