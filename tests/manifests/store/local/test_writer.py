"""An object on local disk gets its name once all its bytes are there, and replaces no other."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from colonnade.manifests.errors import AlreadyExistsError, InvalidInputError, StoreError
from colonnade.manifests.store.local.folders import LocalFolders
from colonnade.manifests.store.local.writer import LocalWriter, begin_object

NAME = "t/a"


@pytest.fixture
def folders(tmp_path: Path) -> LocalFolders:
    return LocalFolders(str(tmp_path))


def files(folders: LocalFolders) -> list[str]:
    return sorted(os.listdir(f"{folders.root}/t"))


def begun(folders: LocalFolders, *, sync: bool = True) -> LocalWriter:
    writer = begin_object(folders, NAME, sync=sync)
    writer.write(b"01234")
    writer.write(memoryview(b"56789"))
    return writer


def test_an_object_has_all_its_bytes_once_it_has_its_name(
    folders: LocalFolders, tmp_path: Path
) -> None:
    writer = begun(folders)
    [temp] = files(folders)
    assert temp.startswith(".tmp-")
    assert temp.endswith("-a")
    writer.publish()
    assert files(folders) == ["a"]
    writer.close()
    assert (tmp_path / NAME).read_bytes() == b"0123456789"


def test_an_aborted_object_leaves_no_file(folders: LocalFolders) -> None:
    writer = begun(folders)
    writer.abort()
    writer.abort()
    writer.close()
    assert files(folders) == []
    with pytest.raises(InvalidInputError, match="t/a is no longer being written"):
        writer.write(b"x")


def test_a_name_in_use_is_refused_at_the_beginning_and_at_the_end(
    folders: LocalFolders, tmp_path: Path
) -> None:
    writer = begun(folders)
    (tmp_path / NAME).write_bytes(b"theirs")
    for call in (writer.close, lambda: begin_object(folders, NAME, sync=False)):
        with pytest.raises(AlreadyExistsError, match="t/a exists already"):
            call()
    assert files(folders) == ["a"]
    assert (tmp_path / NAME).read_bytes() == b"theirs"


def test_a_write_that_fails_leaves_no_file(
    folders: LocalFolders, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = begun(folders)

    def full(file: int, data: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(StoreError, match="the disk is full"):
            writer.write(b"x")
    assert files(folders) == []


@pytest.mark.parametrize("sync", [True, False])
def test_the_file_and_then_its_name_are_synced_only_if_asked_for(
    folders: LocalFolders, monkeypatch: pytest.MonkeyPatch, sync: bool
) -> None:
    writer, synced = begun(folders, sync=sync), list[list[str]]()
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(files(folders)))
    writer.close()
    if not sync:
        assert not synced
        return
    [[temp], named] = synced
    assert temp.startswith(".tmp-")
    assert named == ["a"]
