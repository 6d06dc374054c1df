"""What a table hides of its RowSets, beside a model that looks at each row."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from colonnade.manifests.arrays.bounds import bounds_table
from colonnade.manifests.arrays.expired_regions import expired_regions, expired_values
from colonnade.manifests.arrays.hidden_rows import view_of
from colonnade.manifests.arrays.region_bounds import meets
from colonnade.manifests.model.entries import ColumnStatistics, RowSetEntry
from colonnade.manifests.model.range_tombstones import RangeTombstone, region_of
from colonnade.manifests.model.regions import Interval
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet
from tests.log_samples import entry, table_state
from tests.manifests.arrays.ranged_rows import (
    NOW_MS,
    SEEDS,
    VALUES,
    Rows,
    check_hidden,
    column,
    inside,
    some_interval,
    with_known_statistics,
)
from tests.tagged import tagged


def tombstones(rng: random.Random, made: Rows, values: Mapping[int, Any]) -> list[RangeTombstone]:
    found = []
    for epoch in sorted(rng.sample(range(1, 12), rng.randrange(1, 5))):
        regions = []
        for _ in range(rng.randrange(1, 4)):
            numbers = rng.sample([each.id for each in made.columns], rng.randrange(1, 3))
            regions.append(tuple(some_interval(rng, made.by_id[n], values[n]) for n in numbers))
        found.append(RangeTombstone(epoch=epoch, regions=tuple(regions)))
    return found


@given(seed=SEEDS)
def test_rows_of_tombstones_after_the_clean_epoch_of_their_rowset_are_hidden(seed: int) -> None:
    rng = random.Random(seed)
    names = rng.sample(list(VALUES), 2)
    columns = tuple(column(at, name, nullable=False) for at, name in enumerate(names, 1))
    values = {each.id: VALUES[str(each.type)] for each in columns}
    made = Rows.some(rng, columns, values)
    for at, rowset in enumerate(made.rowsets):
        stated = rng.choice((None, rng.randrange(12)))
        changed = rowset.entry.model_copy(update={"clean_epoch": stated})
        made.rowsets[at] = replace(rowset, epoch=rng.randrange(12), entry=changed)
        assert made.rowsets[at].clean_epoch == (rowset_epoch(made, at, stated))
    state = replace(table_state(made.schema), range_tombstones=tuple(tombstones(rng, made, values)))
    gone = [
        [
            any(
                each.epoch > rowset.clean_epoch
                and any(inside(row, region, made.by_id) for region in each.regions)
                for each in state.range_tombstones
            )
            for row in rows
        ]
        for rowset, rows in zip(made.rowsets, made.rows, strict=True)
    ]
    check_hidden(made, view_of(state, made.rowsets, None), gone)
    check_hidden(made, view_of(state, with_known_statistics(made), None), gone)


def rowset_epoch(made: Rows, at: int, stated: int | None) -> int:
    return made.rowsets[at].epoch if stated is None else stated


def test_a_table_without_tombstones_and_lifetimes_gets_its_rowsets_as_they_are() -> None:
    state = table_state()
    rowsets = [LiveRowSet(0, 3, entry())]
    assert view_of(state, rowsets, NOW_MS).rowsets[0] is rowsets[0]
    assert (expired_regions(state, NOW_MS), expired_values(state, NOW_MS)) == ((), ())
    assert view_of(state, [], None).rowsets == ()


def ranges(count: int, width: int) -> Iterator[tuple[Interval, ...]]:
    for at in range(count):
        low, high = tagged(at * width), tagged((at + 1) * width)
        yield (Interval(column=1, low=low, high=high, high_open=True),)


@pytest.mark.slow
@pytest.mark.parametrize("stated", [True, False], ids=["with bounds", "without bounds"])
def test_thousands_of_tombstones_meet_thousands_of_rowsets(stated: bool) -> None:
    """RowSets of a hundred rows, and a tombstone of ten rows for each of them but the last ones."""
    count = 4_000
    field = column(1, "long", nullable=False)
    plain = entry(100).model_copy(update={"statistics": {}})
    rowsets = [LiveRowSet(at, 1, dated(plain, at) if stated else plain) for at in range(count)]
    regions = [r for at, r in enumerate(ranges(10 * count, 10)) if at % 10 == 3][: count - 500]
    parts = [RangeTombstone(epoch=2 + at, regions=tuple(regions[at::70])) for at in range(70)]
    state = replace(table_state(TableSchema(fields=(field,))), range_tombstones=tuple(parts))
    some = rowsets if stated else rowsets[:50]
    begun = time.perf_counter()
    view = view_of(state, some, None)
    assert time.perf_counter() - begun < 10
    assert [*view.rowsets] == some
    if not stated:
        assert all(len(view.hidden_in(each)) == len(regions) for each in some)
        return
    for each in some:
        hidden = [region.intervals for region in view.hidden_in(each)]
        assert hidden == ([regions[each.id]] if each.id < len(regions) else [])


def dated(plain: RowSetEntry, at: int) -> RowSetEntry:
    stated = ColumnStatistics(min=f"i:{100 * at}", max=f"i:{100 * at + 99}")
    return plain.model_copy(update={"statistics": {1: stated}})


def test_a_tombstone_names_columns_by_their_present_names_and_types() -> None:
    field = column(1, "string", nullable=False)
    region = region_of((Interval(column=1, low="s:a"),), TableSchema(fields=(field,)))
    assert region.columns == (field,)
    assert np.array_equal(
        meets(region, bounds_table([{}], [1], TableSchema(fields=(field,)), str)),
        [[True], [False]],
    )
