"""A checkpoint writes what has changed, and reuses the rest."""

from __future__ import annotations

import pytest

from colonnade.manifests.checkpoint.writer import write_checkpoint
from colonnade.manifests.limits import Limits
from colonnade.manifests.model.operations import DropRowSet
from colonnade.manifests.store import MemoryStore
from tests.log_samples import (
    ORDERS,
    append,
    change,
    contents,
    delete,
    entry,
    live,
    make_log,
    overwrite,
    replay,
    vector,
    with_orders,
)


def test_unchanged_large_segments_are_reused() -> None:
    store = MemoryStore()
    log = make_log(store, 1, limits=Limits(segment_rowsets=32))
    state = with_orders(store, log)
    state = log.commit(append(*(entry(1, i) for i in range(20))), state)
    (large,) = state.table("orders").rowsets.segments
    state = log.commit(append(*(entry(1, i) for i in range(30))), state)
    state = log.commit(overwrite_some(2), state)
    state = log.commit(delete(5, vector(1)), state)
    rowsets = state.table("orders").rowsets
    assert large in rowsets.segments
    assert rowsets.dropped
    assert rowsets.amended
    assert rowsets.row_count == 20 + 30 + 10 - 2 - 1
    assert contents(log, log.reader.read_head()) == contents(log, replay(store))
    state = log.commit(overwrite_some(9, 12), state)
    assert large not in state.table("orders").rowsets.segments
    assert contents(log, log.reader.read_head()) == contents(log, replay(store))


@pytest.mark.parametrize("gone", [((0, 1),), ((0, 0), (1, 1)), ((0, 2),)])
@pytest.mark.parametrize("deleted", [None, 0, 3])
def test_a_checkpoint_counts_the_remaining_rows_after_segments_were_removed(
    gone: tuple[tuple[int, int], ...], deleted: int | None
) -> None:
    store = MemoryStore()
    log = make_log(store, limits=Limits(listed_rowsets=1))
    state = with_orders(store, log)
    for rows in (1, 10):
        state = log.commit(append(entry(rows), entry(rows)), state)
    if deleted is not None:
        state = log.commit(delete(deleted, vector(1)), state)
    for each in gone:
        state = log.commit(change(DropRowSet(table=ORDERS, rowsets=(each,))), state)
    counted = write_checkpoint(store, state).table("orders").rowsets
    left = live(log, state.table("orders"))
    assert counted.rowset_count == len(left)
    assert counted.row_count == sum(each.row_count for each in left)
    assert counted.byte_count == sum(each.byte_count for each in left)


def test_segments_that_are_dropped_together_are_not_counted_twice() -> None:
    store = MemoryStore()
    log = make_log(store, 1, limits=Limits(segment_rowsets=32))
    state = log.commit(append(*(entry(1) for _ in range(20))), with_orders(store, log))
    state = log.commit(append(*(entry(2) for _ in range(20))), state)
    state = log.commit(change(DropRowSet(table=ORDERS, rowsets=((0, 1),))), state)
    assert state.table("orders").rowsets.dropped
    late = make_log(store).commit(change(DropRowSet(table=ORDERS, rowsets=((2, 21),))), state)
    assert late.table("orders").rowsets.row_count in (None, 18 * 2)


def overwrite_some(first: int, last: int | None = None):  # type: ignore[no-untyped-def]
    return overwrite((first, (last or first + 1)))
