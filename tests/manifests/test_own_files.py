"""No file outside of a database is opened through a link, and no other user's folder is used."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.object_names import JOURNAL
from colonnade.manifests.own_files import new_file_beside, open_own, require_own_folder
from colonnade.manifests.store.cache.folder import VERSION, FolderPieces
from colonnade.manifests.store.cache.pieces import Piece
from tests.cli.runner import run_command
from tests.own_files import OTHERS

KEY = "ab" * 16


def keep(folder: Path) -> None:
    pieces = FolderPieces(str(folder / "cache"), 10_000)
    pieces.keep(KEY, Piece(0, b"x" * 100))
    assert len(pieces.find(KEY, [(0, 100)])) in (0, 1)
    pieces.forget(KEY)


def command(*arguments: str) -> Callable[[Path], None]:
    def run(folder: Path) -> None:
        ran = run_command(*(each.format(folder) for each in arguments))
        assert ran.code in (0, 2, 9), ran.err

    return run


NAMES: dict[str, Callable[[Path], None]] = {
    f"cache/{VERSION}/lock": keep,
    f"cache/{VERSION}": keep,
    f"cache/{VERSION}/ab/{'ab' * 15}/0-100": keep,
    "cache": keep,
    f"t/{JOURNAL}": command("maintain", "{}/t"),
    "report.html": command("report", "{}/t", "--output", "{}/report.html"),
    "rows.csv": command("export", "{}/t", "{}/rows.csv", "--yes"),
    "rows.parquet": command("export", "{}/t", "{}/rows.parquet", "--yes"),
}
"""Each name that others can know beforehand, and what opens it."""


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("target", ["precious", "folder", "absent"])
def test_no_link_at_a_known_name_is_followed(tmp_path: Path, name: str, target: str) -> None:
    colonnade.create(tmp_path / "t", pa.schema({"a": pa.int64()})).append(pa.table({"a": [1]}))
    outside = tmp_path / "outside"
    (outside / "folder").mkdir(parents=True)
    (outside / "precious").write_bytes(b"valuable" * 20)
    os.utime(outside / "precious", (0, 0))
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).unlink(missing_ok=True)
    (tmp_path / name).symlink_to(outside / target)
    NAMES[name](tmp_path)
    assert (outside / "precious").read_bytes() == b"valuable" * 20
    assert (outside / "precious").stat().st_mtime == 0
    assert sorted(path.name for path in outside.rglob("*")) == ["folder", "precious"]


def test_a_report_does_not_go_through_a_link_but_to_a_device(tmp_path: Path) -> None:
    colonnade.create(tmp_path / "t", pa.schema({"a": pa.int64()}))
    (tmp_path / "link").symlink_to(tmp_path / "other.html")
    ran = run_command("report", tmp_path / "t", "-o", tmp_path / "link")
    assert (ran.code, f"is a link to {tmp_path}/other.html; name that file itself." in ran.err) == (
        2,
        True,
    )
    (tmp_path / "device").symlink_to("/dev/null")
    assert run_command("report", tmp_path / "t", "-o", tmp_path / "device").code == 0


@pytest.mark.parametrize("part", ["cache", f"cache/{VERSION}"])
@pytest.mark.parametrize("fault", OTHERS)
def test_a_cache_that_another_user_can_change_is_refused_by_name(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, part: str, fault: str
) -> None:
    cache = str(tmp_path / "cache")
    FolderPieces(cache, 10_000).keep(KEY, Piece(0, b"abc"))
    OTHERS[fault](tmp_path / part)
    with caplog.at_level(logging.WARNING):
        pieces = FolderPieces(cache, 10_000)
        pieces.check()
        assert pieces.find(KEY, [(0, 3)]) == []
        pieces.keep(KEY, Piece(0, b"forged"))
        pieces.forget(KEY)
    [record] = caplog.records
    assert record.getMessage().startswith(f"The cache in {cache} cannot be used (")
    assert str(tmp_path / part) in record.getMessage().split("(", 1)[1]
    kept = [path.name for path in tmp_path.rglob("*-*") if path.is_file()]
    assert kept == ["0-3"]


def test_a_file_of_another_user_a_pipe_and_a_folder_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "folder"):
        with pytest.raises(OSError, match="it is no file"):
            open_own(tmp_path / name, os.O_RDONLY)
    (tmp_path / "file").write_bytes(b"abc")
    os.close(open_own(tmp_path / "file", os.O_WRONLY | os.O_CREAT))
    assert (tmp_path / "file").read_bytes() == b"abc"
    if os.geteuid() == 0:
        os.chown(tmp_path / "file", 12345, 12345)
        with pytest.raises(OSError, match="another user .uid 12345."):
            open_own(tmp_path / "file", os.O_WRONLY)


def test_a_new_file_has_a_name_that_nobody_knows_and_the_usual_permissions(tmp_path: Path) -> None:
    require_own_folder(str(tmp_path))
    names = set()
    for _ in range(2):
        file, path = new_file_beside(tmp_path / "a.csv")
        os.close(file)
        names.add(path)
        (tmp_path / "plain").touch()
        assert os.stat(path).st_mode == (tmp_path / "plain").stat().st_mode
    assert len(names) == 2
