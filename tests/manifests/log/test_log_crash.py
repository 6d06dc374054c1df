"""A fault at every call of a commit, a checkpoint or a creation: old or new, never a mix."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import (
    AlreadyExistsError,
    ColonnadeError,
    CommitUnknownError,
    NotFoundError,
    StoreError,
)
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import AddRowSet
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore, ObjectStore
from tests.faults import Fault, FaultyStore, Stopped
from tests.log_samples import (
    ORDERS,
    append,
    change,
    contents,
    database,
    entry,
    make_log,
    overwrite,
    replay,
    vector,
    with_orders,
)
from tests.log_samples import delete as delete_rows

CALLS = 40


def grown(store: ObjectStore, interval: int) -> Snapshot:
    """A database at epoch 7, the eighth about to come."""
    log = make_log(store, interval)
    state = with_orders(store, log)
    for low in range(6):
        state = log.commit(append(entry(low=low, data="QUJD")), state)
    return state


def spilling() -> Change:
    return change(*(AddRowSet(table=ORDERS, rowset=entry(1, i)) for i in range(6)))


CHANGES: dict[str, tuple[Callable[[], Change], int]] = {
    "append": (append, 64),
    "overwrite": (lambda: overwrite((0, 5)), 64),
    "append and checkpoint": (append, 8),
    "overwrite, merge segments and checkpoint": (lambda: overwrite((1, 2)), 4),
    "delete and checkpoint": (lambda: delete_rows(3, vector(2)), 4),
    "many rowsets": (spilling, 8),
}


def times_committed(store: ObjectStore, transaction: str) -> int:
    log = make_log(store)
    head = log.reader.read_head()
    return sum(e.transaction == transaction for e in log.reader.read_epochs(head.epoch))


@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("fault", list(Fault), ids=lambda f: f.name)
@pytest.mark.parametrize("kind", CHANGES)
def test_a_commit_lands_whole_or_not_at_all(kind: str, fault: Fault, every: int) -> None:
    limits = Limits(listed_rowsets=4)
    make_change, interval = CHANGES[kind]
    start = MemoryStore()
    grown(start, interval)
    for call in range(1, CALLS, every):
        inner = copied(start)
        base = make_log(inner).reader.read_head()
        before = contents(make_log(inner), base)
        faulty = FaultyStore(inner, {call: fault})
        mine = make_change()
        outcome = attempt(make_log(faulty, interval, limits=limits), mine, base)
        faulty.land()
        count = times_committed(inner, mine.transaction)
        assert count in {"done": {1}, "failed": {0}, "unknown": {0, 1}}[outcome], call
        check_state(inner, before, count)
        make_log(inner, interval).commit(mine, base)
        assert times_committed(inner, mine.transaction) == 1
        if not faulty.fired:
            assert outcome == "done"
            return
    pytest.fail(f"{kind} makes more than {CALLS} calls")


def copied(store: ObjectStore) -> MemoryStore:
    fresh = MemoryStore()
    for info in store.list(""):
        fresh.put(info.name, store.get(info.name), sync=False)
    return fresh


def attempt(log: Log, mine: Change, base: Snapshot) -> str:
    try:
        after = log.commit(mine, base)
    except (CommitUnknownError, Stopped):
        return "unknown"
    except StoreError:
        return "failed"
    assert after.transaction == mine.transaction
    return "done"


def check_state(store: ObjectStore, before: dict[str, object], committed: int) -> None:
    log = make_log(store)
    head = log.reader.read_head()
    assert contents(log, head) == contents(log, replay(store))
    if not committed:
        assert contents(log, head) == before
    else:
        assert contents(log, log.reader.read_at(head.epoch - 1)) == before


@pytest.mark.parametrize("fault", list(Fault), ids=lambda f: f.name)
def test_a_database_is_created_whole_or_not_at_all(fault: Fault) -> None:
    for call in range(1, CALLS):
        inner = MemoryStore()
        faulty = FaultyStore(inner, {call: fault})
        created = None
        with suppress(ColonnadeError, Stopped):
            created = database(faulty)
        faulty.land()
        log = make_log(inner)
        try:
            found = log.reader.read_head()
        except NotFoundError:
            assert created is None
            found = database(inner)
        assert created in (None, found)
        with pytest.raises(AlreadyExistsError):
            database(inner)
        log.commit(change(), found)
        if not faulty.fired:
            assert created is not None
            return
    pytest.fail(f"creation makes more than {CALLS} calls")


@pytest.mark.parametrize("fault", list(Fault), ids=lambda f: f.name)
def test_a_fault_while_reading_gives_the_head_or_an_error(fault: Fault) -> None:
    inner = MemoryStore()
    head = grown(inner, 4)
    expected = contents(make_log(inner), head)
    for call in range(1, 60):
        faulty = FaultyStore(inner, {call: fault})
        log = make_log(faulty)
        try:
            assert contents(log, log.reader.read_head()) == expected
        except (StoreError, Stopped):
            assert faulty.fired
        if not faulty.fired:
            return
    pytest.fail("reading makes more than 60 calls")


def test_a_slot_that_never_answers_is_unknown_and_never_left() -> None:
    inner = MemoryStore()
    base = grown(inner, 64)
    silent = FaultyStore(inner, dict.fromkeys(range(1, 1000), Fault.LOST_REQUEST))
    mine = append()
    with pytest.raises(CommitUnknownError, match=mine.transaction):
        make_log(silent).commit(mine, base)
    puts = [call.name for call in silent.trace if call.operation == "put_if_absent"]
    assert len(puts) > 1
    assert set(puts) == {epoch_name(8)}
