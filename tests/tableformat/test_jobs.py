"""What is asked to stop is told so once, and work that cannot be told stops no other."""

from __future__ import annotations

from concurrent.futures import CancelledError

import pytest

from colonnade.tableformat.jobs import Stop


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
