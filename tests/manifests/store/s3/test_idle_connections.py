"""Answers that come over an idle connection are whole, or an error, or left to botocore."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from botocore.awsrequest import AWSRequest
from botocore.exceptions import ConnectionClosedError, IncompleteReadError, ReadTimeoutError
from botocore.httpsession import URLLib3Session

from colonnade.manifests.store.s3.idle_connections import IdleConnections

URL = "http://store.example:8080/b/"


class Pool:
    """One connection of urllib3, open or closed, and its server's end."""

    def __init__(self) -> None:
        self.pool = self.timeout = SimpleNamespace(read_timeout=0.2)
        self.sock, self.server = socket.socketpair()
        self.is_idle = self.is_open = True

    def _get_conn(self) -> Any:
        assert self.is_idle, "one request at a time has a connection"
        self.is_idle = False
        return SimpleNamespace(sock=self.sock if self.is_open else None, close=self._close)

    def _put_conn(self, connection: Any) -> None:
        self.is_idle = True

    def _close(self) -> None:
        self.is_open = False
        self.sock.close()

    def connections(self, url: str = URL) -> IdleConnections:
        """What asks over this connection."""
        manager = SimpleNamespace(connection_from_url=lambda url: self)
        config = SimpleNamespace(proxy_url_for=lambda url: None)
        return IdleConnections(SimpleNamespace(_manager=manager, _proxy_config=config), url)


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool()
    yield made
    made.sock.close()
    made.server.close()


def request(url: str = URL, **headers: str) -> AWSRequest:
    return AWSRequest("GET", f"{url}k%20e/y", headers)


@contextmanager
def answering(pool: Pool, *parts: bytes, close: bool = True) -> Iterator[list[bytes]]:
    """Answer the next request in parts. Yields the list that then has the request."""
    asked: list[bytes] = []

    def serve() -> None:
        asked.append(pool.server.recv(1 << 16))
        for part in parts:
            pool.server.sendall(part)
        if close:
            pool.server.shutdown(socket.SHUT_WR)

    thread = threading.Thread(target=serve)
    thread.start()
    yield asked
    thread.join()


def head(status: str = "200 OK", **headers: object) -> bytes:
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""]).encode()


@pytest.mark.parametrize("cut", [1, 9, 30, 41, 42, 44])
def test_an_answer_is_read_whole_however_it_is_cut_into_packets(pool: Pool, cut: int) -> None:
    data = head(Content_Length=5, ETag="x") + b"01\r\n4"
    with answering(pool, data[:cut], data[cut:], close=False) as asked:
        found = pool.connections().ask(request(Range="bytes=0-4"))
        assert found is not None
        with found:
            assert (found.status, found.length, bytes(found.read())) == (200, 5, b"01\r\n4")
    first, *lines = asked[0].split(b"\r\n")
    assert first == b"GET /b/k%20e/y HTTP/1.1"
    assert {b"Host: store.example:8080", b"Range: bytes=0-4"} < {*lines}
    assert pool.is_idle
    assert pool.is_open


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://h:80/b/", "h"),
        ("https://h:443/b/", "h"),
        ("https://h:80/b/", "h:80"),
        ("http://[::1]:80/b/", "[::1]"),
        ("http://[::1]/b/", "[::1]"),
    ],
)
def test_the_host_is_the_one_that_botocore_signs(pool: Pool, url: str, host: str) -> None:
    with answering(pool, head(Content_Length=0), close=False) as asked:
        found = pool.connections(url).ask(request(url))
        assert found is not None
        with found:
            assert found.read() == b""
    assert f"\r\nHost: {host}\r\n".encode() in asked[0]


ODD = {
    "another version": b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n1",
    "no HTTP": b"220 smtp ready\r\n\r\n",
    "no length": head() + b"1",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n11",
    "a wrong length": head(Content_Length="-1") + b"1",
    "chunks": head(Transfer_Encoding="chunked", Content_Length=1) + b"1\r\n1\r\n0\r\n\r\n",
    "an interim answer": head("100 Continue", Content_Length=0) + head(Content_Length=0),
    "more than its length": head(Content_Length=1) + b"12",
    "a folded header": b"HTTP/1.1 200 OK\r\nA: b\r\n c: d\r\nContent-Length: 1\r\n\r\n1",
    "a line without a colon": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nx\r\n\r\n1",
    "endless headers": b"HTTP/1.1 200 OK\r\nA: " + b"x" * (1 << 17),
}


@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
def test_an_unusual_answer_is_left_to_botocore_and_ends_the_connection(
    pool: Pool, data: bytes
) -> None:
    with patch.object(threading, "excepthook"), answering(pool, data):
        assert pool.connections().ask(request()) is None
    assert pool.is_idle
    assert not pool.is_open
    assert pool.connections().ask(request()) is None, "no open connection is left"


def test_a_connection_that_ends_before_the_answer_is_an_error_of_botocore(pool: Pool) -> None:
    with answering(pool, b"HTTP/1.1 20"), pytest.raises(ConnectionClosedError):
        pool.connections().ask(request())
    assert not pool.is_open


def test_a_server_that_does_not_answer_in_time_is_an_error_of_botocore(pool: Pool) -> None:
    with answering(pool, close=False), pytest.raises(ReadTimeoutError):
        pool.connections().ask(request())
    assert not pool.is_open


@pytest.mark.parametrize(
    ("close", "kind"), [(True, IncompleteReadError), (False, ReadTimeoutError)]
)
def test_a_body_that_breaks_off_is_an_error_of_botocore(
    pool: Pool, kind: type[Exception], *, close: bool
) -> None:
    with answering(pool, head(Content_Length=9), b"1234", close=close):
        found = pool.connections().ask(request())
        assert found is not None
        with pytest.raises(kind), found:
            found.read()
    assert pool.is_idle
    assert not pool.is_open


@pytest.mark.parametrize("reads", [True, False])
def test_a_connection_serves_again_only_after_a_whole_body(pool: Pool, *, reads: bool) -> None:
    with answering(pool, head(Content_Length=2), b"12", close=False):
        found = pool.connections().ask(request())
        assert found is not None
        with found:
            if reads:
                found.read()
    assert pool.is_idle
    assert pool.is_open == reads


def test_a_connection_that_the_server_ends_does_not_serve_again(pool: Pool) -> None:
    with answering(pool, head(Content_Length=2, Connection="Close"), b"12"):
        found = pool.connections().ask(request())
        assert found is not None
        with found:
            assert found.read() == b"12"
    assert pool.is_idle
    assert not pool.is_open


def test_a_header_with_a_line_break_is_never_sent(pool: Pool) -> None:
    assert pool.connections().ask(request(token="a\r\nb: c")) is None
    assert pool.is_idle
    pool.server.setblocking(False)
    with pytest.raises(BlockingIOError):
        pool.server.recv(1)


def test_a_session_with_a_proxy_and_one_without_open_connections_are_left_to_botocore() -> None:
    for proxies in (None, {"http": "http://proxy.example:1"}):
        assert IdleConnections(URLLib3Session(proxies=proxies), URL).ask(request()) is None
    assert IdleConnections(object(), URL).ask(request()) is None
