"""Jobs run in parallel, their outcomes come in order, and a request to stop reaches each once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import closing
from threading import Semaphore, get_ident
from time import sleep

import pyarrow as pa
import pytest

from colonnade.tableformat.jobs import JobRunner, Stop, computed, run_in_order


def test_work_is_told_while_it_runs_and_does_not_begin_afterwards() -> None:
    stop, told = Stop(), []
    with stop.telling(lambda: told.append("over")):
        stop.check()
    with stop.telling(lambda: told.append("running")):
        stop.request()
        stop.request()
    assert told == ["running"]
    with pytest.raises(CancelledError):
        stop.check()
    with pytest.raises(CancelledError), stop.telling(lambda: told.append("late")):
        raise AssertionError
    assert told == ["running"]


def test_a_listener_that_fails_does_not_keep_other_listeners_from_being_told(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stop, told = Stop(), []
    with stop.telling(lambda: 1 // 0), stop.telling(lambda: told.append("other")):
        stop.request()
    assert told == ["other"]
    assert "could not be stopped" in caplog.text


def test_outcomes_come_in_the_order_of_the_jobs_and_few_jobs_are_ahead_of_their_use() -> None:
    begun: list[int] = []

    def run(job: int, _: Stop) -> int:
        begun.append(job)
        sleep(0.01 * (job % 3))
        return -job

    outcomes = []
    for outcome in run_in_order(JobRunner(run, 3), range(20), held=4):
        outcomes.append(outcome)
        assert len(begun) <= len(outcomes) + 3
    assert outcomes == [-job for job in range(20)]
    assert list(run_in_order(JobRunner(run, 3), [])) == []


def test_a_job_that_fails_stops_the_others_and_is_raised_in_its_place() -> None:
    begun: list[int] = []

    def run(job: int, stop: Stop) -> int:
        begun.append(job)
        if job == 1:
            raise ValueError("job 1")
        for _ in range(1000):
            if job > 1:
                stop.check()
                sleep(0.01)
        return job

    outcomes = run_in_order(JobRunner(run, 2), range(10))
    assert next(outcomes) == 0
    with pytest.raises(ValueError, match="job 1"):
        next(outcomes)
    assert len(begun) < 10


def test_a_caller_that_closes_early_waits_until_the_running_jobs_have_stopped() -> None:
    running = Semaphore(0)
    stopped: list[int] = []

    def run(job: int, stop: Stop) -> int:
        while job:
            running.release()
            try:
                stop.check()
            except CancelledError:
                stopped.append(job)
                raise
            sleep(0.01)
        return job

    with closing(run_in_order(JobRunner(run, 1), range(5))) as outcomes:
        assert next(outcomes) == 0
        running.acquire()
    assert stopped == [1]


@pytest.fixture(params=[1, 2, 16])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = pa.cpu_count()
    pa.set_cpu_count(request.param)
    yield min(request.param, 4)
    pa.set_cpu_count(before)


def test_what_is_computed_comes_in_order_and_is_held_for_each_thread(threads: int) -> None:
    own, taken, ran = get_ident(), [], set[int]()

    def jobs() -> Iterator[int]:
        for job in range(20):
            assert get_ident() == own
            taken.append(job)
            yield job

    def run(job: int) -> int:
        ran.add(get_ident())
        sleep(0.005 * (job % 3))
        return -job

    outcomes = []
    for outcome in computed(run, jobs()):
        outcomes.append(outcome)
        assert len(taken) < len(outcomes) + max(threads, 2)
    assert outcomes == [-job for job in range(20)]
    assert ran == {own} if threads == 1 else own not in ran and len(ran) <= threads


def test_one_job_is_computed_in_the_thread_of_the_caller(threads: int) -> None:
    assert list(computed(lambda _: get_ident(), [0])) == [get_ident()]
    assert list(computed(lambda _: get_ident(), [])) == []


def test_an_error_of_what_is_computed_comes_in_its_place(threads: int) -> None:
    found = computed(lambda job: 12 // (2 - job), range(9))
    assert [next(found), next(found)] == [6, 12]
    with pytest.raises(ZeroDivisionError):
        next(found)
