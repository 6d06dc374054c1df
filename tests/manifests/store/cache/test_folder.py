"""The folder of a cache survives kills, damage and full disks, and stays within its limit."""

from __future__ import annotations

import logging
import multiprocessing
import os
import random
import shutil
import time
from pathlib import Path
from unittest.mock import patch

import pytest

from colonnade.manifests.own_files import open_own
from colonnade.manifests.store.cache import folder as module
from colonnade.manifests.store.cache.folder import VERSION, FolderPieces
from colonnade.manifests.store.cache.options import cache_of
from colonnade.manifests.store.cache.pieces import Piece

KEY, OTHER = "ab" * 16, "cd" * 16


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*-*") if path.is_file()]


def test_a_piece_is_found_by_another_process(tmp_path: Path) -> None:
    FolderPieces(str(tmp_path), 1 << 20).keep(KEY, Piece(7, b"abcdef"))
    other = FolderPieces(str(tmp_path), 1 << 20)
    assert other.find(KEY, [(0, 100)]) == [Piece(7, b"abcdef")]
    assert other.find(KEY, [(0, 7), (13, 5)]) == []
    assert other.find(OTHER, [(0, 100)]) == []


def test_the_bytes_of_the_file_are_as_documented(tmp_path: Path) -> None:
    FolderPieces(str(tmp_path), 1 << 20).keep(KEY, Piece(7, b"123456789"))
    path = tmp_path / VERSION / "ab" / ("ab" * 15) / "7-16"
    assert path.read_bytes() == b"CLNP\xcb\xf4\x39\x26123456789"
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-1],
        lambda data: data + b"x",
        lambda data: b"",
        lambda data: data[:4] + bytes([data[4] ^ 1]) + data[5:],
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: b"XXXX" + data[4:],
    ],
)
def test_a_damaged_piece_counts_as_absent_and_is_removed(tmp_path: Path, damage: object) -> None:
    pieces = FolderPieces(str(tmp_path), 1 << 20)
    pieces.keep(KEY, Piece(0, b"abcdef"))
    [path] = files(tmp_path)
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    assert pieces.find(KEY, [(0, 6)]) == []
    assert files(tmp_path) == []


