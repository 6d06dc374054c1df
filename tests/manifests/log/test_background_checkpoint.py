"""Commits behind a network do not wait for checkpoints, and continue from them once stored."""

from __future__ import annotations

import random
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import TypeVar

import pytest

from colonnade.manifests.errors import StoreError
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.log.log import Log
from colonnade.manifests.object_names import HINT
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from tests.far_store import FarStore
from tests.log_samples import (
    ORDERS,
    append,
    change,
    contents,
    database,
    make_log,
    table,
    with_orders,
)

T = TypeVar("T")


class LateStore(FarStore):
    """A far store that does not begin work without a waiting caller until a test asks for it."""

    def __init__(self) -> None:
        super().__init__()
        self.held: list[Callable[[], None]] = []

    def later(self, work: Callable[[], None]) -> None:
        self.held.append(work)

    def catch_up(self) -> None:
        while self.held:
            self.held.pop(0)()


def held(state: Snapshot) -> int:
    """Count the RowSets in memory that no checkpoint of the state stores."""
    return len(state.tables[ORDERS].rowsets.added)


def fill(log: Log, state: Snapshot, until: int) -> Snapshot:
    while state.epoch < until:
        state = log.commit(append(), state)
    return state


def test_a_commit_that_has_to_store_a_checkpoint_waits_only_for_a_look_at_the_hint() -> None:
    store = LateStore()
    log = make_log(store)
    state = fill(log, with_orders(store, log), 62)
    costs = []
    for _ in range(4):
        with store.counted() as cost:
            state = log.commit(append(), state)
        costs.append((cost.requests, cost.rounds))
    assert costs == [(4, 3), (5, 4), (4, 3), (4, 3)]
    assert len(store.held) == 1
    assert HINT not in [info.name for info in store.list("_manifest/")]
    store.catch_up()
    assert contents(log, Log(store).reader.read_head()) == contents(log, state)


@pytest.mark.parametrize("behind", [0, 1, 7, 63])
def test_commits_continue_from_a_checkpoint_that_was_stored_meanwhile(behind: int) -> None:
    store = LateStore()
    log = make_log(store)
    state = fill(log, with_orders(store, log), 64 + behind)
    before = contents(log, state)
    store.catch_up()
    assert contents(log, state) == before
    after = fill(log, state, state.epoch + 1)
    assert contents(log, after) == contents(Log(store), Log(store).reader.read_head())
    assert held(after) <= behind + 2


def test_a_checkpoint_that_never_ends_is_followed_by_one_within_the_commit() -> None:
    store = LateStore()
    log = make_log(store)
    state = fill(log, with_orders(store, log), 127)
    assert held(state) > 100
    state = fill(log, state, 128)
    assert held(state) == 0
    assert len(store.held) == 1
    state = fill(log, state, 192)
    assert len(store.held) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds", [range(8), pytest.param(range(8, 40), marks=pytest.mark.long)], ids=["few", "many"]
)
def test_states_that_other_writers_moved_are_never_mixed_up(seeds: range) -> None:
    for seed in seeds:
        order = random.Random(seed)
        store = LateStore()
        logs = [make_log(store, 4) for _ in range(3)]
        states = [with_orders(store, logs[0])] * 3
        for _ in range(60):
            at = order.randrange(3)
            match order.randrange(6):
                case 0:
                    store.catch_up()
                case 1:
                    states[at] = logs[at].reader.refresh(states[at])
                case _:
                    states[at] = logs[at].commit(append(), states[at])
            expected = Log(store.inner).reader.read_at(states[at].epoch)
            assert contents(logs[at], states[at]) == contents(Log(store.inner), expected)


class BrokenStore(LateStore):
    """A store that can lose its checkpoints for a while."""

    broken = False

    def _call(self, operation: str, name: str, effect: Callable[[], T]) -> T:
        if self.broken and operation.startswith("get") and "checkpoint" in name:
            raise StoreError("The store is not available.", retryable=True)
        return super()._call(operation, name, effect)


def test_a_commit_does_not_fail_because_a_table_of_the_stored_checkpoint_cannot_be_read() -> None:
    # The table was read from the checkpoint before. The new one has it in a page of its own.
    store = BrokenStore()
    paged = replace(LIMITS, root_tables=1, root_bytes=64, page_bytes=512)
    tables = [f"{number:016x}" for number in range(1, 12)]
    log = make_log(store, 4, limits=paged)
    state = database(store)
    for each in tables:
        state = log.commit(change(table(each, f"t{each}"), name="create_table"), state)
    state = log.commit(append(to=tables[0]), state)
    store.catch_up()
    later = make_log(store, 4, limits=paged)
    state = later.reader.read_head()
    for _ in range(4):
        state = later.commit(append(to=tables[0]), state)
    store.catch_up()
    assert tables[9] in state.tables
    store.broken = True
    after = later.commit(replace(append(to=tables[9]), fresh=True), state)
    store.broken = False
    assert contents(later, after) == contents(Log(store), Log(store).reader.read_head())


def test_a_commit_does_not_fail_because_no_thread_can_store_its_checkpoint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Parallel(MemoryStore):
        parallel = 8

    def refuse(thread: Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    store = Parallel()
    log = make_log(store, 4)
    state = fill(log, with_orders(store, log), 3)
    monkeypatch.setattr(Thread, "start", refuse)
    assert held(fill(log, state, 4)) == 0


@pytest.mark.slow
def test_a_process_that_ends_right_after_its_commit_stores_the_checkpoint(tmp_path: Path) -> None:
    code = f"""
        import time
        from colonnade.manifests.store import LocalStore
        from tests.log_samples import append, make_log, with_orders

        class Slow(LocalStore):
            parallel = 8
            def put_if_absent(self, name, data):
                if "checkpoint" in name:
                    time.sleep(0.5)
                return super().put_if_absent(name, data)

        store = Slow({str(tmp_path / "db")!r})
        store.make_root()
        log = make_log(store, 4)
        state = with_orders(store, log)
        while state.epoch < 4:
            state = log.commit(append(), state)
        print("committed", flush=True)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.stderr) == ("committed\n", "")
    assert b'"epoch":4' in (tmp_path / "db" / HINT).read_bytes().replace(b" ", b"")
