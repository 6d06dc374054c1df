"""A state is a value without a clock, and a view is all that a reader adds to it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from hypothesis import given

from colonnade.manifests.arrays.hidden_rows import view_of
from colonnade.manifests.model.columns.internal import WRITTEN
from colonnade.manifests.model.range_tombstones import RangeTombstone
from colonnade.manifests.model.regions import Interval
from colonnade.manifests.state.snapshot import LiveRowSet, RowSets, TableState
from colonnade.manifests.state.view import Statics, View
from tests.log_samples import table_state
from tests.manifests.arrays.ranged_rows import DAY_MS, NOW_MS, SEEDS, VALUES, Rows, hides
from tests.manifests.arrays.rowsets import rowset_lists
from tests.manifests.arrays.test_expired_regions import ENDS, EVENT, NOTE, some_lifetimes


@given(rowset_lists(), SEEDS)
def test_rowsets_are_equal_to_their_like_and_have_its_hash(
    rowsets: list[LiveRowSet], seed: int
) -> None:
    again = [LiveRowSet.of(each.id, each.epoch, each.stored_entry, each.vector) for each in rowsets]
    assert again == rowsets
    assert {*again} == {*rowsets}
    assert len({*rowsets, *again}) == len(rowsets)
    whole, same = RowSets(added=tuple(rowsets)), RowSets(added=tuple(again))
    assert {whole: seed}[same] == seed
    for each in rowsets:
        for other in (replace(each, id=each.id + 1), replace(each, epoch=each.epoch + 1)):
            assert other != each
            assert len({each, other}) == 2
        if each.vector is not None:
            assert len({each, replace(each, vector=None)}) == 2


def some_state(rng: random.Random) -> tuple[TableState, list[LiveRowSet]]:
    """A table with lifetimes and range tombstones, and its RowSets."""
    values: Mapping[int, Any] = {
        EVENT.id: [at * 1000 for at in range(NOW_MS - DAY_MS, NOW_MS + DAY_MS, DAY_MS // 7)],
        ENDS.id: [at // DAY_MS for at in range(NOW_MS - 9 * DAY_MS, NOW_MS, DAY_MS)],
        NOTE.id: VALUES["string"],
    }
    made = Rows.some(rng, (EVENT, ENDS, NOTE), values)
    low = rng.choice(values[EVENT.id])
    region = Interval(column=EVENT.id, low=f"i:{low}", high_open=True)
    state = replace(
        table_state(made.schema),
        lifetimes=some_lifetimes(rng),
        range_tombstones=(RangeTombstone(epoch=rng.randrange(1, 12), regions=((region,),)),),
    )
    return state, made.rowsets


def some_view(rng: random.Random, now_ms: int | None) -> View:
    return view_of(*some_state(rng), now_ms)


@given(seed=SEEDS)
def test_a_view_survives_the_way_through_json(seed: int) -> None:
    rng = random.Random(seed)
    statics = Statics((EVENT,), some_view(rng, None)) if rng.random() < 0.5 else None
    view = replace(some_view(rng, NOW_MS), statics=statics)
    again = View.from_json(view.to_json())
    assert again == view
    assert again.to_json() == view.to_json()
    assert [again.of_rowset(each) for each in again.rowsets] == [*map(view.of_rowset, view.rowsets)]


@given(seed=SEEDS)
def test_views_of_a_state_at_two_clocks_differ_only_in_what_they_hide(seed: int) -> None:
    """The later one hides what the earlier one hides, and no RowSet of either tells the time."""
    clocks = (None, NOW_MS, NOW_MS + 2 * DAY_MS)
    state, stored = some_state(random.Random(seed))
    views = [view_of(state, stored, each) for each in clocks]
    hidden = {"now_ms", "rowsets", "hidden", "masks"}
    for view, clock in zip(views, clocks, strict=True):
        assert view.now_ms == clock
        for each in fields(View):
            if each.name not in hidden:
                assert getattr(view, each.name) == getattr(views[0], each.name)
        assert {*view.rowsets} <= {*stored}
        assert {*view.hidden, *view.masks} <= {each.id for each in view.rowsets}
    before, after = views[1:]
    assert {*after.rowsets} <= {*before.rowsets}
    columns = {each.id: each for each in (EVENT, ENDS, NOTE, WRITTEN)}
    for rowset in after.rowsets:
        for at in range(NOW_MS - 2 * DAY_MS, NOW_MS + 2 * DAY_MS, DAY_MS // 3):
            row = {EVENT.id: at * 1000, ENDS.id: at // DAY_MS, WRITTEN.id: at * 1000}
            if hides(before, rowset, row, columns):
                assert hides(after, rowset, row, columns)


@given(seed=SEEDS)
def test_the_view_of_some_rowsets_hides_the_same_of_them(seed: int) -> None:
    rng = random.Random(seed)
    view = some_view(rng, NOW_MS)
    chosen = rng.sample(view.rowsets, rng.randint(0, len(view.rowsets)))
    part = view.of(chosen)
    assert [part.of_rowset(each) for each in chosen] == [view.of_rowset(each) for each in chosen]
    assert {*part.hidden, *part.masks} <= {each.id for each in chosen}
    assert replace(part, rowsets=view.rowsets, hidden=view.hidden, masks=view.masks) == view
