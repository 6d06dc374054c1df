"""Jobs run in parallel, their outcomes come in order, and a request to stop reaches each once."""

from __future__ import annotations

from concurrent.futures import CancelledError
from contextlib import closing
from threading import Semaphore
from time import sleep

import pytest

from colonnade.tableformat.jobs import JobRunner, Stop, run_in_order


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
