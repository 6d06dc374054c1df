"""A proxy that keeps the rules of GCS for sessions of uploads, which the server of tests does not.

The server of tests appends whatever it gets. GCS knows how many bytes it has. It tells that when it
is asked, takes no byte twice, and answers for a session that has ended.
"""

from __future__ import annotations

import threading
from urllib.parse import parse_qs, urlsplit

from tests.setup.http_proxy import Handler, Proxy

Answer = tuple[int, list[tuple[str, str]], bytes]


class SessionProxy(Proxy):
    """A proxy to a server of tests."""

    def __init__(self, port: int) -> None:
        super().__init__(port, _SessionHandler)
        self.lock = threading.Lock()
        self.received: dict[str, int] = {}
        self.ended: dict[str, Answer] = {}


class _SessionHandler(Handler):
    def pass_on(self, body: bytes) -> Answer:
        upload = parse_qs(urlsplit(self.path).query).get("upload_id", [""])[0]
        if self.command not in ("PUT", "POST") or not upload:
            return super().pass_on(body)
        proxy = self.proxy
        assert isinstance(proxy, SessionProxy)
        with proxy.lock:
            if upload in proxy.ended:
                return proxy.ended[upload]
            span = self.headers["Content-Range"].removeprefix("bytes ").partition("/")[0]
            have = proxy.received.get(upload, 0)
            if span.partition("-")[0] != str(have):
                return _more(have)
            answer = super().pass_on(body)
            have += len(body)
            proxy.received[upload] = have
            if answer[0] == 308:
                return _more(have)
            proxy.ended[upload] = answer
            return answer


def _more(have: int) -> Answer:
    return 308, [("Range", f"bytes=0-{have - 1}")] if have else [], b""
