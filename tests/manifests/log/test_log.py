"""Reading and committing, case by case: every change lands once, is refused, or is called unknown.

A change that loses slots pauses, and ends after a stated number of them.
"""

from __future__ import annotations

import multiprocessing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.errors import (
    CommitUnknownError,
    ConflictError,
    CorruptionError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import AddRowSet, AddRowSets
from colonnade.manifests.object_names import CHECKPOINTS, epoch_name
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import LocalStore, MemoryStore, PutOutcome
from colonnade.manifests.store.base import Data
from tests.examples_of import examples
from tests.faults import FaultyStore
from tests.log_samples import (
    ORDERS,
    append,
    append_many,
    change,
    contents,
    drop,
    entry,
    live,
    make_log,
    overwrite,
    replay,
    vector,
    with_orders,
)
from tests.log_samples import delete as delete_rows


def test_a_directory_without_a_log_is_not_a_database(tmp_path: Path) -> None:
    for store in (MemoryStore(), LocalStore(tmp_path / "nothing")):
        with pytest.raises(NotFoundError, match="is not a Colonnade database or table"):
            make_log(store).reader.read_head()


def mark(base: Snapshot, block: int = 0) -> str:
    """The name of the mark of a block of slots."""
    return base.blocks.mark(block)


def test_refreshing_costs_a_look_at_three_slots_and_a_mark() -> None:
    store = MemoryStore()
    head = with_orders(store, make_log(store))
    watched = FaultyStore(store)
    assert make_log(watched).reader.refresh(head) is head
    slots = [epoch_name(n) for n in (2, 3, 1)]
    assert [call.name for call in watched.trace] == [*slots[:2], mark(head), slots[2]]


def test_a_commit_without_contention_is_one_write_between_two_reads_and_one() -> None:
    store = MemoryStore()
    base = with_orders(store, make_log(store))
    watched = FaultyStore(store)
    make_log(watched).commit(append(), base)
    looks = [("get", epoch_name(2)), ("get_ranges", epoch_name(1))]
    assert watched.trace == [*looks, ("put_if_absent", epoch_name(2)), ("get", mark(base))]


def test_following_concurrent_writers_costs_one_read_of_each_of_their_epochs_and_no_lost_slot() -> (
    None
):
    store = MemoryStore()
    log = make_log(store)
    base = with_orders(store, log)
    for _ in range(5):
        log.commit(append(), base)
    watched = FaultyStore(store)
    make_log(watched).commit(append(), base)
    reads = [("get", epoch_name(number)) for number in range(2, 8)]
    assert watched.trace == [*reads, ("put_if_absent", epoch_name(7)), ("get", mark(base))]


class Rushed(MemoryStore):
    """A store with a concurrent writer, which takes each of the next `left` slots before a put."""

    left = 0

    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        if self.left:
            left, self.left = self.left, 0
            log = make_log(self)
            log.commit(append(), log.reader.read_head())
            self.left = left - 1
        return super().put_if_absent(name, data)


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("lost", [0, 1, 7, 8, 30])
def test_a_change_that_loses_slots_pauses_and_is_given_up_after_a_bounded_number(
    lost: int, fresh: bool
) -> None:
    store, pauses = Rushed(), list[float]()
    base = with_orders(store, make_log(store))
    log = Log(store, pause=pauses.append, limits=Limits(lost_slots=8))
    mine, store.left = replace(append(), fresh=fresh), lost
    if lost < 8:
        assert log.commit(mine, base).epoch == base.epoch + lost + 1
    else:
        # An earlier send of a change that is not fresh may still commit it.
        said = "nothing was committed" if fresh else f"look for transaction {mine.transaction}"
        error = ConflictError if fresh else CommitUnknownError
        with pytest.raises(error, match=f"lost 8 commit races in a row; {said}"):
            log.commit(mine, base)
        store.left = 0
        assert log.commit(mine, base).epoch == base.epoch + 9
    assert len(pauses) == min(lost, 7)


def test_a_change_whose_last_try_was_sent_twice_on_the_way_is_not_given_up() -> None:
    class Forgetful(MemoryStore):
        """A store whose client sends each request twice and sees the answer to the second."""

        def put_if_absent(self, name: str, data: Data) -> PutOutcome:
            super().put_if_absent(name, data)
            return super().put_if_absent(name, data)

    store = Forgetful()
    base = with_orders(store, make_log(store))
    log = Log(store, limits=Limits(lost_slots=1))
    after, epoch = log.commit_change(append(), base)
    assert epoch is not None
    assert after == log.reader.read_head()
    assert after.epoch == base.epoch + 1


def test_a_change_that_is_found_in_the_log_is_put_again_so_that_it_is_durable() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = with_orders(store, log)
    mine = append()
    log.commit(mine, base)
    watched = FaultyStore(store)
    assert make_log(watched).commit(mine, base).epoch == 2
    assert watched.trace == [
        ("get", epoch_name(2)),
        ("put_if_absent", epoch_name(2)),
        ("get", epoch_name(2)),
        ("get", mark(base)),
    ]


def test_a_change_sent_again_from_its_old_base_lands_once() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = with_orders(store, log)
    mine = append()
    log.commit(append(), base)
    first = log.commit(mine, base)
    log.commit(append(), base)
    again = make_log(store, start_ms=99_000).commit(mine, base)
    assert again == first
    assert log.reader.read_head().epoch == 4


def test_a_drop_sent_again_is_not_in_conflict_with_itself() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = with_orders(store, log)
    mine = drop()
    assert log.commit(mine, base) == log.commit(mine, base)


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=25), st.integers(1, 6))
def test_two_writers_taking_turns_lose_nothing(turns: list[bool], interval: int) -> None:
    store = MemoryStore()
    logs = [make_log(store, interval), make_log(store, interval, start_ms=500)]
    seen = [with_orders(store, logs[0])] * 2
    objects = []
    for turn in turns:
        mine = entry(data="QUJD")
        seen[turn] = logs[turn].commit(append(mine), seen[turn])
        objects.append(mine.object)
    head = logs[0].reader.read_head()
    assert [r.entry.object for r in live(logs[0], head.table("orders"))] == objects
    assert contents(logs[0], head) == contents(logs[0], replay(store))
    times = [epoch.time_ms for epoch in logs[0].reader.read_epochs(head.epoch)]
    assert times == sorted(set(times), reverse=True)


