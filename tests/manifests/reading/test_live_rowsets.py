"""RowSets of a table are read from few segments, or from the log if a segment is lost.

A transaction whose checkpoint is lost sees no rows of a concurrent writer.
"""

from __future__ import annotations

import pickle

import pytest

from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import DropRowSet
from colonnade.manifests.object_names import CHECKPOINTS, checkpoint_name
from colonnade.manifests.reading.live_rowsets import LiveRowSets
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.store import MemoryStore
from tests.faults import FaultyStore
from tests.log_samples import (
    ORDERS,
    append,
    change,
    contents,
    entry,
    holds,
    live,
    make_log,
    with_orders,
)
from tests.manifests.checkpoint.tables import checkpointed, names


def in_segments(*sizes: int) -> tuple[MemoryStore, Log, TableState]:
    """A table with one segment for each size. Column 1 of its RowSets begins at 1000 * size."""
    store = MemoryStore()
    log = make_log(store, 1)
    state = with_orders(store, log)
    for size in sizes:
        state = log.commit(append(*(entry(1, 1000 * size + i) for i in range(size))), state)
    table = state.tables[ORDERS]
    assert len(table.rowsets.segments) == len(sizes)
    return store, log, table


def test_pruning_reads_only_the_segments_that_may_hold_the_value() -> None:
    store, _, table = in_segments(40, 8, 1)
    watched = FaultyStore(store)
    found = make_log(watched).rowsets.read(table, holds(8003))
    assert [r.entry.statistics[1].min for r in found] == ["i:8003"]
    assert len(watched.trace) == 1


def test_rowsets_are_found_by_their_ids_in_the_segments_that_may_have_them() -> None:
    store, log, table = in_segments(40, 8, 1)
    wanted = live(log, table)[41]
    watched = FaultyStore(store)
    reader = make_log(watched)
    assert reader.rowsets.find(table, []) == {}
    assert not watched.trace
    assert reader.rowsets.find(table, [wanted.id, 10**6]) == {wanted.id: wanted}
    segment = table.rowsets.segments[1].segment.object
    assert [call.name for call in watched.trace] == [checkpoint_name(segment)]


def test_rowsets_in_segments_and_after_them_are_found_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """To find a RowSet after the segments costs the same after any number of appends."""
    store, _, _ = in_segments(40, 8)
    log = make_log(store)
    log.commit(append(*(entry() for _ in range(30))), log.reader.read_head())
    table = log.reader.read_head().tables[ORDERS]
    every = {each.id: each for each in log.rowsets.read(table)}
    assert len(table.rowsets.added) == 30
    for ids in ([], [77, 50], [3], [60, 3, 44, 1000], range(78)):
        assert log.rowsets.find(table, ids) == {i: every[i] for i in sorted(ids) if i in every}
    monkeypatch.delattr(LiveRowSets, "read_entries")
    assert log.rowsets.find(table, [77, 50, 1000]) == {50: every[50], 77: every[77]}


def test_a_snapshot_read_before_its_segments_vanished_is_read_from_the_log() -> None:
    store, log, state = checkpointed()
    expected = contents(log, state)
    for name in names(store, CHECKPOINTS):
        store.delete(name)
    assert contents(log, state) == expected


@pytest.mark.parametrize("overtaken", [False, True])
@pytest.mark.parametrize("further", [False, True])
def test_a_transaction_sees_the_same_rows_when_its_checkpoint_is_lost(
    overtaken: bool, further: bool
) -> None:
    store, log, _ = in_segments(40, 8)
    base = log.reader.read_head()
    some = DropRowSet(table=ORDERS, rowsets=((1, 2), (44, 44)), kind="delete")
    one, other = append(entry()).ops, append(entry()).ops
    whole = change(some, *one, *other)
    if further:
        before = log.preview(change(some, *one), base).tables[ORDERS]
        state = log.preview(change(*other), base, {ORDERS: before})
    else:
        state = log.preview(whole, base)
    own = state.tables[ORDERS]
    seen = log.rowsets.read(own)
    assert [each.id for each in seen] == [each for each in range(50) if each not in (1, 2, 44)]
    if overtaken:
        log.commit(append(entry(), entry(), entry()), base)
    for name in names(store, CHECKPOINTS):
        store.delete(name)
    for reader in (log, make_log(store)):
        assert reader.rowsets.read(own) == seen
        found = reader.rowsets.find(own, [45, 44])
        assert found == {45: next(each for each in seen if each.id == 45)}


def test_the_table_of_a_transaction_is_a_plain_value_that_can_be_sent_and_read_again() -> None:
    store, log, table = in_segments(40, 8)
    own = log.preview(append(entry()), log.reader.read_head()).tables[ORDERS]
    sent = pickle.loads(pickle.dumps(own))
    assert (sent, hash(sent)) == (own, hash(own))
    assert sent != table
    seen = log.rowsets.read(own)
    for name in names(store, CHECKPOINTS):
        store.delete(name)
    assert make_log(store).rowsets.read(sent) == seen


def test_a_transaction_reads_nothing_of_a_database_that_has_replaced_its_own() -> None:
    store, log, _ = in_segments(40, 8)
    own = log.preview(append(entry()), log.reader.read_head()).tables[ORDERS]
    for each in [info.name for info in store.list("")]:
        store.delete(each)
    with_orders(store, make_log(store, 1))
    with pytest.raises(NotFoundError, match="was removed or replaced"):
        log.rowsets.read(own)
