"""Tasks keep what they read in the folder that Python's cache has, and never return wrong bytes."""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import random
import resource
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.store import LocalStore
from colonnade.manifests.store.cache.folder import FolderPieces
from colonnade.manifests.store.cache.pieces import Piece, divide
from tests.own_files import OTHERS
from tests.spark_ext.java.read.test_rowset_reader import table, write
from tests.spark_ext.java.read_tool import ReadTool, expected_rows, plan_of, spark_schema

GIB = 1 << 30


class Shelf:
    """A table of some RowSets in a store that only Hadoop reaches, and a cache before it."""

    def __init__(self, tool: ReadTool, folder: Path, rowsets: int, texts: list[bytes]) -> None:
        self.tool = tool
        self.store = LocalStore(str(folder / "table"))
        self.url = f"shelf://{self.store.url}"
        self.cache = folder / "cache"
        schema, rows = table(t=pa.array(texts, pa.binary()), n=pa.array(range(len(texts))))
        options: dict[str, Any] = {"one_object": True, "inline_bytes": 0, "block_rows": 1}
        entries = [e for _ in range(rowsets) for e in write(self.store, schema, rows, **options)]
        self._plan, self._schema = plan_of(schema, entries), spark_schema(schema)
        self._rows = expected_rows(rows, schema) * rowsets

    def answer(self, limit: int = GIB) -> dict[str, Any]:
        """Read all rows through the cache."""
        cache = {"folder": str(self.cache), "bytes": limit}
        return self.tool.answer(self.url, self._plan, self._schema, cache)

    def opened(self, limit: int = GIB) -> int:
        """Read all rows, which must be right; return how often an object was opened."""
        answer = self.answer(limit)
        assert answer.get("rows") == self._rows, answer
        opened: int = answer["opened"]
        return opened

    def kept(self) -> list[Path]:
        """The files that hold pieces."""
        return [path for path in self.cache.rglob("*-*") if path.is_file()]

    def objects(self) -> Iterator[tuple[str, bytes]]:
        """The keys of all objects in a cache, and their bytes."""
        for info in self.store.list(""):
            yield key_of(f"{self.url}/{info.name}"), self.store.get(info.name)


def key_of(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()[:32]


@pytest.fixture
def shelf(tool: ReadTool, tmp_path: Path) -> Shelf:
    order = random.Random(3)
    return Shelf(tool, tmp_path, 2, [order.randbytes(700_000) for _ in range(4)])


def test_a_repeated_read_asks_the_store_for_nothing(shelf: Shelf) -> None:
    assert shelf.opened() >= 4
    assert shelf.opened() == 0


def test_java_writes_the_pieces_that_python_reads(shelf: Shelf) -> None:
    shelf.opened()
    pieces = FolderPieces(str(shelf.cache), GIB)
    for key, data in shelf.objects():
        found = pieces.find(key, [(0, len(data))])
        assert all(each.data == data[each.start : each.end] for each in found)
        assert sum(len(each.data) for each in found) == len(data)
    assert all(path.stat().st_mode & 0o077 == 0 for path in shelf.kept())


def test_java_reads_the_pieces_that_python_writes(shelf: Shelf) -> None:
    pieces = FolderPieces(str(shelf.cache), GIB)
    for key, data in shelf.objects():
        for piece in divide(0, data):
            pieces.keep(key, piece)
    assert shelf.opened() == 0


def test_a_part_that_is_lost_is_asked_for_alone(shelf: Shelf) -> None:
    shelf.opened()
    shelf.kept()[0].unlink()
    assert shelf.opened() == 1
    assert shelf.opened() == 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data + b"x",
        lambda data: data[:3],
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: b"XXXX" + data[4:],
    ],
)
def test_damage_in_the_cache_costs_only_a_request(
    shelf: Shelf, damage: Callable[[bytes], bytes]
) -> None:
    shelf.opened()
    for path in shelf.kept():
        path.write_bytes(damage(path.read_bytes()))
    assert shelf.opened() >= 4
    assert shelf.opened() == 0


def test_an_object_in_the_cache_that_is_not_a_file_costs_only_a_request(shelf: Shelf) -> None:
    shelf.opened()
    for number, path in enumerate(shelf.kept()):
        path.unlink()
        if number % 3 == 0:
            os.mkfifo(path)
        elif number % 3 == 1:
            path.mkdir()
        else:
            path.symlink_to("/dev/zero")
    assert shelf.opened() >= 4
    assert shelf.opened() == 0


def test_wrong_bytes_of_an_object_fail_the_task_and_do_not_stay(shelf: Shelf) -> None:
    shelf.opened()
    for path in shelf.kept():
        spoiled = path.read_bytes()[8:-3] + b"xxx"
        path.write_bytes(b"CLNP" + zlib.crc32(spoiled).to_bytes(4, "big") + spoiled)
    errors = 0
    while "error" in (answer := shelf.answer()):
        assert answer["error"].startswith("[COLONNADE_CORRUPTION]")
        errors += 1
        assert errors <= 2, "each task drops what it has read"
    assert errors >= 1
    assert shelf.opened() == 0


