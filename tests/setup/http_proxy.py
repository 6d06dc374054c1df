"""A proxy between a client and the server of a bucket that spoils chosen answers."""

from __future__ import annotations

import http.client
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Seen(NamedTuple):
    """One request: its method, its path with the query, and its headers in lower case."""

    method: str
    path: str
    headers: dict[str, str]

    def matches(self, wanted: str) -> bool:
        """Return whether this is a request of a method, perhaps with a part of the query."""
        method, _, part = wanted.partition(" ")
        return self.method == method and part in self.path.partition("?")[2]


Fault = Callable[["Handler", bytes], None]


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print nothing where a client has closed its connection, which it may do at any time."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Proxy:
    """Passes requests on to a port of this machine. `plan` returns the fault of a request."""

    def __init__(self, port: int, handler: type[Handler] | None = None) -> None:
        self.target = port
        self.plan: Callable[[Seen], Fault | None] = lambda seen: None
        self.seen: list[Seen] = []
        self.rounds: Rounds | None = None
        self._server = _Server(("127.0.0.1", 0), handler or Handler)
        self._server.daemon_threads = True
        self._server.proxy = self  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def once(self, fault: Fault, method: str, ending: str = "") -> None:
        """Spoil the next request of a method whose path ends so, and no later one.

        `method` may also be a method and a part of the query, as in `PUT op=RENAME`.
        """
        self.plan = _times(1, fault, method, ending)

    def always(self, fault: Fault, method: str, ending: str = "") -> None:
        """Spoil every request of a method whose path ends so."""
        self.plan = _times(1 << 30, fault, method, ending)

    def count(self, method: str) -> int:
        """The requests of a method so far."""
        return sum(seen.method == method for seen in self.seen)

    @contextmanager
    def counted(self, quiet_s: float) -> Iterator[Rounds]:
        """A block whose requests are put into rounds (`Rounds`)."""
        self.rounds = rounds = Rounds(quiet_s)
        try:
            yield rounds
        finally:
            self.rounds = None

    def stop(self) -> None:
        """Close the port."""
        self._server.shutdown()
        self._server.server_close()


class Rounds:
    """Holds requests back until no other one has come for `quiet_s`. `count` is the rounds so far.

    Requests that a client sends side by side are in one round, if it sends them without such a
    pause. Requests that wait for one another are in rounds of their own.
    """

    def __init__(self, quiet_s: float) -> None:
        self._quiet_s = quiet_s
        self.count = 0
        self._changed = threading.Condition()
        self._last = 0.0

    def join(self) -> None:
        """Wait for the end of the present round."""
        with self._changed:
            self._last, mine = time.monotonic(), self.count
            while mine == self.count:
                left = self._last + self._quiet_s - time.monotonic()
                if left > 0:
                    self._changed.wait(left)
                else:
                    self.count += 1
                    self._changed.notify_all()


def _times(number: int, fault: Fault, method: str, ending: str) -> Callable[[Seen], Fault | None]:
    left = [number]
    lock = threading.Lock()

    def plan(seen: Seen) -> Fault | None:
        if not seen.matches(method) or not seen.path.partition("?")[0].endswith(ending):
            return None
        with lock:
            left[0] -= 1
            return fault if left[0] >= 0 else None

    return plan


class Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def pass_on(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
        """Let the server do what is asked. Returns its status, headers and body."""
        upstream = http.client.HTTPConnection("127.0.0.1", self.proxy.target, timeout=60)
        try:
            upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in ("expect", "connection", "transfer-encoding"):
                    upstream.putheader(name, value)
            if "Transfer-Encoding" in self.headers:
                upstream.putheader("Content-Length", str(len(body)))
            upstream.endheaders(body or None)
            answer = upstream.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            upstream.close()

    def read_body(self) -> bytes:
        """Read what the client sends, also where it comes in chunks of unknown number."""
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = bytearray()
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return bytes(body)

    def answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        """Send an answer to the client."""
        self.send_response_only(status)
        length = str(len(body))
        for name, value in headers:
            if name.lower() == "content-length":
                length = value
            elif name.lower() not in ("transfer-encoding", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", length)
        self.end_headers()
        self.wfile.write(body)

    def hang_up(self) -> None:
        """Close the connection without another byte."""
        self.close_connection = True

    @property
    def proxy(self) -> Proxy:
        found: Proxy = self.server.proxy  # type: ignore[attr-defined]
        return found

    def _serve(self) -> None:
        try:
            body = self.read_body()
        except (OSError, ValueError):
            self.hang_up()
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        seen = Seen(self.command, self.path, headers)
        self.proxy.seen.append(seen)
        if self.proxy.rounds is not None:
            self.proxy.rounds.join()
        fault = self.proxy.plan(seen)
        try:
            if fault is None:
                self.answer(*self.pass_on(body))
            else:
                fault(self, body)
        except OSError:
            self.hang_up()  # the client has gone

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _serve

    def log_message(self, *args: Any) -> None:
        """Print nothing."""


def reply_dropped(handler: Handler, body: bytes) -> None:
    """The server does what is asked, and its answer is lost."""
    handler.pass_on(body)
    handler.hang_up()


def request_dropped(handler: Handler, body: bytes) -> None:
    """The server never gets the request."""
    handler.hang_up()


def reply_late(handler: Handler, body: bytes) -> None:
    """The server does what is asked, and its answer comes after the client has given up."""
    answer = handler.pass_on(body)
    time.sleep(1.3)
    handler.answer(*answer)


def reply_cut(handler: Handler, body: bytes) -> None:
    """The server does what is asked, and the client gets half of the answer."""
    status, headers, answer = handler.pass_on(body)
    if answer:
        length = [("Content-Length", str(len(answer)))]
        kept = [each for each in headers if each[0].lower() != "content-length"]
        handler.answer(status, kept + length, answer[: len(answer) // 2])
    else:
        handler.wfile.write(b"HTTP/1.1 20")
    handler.hang_up()


def status_after(status: int, code: str) -> Fault:
    """The server does what is asked, and something on the way answers that it did not."""

    def fault(handler: Handler, body: bytes) -> None:
        handler.pass_on(body)
        _refuse(handler, status, code)

    return fault


def status_before(status: int, code: str) -> Fault:
    """The request is refused, and nothing is done."""
    return lambda handler, body: _refuse(handler, status, code)


def answered(status: int, text: str) -> Fault:
    """The request gets this answer, and nothing is done."""
    kind = "application/json" if text.startswith("{") else "application/xml"
    return lambda handler, body: handler.answer(status, [("Content-Type", kind)], text.encode())


def condition_ignored(handler: Handler, body: bytes) -> None:
    """The server says that it has created what it should have refused."""
    status, headers, answer = handler.pass_on(body)
    if status in (409, 412) or b"FileAlreadyExistsException" in answer:
        # Azure says 201 where S3 and GCS say 200, and names its version.
        status, answer = (201 if "x-ms-version" in handler.headers else 200), b""
        headers = [("ETag", '"0"')]
    handler.answer(status, headers, answer)


def _refuse(handler: Handler, status: int, code: str) -> None:
    text = f"<Error><Code>{code}</Code><Message>canary-message</Message></Error>"
    handler.answer(status, [("Content-Type", "application/xml")], text.encode())