def test_a_path_that_is_no_file_of_a_piece_counts_as_absent(tmp_path: Path) -> None:
    pieces = FolderPieces(str(tmp_path), 1 << 20)
    pieces.keep(KEY, Piece(0, b"abcdef"))
    [path] = files(tmp_path)
    path.unlink()
    os.mkfifo(path)
    (path.parent / "1-999999999999999999").write_bytes(b"CLNP")
    (path.parent / "2-9").mkdir()
    (path.parent / "3-9").symlink_to("/dev/zero")
    (path.parent / "4-9").symlink_to(path.parent / "2-9")
    (path.parent / f"0-{'9' * 30}").write_bytes(b"CLNP")
    assert pieces.find(KEY, [(0, 6)]) == []
    pieces.keep(KEY, Piece(0, b"abcdef"))
    assert pieces.find(KEY, [(0, 6)]) == [Piece(0, b"abcdef")]


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o077])
def test_only_its_user_can_open_any_part_of_the_folder(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        FolderPieces(str(tmp_path / "a" / "b"), 1 << 20).keep(KEY, Piece(0, b"abcdef"))
    finally:
        os.umask(before)
    made = [path for path in tmp_path.rglob("*") if path.name != "lock"]
    assert [oct(path.stat().st_mode & 0o077) for path in made] == ["0o0"] * 6


def test_a_process_that_is_forked_while_a_thread_evicts_evicts_too(tmp_path: Path) -> None:
    pieces = FolderPieces(str(tmp_path), 10_000)
    with module._EVICTING:
        child = multiprocessing.get_context("fork").Process(
            target=pieces.keep, args=(KEY, Piece(0, b"abcdef"))
        )
        child.start()
        child.join(10)
        assert child.exitcode == 0


def test_the_folder_may_be_removed_at_any_time(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    pieces = FolderPieces(str(tmp_path / "cache"), 20_000)
    real = os.rename

    def rename(source: str, target: str) -> None:
        real(source, target)
        shutil.rmtree(tmp_path / "cache")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "rename", rename)
        pieces.keep(KEY, Piece(0, bytes(4000)))
    pieces.keep(KEY, Piece(0, bytes(4000)))
    assert pieces.find(KEY, [(0, 6)]) == [Piece(0, bytes(4000))]
    assert caplog.records == []


def test_the_pieces_used_last_stay_within_the_limit(tmp_path: Path) -> None:
    pieces = FolderPieces(str(tmp_path), 100_000)
    long_ago = time.time() - 10_000
    for number in range(90):
        pieces.keep(f"{number:032x}", Piece(0, bytes(1000)))
        for path in files(tmp_path):
            if path.parent.name == f"{number:030x}":
                os.utime(path, (long_ago + number, long_ago + number))
    assert pieces.find(f"{0:032x}", [(0, 1)]), "it is used, and so it is the newest"
    for number in range(90, 130):
        pieces.keep(f"{number:032x}", Piece(0, bytes(1000)))
    assert sum(path.stat().st_size for path in files(tmp_path)) < 107_000
    assert pieces.find(f"{0:032x}", [(0, 1)])
    assert not pieces.find(f"{1:032x}", [(0, 1)])
    assert pieces.find(f"{129:032x}", [(0, 1)])


def test_unfinished_files_of_killed_processes_are_removed(tmp_path: Path) -> None:
    FolderPieces(str(tmp_path), 1 << 20).keep(KEY, Piece(0, b"abc"))
    left, working = (files(tmp_path)[0].parent / f".tmp-{name}" for name in ("left", "working"))
    left.write_bytes(b"half")
    working.write_bytes(b"half")
    os.utime(left, (0, 0))
    FolderPieces(str(tmp_path), 1 << 20).keep(OTHER, Piece(0, b"abc"))
    assert [left.exists(), working.exists()] == [False, True]


def test_a_folder_that_cannot_be_written_to_is_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "a file"
    place.write_text("no folder")
    pieces = FolderPieces(str(place), 1 << 20)
    with caplog.at_level(logging.WARNING):
        for number in range(9):
            pieces.keep(KEY, Piece(number, b"x"))
    assert pieces.find(KEY, [(0, 9)]) == []
    [record] = caplog.records
    assert record.getMessage() == (
        f"The cache in {place} cannot be used (Not a directory); objects are read from their store."
    )


@pytest.mark.parametrize("below", ["", "deeper/than that"])
def test_a_folder_that_cannot_be_used_is_one_warning_before_anything_is_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, below: str
) -> None:
    (tmp_path / "a file").write_text("no folder")
    place = str(tmp_path / "a file" / below).rstrip("/")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert cache_of({"cache": place}, "s3://bucket") is not None
        assert cache_of({"cache": str(tmp_path / "new" / "folder")}, "s3://bucket") is not None
    [record] = caplog.records
    assert record.getMessage().startswith(f"The cache in {place} cannot be used (Not a dir")
    assert not (tmp_path / "new").exists()


def test_a_folder_without_the_permission_to_write_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with patch.object(os, "access", lambda path, mode: False):
        FolderPieces(str(tmp_path), 1 << 20).check()
    assert "cannot be used (Permission denied)" in caplog.text


def test_a_full_disk_leaves_no_part_of_a_piece(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.fail("this test needs /dev/full")
    pieces = FolderPieces(str(tmp_path), 1 << 20)
    real = open_own

    def open_full(path: str, flags: int) -> int:
        file = real(path, flags)
        if ".tmp-" in path:
            os.close(file)
            return os.open(full, os.O_WRONLY)
        return file

    with pytest.MonkeyPatch.context() as patched, caplog.at_level(logging.WARNING):
        patched.setattr(module, "open_own", open_full)
        pieces.keep(KEY, Piece(0, bytes(100_000)))
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert "No space left on device" in caplog.text
    assert pieces.find(KEY, [(0, 1)]) == []


def use(folder: str, seed: int, until: float) -> None:
    order = random.Random(seed)
    pieces = FolderPieces(folder, 300_000)
    while time.time() < until:
        number = order.randrange(40)
        data = random.Random(number).randbytes(20_000)
        key = f"{number:032x}"
        if order.random() < 0.1:
            pieces.forget(key)
        for piece in pieces.find(key, [(0, 20_000)]):
            assert piece.data == data[piece.start : piece.end]
        start = order.randrange(19_000)
        pieces.keep(key, Piece(start, data[start : start + order.randrange(1, 9000)]))


@pytest.mark.slow
def test_processes_that_are_killed_leave_nothing_wrong(tmp_path: Path) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([use.__module__])
    until = time.time() + 3
    users = [context.Process(target=use, args=(str(tmp_path), n, until)) for n in range(4)]
    for each in users:
        each.start()
    time.sleep(2)
    for each in users[:2]:
        each.kill()
    for each in users:
        each.join(30)
    assert [each.exitcode for each in users[2:]] == [0, 0]
    use(str(tmp_path), 9, time.time() + 0.5)
    assert sum(path.stat().st_size for path in files(tmp_path)) < 500_000
