"""Expired rows and values are hidden at once, and are purged after their grace and never before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

import pytest

from colonnade.manifests.arrays import hidden_rows
from colonnade.manifests.clock import AgreedTime
from colonnade.manifests.commit.change import KeyGuard
from colonnade.manifests.epochs.agreement import Agreement
from colonnade.manifests.log.log import Log
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.lifetimes import Lifetimes
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.compaction import commit, purge
from colonnade.tableformat.statements import expire
from tests.simulation.expiring import Record, simulate_expiring

SEEDS = 500
"""Each planted mistake must be found within this many seeds."""


@pytest.mark.parametrize("runs", [4, pytest.param(200, marks=pytest.mark.long)])
def test_rows_are_hidden_when_they_expire_and_purged_after_their_grace(runs: int) -> None:
    records = [simulate_expiring(seed) for seed in range(runs)]
    assert sum(each.reads for each in records) > 8 * runs
    assert sum(each.hidden for each in records) > 20 * runs
    assert sum(each.summed for each in records) > runs // 2
    assert sum(each.purges for each in records) > runs // 2
    assert sum(each.compactions for each in records) > runs // 2


@pytest.mark.slow
def test_a_seed_tells_the_whole_run() -> None:
    def story(record: Record) -> list[tuple[str, str, int]]:
        return [(each.transaction, each.operation, each.time_ms) for each in record.epochs]

    assert story(simulate_expiring(3)) == story(simulate_expiring(3))


def _without_grace(log: Log, state: Snapshot, table: TableState) -> int:
    return log.agreement.earliest_ms(state)


def _with_grace_of_own_clock(log: Log, state: Snapshot, table: TableState) -> int:
    assert table.lifetimes is not None
    return log.reader.query_ms(state) - table.lifetimes.grace_ms


def _begun_by_own_clock(
    log: Log, base: Snapshot, table: TableState, begun: AgreedTime | None = None
) -> StatementLog:
    now = log.reader.query_ms(base)
    return StatementLog(log, None if table.lifetimes is None else AgreedTime(now, now))


def _any_time(agreement: Agreement, state: Snapshot, now: int, longest_idle_ms: int) -> int:
    return now


def _own_clock(log: LogReader, state: Snapshot) -> int:
    return log.now_ms()


def _any_lifetimes(table: str, lives: Lifetimes | None) -> KeyGuard:
    return KeyGuard(table, lambda _: (), frozenset())


@contextmanager
def _purges_that_land_after_other_lifetimes() -> Iterator[None]:
    with (
        patch.object(expire, "same_lifetimes", _any_lifetimes),
        patch.object(commit, "same_lifetimes", _any_lifetimes),
    ):
        yield


BUGS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "a purge does not wait for its grace": lambda: patch.object(purge, "cutoff_ms", _without_grace),
    "a purge trusts its own clock": lambda: patch.object(
        purge, "cutoff_ms", _with_grace_of_own_clock
    ),
    "a keyed write trusts its own clock": lambda: patch.object(
        StatementLog, "begin", _begun_by_own_clock
    ),
    "the dates of the log do not contradict the only clock": lambda: patch.object(
        Agreement, "_witnessed", _any_time
    ),
    "a purge lands after the lifetimes of its table have changed": (
        _purges_that_land_after_other_lifetimes
    ),
    "a clock that is behind shows what had expired at the head": lambda: patch.object(
        LogReader, "query_ms", _own_clock
    ),
    "a value that has expired is shown": lambda: patch.object(
        hidden_rows, "expired_values", lambda *_: ()
    ),
}

FOUND: dict[str, int] = {
    "a purge does not wait for its grace": 4,
    "a purge lands after the lifetimes of its table have changed": 20,
}
"""A seed that finds the mistake; the search begins with it."""


def find(bug: str) -> int | None:
    """Return the first seed that finds a planted mistake."""
    first = FOUND.get(bug, 0)
    for seed in (first, *(each for each in range(SEEDS) if each != first)):
        try:
            with BUGS[bug]():
                simulate_expiring(seed)
        except AssertionError:
            return seed
    return None


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_planted_mistakes_are_found(bug: str) -> None:
    assert find(bug) is not None
