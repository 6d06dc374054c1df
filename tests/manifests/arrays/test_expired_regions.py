"""What has expired at a time, beside a model that looks at each row."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given

from colonnade.manifests.arrays.hidden_rows import view_of
from colonnade.manifests.model.columns.internal import WRITTEN
from colonnade.manifests.model.lifetimes import ColumnLifetime, Lifetimes
from colonnade.manifests.state.view import View
from tests.log_samples import table_state
from tests.manifests.arrays.ranged_rows import (
    DAY_MS,
    NOW_MS,
    SEEDS,
    VALUES,
    Row,
    Rows,
    check_hidden,
    column,
    inside,
    with_known_statistics,
)

EVENT, ENDS, NOTE = column(1, "timestamp"), column(2, "date"), column(3, "string")


def some_lifetimes(rng: random.Random) -> Lifetimes:
    spans = (1, 999, DAY_MS, 3 * DAY_MS, 400 * DAY_MS)
    return Lifetimes(
        rows_ms=rng.choice((None, rng.choice(spans))),
        time_column=rng.choice((None, 1, 2)),
        expires_column=rng.choice((None, 1, 2)),
        columns=(ColumnLifetime(column=3, ms=rng.choice(spans)),),
        since_ms=NOW_MS - rng.choice(spans),
    )


def time_ms(row: Row, number: int) -> float | None:
    """A value of a row as a time in ms, or None."""
    value = row[number]
    if value is None:
        return None
    return value * DAY_MS if number == ENDS.id else value / 1000


def is_expired(row: Row, lives: Lifetimes) -> bool:
    ends = []
    if lives.rows_ms is not None:
        began = time_ms(row, lives.time_column or WRITTEN.id)
        ends.append(None if began is None else began + lives.rows_ms)
    if lives.expires_column is not None:
        ends.append(time_ms(row, lives.expires_column))
    return any(end is not None and end <= NOW_MS for end in ends)


@given(seed=SEEDS)
def test_rows_and_values_are_hidden_from_the_moment_at_which_they_expire(seed: int) -> None:
    rng = random.Random(seed)
    lives = some_lifetimes(rng)
    spans = [lives.rows_ms or 0, lives.columns[0].ms]
    edges = [NOW_MS - span + by for span in (0, *spans) for by in (-DAY_MS, -1, 0, 1, DAY_MS)]
    values = {
        EVENT.id: [at * 1000 + by for at in edges for by in (-1, 0, 1)],
        ENDS.id: [at // DAY_MS for at in edges],
        NOTE.id: VALUES["string"],
    }
    made = Rows.some(rng, (EVENT, ENDS, NOTE), values)
    for at, rowset in enumerate(made.rowsets):
        written = rng.choice((None, rng.choice(edges)))
        if written is not None:
            # As long as one row may be younger, bounds do not hide it.
            last = written + rng.choice((0, 0, DAY_MS))
            dated = rowset.entry.model_copy(update={"written_ms": (written, last)})
            made.rowsets[at] = replace(rowset, entry=dated)
        first, last = made.rowsets[at].entry.written_ms or (lives.since_ms, lives.since_ms)
        times = [1000 * rng.choice((first, last)) for _ in made.rows[at]]
        made.rows[at] = [
            {**row, WRITTEN.id: time} for row, time in zip(made.rows[at], times, strict=True)
        ]
    state = replace(table_state(made.schema), lifetimes=lives)
    gone = [[is_expired(row, lives) for row in rows] for rows in made.rows]
    view = view_of(state, made.rowsets, NOW_MS)
    check_hidden(made, view, gone)
    check_hidden(made, view_of(state, with_known_statistics(made), NOW_MS), gone)
    assert view_of(state, made.rowsets, None) == View.stored(state, made.rowsets)
    columns = {**made.by_id, WRITTEN.id: WRITTEN}
    for each in view.rowsets:
        for row in made.rows[each.id]:
            masks = [m for m in view.masks_of(each) if inside(row, m.region.intervals, columns)]
            began = time_ms(row, lives.time_column or WRITTEN.id)
            expired = began is not None and began + lives.columns[0].ms <= NOW_MS
            assert bool(masks) == expired
            assert all(mask.column == NOTE.id for mask in masks)
