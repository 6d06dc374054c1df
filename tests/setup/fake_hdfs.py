"""WebHDFS as a namenode and a datanode speak it, with files in the memory of this process.

It starts at once, so that the default run has it. It answers what Hadoop 3.5 answers to the
requests of the store, with the same statuses and exceptions. The tests that use it also run on
Hadoop itself (`bash tests/run --long`), which shows that the two agree.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from itertools import count
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from tests.setup.http_proxy import Handler

PAGE = 100
"""Entries of a page of a listing, as `Hdfs.java` sets it."""

_STATUS = {"FileNotFoundException": 404, "IllegalArgumentException": 400, "InvalidToken": 403}


class RemoteError(Exception):
    """An exception of the server: its class and its message."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(name)
        self.answer = json.dumps({"RemoteException": {"exception": name, "message": message}})
        self.status = _STATUS.get(name, 403)


@dataclass
class Tree:
    """Files and folders by path. A folder has no bytes."""

    entries: dict[str, bytes | None] = field(default_factory=lambda: {"": None})
    written: dict[str, int] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def make_folders(self, path: str) -> None:
        """Make a folder and its missing parents."""
        parts = path.split("/")
        for end in range(1, len(parts) + 1):
            if self.entries.setdefault("/".join(parts[:end]), None) is not None:
                raise RemoteError("ParentNotDirectoryException", "a parent is a file")

    def status(self, path: str, suffix: str) -> dict[str, Any]:
        """Return what a listing says of an entry."""
        data = self.entries[path]
        return {
            "length": len(data or b""),
            "modificationTime": self.written.get(path, 0),
            "pathSuffix": suffix,
            "type": "DIRECTORY" if data is None else "FILE",
        }

    def below(self, path: str) -> list[str]:
        """Return the names directly below a folder, in order."""
        start = f"{path}/" if path else ""
        found = (each[len(start) :] for each in self.entries if each and each.startswith(start))
        return sorted(name for name in found if "/" not in name)

    def find(self, path: str) -> bytes | None:
        """Return the bytes of a file, None for a folder."""
        if path not in self.entries:
            raise RemoteError("FileNotFoundException", f"File does not exist: /{path}")
        return self.entries[path]


class FakeHdfs:
    """A server on a free port of this machine."""

    def __init__(self) -> None:
        self.tree = Tree()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.tree = self.tree  # type: ignore[attr-defined]
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._numbers = count(1)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def options(self, **others: Any) -> dict[str, Any]:
        """Storage options for the server."""
        return {"http_address": f"127.0.0.1:{self.port}", **others}

    def new_bucket(self) -> str:
        """Return another name of the namenode, and the name of an absent folder."""
        number = next(self._numbers)
        return f"namenode-{number}:8020/folder-{number}"

    def stop(self) -> None:
        """Close the port."""
        self._server.shutdown()
        self._server.server_close()


class _Handler(Handler):
    """One connection of a client. The datanode's half has a parameter of its own."""

    @property
    def tree(self) -> Tree:
        found: Tree = self.server.tree  # type: ignore[attr-defined]
        return found

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        path = unquote(parts.path).removeprefix("/webhdfs/v1").strip("/")
        asked = dict(parse_qsl(parts.query, keep_blank_values=True))
        step = f"_{'data' if 'namenoderpcaddress' in asked else 'name'}_{asked['op'].lower()}"
        call: Callable[..., None] | None = getattr(self, step, None)
        try:
            if call is None:
                message = f'Invalid value for webhdfs parameter "op": {asked["op"]}'
                raise RemoteError("IllegalArgumentException", message)
            if call == self._data_create:
                self._begin(path)
            body = self.read_body()
            with self.tree.lock:
                call(path, asked, body)
        except (OSError, ValueError):
            self.close_connection = True  # the client has gone
        except RemoteError as error:
            self._answer(error.status, error.answer.encode())

    do_GET = do_PUT = do_DELETE = _serve

    def _answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _json(self, **found: Any) -> None:
        self._answer(200, json.dumps(found).encode())

    def _to_datanode(self, path: str) -> None:
        host = self.headers["Host"]
        query = f"{urlsplit(self.path).query}&namenoderpcaddress=namenode"
        self._answer(307, Location=f"http://{host}/webhdfs/v1/{quote(path)}?{query}")

    def _name_create(self, path: str, asked: dict[str, str], body: bytes) -> None:
        self._to_datanode(path)

    def _begin(self, path: str) -> None:
        """Make an empty file. Everyone sees it before its bytes have come."""
        with self.tree.lock:
            if path in self.tree.entries:
                raise RemoteError("FileAlreadyExistsException", f"/{path} already exists")
            self.tree.make_folders(path.rpartition("/")[0])
            self.tree.entries[path] = b""
            self.tree.written[path] = time.time_ns() // 1_000_000

    def _data_create(self, path: str, asked: dict[str, str], body: bytes) -> None:
        self.tree.find(path)
        self.tree.entries[path] = body
        self.tree.written[path] = time.time_ns() // 1_000_000
        self._answer(201)

    def _name_open(self, path: str, asked: dict[str, str], body: bytes) -> None:
        data = self.tree.find(path)
        offset = int(asked.get("offset", 0))
        if data is not None and offset and offset >= len(data):
            message = f"Offset={offset} out of the range [0, {len(data)}); OPEN, path=/{path}"
            raise RemoteError("IOException", message)
        self._to_datanode(path)

    def _data_open(self, path: str, asked: dict[str, str], body: bytes) -> None:
        data = self.tree.find(path)
        if data is None:
            raise RemoteError("FileNotFoundException", f"Path is not a file: /{path}")
        offset = int(asked.get("offset", 0))
        self._answer(200, data[offset:][: int(asked.get("length", len(data)))])

    def _name_rename(self, path: str, asked: dict[str, str], body: bytes) -> None:
        entries, new = self.tree.entries, asked["destination"].strip("/")
        data = self.tree.find(path)
        if entries.get(new, b"") is None:
            message = f"Source /{path} and destination /{new} must both be directories"
            raise RemoteError("IOException", message)
        if new in entries and asked["renameoptions"] != "OVERWRITE":
            message = f"rename destination /{new} already exists"
            raise RemoteError("FileAlreadyExistsException", message)
        if new.rpartition("/")[0] not in entries:
            raise RemoteError("FileNotFoundException", "rename destination parent not found")
        entries[new] = data
        self.tree.written[new] = self.tree.written.pop(path)
        del entries[path]
        self._answer(200)

    def _name_delete(self, path: str, asked: dict[str, str], body: bytes) -> None:
        if self.tree.entries.get(path, b"") is None and self.tree.below(path):
            raise RemoteError("PathIsNotEmptyDirectoryException", f"/{path} is non empty")
        self._json(boolean=self.tree.entries.pop(path, self) is not self)

    def _name_getfilestatus(self, path: str, asked: dict[str, str], body: bytes) -> None:
        self.tree.find(path)
        self._json(FileStatus=self.tree.status(path, ""))

    def _name_liststatus_batch(self, path: str, asked: dict[str, str], body: bytes) -> None:
        if self.tree.find(path) is not None:
            names = [""]
        else:
            names = [name for name in self.tree.below(path) if name > asked.get("startafter", "")]
        start = f"{path}/" if path else ""
        found = [
            self.tree.status(f"{start}{name}" if name else path, name) for name in names[:PAGE]
        ]
        self._json(
            DirectoryListing={
                "partialListing": {"FileStatuses": {"FileStatus": found}},
                "remainingEntries": len(names) - len(found),
            }
        )
