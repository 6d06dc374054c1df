"""A new object on HDFS: one stream to a datanode under a temporary name, then a rename.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from http.client import HTTPConnection
from typing import Any

from colonnade.manifests.store.bucket.failure import Failure
from colonnade.manifests.store.bucket.upload import Upload
from colonnade.manifests.store.hdfs.client import check_transfer, without_urls
from colonnade.manifests.store.hdfs.failures import classify
from colonnade.manifests.store.hdfs.files import CREATE, HdfsFiles, unfinished_key

PART = 4 << 20


class HdfsUpload(Upload):
    """One new object. A stream that breaks cannot be repeated, because its bytes are gone."""

    under_way = 1

    def __init__(self, files: HdfsFiles, key: str) -> None:
        self.patience = files.client
        self._files = files
        self._key = key
        self._temp: str | None = None
        self._line: HTTPConnection | None = None
        self._size = 0
        self._is_asked = False
        self._has_vanished = False

    def part_size(self, number: int) -> int:
        return PART

    def put(self, body: bytes) -> None:
        if self._temp is None:
            self._temp, self._size = self._files.write_unfinished(self._key, body), len(body)
        try:
            self._rename()
        except Failure as failure:
            if failure.status is not None:
                self._files.discard(self._temp)
            raise

    def begin(self) -> None:
        self._temp = unfinished_key(self._key)
        url = self._files.client.locate("write", "PUT", self._temp, CREATE)
        self._line = self._files.client.stream(url)

    def send(self, number: int, offset: int, body: bytes) -> None:
        self._size = offset + len(body)
        self._on_line(b"%x\r\n%b\r\n" % (len(body), body))

    def finish(self, parts: list[Any], rest: bytes) -> None:
        if self._line is not None:
            self._on_line(b"0\r\n\r\n", last=True)
            self._close()
        self._rename()

    def end(self) -> None:
        self._close()
        if self._temp is not None:
            self._files.remove(self._temp)

    def is_own(self) -> bool:
        if not self._has_vanished:
            return False
        return self._files.status(self._key).length == self._size

    def _rename(self) -> None:
        """Make the object visible. A repeated call learns that an earlier one has done so."""
        assert self._temp is not None
        try:
            self._files.rename(self._temp, self._key, replacing=False)
        except Failure as failure:
            # Only an earlier rename takes the file away: vacuum removes older ones alone.
            self._has_vanished = self._is_asked and failure.absent
            self._is_asked = self._is_asked or failure.arrived
            raise

    def _on_line(self, framed: bytes, *, last: bool = False) -> None:
        """Send bytes of the stream; with `last`, wait until the file is complete."""
        line = self._line
        assert line is not None

        def send() -> None:
            try:
                line.send(framed)
            except ConnectionError:
                # A datanode that refuses a stream says why, and then closes the line.
                _check(line)
                raise
            if last:
                _check(line)

        try:
            self.patience.once(partial(without_urls, send), partial(classify, "write"))
        except Failure as failure:
            # Its bytes are gone, so this stream cannot be sent again.
            raise replace(failure, absent=False, arrived=False, passing=False) from failure.error

    def _close(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            line.close()


def _check(line: HTTPConnection) -> None:
    answer = line.getresponse()
    check_transfer(answer.status, answer.read(1 << 14))
