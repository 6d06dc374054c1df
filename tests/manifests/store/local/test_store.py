"""What local disk adds to the contract: processes, kills, links, full disks."""

from __future__ import annotations

import errno
import json
import os
import pickle
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from colonnade.manifests.errors import NotFoundError, StoreError
from colonnade.manifests.store import LocalStore, PutOutcome
from tests.manifests.store.local.written import WRITES, files

ROOT = Path(__file__).parents[4]
TEMPORARY = re.compile(r"\.tmp-[0-9a-f]{16}-object")


def start(*command: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).parents[1] / "processes.py"), *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def result(process: subprocess.Popen[str]) -> Any:
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    return json.loads(output.splitlines()[-1])


@pytest.mark.slow
def test_of_racing_processes_exactly_one_creates_a_name_and_readers_see_it_whole(
    tmp_path: Path,
) -> None:
    slots = 100
    racers = [start("race", str(tmp_path), str(racer), str(slots)) for racer in range(4)]
    watcher = start("watch", str(tmp_path), str(slots))
    for process in (*racers, watcher):
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in (watcher, *racers):
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    created = [result(racer) for racer in racers]
    assert sorted(slot for mine in created for slot in mine) == list(range(slots))
    assert result(watcher) == {"reads": slots, "torn": 0}
    store = LocalStore(tmp_path)
    for racer, mine in enumerate(created):
        assert all(store.get(f"_manifest/{slot}") == b"%d" % racer * 20_000 for slot in mine)


@pytest.mark.slow
@pytest.mark.parametrize("way", WRITES)
def test_a_kill_at_any_step_leaves_nothing_or_the_whole_object(way: str, tmp_path: Path) -> None:
    *killed, survivor = result(start("kill", str(tmp_path), way))
    assert len(killed) >= 8
    assert {report["signal"] for report in killed} == {9}
    assert (survivor["signal"], survivor["found"], survivor["left"]) == (0, True, [])
    assert any(report["left"] for report in killed)
    assert {report["found"] for report in killed} == {None, True}
    for report in killed:
        whole = report["found"]
        assert report["listed"] == (["t/object"] if whole else [])
        assert report["next"] == ("EXISTS" if whole else "CREATED")
        assert report["after"]
        assert all(TEMPORARY.fullmatch(name) for name in report["left"])


