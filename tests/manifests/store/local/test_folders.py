"""Folders below a root are opened one by one: no name and no link leads out of the root."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from colonnade.manifests.errors import StoreError
from colonnade.manifests.store.checks import is_name, is_unfinished
from colonnade.manifests.store.local.folders import LocalFolders, failed


@pytest.fixture
def folders(tmp_path: Path) -> LocalFolders:
    return LocalFolders(str(tmp_path / "top"))


def test_folders_are_made_only_where_that_is_asked_for(
    folders: LocalFolders, tmp_path: Path
) -> None:
    with pytest.raises(FileNotFoundError), folders.open("a/b/c"):
        raise AssertionError("the folder does not exist")
    with folders.open("a/b/c", make=True) as (folder, leaf):
        assert leaf == "c"
        assert os.path.samestat(os.fstat(folder), (tmp_path / "top/a/b").stat())
    with folders.open("a/b/d") as (_, leaf):
        assert leaf == "d"


@pytest.mark.parametrize("made", [True, False])
def test_a_link_on_the_way_is_never_followed(
    folders: LocalFolders, tmp_path: Path, made: bool
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    with folders.open("a/b", make=True):
        (tmp_path / "top/link").symlink_to(outside)
    with pytest.raises(OSError, match="link"), folders.open("link/b", make=made):
        raise AssertionError("the link was followed")
    assert list(outside.iterdir()) == []


def test_the_root_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with LocalFolders(str(tmp_path / "link")).open("a/b", make=True):
        assert (tmp_path / "real/a").is_dir()


@pytest.mark.parametrize("name", ["a", "a/b", "a/b/c"])
def test_a_root_that_is_a_file_has_no_folders(tmp_path: Path, name: str) -> None:
    (tmp_path / "top").write_bytes(b"x")
    with pytest.raises(FileNotFoundError), LocalFolders(str(tmp_path / "top")).open(name):
        raise AssertionError("a file was opened as a folder")


def test_a_folder_is_entered_by_one_call_for_each_part_and_left_closed(
    folders: LocalFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    with folders.open("a/b/c", make=True, sync=True):
        pass
    (Path(folders.root) / "a/file").touch()
    opened: list[int] = []
    real = os.open

    def open_and_note(*arguments: Any, **options: Any) -> int:
        opened.append(real(*arguments, **options))
        return opened[-1]

    monkeypatch.setattr(os, "open", open_and_note)
    with folders.open("a/b/c", sync=True) as (folder, _):
        assert len(opened) == 2
        assert folder == opened[-1]
    with pytest.raises(NotADirectoryError):
        folders.enter("a/file/c")
    for each in opened:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(each)


def test_each_new_folder_is_synced_once_by_each_process(
    folders: LocalFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    os.mkdir(folders.root)
    monkeypatch.setattr(os, "fsync", synced.append)
    for _ in range(2):
        with folders.open("a/b/c", make=True, sync=True):
            assert len(synced) == 2
    with LocalFolders(folders.root).open("a/b/c", sync=True):
        # Another process may have made the folder, and may have died before its sync.
        assert len(synced) == 4


def test_every_object_below_a_prefix_is_found_and_no_unfinished_one(
    folders: LocalFolders, tmp_path: Path
) -> None:
    temp = f".tmp-{'0' * 16}-c"
    for name in ("a/b", "a/bc", "a/x/b", "d", f"a/{temp}"):
        with folders.open(name, make=True):
            (tmp_path / "top" / name).write_bytes(b"x")
    assert {each.name for each in folders.walk("", is_name)} == {"a/b", "a/bc", "a/x/b", "d"}
    assert {each.name for each in folders.walk("a/b", is_name)} == {"a/b", "a/bc"}
    assert {each.name for each in folders.walk("", is_unfinished)} == {f"a/{temp}"}
    assert list(folders.walk("none/", is_name)) == []


def test_an_error_names_the_object_the_reason_and_whether_it_may_pass(
    folders: LocalFolders,
) -> None:
    with (
        pytest.raises(StoreError, match=r"/top/a/b could not be written: the disk is full"),
        folders.writing("a/b"),
    ):
        raise OSError(errno.ENOSPC, "canary")
    assert failed("x", "read", OSError(errno.EINTR, "")).retryable
    assert failed("x", "read", OSError(errno.ENOENT, "")).retryable
    assert not failed("x", "read", OSError(errno.EROFS, "")).retryable
    assert "no such luck" in str(failed("x", "read", OSError(errno.ENXIO, "no such luck")))
