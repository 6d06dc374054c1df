"""GET requests over open connections of botocore, without the layers of urllib3 and `http.client`.

These layers take most of the processor time of a small request. botocore opens every connection, so
certificates, proxies and time limits stay its own. A connection serves here between two of its
requests, and an unusual answer is left to botocore.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from botocore.awsrequest import AWSRequest
from botocore.exceptions import ConnectionClosedError, IncompleteReadError, ReadTimeoutError
from urllib3.exceptions import HTTPError

_PORTS = {"http": 80, "https": 443}
_FIRST_BYTES = 1 << 16
"""The most bytes of one read of the headers, and of all headers of an answer."""


class IdleConnections:
    """The open connections of a session of botocore to one server. Threads may share it."""

    def __init__(self, session: Any, url: str) -> None:
        """`url` is one of the server's. botocore promises none of the attributes of its session."""
        place = urlsplit(url)
        self._session, self._url = session, url
        self._known: Any = None
        self._origin = len(f"{place.scheme}://{place.netloc}")
        port = place.port
        name = place.netloc.rpartition("@")[2]
        plain = port is not None and port == _PORTS.get(place.scheme)
        self._host = name.removesuffix(f":{port}") if plain else name

    def ask(self, request: AWSRequest) -> Answer | None:
        """Send a signed GET request to the server, and return the answer up to its body.

        Returns None if no connection is open, if a proxy is to be used, or if a header or the
        answer is not a plain one. Raises botocore's errors of a request without an answer.
        """
        pool, head = self._pool(), self._head(request)
        if pool is None or head is None:
            return None
        connection = pool._get_conn()
        if getattr(connection, "sock", None) is None:
            pool._put_conn(connection)
            return None
        answer = Answer(pool, connection, request)
        try:
            plain = answer.begin(head)
        except BaseException as error:
            answer.give_up()
            if isinstance(error, OSError):
                raise answer.failure(error) from error
            raise
        if not plain:
            answer.give_up()
            return None
        return answer

    def _pool(self) -> Any:
        """Return the pool of connections, or None where botocore has none or uses a proxy."""
        # The session closes a pool that it has not used for long, and makes another one.
        if self._known is None or self._known.pool is None:
            self._known = self._find_pool()
        return self._known

    def _find_pool(self) -> Any:
        try:
            if self._session._proxy_config.proxy_url_for(self._url) is not None:
                return None
            pool = self._session._manager.connection_from_url(self._url)
        except (AttributeError, HTTPError):
            return None
        needed = ("pool", "timeout", "_get_conn", "_put_conn")
        return pool if all(hasattr(pool, name) for name in needed) else None

    def _head(self, request: AWSRequest) -> bytes | None:
        """Return a request as it is sent, or None if it has a line break where none may be."""
        lines = [
            f"GET {request.url[self._origin :]} HTTP/1.1".encode(),
            f"Host: {self._host}".encode(),
            b"Accept-Encoding: identity",
            *(_bytes(name) + b": " + _bytes(value) for name, value in request.headers.items()),
        ]
        if any(b"\r" in line or b"\n" in line for line in lines):
            return None
        return b"\r\n".join([*lines, b"", b""])


class Answer:
    """An answer on its way: its status, and its body of `length` bytes, as botocore has bodies.

    Must be closed, which gives the connection back if the body was read to its end.
    """

    status = 0
    length = 0

    def __init__(self, pool: Any, connection: Any, request: AWSRequest) -> None:
        self._pool, self._connection, self._request = pool, connection, request
        self._socket: socket.socket = connection.sock
        self._rest = b""
        self._is_over = self._is_last = False

    def begin(self, head: bytes) -> bool:
        """Send a request, and read the headers of its answer. Returns whether they are plain ones.

        Raises OSError.
        """
        self._socket.settimeout(self._pool.timeout.read_timeout)
        self._socket.sendall(head)
        found, end = b"", -1
        while end < 0:
            more = self._socket.recv(_FIRST_BYTES)
            if not more:
                raise ConnectionResetError("The server has closed the connection.")
            found += more
            end = found.find(b"\r\n\r\n")
            if end < 0 and len(found) > _FIRST_BYTES:
                return False
        first, *lines = found[:end].split(b"\r\n")
        headers = _parse(lines)
        version, _, told = first.partition(b" ")
        if headers is None or version != b"HTTP/1.1" or not told[:3].isdigit():
            return False
        size = headers.get(b"content-length", b"")
        self.status = int(told[:3])
        if self.status < 200 or b"transfer-encoding" in headers or not size.isdigit():
            return False
        self.length, self._rest = int(size), found[end + 4 :]
        self._is_last = b"close" in headers.get(b"connection", b"").lower()
        return len(self._rest) <= self.length

    def read(self) -> bytearray:
        """Return the whole body. Raises botocore's errors of a body that breaks off."""
        body = bytearray(self.length)
        at = len(self._rest)
        body[:at] = self._rest
        view = memoryview(body)
        try:
            while at < self.length:
                count = self._socket.recv_into(view[at:])
                if not count:
                    raise IncompleteReadError(actual_bytes=at, expected_bytes=self.length)
                at += count
        except OSError as error:
            raise self.failure(error) from error
        self._is_over = True
        return body

    def failure(self, error: OSError) -> Exception:
        """Return botocore's error for one of the connection."""
        found: Exception
        if isinstance(error, TimeoutError):
            found = ReadTimeoutError(endpoint_url=self._request.url, error=error)
        else:
            found = ConnectionClosedError(
                endpoint_url=self._request.url, error=error, request=self._request
            )
        return found

    def give_up(self) -> None:
        """End the connection, and give it back closed. botocore opens such a one again."""
        self._connection.close()
        self._pool._put_conn(self._connection)

    def __enter__(self) -> Answer:
        return self

    def __exit__(self, *error: object) -> None:
        if self._is_over and not self._is_last:
            self._pool._put_conn(self._connection)
        else:
            self.give_up()


def _parse(lines: list[bytes]) -> Mapping[bytes, bytes] | None:
    """Return headers by their names in lower case, or None if a line or a repetition is unusual."""
    headers: dict[bytes, bytes] = {}
    for line in lines:
        name, colon, value = line.partition(b":")
        name = name.lower()
        if not colon or name != name.strip() or (name == b"content-length" and name in headers):
            return None
        headers[name] = value.strip()
    return headers


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()