@contextmanager
def file_size_limit(limit_bytes: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("way", WRITES)
def test_a_write_past_a_limit_names_the_object_and_leaves_nothing(way: str, tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    with file_size_limit(8192), pytest.raises(StoreError, match=r"t/a could .*size limit"):
        WRITES[way](store)
    assert files(tmp_path) == []
    WRITES[way](store)
    assert store.get("t/a") == b"x" * 9000


@pytest.mark.parametrize("way", WRITES)
@pytest.mark.parametrize("call", ["open", "write", "fsync", "mkdir"])
def test_a_full_disk_names_the_object_and_leaves_nothing(
    call: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = getattr(os, call)

    def full(*args: Any, **kwargs: Any) -> Any:
        # Opening a folder to read needs no space.
        if call == "open" and not args[1] & os.O_CREAT:
            return real(*args, **kwargs)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    store = LocalStore(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        with pytest.raises(StoreError, match="t/a could not be written: the disk is full"):
            WRITES[way](store)
    assert files(tmp_path) == []
    WRITES[way](store)
    assert store.get("t/a") == b"x" * 9000


@pytest.mark.parametrize("way", WRITES)
@pytest.mark.parametrize("times", [1, 9])
def test_a_write_survives_the_loss_of_its_unfinished_file_or_says_so(
    way: str, times: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A vacuum may delete the unfinished file of a writer that was stopped for long."""
    store = LocalStore(tmp_path)
    store.pause = lambda seconds: None
    fsync, lost = os.fsync, iter(range(times))

    def sync_and_lose(file: int) -> None:
        fsync(file)
        for each in list(store.list_unfinished()):
            if next(lost, None) is not None:
                store.delete_unfinished(each.name)

    monkeypatch.setattr(os, "fsync", sync_and_lose)
    if way != "create" and times == 1:
        WRITES[way](store)
        assert files(tmp_path) == ["t/a"]
        return
    with pytest.raises(StoreError, match="t/a could not be written: its unfinished file") as caught:
        WRITES[way](store)
    assert caught.value.retryable
    assert files(tmp_path) == []


@pytest.mark.parametrize("code", [errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP])
@pytest.mark.parametrize("way", ["put_if_absent", "create"])
def test_a_file_system_without_hard_links_is_refused(
    way: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "link", refuse)
    with pytest.raises(StoreError, match="no hard links"):
        WRITES[way](LocalStore(tmp_path))
    assert files(tmp_path) == []


@pytest.mark.parametrize("lands", [True, False])
def test_a_link_whose_answer_was_lost_is_unknown(
    lands: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def lose(*args: Any, **kwargs: Any) -> None:
        if lands:
            link(*args, **kwargs)
        raise TimeoutError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))

    monkeypatch.setattr(os, "link", lose)
    assert LocalStore(tmp_path).put_if_absent("a", b"x") is PutOutcome.UNKNOWN
    assert files(tmp_path) == (["a"] if lands else [])


def test_a_folder_that_cannot_be_synced_makes_the_outcome_unknown_and_a_second_put_settles_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync = os.fsync
    store = LocalStore(tmp_path)
    store.put_if_absent("a", b"x")

    def fail_for_folders(file: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{file}"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        fsync(file)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail_for_folders)
        assert store.put_if_absent("b", b"x") is PutOutcome.UNKNOWN
        assert store.put_if_absent("b", b"x") is PutOutcome.UNKNOWN
    assert store.put_if_absent("b", b"x") is PutOutcome.EXISTS


@pytest.mark.parametrize("way", WRITES)
def test_the_bytes_are_durable_before_they_get_their_name(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []

    def record(name: str) -> None:
        real = getattr(os, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            is_folder = name == "fsync" and os.path.isdir(f"/proc/self/fd/{args[0]}")
            steps.append("fsync folder" if is_folder else name)
            return real(*args, **kwargs)

        monkeypatch.setattr(os, name, call)

    store = LocalStore(tmp_path)
    store.put_if_absent("t/other", b"x")
    for name in ("write", "fsync", "link", "rename"):
        record(name)
    WRITES[way](store)
    publish = "rename" if way == "put" else "link"
    assert steps == ["write", "fsync", publish, "fsync folder"]


def test_objects_that_are_closed_together_are_durable_before_the_call_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync, link = os.fsync, os.link
    durable: list[str] = []
    linked: list[str] = []

    def sync(file: int) -> None:
        fsync(file)
        durable.append(Path(os.readlink(f"/proc/self/fd/{file}")).name)

    def put(temp: str, leaf: str, **folders: Any) -> None:
        assert temp in durable
        link(temp, leaf, **folders)
        linked.append(leaf)

    store = LocalStore(tmp_path)
    writers = [store.create(f"t/{folder}/{i}", sync=True) for folder in "ab" for i in range(20)]
    for writer in writers:
        writer.write(b"x")
    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "link", put)
    store.close_all(writers)
    assert len(linked) == 40
    assert sorted(durable[40:]) == ["a", "b"], "each folder once, and behind all its files"


def test_every_new_folder_is_synced_into_its_parent_before_a_commit_is_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "new" / "db"
    fsync = os.fsync
    synced: list[str] = []

    def record(file: int) -> None:
        path = os.readlink(f"/proc/self/fd/{file}")
        synced.append(str(Path(path).relative_to(tmp_path)))
        fsync(file)

    monkeypatch.setattr(os, "fsync", record)
    LocalStore(root).put("t/o/unsynced", b"x", sync=False)
    assert set(synced) == {".", "new"}
    synced.clear()
    store = LocalStore(root)
    store.put_if_absent("t/o/a", b"x")
    assert [path for path in synced if "tmp" not in path] == ["new/db", "new/db/t", "new/db/t/o"]
    synced.clear()
    store.put_if_absent("t/o/b", b"x")
    assert [path for path in synced if "tmp" not in path] == ["new/db/t/o"]
    synced.clear()
    shutil.rmtree(root / "t" / "o")
    store.put_if_absent("t/o/a", b"x")
    assert [path for path in synced if "tmp" not in path] == ["new/db/t", "new/db/t/o"]


def test_a_folder_removed_and_made_again_is_found_by_a_store_that_is_open(tmp_path: Path) -> None:
    store, other = LocalStore(tmp_path / "db"), LocalStore(tmp_path / "db")
    store.put_if_absent("t/a", b"old")
    (tmp_path / "db" / "t" / "a").unlink()
    (tmp_path / "db" / "t").rmdir()
    (tmp_path / "db").rmdir()
    with pytest.raises(NotFoundError):
        store.get("t/a")
    other.put_if_absent("t/a", b"new")
    assert store.get("t/a") == b"new"
    assert store.put_if_absent("t/a", b"old") is PutOutcome.EXISTS


def test_a_store_pickles_as_its_root(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    store.put_if_absent("t/a", b"x")
    assert len(pickle.dumps(store)) < 200
    assert pickle.loads(pickle.dumps(store)).get("t/a") == b"x"
