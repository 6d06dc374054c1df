"""A failed request becomes one error about the object, and shows no text of the server."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import NotFoundError, StoreError
from colonnade.manifests.store.bucket.failure import Failure, accepting_absence, busy, refused
from tests.manifests.store.bucket.fakes import failure


def test_an_absent_object_does_not_exist_and_could_not_be_written() -> None:
    error = failure(404, absent=True).translate("s3://b/a", "read")
    assert isinstance(error, NotFoundError)
    assert str(error) == "s3://b/a does not exist."
    # A write that meets an absent upload is a failure of the store, not an absent object.
    assert type(failure(404, absent=True).refuse("s3://b/a")) is StoreError


def test_only_an_absent_object_is_accepted() -> None:
    def fail(*, absent: bool) -> None:
        raise failure(404, absent=absent)

    with accepting_absence():
        fail(absent=True)
    with pytest.raises(Failure), accepting_absence():
        fail(absent=False)


@pytest.mark.parametrize("passing", [True, False])
def test_an_error_says_whether_it_may_pass(passing: bool) -> None:
    for error in (
        failure(503, passing=passing).translate("s3://b/a", "written"),
        failure(503, passing=passing).refuse("s3://b/a"),
    ):
        assert isinstance(error, StoreError)
        assert error.retryable is passing
        assert str(error) == "s3://b/a could not be written: it failed."


def test_a_code_of_the_server_is_shown_only_if_it_is_one_plain_word() -> None:
    assert refused(418, "Strange") == "the server refused it (HTTP 418, Strange)"
    for code in ("", "<canary>", "two words", "x" * 61):
        assert refused(418, code) == "the server refused it (HTTP 418)"
    assert "HTTP 503" in busy(503)
