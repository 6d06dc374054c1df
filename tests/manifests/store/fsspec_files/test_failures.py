"""What errors of file systems mean, whose classes may be any."""

from __future__ import annotations

import errno

import pytest

from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.store.fsspec_files.failures import classify
from tests.manifests.store.test_transient import boto, caused_by


@pytest.mark.parametrize(
    ("error", "absent", "passing", "reason"),
    [
        (FileNotFoundError("canary"), True, False, "the bucket does not exist"),
        (PermissionError("canary"), False, False, "permission denied (PermissionError)"),
        (caused_by(OSError("canary"), boto(403)), False, False, "permission denied (OSError)"),
        (caused_by(OSError(errno.EBUSY, "canary"), boto(503)), False, True, "HTTP 503"),
        (caused_by(OSError(errno.EINVAL, "canary"), boto(412)), False, False, "failed (OSError)"),
        (FileExistsError("canary"), False, False, "failed (FileExistsError)"),
        (ConnectionResetError("canary"), False, True, "failed (ConnectionResetError)"),
        (TimeoutError("canary"), False, True, "failed (TimeoutError)"),
        (LookupError("canary"), False, False, "failed (LookupError)"),
    ],
    ids=str,
)
def test_an_error_is_one_sentence_without_its_text(
    error: Exception, absent: bool, passing: bool, reason: str
) -> None:
    failure = classify(error)
    assert failure is not None
    assert (failure.absent, failure.passing) == (absent, passing)
    assert failure.arrived, "a file system may have sent it before"
    assert reason in failure.reason
    assert "canary" not in failure.refuse("s3://b/a").message


def test_a_server_that_is_silent_is_told_from_one_that_answers() -> None:
    silent, answered = classify(TimeoutError()), classify(ConnectionResetError())
    assert silent is not None
    assert answered is not None
    assert silent.silent
    assert not answered.silent


def test_an_error_of_ours_stays_as_it_is() -> None:
    assert classify(NotFoundError("s3://b/a does not exist.")) is None
