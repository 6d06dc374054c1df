"""Requests that may pass are repeated for a while, and a silent server is not asked for ever."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from colonnade.manifests.errors import NotFoundError, StoreError
from colonnade.manifests.store.bucket.failure import Failure
from colonnade.manifests.store.bucket.patience import FIRST_PAUSE_S, LONGEST_PAUSE_S, Patience
from tests.manifests.store.bucket.fakes import failure


class Time:
    """A clock that only pauses and requests move."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now, self.pauses = 100.0, list[float]()
        monkeypatch.setattr("time.monotonic", lambda: self.now)

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    return Time(monkeypatch)


def made(time: Time, patience_s: float = 20) -> Patience:
    patience = Patience(patience_s)
    patience.pause = time.sleep
    return patience


def classified(error: Exception) -> Failure | None:
    return error if isinstance(error, Failure) else None


def failing(*errors: Exception) -> Callable[[], str]:
    """A request that fails with each of these errors, and then succeeds."""
    left = list(errors)

    def request() -> str:
        if left:
            raise left.pop(0)
        return "answer"

    return request


def test_a_transient_failure_is_repeated_with_growing_pauses_until_it_succeeds(time: Time) -> None:
    request = failing(*[failure(503, passing=True)] * 5)
    assert made(time).patiently(request) == "answer"
    longest = [FIRST_PAUSE_S * 2**n for n in range(5)]
    for pause, most in zip(time.pauses, longest, strict=True):
        assert most / 10 <= pause <= min(most, LONGEST_PAUSE_S)


def test_a_lasting_failure_is_not_repeated(time: Time) -> None:
    lasting = failure(403)
    with pytest.raises(Failure) as caught:
        made(time).patiently(failing(lasting))
    assert caught.value is lasting
    assert not time.pauses


def test_the_last_failure_says_whether_an_earlier_attempt_may_have_had_an_effect(
    time: Time,
) -> None:
    earlier, last = failure(503, passing=True, arrived=True), failure(412)
    with pytest.raises(Failure) as caught:
        made(time).patiently(failing(earlier, last))
    assert caught.value is last
    assert last.arrived


def test_patience_ends_before_the_pause_that_would_exceed_it(time: Time) -> None:
    began = time.now
    with pytest.raises(Failure):
        made(time).patiently(failing(*[failure(503, passing=True)] * 1000))
    assert 20 - LONGEST_PAUSE_S <= time.now - began <= 20


def test_a_call_names_the_object_and_what_was_not_done_with_it(time: Time) -> None:
    with pytest.raises(StoreError, match=r"s3://b/a could not be removed: it failed\."):
        made(time).call(failing(failure(403)), "s3://b/a", "removed")
    with pytest.raises(NotFoundError, match="s3://b/a does not exist"):
        made(time).call(failing(failure(404, absent=True)), "s3://b/a", "read")


def test_an_error_that_is_not_of_a_request_is_left_alone(time: Time) -> None:
    patience = made(time)
    with pytest.raises(ZeroDivisionError):
        patience.once(failing(ZeroDivisionError()), classified)
    assert patience.once(failing(), classified) == "answer"


def test_an_error_is_classified_without_the_one_that_its_caller_was_handling(time: Time) -> None:
    patience, seen = made(time), list[Exception]()

    def request() -> str:
        try:
            raise ConnectionResetError
        except ConnectionResetError:
            raise OSError("cut")  # noqa: B904  Python chains the two by itself

    def classify(error: Exception) -> Failure | None:
        seen.append(error)
        return None

    try:
        raise failure(403)
    except Failure:
        with pytest.raises(OSError, match="cut"):
            patience.once(request, classify)
    [error] = seen
    assert isinstance(error.__context__, ConnectionResetError)
    assert error.__context__.__context__ is None


def silent_for(time: Time, seconds: float) -> Callable[[], str]:
    def request() -> str:
        time.now += seconds
        raise failure(None, passing=True, silent=True, arrived=True)

    return request


def test_a_server_that_was_silent_for_the_whole_patience_is_not_asked_for_a_moment(
    time: Time,
) -> None:
    patience = made(time)
    for _ in range(2):
        with pytest.raises(Failure):
            patience.once(silent_for(time, 10), classified)
    asked = list[str]()

    def request() -> str:
        asked.append("")
        return "answer"

    with pytest.raises(Failure) as caught:
        patience.once(request, classified)
    assert not asked
    # The request was not sent, so it has certainly not arrived.
    assert caught.value.passing
    assert not caught.value.arrived
    time.now += 5
    assert patience.once(request, classified) == "answer"
    assert patience.once(request, classified) == "answer"


def test_any_answer_ends_the_silence(time: Time) -> None:
    patience = made(time)
    for _ in range(5):
        for request in (silent_for(time, 15), failing(failure(503, passing=True))):
            with pytest.raises(Failure):
                patience.once(request, classified)
    assert patience.once(failing(), classified) == "answer"
