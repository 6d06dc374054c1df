"""Answer requests concurrently; each request and each reply is one JSON value on one line.

    <- {"hello": {"version": "0.1.0", "protocol": 1, "pid": 12, "python": "/usr/bin/python3"}}
    -> {"id": 7, "op": "load", "args": {...}}      and the session (`messages.envelope.Envelope`)
    <- {"id": 7, "result": {...}}                  or its error (`messages.envelope.Reply`)

A reply is sent as soon as its operation ends, so replies may come in another order than requests.
"""

from __future__ import annotations

import os
import re
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any, BinaryIO

import orjson
from pydantic import ValidationError

from colonnade.manifests.engine import Author, working_for
from colonnade.manifests.errors import ColonnadeError, InvalidInputError
from colonnade.manifests.notices import listening
from colonnade.manifests.version import VERSION
from colonnade.spark_ext.planner.messages.base import Operation, Question, malformed
from colonnade.spark_ext.planner.messages.envelope import Envelope, Failure, Reply
from colonnade.spark_ext.planner.operations import describe
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import session_stores
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.spark_ext.planner.state.unsent_transactions import UNSENT

LOG_VARIABLE = "COLONNADE_PLANNER_LOG"
_ID = re.compile(rb'\s*\{\s*"id"\s*:\s*(\d+)\s*,')
_THREADS = 16
_SECONDS_TO_FINISH = 5.0


def claim_standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """Reserve standard input and output for the protocol, and return them.

    From now on, code that prints to standard output, in C too, writes to standard error instead.
    """
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, replies


class Server:
    """Answers requests with `operations`; writes only whole lines to `replies`."""

    def __init__(self, operations: Mapping[str, Operation[Any, Any]], replies: BinaryIO) -> None:
        self._operations = operations
        self._replies = replies
        self._lock = threading.Lock()
        self._running: set[Future[None]] = set()
        self._last_request = time.monotonic()

    def serve(self, requests: BinaryIO) -> None:
        """Answer until `requests` ends; operations that run then get a few more seconds."""
        self._send(orjson.dumps({"hello": describe({})}))
        pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="operation")
        for line in requests:
            self._last_request = time.monotonic()
            running = {future for future in self._running if not future.done()}
            self._running = running | {pool.submit(self._answer, line)}
        wait(self._running, timeout=_SECONDS_TO_FINISH)

    def idle_seconds(self) -> float:
        """Return the seconds since the last request; 0 while a request is being answered."""
        if any(not future.done() for future in self._running):
            return 0.0
        return time.monotonic() - self._last_request

    def _answer(self, line: bytes) -> None:
        try:
            reply = answer(self._operations, Envelope.model_validate_json(line))
        except ValidationError as error:
            id_ = _ID.match(line)
            reply = _failed(int(id_[1]) if id_ else 0, malformed("A request", error))
        self._send(reply.model_dump_json().encode())

    def _send(self, line: bytes) -> None:
        with self._lock:
            self._replies.write(line + b"\n")
            self._replies.flush()


def answer(operations: Mapping[str, Operation[Any, Any]], request: Envelope) -> Reply:
    """Return the reply to one request; an error of the operation becomes part of the reply."""
    name = request.op
    try:
        if name not in operations:
            raise InvalidInputError(
                f"The planner {VERSION} does not have the operation {name!r}; install the jar and"
                " the Python package in one version, and restart Spark."
            )
        operation = operations[name]
        with _session(request), listening() as notices:
            try:
                result = operation(request.args)
            finally:
                if not issubclass(operation.request, Question):
                    SNAPSHOTS.changed()
        return Reply(id=request.id, result=result, notices=tuple(notices))
    except ColonnadeError as error:
        return _failed(request.id, error)
    except Exception as error:  # a bug: its traceback belongs in the log, not in the user's error
        traceback.print_exc()
        log = os.environ.get(LOG_VARIABLE, "its standard error")
        reason = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(".")
        message = f"The planner failed in {name!r} with {reason}; its traceback is in {log}."
        return Reply(id=request.id, error=Failure(code="COLONNADE_INTERNAL", message=message))


@contextmanager
def _session(request: Envelope) -> Iterator[None]:
    within = TRANSACTIONS.within(request.within)
    author = working_for(Author(request.user, request.metadata))
    stores = session_stores(request.storage, request.hadoop)
    with within, author, stores, UNSENT.request(again=request.again):
        yield


def _failed(id_: int, error: ColonnadeError) -> Reply:
    return Reply(id=id_, error=Failure(code=f"COLONNADE_{error.kind}", message=str(error)))