@pytest.mark.slow
def test_racing_processes_land_every_append_once(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    with_orders(store, make_log(store))
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([append_many.__module__])  # imported once, and not four times
    results = context.SimpleQueue()
    workers = [
        context.Process(target=append_many, args=(str(tmp_path), seed, results))
        for seed in range(4)
    ]
    for worker in workers:
        worker.start()
    written = [results.get() for _ in workers]
    for worker in workers:
        worker.join()
    log = make_log(store)
    head = log.reader.read_head()
    rowsets = live(log, head.table("orders"))
    changes = [epoch.transaction for epoch in log.reader.read_epochs(head.epoch)]
    assert len(changes) == len({*changes}) == 102
    assert head.epoch == 101
    assert [r.id for r in rowsets] == list(range(100))
    assert sorted(r.entry.object for r in rowsets) == sorted(o for each in written for o in each)
    assert contents(log, head) == contents(log, replay(store))
    for objects in written:
        order = [r.entry.object for r in rowsets if r.entry.object in set(objects)]
        assert order == objects


def test_rowset_ids_are_never_given_twice() -> None:
    store = MemoryStore()
    log = make_log(store, 2)
    state = log.commit(append(entry(), entry()), with_orders(store, log))
    state = log.commit(overwrite((0, 1)), state)
    state = log.commit(append(), state)
    assert [r.id for r in live(log, state.table("orders"))] == [2, 3]
    with pytest.raises(InvalidInputError, match="not all live"):
        log.commit(overwrite((1, 2)), state)


def test_a_vector_replaces_the_one_that_it_names() -> None:
    store = MemoryStore()
    log = make_log(store)
    first = vector(2)
    state = log.commit(append(), with_orders(store, log))
    state = log.commit(delete_rows(0, first), state)
    assert state.table("orders").rowsets.row_count == 8
    for wrong in (vector(3), vector(3, vector(1)), vector(1, first), vector(11, first)):
        with pytest.raises(InvalidInputError):
            log.commit(delete_rows(0, wrong), state)
    state = log.commit(delete_rows(0, vector(10, first)), state)
    assert state.table("orders").rowsets.row_count == 0


def test_time_grows_even_when_the_clock_does_not() -> None:
    store = MemoryStore()
    log = Log(store, clock_ms=lambda: 7)
    state = with_orders(store, log)
    for _ in range(3):
        state = log.commit(append(), state)
    assert [e.time_ms for e in log.reader.read_epochs(state.epoch)] == [10, 9, 8, 7, 0]


@pytest.mark.parametrize("epochs_of_the_new_one", [0, 2, 8])
def test_a_database_that_was_deleted_takes_no_change_of_old_readers(
    epochs_of_the_new_one: int,
) -> None:
    old, store = MemoryStore(), MemoryStore()
    state = with_orders(old, make_log(old))
    state = make_log(old).commit(append(), state)
    if epochs_of_the_new_one:
        new = with_orders(store, make_log(store))
        for _ in range(2, epochs_of_the_new_one):
            new = make_log(store).commit(append(), new)
    before = dict(store._objects)
    for use in (
        make_log(store).reader.refresh,
        lambda base: make_log(store).commit(append(), base),
    ):
        with pytest.raises(NotFoundError, match="removed or replaced; open it again"):
            use(state)
    assert store._objects == before


def test_more_rowsets_than_an_epoch_lists_are_kept_in_segments() -> None:
    store = MemoryStore()
    log = make_log(store, 64)
    state = with_orders(store, log)
    many = [entry(1, i) for i in range(1500)]
    state = log.commit(append(entry(), entry()), state)
    state = log.commit(append(*many), state)
    state = log.commit(append(entry()), state)
    (epoch,) = log.reader.read_epochs(3, limit=1)
    assert [type(op) for op in epoch.ops] == [AddRowSets]
    orders = state.table("orders")
    assert orders.rowsets.rowset_count == 1503
    assert orders.rowsets.row_count == 1500 + 3 * 10
    found = live(log, orders)
    assert [r.id for r in found] == list(range(1503))
    assert [r.entry for r in found[2:-1]] == many
    assert {r.epoch for r in found[2:-1]} == {3}
    state = log.commit(overwrite((0, 1502)), state)
    assert [r.id for r in live(log, state.table("orders"))] == [1503]
    for name in [info.name for info in store.list(CHECKPOINTS)]:
        store.delete(name)
    with pytest.raises(CorruptionError, match="missing"):
        live(log, orders)


def test_large_inline_rowsets_are_kept_in_segments() -> None:
    store = MemoryStore()
    log = make_log(store)
    big = "A" * (3 * 2**20)
    state = log.commit(append(*(entry(1, data=big) for _ in range(4))), with_orders(store, log))
    assert len(state.table("orders").rowsets.segments) == 4
    assert [r.entry.data for r in live(log, state.table("orders"))] == [big] * 4


def test_a_change_too_large_for_an_epoch_is_refused_before_any_write() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = with_orders(store, log)
    huge = replace(append(), parameters={"note": "x" * 9 * 2**20})
    with pytest.raises(InvalidInputError, match="divide it"):
        log.commit(huge, base)
    assert log.reader.read_head() == base


def test_text_that_is_not_unicode_is_refused_before_any_write() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = with_orders(store, log)
    with pytest.raises(InvalidInputError, match="cannot be written as JSON"):
        log.commit(replace(append(), parameters={"note": "\ud800"}), base)
    assert log.reader.read_head() == base


@pytest.mark.parametrize("error", [NotFoundError("no such bucket"), MemoryError()])
def test_a_failed_checkpoint_does_not_fail_its_commit(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    class NoSegments(MemoryStore):
        def put_if_absent(self, name, data):  # type: ignore[no-untyped-def]
            if name.startswith(CHECKPOINTS):
                raise error
            return super().put_if_absent(name, data)

    store = NoSegments()
    log = make_log(store, 1)
    state = log.commit(change(AddRowSet(table=ORDERS, rowset=entry())), with_orders(store, log))
    assert log.reader.read_head() == state
    assert "No checkpoint of epoch 2" in caplog.text
