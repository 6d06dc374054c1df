"""A large object is one stream and one rename, and a lost answer does not disown it."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from colonnade.manifests.store.bucket.failure import Failure
from colonnade.manifests.store.checks import finished_name
from colonnade.manifests.store.hdfs.files import HdfsFiles, Status
from colonnade.manifests.store.hdfs.upload import PART, HdfsUpload
from tests.manifests.store.bucket.fakes import failure, hasty

KEY = "db/t/a.bin"


class Line:
    """The connection to a datanode. It answers with `status`, or breaks after `breaks` sends."""

    def __init__(self, status: int = 201, breaks: int | None = None) -> None:
        self.status = status
        self.sent = b""
        self.closed = False
        self._left = breaks

    def send(self, data: bytes) -> None:
        if self._left == 0:
            raise BrokenPipeError
        self._left = None if self._left is None else self._left - 1
        self.sent += data

    def getresponse(self) -> Mock:
        return Mock(status=self.status, read=lambda limit: b"")

    def close(self) -> None:
        self.closed = True


class Files(HdfsFiles):
    """The steps of a write, without a server. `renames` are the failures of the next renames."""

    def __init__(self, line: Line, *renames: Failure) -> None:
        client = Mock(wraps=None)
        client.once, client.stream = hasty().once, lambda url: line
        client.locate = lambda *_: "http://data/a"
        super().__init__(client)
        self.renames = list(renames)
        self.named: list[tuple[str, str, bool]] = []
        self.removed: list[str] = []
        self.length = 0

    def write_unfinished(self, key: str, data: bytes) -> str:
        self.length = len(data)
        return f"{key}.tmp"

    def rename(self, temp: str, key: str, *, replacing: bool) -> None:
        self.named.append((temp, key, replacing))
        if self.renames:
            raise self.renames.pop(0)

    def remove(self, key: str) -> None:
        self.removed.append(key)

    def status(self, key: str) -> Status:
        return Status(key, "FILE", self.length, 0)


def streamed(files: Files, *parts: bytes) -> HdfsUpload:
    """An upload whose parts are sent."""
    upload = HdfsUpload(files, KEY)
    upload.begin()
    offset = 0
    for number, part in enumerate(parts):
        upload.send(number, offset, part)
        offset += len(part)
    return upload


def test_a_stream_is_chunked_and_becomes_visible_by_a_rename_that_replaces_nothing() -> None:
    line = Line()
    files = Files(line)
    streamed(files, b"abc", b"d" * 20).finish([], b"")
    assert line.sent == b"3\r\nabc\r\n14\r\n" + b"d" * 20 + b"\r\n0\r\n\r\n"
    assert line.closed
    [(temp, key, replacing)] = files.named
    assert (finished_name(temp), key, replacing) == (KEY, KEY, False)


def test_a_stream_that_a_datanode_refuses_at_its_end_makes_no_object() -> None:
    files = Files(Line(status=403))
    upload = streamed(files, b"abc")
    with pytest.raises(Failure) as caught:
        upload.finish([], b"")
    assert not caught.value.passing
    assert not files.named
    upload.end()
    [temp] = files.removed
    assert finished_name(temp) == KEY


def test_a_stream_that_breaks_is_not_sent_again() -> None:
    with pytest.raises(Failure) as caught:
        streamed(Files(Line(breaks=1)), b"abc", b"def")
    assert not caught.value.passing
    assert not caught.value.arrived


def test_a_rename_that_is_sent_again_knows_the_object_of_the_first_one() -> None:
    unknown = failure(None, arrived=True, passing=True)
    files = Files(Line(), unknown, failure(404, absent=True))
    upload = streamed(files, b"abc")
    with pytest.raises(Failure):
        upload.finish([], b"")
    assert not upload.is_own()
    with pytest.raises(Failure):
        upload.finish([], b"")
    files.length = 3
    assert upload.is_own()
    files.length = 4
    assert not upload.is_own()


def test_after_a_first_rename_without_a_file_the_object_of_that_name_is_not_its_own() -> None:
    files = Files(Line(), failure(404, absent=True))
    upload = streamed(files, b"abc")
    with pytest.raises(Failure):
        upload.finish([], b"")
    files.length = 3
    assert not upload.is_own()


def test_a_small_object_that_is_put_again_is_written_once() -> None:
    files = Files(Line(), failure(None, arrived=True, passing=True))
    upload = HdfsUpload(files, KEY)
    with pytest.raises(Failure):
        upload.put(b"abc")
    upload.put(b"abc")
    assert files.named == [(f"{KEY}.tmp", KEY, False)] * 2
    assert not files.removed


def test_a_name_that_is_taken_leaves_no_file_behind() -> None:
    files = Files(Line(), failure(412))
    with pytest.raises(Failure):
        HdfsUpload(files, KEY).put(b"abc")
    assert files.removed == [f"{KEY}.tmp"]


def test_parts_have_one_size_and_one_is_sent_at_a_time() -> None:
    upload = HdfsUpload(Files(Line()), KEY)
    assert {upload.part_size(number) for number in (0, 1, 1000)} == {PART}
    assert upload.under_way == 1
