"""The planner's process, spoken to as the Java half does; its end, its errors, its order."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import ConfigDict

from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.notices import notice
from colonnade.manifests.version import VERSION
from colonnade.spark_ext.planner.messages.base import Operation, Question, Rows
from colonnade.spark_ext.planner.messages.envelope import Envelope
from colonnade.spark_ext.planner.server import Server, answer

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def planner() -> Iterator[subprocess.Popen[str]]:
    """A planner that just said hello."""
    process = subprocess.Popen(
        [sys.executable, "-m", "colonnade.spark_ext.planner"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    with process:
        yield process
        process.kill()


def ask(planner: subprocess.Popen[str], **request: Any) -> dict[str, Any]:
    assert planner.stdin is not None
    planner.stdin.write(json.dumps(request) + "\n")
    planner.stdin.flush()
    return told(planner)


def told(planner: subprocess.Popen[str]) -> dict[str, Any]:
    assert planner.stdout is not None
    reply: dict[str, Any] = json.loads(planner.stdout.readline())
    return reply


def reply_to(operation: Any, **args: Any) -> dict[str, Any]:
    return answer({"it": op(operation)}, Envelope(id=1, op="it", args=args)).model_dump()


class Anything(Question):
    """A request with any fields."""

    model_config = ConfigDict(extra="allow")


def op(function: Callable[[dict[str, Any]], Any]) -> Operation[Anything, Rows]:
    """Make an operation of a function from the fields of a request."""
    return Operation(Anything, Rows, lambda request: Rows(rows=function(request.model_extra or {})))


@pytest.mark.slow
def test_a_planner_says_first_who_it_is(planner: subprocess.Popen[str]) -> None:
    hello = told(planner)["hello"]
    assert (hello["version"], hello["protocol"], hello["pid"]) == (VERSION, 1, planner.pid)
    assert hello["python"] == sys.executable


SLOW_TO_IMPORT = {"pyspark", "py4j", "sqlglot", "pandas", "rich", "typer", "jinja2"}


@pytest.mark.slow
def test_a_planner_starts_without_the_packages_that_take_long_to_import() -> None:
    """The first statement of every Spark session waits for a planner to start."""
    program = "import sys, colonnade.spark_ext.planner.__main__; print(*sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, check=True
    )
    packages = {name.partition(".")[0] for name in done.stdout.decode().split()}
    assert "pyarrow" in packages
    assert not packages & SLOW_TO_IMPORT


@pytest.mark.slow
def test_a_planner_ends_when_its_input_ends(planner: subprocess.Popen[str]) -> None:
    told(planner)
    out, err = planner.communicate(timeout=20)
    assert (planner.returncode, out, err) == (0, "", "")


@pytest.mark.slow
def test_a_reply_carries_the_id_and_every_character(planner: subprocess.Popen[str]) -> None:
    told(planner)
    name = "line\nä\u2028\U0001f600"
    args = {"path": "/none", "name": name, "query": 2**63 - 1}
    reply = ask(planner, id=7, op="table_in_its_case", args=args)
    assert reply == {"id": 7, "result": {"name": name}, "error": None, "notices": []}


@pytest.mark.slow
def test_an_unknown_operation_is_refused_by_name(planner: subprocess.Popen[str]) -> None:
    told(planner)
    error = ask(planner, id=1, op="dance", args={})["error"]
    assert error["code"] == "COLONNADE_INVALID_INPUT"
    assert "'dance'" in error["message"]


def test_requests_are_answered_as_they_finish_not_as_they_came() -> None:
    second_ran = threading.Event()

    def slow(args: Mapping[str, Any]) -> dict[str, Any]:
        return {"met": second_ran.wait(10)}

    def quick(args: Mapping[str, Any]) -> dict[str, Any]:
        second_ran.set()
        return {}

    requests = b"".join(
        json.dumps({"id": number, "op": op, "args": {}}).encode() + b"\n"
        for number, op in enumerate(["slow", "quick"])
    )
    replies = io.BytesIO()
    Server({"slow": op(slow), "quick": op(quick)}, replies).serve(io.BytesIO(requests))
    _, *lines = replies.getvalue().splitlines()
    results = {each["id"]: each["result"] for each in map(json.loads, lines)}
    assert results == {0: {"rows": {"met": True}}, 1: {"rows": {}}}


@pytest.mark.parametrize(
    ("line", "number", "what"),
    [
        (b'{"id":7,"op":"it","args":{},"wings":"s3cret"}', 7, "field 'wings'"),
        (b'{ "id": 8, "op": [], "args": {}}', 8, "field 'op'"),
        (b'{"id":9,"op":"it","args":{"a":"s3c', 9, "Invalid JSON"),
        (b"s3cret", 0, "Invalid JSON"),
        (b"[]", 0, "malformed"),
        (b"", 0, "Invalid JSON"),
    ],
)
def test_a_line_that_is_no_request_is_refused_and_the_next_ones_are_answered(
    line: bytes, number: int, what: str
) -> None:
    replies, good = io.BytesIO(), b'{"id":10,"op":"it","args":{}}'
    Server({"it": op(dict)}, replies).serve(io.BytesIO(line + b"\n" + good + b"\n"))
    _, *lines = replies.getvalue().splitlines()
    found = {each["id"]: each for each in map(json.loads, lines)}
    error = found[number]["error"]
    assert error["code"] == "COLONNADE_INVALID_INPUT"
    assert what in error["message"]
    assert "s3c" not in error["message"]
    assert found[10]["error"] is None


def test_a_refusal_keeps_its_code_and_sentence() -> None:
    def refuse(args: Mapping[str, Any]) -> dict[str, Any]:
        raise NotFoundError(f"Table {args['name']} does not exist.")

    error = {"code": "COLONNADE_NOT_FOUND", "message": "Table t does not exist."}
    assert reply_to(refuse, name="t")["error"] == error


def test_a_result_that_is_not_json_is_still_answered(capfd: pytest.CaptureFixture[str]) -> None:
    error = reply_to(lambda args: {"unknown": object()})["error"]
    assert error["code"] == "COLONNADE_INTERNAL"
    assert "Traceback" in capfd.readouterr().err


def test_a_bug_is_one_sentence_that_names_the_log_with_the_traceback(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLONNADE_PLANNER_LOG", "/logs/planner.log")

    def stumble(args: Mapping[str, Any]) -> dict[str, Any]:
        raise ValueError("two\nlines.")

    message = reply_to(stumble)["error"]["message"]
    assert message == (
        "The planner failed in 'it' with ValueError: two lines; "
        "its traceback is in /logs/planner.log."
    )
    assert "in stumble" in capfd.readouterr().err


@pytest.mark.slow
def test_the_output_of_an_operation_cannot_corrupt_the_replies() -> None:
    program = (
        "import os, sys\n"
        "from colonnade.spark_ext.planner.server import Server, claim_standard_streams\n"
        "requests, replies = claim_standard_streams()\n"
        "from colonnade.spark_ext.planner.messages.base import Name, Operation, Question\n"
        "def loud(request):\n"
        "    print('from python'); os.write(1, b'from below'); return Name(name=sys.stdin.read())\n"
        "Server({'loud': Operation(Question, Name, loud)}, replies).serve(requests)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input='{"id": 3, "op": "loud", "args": {}}\n',
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    _, reply = map(json.loads, done.stdout.splitlines())
    assert (reply["id"], reply["result"]) == (3, {"name": ""})
    assert "from python" in done.stderr
    assert "from below" in done.stderr


@pytest.mark.slow
def test_its_garbage_collections_leave_out_what_was_imported() -> None:
    program = "import gc, colonnade.spark_ext.planner.__main__ as planner\n" + (
        "planner.end = lambda: print(gc.get_freeze_count(), file=planner.sys.stderr)\n"
        "planner.main()"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment,
        check=True,
    )
    assert int(done.stderr) > 10_000


@pytest.mark.slow
def test_a_planner_ends_after_a_long_time_without_a_request() -> None:
    program = "from colonnade.spark_ext.planner.__main__ import main; main(idle_seconds_max=0.3)"
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        assert process.wait(timeout=20) == 0


def test_while_it_answers_it_is_not_idle() -> None:
    asked, may_end = threading.Event(), threading.Event()

    def hold(args: Mapping[str, Any]) -> dict[str, Any]:
        asked.set()
        return {"ended": may_end.wait(10)}

    reading, writing = os.pipe()
    server = Server({"hold": op(hold)}, io.BytesIO())
    with os.fdopen(reading, "rb") as requests, os.fdopen(writing, "wb", buffering=0) as requester:
        serving = threading.Thread(target=server.serve, args=(requests,))
        serving.start()
        requester.write(b'{"id": 1, "op": "hold", "args": {}}\n')
        assert asked.wait(10)
        time.sleep(0.1)  # the thread that reads notes what runs a moment after it runs
        assert server.idle_seconds() == 0
        may_end.set()
        requester.close()
        serving.join(10)
    assert server.idle_seconds() > 0


def test_notices_of_an_operation_come_with_its_reply() -> None:
    def warned(args: Mapping[str, Any]) -> dict[str, Any]:
        notice("It has no effect.")
        return {"done": True}

    reply = reply_to(warned)
    assert reply["result"] == {"rows": {"done": True}}
    assert reply["notices"] == ("It has no effect.",)
    assert reply_to(dict)["notices"] == ()
