"""What an answer or an error of Azure means: for the caller, for a repeat, and for a commit."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from azure.core import exceptions as azure
from requests.exceptions import ReadTimeout, SSLError

from colonnade.manifests.store.azure.failures import classify, refusal
from colonnade.manifests.store.bucket.failure import TAKEN, Failure

OPERATIONS = ("read", "list", "write", "remove")


def answered(status: int, code: str = "") -> azure.HttpResponseError:
    error = azure.HttpResponseError("canary")
    error.status_code = status
    error.error_code = SimpleNamespace(value=code)
    return error


def meaning(operation: str, error: Exception) -> Failure:
    found = classify(operation, error)
    assert found is not None
    assert "canary" not in found.reason
    return found


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize(
    ("status", "code"),
    [
        *((status, "") for status in (408, 429, 500, 502, 503, 504)),
        (409, "ContainerBeingDeleted"),
        (503, "ServerBusy"),
    ],
)
def test_a_busy_server_may_have_done_it_and_may_be_asked_again(
    operation: str, status: int, code: str
) -> None:
    found = meaning(operation, answered(status, code))
    assert found.passing
    assert found.arrived


@pytest.mark.parametrize("status", [409, 412])
@pytest.mark.parametrize("code", ["BlobAlreadyExists", "ConditionNotMet"])
def test_a_taken_name_has_one_status_whatever_azure_answers(status: int, code: str) -> None:
    found = meaning("write", answered(status, code))
    assert found.status == TAKEN
    assert not found.arrived
    assert not found.passing


@pytest.mark.parametrize("code", ["LeaseIdMissing", "BlobImmutableDueToPolicy", "Strange"])
def test_another_condition_is_not_a_taken_name(code: str) -> None:
    assert meaning("write", answered(412, code)).status == 409


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_missing_container_is_not_an_absent_object(operation: str) -> None:
    assert not meaning(operation, answered(404, "ContainerNotFound")).absent
    assert meaning(operation, answered(404, "BlobNotFound")).absent


@pytest.mark.parametrize(
    ("operation", "needed"),
    [("read", "permission r"), ("list", "permission l"), ("write", "c and w"), ("remove", "d")],
)
def test_a_missing_permission_is_named(operation: str, needed: str) -> None:
    reason = meaning(operation, answered(403, "AuthorizationPermissionMismatch")).reason
    assert reason.startswith("permission denied; the credentials need")
    assert reason.endswith(needed)


def with_cause(kind: type[azure.AzureError], cause: Exception) -> azure.AzureError:
    error = kind("canary")
    error.inner_exception = cause
    return error


@pytest.mark.parametrize(
    ("error", "arrived", "passing", "silent"),
    [
        (azure.ClientAuthenticationError("canary"), False, False, False),
        (azure.ServiceRequestError("canary"), False, True, True),
        (with_cause(azure.ServiceRequestError, SSLError()), False, True, True),
        (azure.ServiceResponseTimeoutError("canary"), True, True, True),
        (with_cause(azure.ServiceResponseError, ReadTimeout()), True, True, True),
        (azure.ServiceResponseError("canary"), True, True, False),
        (azure.IncompleteReadError("canary"), True, True, False),
        (ConnectionResetError("canary"), True, True, False),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, Exception) else None,
)
def test_without_an_answer_only_what_was_certainly_not_sent_has_not_arrived(
    error: Exception, arrived: bool, passing: bool, silent: bool
) -> None:
    found = meaning("write", error)
    assert found.status is None
    assert (found.arrived, found.passing, found.silent) == (arrived, passing, silent)


def test_an_error_that_is_not_of_a_request_is_not_classified() -> None:
    assert classify("read", ZeroDivisionError()) is None


def test_a_refusal_in_a_batch_is_classified_like_one_of_a_single_request() -> None:
    error = OSError("canary")
    found = refusal("remove", 404, "BlobNotFound", error)
    assert found.absent
    assert found.error is error
    assert "HTTP 418, Strange" in refusal("remove", 418, "Strange", error).reason