def test_the_folder_stays_within_its_limit(shelf: Shelf) -> None:
    limit = 5_000_000
    for _ in range(2):
        shelf.opened(limit)
        assert 0 < sum(path.stat().st_size for path in shelf.kept()) < limit * 17 // 16 + (1 << 20)


def test_unfinished_files_of_killed_processes_are_removed(shelf: Shelf) -> None:
    folder = shelf.cache / "pieces-1" / "ab" / "cd"
    folder.mkdir(parents=True)
    left, working = folder / ".tmp-left", folder / ".tmp-working"
    left.write_bytes(b"half")
    working.write_bytes(b"half")
    os.utime(left, (0, 0))
    shelf.opened(limit=1 << 28)
    assert [left.exists(), working.exists()] == [False, True]


def warnings(shelf: Shelf) -> list[str]:
    """What the process has said about caches of this folder."""
    return [line for line in shelf.tool.printed if str(shelf.cache) in line]


def test_a_folder_that_cannot_be_written_to_is_one_warning(shelf: Shelf) -> None:
    shelf.cache.write_text("no folder")
    assert shelf.opened() >= 4
    assert shelf.opened() >= 4
    [line] = warnings(shelf)
    assert line.endswith(
        f"The cache in {shelf.cache} cannot be used (Not a directory); objects are read from"
        " their store."
    )


def test_no_link_in_the_cache_is_followed(shelf: Shelf, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_bytes(b"valuable")
    os.utime(precious, (0, 0))
    assert shelf.opened() >= 4
    names = [*shelf.kept(), shelf.cache / "pieces-1" / "lock"]
    for path in names:
        path.unlink()
        path.symlink_to(precious)
    assert len(names) > 4
    assert shelf.opened(limit=10 << 20) >= 4
    assert precious.read_bytes() == b"valuable"
    assert precious.stat().st_mtime == 0


@pytest.mark.parametrize("part", ["cache", "cache/pieces-1"])
@pytest.mark.parametrize("fault", OTHERS)
def test_a_folder_that_another_user_can_change_is_refused_by_name(
    shelf: Shelf, tmp_path: Path, part: str, fault: str
) -> None:
    kept, root = shelf.cache, shelf.cache / "pieces-1"
    root.mkdir(0o700, parents=True)
    OTHERS[fault](tmp_path / part)
    assert [shelf.opened() >= 4, shelf.opened() >= 4] == [True, True]
    [line] = warnings(shelf)
    assert f"The cache in {kept} cannot be used (" in line
    assert str(tmp_path / part) in line.split("(", 1)[1]
    assert [path for path in tmp_path.rglob("pieces-1/*") if path.is_file()] == []


@contextmanager
def largest_file(pid: int, size: int) -> Iterator[None]:
    """Let a process write no file larger than this."""
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


def test_a_disk_that_is_full_leaves_no_part_of_a_piece(shelf: Shelf) -> None:
    with largest_file(shelf.tool.pid, 5_000):
        assert shelf.opened() >= 4
        assert shelf.opened() >= 4
    [line] = warnings(shelf)
    assert "cannot be used (File too large); objects are read from their store." in line
    assert [path for path in shelf.cache.rglob("*") if path.is_file()] == []


def use(folder: str, objects: dict[str, bytes], limit: int, seed: int, until: float) -> None:
    order = random.Random(seed)
    pieces = FolderPieces(folder, limit)
    while time.time() < until:
        key = order.choice([*objects])
        data = objects[key]
        if order.random() < 0.1:
            pieces.forget(key)
        for piece in pieces.find(key, [(0, len(data))]):
            assert piece.data == data[piece.start : piece.end]
        start = order.randrange(len(data))
        piece = next(divide(start, data[start : start + order.randrange(1, 200_000)]))
        pieces.keep(key, Piece(piece.start, piece.data))


@pytest.mark.long
def test_processes_of_both_languages_that_are_killed_leave_nothing_wrong(shelf: Shelf) -> None:
    limit, until = 4_000_000, time.time() + 20
    arguments = (str(shelf.cache), dict(shelf.objects()), limit)
    context = multiprocessing.get_context("spawn")
    users = [context.Process(target=use, args=(*arguments, seed, until)) for seed in range(4)]
    for each in users:
        each.start()
    while time.time() < until - 8:
        shelf.opened(limit)
    for each in users[:2]:
        each.kill()
    while time.time() < until:
        shelf.opened(limit)
    for each in users:
        each.join(30)
    assert [each.exitcode for each in users[2:]] == [0, 0]
    assert sum(path.stat().st_size for path in shelf.kept()) < 2 * limit
