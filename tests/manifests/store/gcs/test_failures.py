"""What an answer or an error of GCS means: for the caller, for a repeat, and for a commit."""

from __future__ import annotations

import json

import pytest
import requests
from google.auth import exceptions as google
from urllib3.exceptions import MaxRetryError, NewConnectionError

from colonnade.manifests.store.bucket.failure import Failure
from colonnade.manifests.store.gcs.failures import RefusedError, classify

OPERATIONS = ("read", "write", "replace", "remove", "list")


def answered(status: int, reason: str = "", message: str = "canary") -> RefusedError:
    body = {"error": {"message": message, "errors": [{"reason": reason}]}}
    return RefusedError(status, json.dumps(body).encode())


def meaning(operation: str, error: Exception) -> Failure:
    found = classify(operation, error)
    assert found is not None
    assert "canary" not in found.reason
    assert found.error is error
    return found


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504])
def test_a_busy_server_may_have_done_it_and_may_be_asked_again(operation: str, status: int) -> None:
    found = meaning(operation, answered(status))
    assert found.passing
    assert found.arrived
    assert not found.silent


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 412, 418])
def test_a_refusal_has_no_effect_and_lasts(operation: str, status: int) -> None:
    found = meaning(operation, answered(status, "strange"))
    assert not found.passing
    assert not found.arrived
    assert found.status == status
    assert found.absent == (status == 404 and operation in ("read", "remove"))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_missing_bucket_is_not_an_absent_object(operation: str) -> None:
    error = answered(404, "notFound", "The specified bucket does not exist.")
    found = meaning(operation, error)
    assert not found.absent
    assert "the bucket does not exist; create it first" in found.reason


@pytest.mark.parametrize(
    ("error", "arrived", "passing", "silent"),
    [
        (requests.ReadTimeout(), True, True, True),
        (requests.ConnectTimeout(), False, True, True),
        (requests.ConnectionError(), True, True, False),
        (requests.exceptions.SSLError(), False, False, False),
        (requests.exceptions.ProxyError(), False, True, False),
        (requests.exceptions.InvalidURL(), True, False, False),
        (google.DefaultCredentialsError(), False, False, False),
        (google.RefreshError(), False, False, False),
        (google.TransportError(), False, True, False),
        (ConnectionResetError(), True, True, False),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, Exception) else None,
)
def test_without_an_answer_only_what_was_certainly_not_sent_has_not_arrived(
    error: Exception, arrived: bool, passing: bool, silent: bool
) -> None:
    found = meaning("write", error)
    assert found.status is None
    assert (found.arrived, found.passing, found.silent) == (arrived, passing, silent)


def test_a_server_that_is_not_there_was_sent_nothing() -> None:
    refused = NewConnectionError(None, "canary")  # type: ignore[arg-type]
    found = meaning("write", requests.ConnectionError(MaxRetryError(None, "/", refused)))  # type: ignore[arg-type]
    assert (found.arrived, found.passing, found.silent) == (False, True, True)
    assert "check endpoint_url" in found.reason


def test_an_error_that_is_not_of_a_request_is_not_classified() -> None:
    assert classify("read", ZeroDivisionError()) is None


@pytest.mark.parametrize("text", [b"", b"[]", b"canary", b'{"error": {"errors": []}}'])
def test_an_answer_in_another_form_has_no_code(text: bytes) -> None:
    assert RefusedError(418, text).code == ""
    assert "HTTP 418" in meaning("read", RefusedError(418, text)).reason
