"""What an answer or an error of HDFS means: for the caller, for a repeat, and for a commit."""

from __future__ import annotations

import json
import socket

import pytest
import requests

from colonnade.manifests.store.bucket.failure import TAKEN, Failure
from colonnade.manifests.store.hdfs.failures import (
    RefusedError,
    classify,
    unanswered,
)

OPERATIONS = ("read", "write", "rename", "remove", "list")


def answered(status: int, exception: str = "", message: str = "canary") -> RefusedError:
    body = {"RemoteException": {"exception": exception, "message": message}}
    return RefusedError(status, json.dumps(body).encode())


def meaning(operation: str, error: Exception) -> Failure:
    found = classify(operation, error)
    assert found is not None
    assert "canary" not in found.reason
    return found


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("exception", ["StandbyException", "SafeModeException"])
def test_a_request_that_the_namenode_has_not_begun_had_no_effect_and_may_succeed_later(
    operation: str, exception: str
) -> None:
    found = meaning(operation, answered(403, exception))
    assert found.passing
    assert not found.arrived


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("status", [500, 503])
def test_a_busy_server_may_have_done_it(operation: str, status: int) -> None:
    found = meaning(operation, answered(status, "Strange"))
    assert found.passing
    assert found.arrived


def test_a_taken_name_and_an_absent_file_are_told_apart_from_refusals() -> None:
    assert meaning("rename", answered(403, "FileAlreadyExistsException")).status == TAKEN
    assert meaning("read", answered(404, "FileNotFoundException")).absent
    denied = meaning("write", answered(403, "AccessControlException"))
    assert denied.reason == "permission denied; the user needs permission to write there"
    assert not denied.passing


@pytest.mark.parametrize(
    ("error", "arrived", "passing", "silent"),
    [
        (requests.ReadTimeout("canary"), True, True, True),
        (requests.ConnectTimeout("canary"), False, True, True),
        (requests.exceptions.SSLError("canary"), False, False, True),
        (ConnectionRefusedError("canary"), False, True, True),
        (ConnectionResetError("canary"), True, True, False),
        (socket.gaierror("canary"), False, False, True),
    ],
    ids=lambda each: type(each).__name__ if isinstance(each, Exception) else None,
)
def test_without_an_answer_only_what_was_certainly_not_sent_has_not_arrived(
    error: Exception, arrived: bool, passing: bool, silent: bool
) -> None:
    known = unanswered(error)
    assert known is not None
    found = meaning("write", known)
    assert (found.arrived, found.passing, found.silent) == (arrived, passing, silent)


def test_an_error_that_is_not_of_a_request_is_not_classified() -> None:
    assert unanswered(ZeroDivisionError()) is None
    assert classify("read", ZeroDivisionError()) is None


@pytest.mark.parametrize("text", [b"", b"[]", b"canary", b'{"RemoteException": 1}'])
def test_an_answer_in_another_form_names_no_exception(text: bytes) -> None:
    error = RefusedError(418, text)
    assert error.exception == ""
    assert "HTTP 418" in meaning("read", error).reason


def test_missing_datanodes_are_known_by_the_message_alone() -> None:
    error = answered(403, "IOException", "File x could only be written to 0 of the 1 nodes")
    assert "no datanode" in meaning("write", error).reason
