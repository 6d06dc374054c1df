"""How runs of compaction end before they are done: failures, interruptions, deaths."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from typing import Any

import pytest

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.log.log import Log
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.compaction import execute
from colonnade.tableformat.compaction.job import CompactionJob, CompactionOutcome
from colonnade.tableformat.compaction.run import run_job
from colonnade.tableformat.jobs import JobRunner, Stop
from colonnade.tableformat.location import Location
from colonnade.tableformat.table.table import ArrowTable
from tests.compaction_tables import content, filled, here, jobs, live
from tests.faults import Fault, FaultyStore, Stopped


def test_one_failing_group_leaves_the_results_of_other_groups() -> None:
    table = filled(12)
    before = content(table)
    base, planned = jobs(table, "copy", groups=4)
    groups = tuple(job.group for job in planned)

    def run(job: Any, stop: Stop) -> Any:
        if job.group == groups[1]:
            raise CorruptionError("one block is damaged")
        return run_job(job, table._location.store)

    plan = table.optimize().plan().model_copy(update={"groups": groups})
    with pytest.raises(CorruptionError, match="one block"):
        execute.execute_plan(table._log, base, plan, runner=JobRunner(run, 2))
    assert content(table) == before
    assert len(live(table)) < 12


def test_any_exception_in_the_thread_of_a_group_ends_the_run() -> None:
    def run(job: CompactionJob, stop: Stop) -> CompactionOutcome:
        raise Stopped

    with pytest.raises(Stopped):
        filled(12).optimize()._elsewhere(JobRunner(run, 2)).executeCompaction()


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C as in a terminal: what a shell starts in the background begins without it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interruption_stops_what_runs_and_keeps_what_is_done() -> None:
    table = filled(12)
    before = content(table)
    base, planned = jobs(table, "copy", groups=3)
    groups = tuple(job.group for job in planned)
    both_run = threading.Barrier(2)

    def run(job: CompactionJob, stop: Stop) -> CompactionOutcome:
        outcome = run_job(job, table._location.store, stop)
        both_run.wait()
        if job.group == groups[0]:
            os.kill(os.getpid(), signal.SIGINT)
            with pytest.raises(CancelledError):
                until_stopped(stop)
            return outcome
        until_stopped(stop)
        raise AssertionError

    plan = table.optimize().plan().model_copy(update={"groups": groups})
    with pytest.raises(KeyboardInterrupt, match="1 of 3 groups of RowSets of table 't' are"):
        execute.execute_plan(table._log, base, plan, runner=JobRunner(run, 2))
    assert content(table) == before
    assert len(live(table)) == 9
    assert table.refresh().epoch == base.epoch + 1


def until_stopped(stop: Stop) -> None:
    while True:
        stop.check()
        time.sleep(0.01)


def test_an_interruption_while_a_group_is_committed_commits_it_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = filled(12)
    base, planned = jobs(table, "copy", groups=3)
    groups = tuple(job.group for job in planned)
    committing = table._log.commit_change

    def interrupted(change: Any, at: Any) -> Any:
        committing(change, at)
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(table._log, "commit_change", interrupted)
    plan = table.optimize().plan().model_copy(update={"groups": groups})
    with pytest.raises(KeyboardInterrupt, match="1 of 3 groups"):
        execute.execute_plan(table._log, base, plan, runner=here(table))
    assert table.refresh().epoch == base.epoch + 1


@pytest.mark.slow
def test_a_run_that_dies_anywhere_loses_nothing_and_the_next_run_continues() -> None:
    number = 1
    while True:
        number += 3
        machine = MemoryStore()
        expected = content(filled(9, kind="merge", store=machine))
        store = FaultyStore(machine, {number: Fault.STOP_BEFORE})
        try:
            table = reopened(store)
            table.delete("n = 50")
            table.optimize().executeCompaction()
        except Stopped:
            assert store.fired
        table = reopened(machine)
        found = content(table)
        assert found in (expected, {i: n for i, n in expected.items() if n != 50})
        table.optimize().executeCompaction()
        assert content(table) == found
        assert len(live(table)) == 1
        if not store.fired:
            assert number > 20
            return


def reopened(store: Any) -> ArrowTable:
    """Return a table in a store that the test made."""
    log = Log(store, pause=lambda _: None)
    return ArrowTable(Location(store, "t", exists=True), log, log.reader.read_head())
