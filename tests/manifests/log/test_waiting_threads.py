"""Threads of one process that commit to a store without an order of its own."""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from unittest.mock import Mock, patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.turns import pause_s, wait_for_turn
from colonnade.manifests.errors import ConflictError, StoreError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.object_names import MANIFEST, epoch_number
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore, ObjectStore, PutOutcome
from colonnade.manifests.store.base import Data
from colonnade.manifests.store.object_store import PARALLEL, TRUST_S
from colonnade.manifests.store.s3 import S3Store
from colonnade.manifests.store.turn import Turn
from tests.log_samples import (
    TRIPS,
    append,
    change,
    contents,
    drop,
    entry,
    land,
    live,
    make_log,
    replay,
    table,
    with_orders,
)
from tests.setup.minio import Minio

SOON_S = 60
"""More than anything here takes."""


PATIENT = partial(wait_for_turn, limit_s=SOON_S)
"""Waits for a turn until it comes, also on a busy machine."""


class SlowStore(MemoryStore):
    """Each read of an object, and each put, takes `latency_s` seconds. Counts lost slots.

    `before_put` is called before each put of an epoch.
    """

    def __init__(self, latency_s: float = 0.02) -> None:
        super().__init__()
        self.parallel, self.trust_s = PARALLEL, TRUST_S
        self.latency_s = latency_s
        self.lost = 0
        self.before_put: Callable[[str, Data], None] = lambda name, data: None

    def get(self, name: str, *, limit: int | None = None) -> bytes:
        time.sleep(self.latency_s)
        return super().get(name, limit=limit)

    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        time.sleep(self.latency_s)
        if epoch_number(name) is not None:
            self.before_put(name, data)
        outcome = super().put_if_absent(name, data)
        self.lost += outcome is PutOutcome.EXISTS
        return outcome


class CountingStore(SlowStore):
    """Counts reads and puts."""

    def __init__(self) -> None:
        super().__init__(0)
        self.requests: list[str] = []

    def get(self, name: str, *, limit: int | None = None) -> bytes:
        self.requests.append(f"get {name}")
        return super().get(name, limit=limit)

    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        self.requests.append(f"put {name}")
        return super().put_if_absent(name, data)


def epochs_of(store: ObjectStore) -> list[Epoch]:
    log = make_log(store)
    return [*log.reader.read_epochs(log.reader.read_head().epoch)][::-1]


def epochs_since(base: Snapshot, store: ObjectStore) -> int:
    return make_log(store).reader.read_head().epoch - base.epoch


def committed(store: ObjectStore) -> Counter[str]:
    """How often each change is in the log."""
    return Counter(epoch.transaction for epoch in epochs_of(store))


def append_by_threads(stores: list[ObjectStore], base: Snapshot, times: int) -> list[Change]:
    """Append in a thread for each store, each from the state that its last append has left."""
    barrier = threading.Barrier(len(stores))

    def work(store: ObjectStore) -> list[Change]:
        changes = [append() for _ in range(times)]
        log, head = Log(store), base
        barrier.wait(SOON_S)
        for each in changes:
            head = log.commit(each, head)
        return changes

    with (
        patch("colonnade.manifests.commit.attempt.wait_for_turn", PATIENT),
        ThreadPoolExecutor(len(stores)) as pool,
    ):
        return [each for changes in pool.map(work, stores) for each in changes]


def commit_while_waiting(
    store: MemoryStore,
    changes: list[Change],
    base: Snapshot,
    meanwhile: Callable[[], object] = lambda: None,
) -> list[Future[Snapshot]]:
    """Commit changes in a thread each. All of them wait until `meanwhile` was called."""
    order = store._turns._known()
    with (
        patch("colonnade.manifests.commit.attempt.wait_for_turn", PATIENT),
        ThreadPoolExecutor(len(changes)) as pool,
        store.turn(MANIFEST) as turn,
    ):
        assert turn.take(0)
        found = [pool.submit(make_log(store).commit, each, base) for each in changes]
        deadline = time.monotonic() + SOON_S
        while len(order[MANIFEST].waiting) < len(changes):
            assert time.monotonic() < deadline
            time.sleep(0.001)
        meanwhile()
    return found


