"""What is opened on local disk is a whole file of the store, or a named error."""

from __future__ import annotations

import errno
import multiprocessing
import os
import tempfile
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from unittest.mock import patch

import pytest

from colonnade.manifests.errors import CorruptionError, NotFoundError, StoreError
from colonnade.manifests.store import LocalStore
from colonnade.manifests.store.local.first_epoch import FirstEpoch
from colonnade.manifests.store.local.folders import LocalFolders
from colonnade.manifests.store.local.reading import opened


def test_a_named_pipe_or_a_folder_is_refused_and_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    store = LocalStore(tmp_path)
    for name in ("pipe", "folder"):
        with pytest.raises(StoreError, match=f"{name} is not a regular file"):
            store.get(name)
    assert list(store.list("")) == []


def test_a_folder_that_may_be_passed_but_not_listed_is_not_an_obstacle() -> None:
    # Not below pytest's own folder, which only its owner may pass.
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        LocalStore(home / "db").put_if_absent("a/b", b"x")
        home.chmod(0o311)
        reader = multiprocessing.get_context("fork").SimpleQueue()
        process = multiprocessing.get_context("fork").Process(
            target=_read_unprivileged, args=(home, reader)
        )
        Path(folder).chmod(0o711)
        process.start()
        process.join(60)
        home.chmod(0o700)
        assert process.exitcode == 0
        assert reader.get() == (b"x", "no such object")


def _read_unprivileged(home: Path, found: SimpleQueue[tuple[bytes, str]]) -> None:
    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    try:
        LocalStore(home).get("a/b")
    except NotFoundError:
        found.put((LocalStore(home / "db").get("a/b"), "no such object"))


def test_a_file_that_shrinks_while_it_is_open_is_called_truncated(tmp_path: Path) -> None:
    LocalStore(tmp_path).put("a", b"0123456789", sync=False)
    with opened(LocalFolders(str(tmp_path)), "a", FirstEpoch(str(tmp_path))) as file:
        assert (file.size, file.read(3, 4)) == (10, b"3456")
        os.truncate(tmp_path / "a", 5)
        for read in (
            lambda: file.read(3, 4),
            lambda: file.read_into(memoryview(bytearray(4)), 3),
        ):
            with pytest.raises(CorruptionError, match="a is truncated: 4 bytes from offset 3"):
                read()


def test_a_name_that_no_file_can_have_is_absent(tmp_path: Path) -> None:
    with (
        patch("os.open", side_effect=OSError(errno.ENAMETOOLONG, "File name too long")),
        pytest.raises(NotFoundError, match="cannot exist: its name is too long"),
    ):
        LocalStore(tmp_path).get("a")
