"""A store on local disk follows no link and lists no foreign file."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from colonnade.manifests.errors import NotFoundError, StoreError
from colonnade.manifests.store import LocalStore, PutOutcome
from tests.manifests.store.local.written import WRITES, files


def test_a_link_is_neither_read_nor_listed_nor_written_through(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_bytes(b"secret")
    root = tmp_path / "db"
    root.mkdir()
    (root / "file").symlink_to(outside / "secret")
    (root / "folder").symlink_to(outside)
    store = LocalStore(root)
    assert list(store.list("")) == []
    assert list(store.list("folder/")) == []
    for name in ("file", "folder/secret"):
        with pytest.raises(StoreError, match=f"{name} could not be read: .*symbolic link"):
            store.get(name)
    for write in (
        lambda: store.put_if_absent("folder/new", b"x"),
        lambda: store.put("folder/secret", b"x", sync=False),
        lambda: store.create("folder/new", sync=False),
        lambda: store.delete("folder/secret"),
        lambda: store.remove_folder("folder"),
    ):
        with pytest.raises(StoreError, match="symbolic link"):
            write()
    assert store.put_if_absent("file", b"x") is PutOutcome.EXISTS
    store.put("file", b"mine", sync=False)
    assert store.get("file") == b"mine"
    assert files(outside) == ["secret"]
    assert (outside / "secret").read_bytes() == b"secret"


def test_a_root_that_is_a_file_holds_nothing_and_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        store = LocalStore(path)
        with pytest.raises(NotFoundError, match=f"{tmp_path / 'file'} is a file, not a folder"):
            store.require_folder()
        with pytest.raises(NotFoundError):
            store.get("a")
        assert list(store.list("")) == []
        with pytest.raises(StoreError, match="one of its folders is a file"):
            store.put_if_absent("a", b"x")
    LocalStore(tmp_path / "new" / "folder").require_folder()
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(NotFoundError, match="link is a symbolic link whose target does not exist"):
        LocalStore(tmp_path / "link" / "below").require_folder()


def test_the_root_may_be_reached_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    LocalStore(tmp_path / "link").put_if_absent("a", b"x")
    assert files(tmp_path / "real") == ["a"]


def test_unfinished_and_foreign_files_are_not_listed(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    writer = store.create("t/a.rowset", sync=False)
    writer.write(b"half")
    (tmp_path / ".DS_Store").touch()
    (tmp_path / "my notes.txt").touch()
    assert list(store.list("")) == []
    assert len(files(tmp_path / "t")) == 1
    assert re.fullmatch(r"\.tmp-[0-9a-f]{16}-a\.rowset", files(tmp_path / "t")[0])
    writer.abort()
    assert files(tmp_path / "t") == []


def test_no_call_leaves_a_file_open(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    before = len(os.listdir("/proc/self/fd"))
    for write in WRITES.values():
        store.delete("t/a")
        write(store)
    store.put_if_absent("t/a", b"x")
    store.create("t/b", sync=False).abort()
    store.get("t/a")
    listing = store.list("")
    next(listing)
    del listing
    with pytest.raises(NotFoundError):
        store.get("t/none")
    assert len(os.listdir("/proc/self/fd")) == before