def test_threads_of_one_process_lose_no_slot_to_each_other() -> None:
    store = SlowStore(0.005)
    base = with_orders(store, make_log(store))
    changes = append_by_threads([store] * 8, base, 2)
    found = committed(store)
    assert [found[each.transaction] for each in changes] == [1] * 16
    assert epochs_since(base, store) == 16
    assert store.lost == 0


@pytest.mark.slow
@pytest.mark.timeout(900)  # the first test may build the server
def test_threads_of_one_process_lose_no_slot_to_each_other_in_a_bucket(minio: Minio) -> None:
    url = f"s3://{minio.new_bucket()}/lake"
    stores: list[ObjectStore] = [S3Store(url, minio.options()) for _ in range(8)]
    base = with_orders(stores[0], make_log(stores[0]))
    lost = Mock(wraps=pause_s)
    with patch("colonnade.manifests.commit.attempt.pause_s", lost):
        changes = append_by_threads(stores, base, 5)
    found = committed(stores[0])
    assert [found[each.transaction] for each in changes] == [1] * 40
    assert epochs_since(base, stores[0]) == 40
    lost.assert_not_called()


def test_a_writer_without_siblings_makes_no_request_more_than_without_turns() -> None:
    requests = {}
    for has_turns in (True, False):
        store = CountingStore()
        log = make_log(store)
        head = with_orders(store, log)
        turn = store.turn if has_turns else lambda folder: Turn()
        with patch.object(store, "turn", turn):
            store.requests.clear()
            for _ in range(3):
                head = log.commit(append(), head)
        requests[has_turns] = [re.sub("-.*", "", each) for each in store.requests]
    assert requests[True] == requests[False]


class Dies(BaseException):
    """The thread ends here."""


@pytest.mark.parametrize("failure", [StoreError("Refused."), Dies()])
def test_the_failure_of_a_writer_delays_no_other_thread(failure: BaseException) -> None:
    store = SlowStore(0)
    base = with_orders(store, make_log(store))
    changes = [append() for _ in range(6)]
    refused: list[str] = []

    def fail_once(name: str, data: Data) -> None:
        if not refused:
            refused.append(name)
            raise failure

    store.before_put = fail_once
    store.tries = 1
    with patch("colonnade.manifests.epochs.slots.TRIES", 1):
        found = commit_while_waiting(store, changes, base)
    times = committed(store)
    for mine, result in zip(changes, found, strict=True):
        assert times[mine.transaction] == (result.exception() is None)
    assert epochs_since(base, store) == len(changes) - 1
    assert store.lost == 0


def test_a_waiting_append_whose_table_is_dropped_fails_alone() -> None:
    store = SlowStore(0)
    log = make_log(store)
    base = log.commit(change(table(TRIPS, "trips")), with_orders(store, log))
    changes = [append(), append(to=TRIPS), append(), append(to=TRIPS), append()]
    found = commit_while_waiting(store, changes, base, lambda: log.commit(drop(TRIPS), base))
    for number, result in enumerate(found):
        if number in (1, 3):
            assert isinstance(result.exception(), ConflictError)
        else:
            assert result.result().epoch > base.epoch + 1
    times = committed(store)
    assert [times[each.transaction] for each in changes] == [1, 0, 1, 0, 1]


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), min_size=1, max_size=4))
def test_changes_of_waiting_threads_leave_what_they_leave_one_after_another(
    groups: list[list[int]],
) -> None:
    """A number is that of the RowSets of an append, and 0 is a change that lands a batch."""
    store, plain = MemoryStore(), MemoryStore()
    log, single = make_log(store), make_log(plain)
    base, alone = with_orders(store, log), with_orders(plain, single)
    for group in groups:
        changes = [
            append(*(entry() for _ in range(count)))
            if count
            else land({f"app-{base.epoch}-{number}": 1})
            for number, count in enumerate(group)
        ]
        for result in commit_while_waiting(store, changes, base):
            result.result()
        before, base = base, log.reader.read_head()
        made = epochs_of(store)[before.epoch + 1 :]
        assert sorted(e.transaction for e in made) == sorted(c.transaction for c in changes)
        for each in made:
            alone = single.commit(Change(each.transaction, each.operation, each.ops), alone)
        mine, others = base.table("orders"), alone.table("orders")
        assert [(r.id, r.entry) for r in live(log, mine)] == [
            (r.id, r.entry) for r in live(single, others)
        ]
    assert contents(log, base) == contents(log, replay(store))
