"""A folder that is moved away to see whether its database was dropped survives drops and kills.

A process is killed before and after each call that changes the disk. The next call at the place
then finishes what was begun, or undoes it. Files that are not Colonnade's outlive everything.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from colonnade.manifests.errors import AlreadyExistsError, StoreError
from colonnade.manifests.ids import new_job_id, new_object_id, new_table_id
from colonnade.manifests.log import creation, removed_folder
from colonnade.manifests.log.dropping import drop_database, drop_lone_table
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.log.removed_folder import move_away, put_back, remove_lone_table
from colonnade.manifests.object_names import table_prefix
from colonnade.manifests.store import LocalStore, MemoryStore
from tests.faults import Stopped

STEPS = ((os, "rename"), (os, "mkdir"), (os, "rmdir"), (os, "unlink"), (shutil, "rmtree"))
"""The calls of `removed_folder` that change the disk, apart from one PUT of the log."""


def _meanwhile(monkeypatch: pytest.MonkeyPatch, what: object) -> None:
    """Let something happen once, after a folder was moved and before its log is looked at."""
    real = removed_folder._is_dropped

    def look(folder: str) -> bool:
        monkeypatch.setattr(removed_folder, "_is_dropped", real)
        what()  # type: ignore[operator]
        return real(folder)

    monkeypatch.setattr(removed_folder, "_is_dropped", look)


def test_a_live_database_outlives_a_drop_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, other = LocalStore(tmp_path / "live"), LocalStore(tmp_path / "other")
    made = create_database(live, lone_table=False)
    create_database(other, lone_table=False)
    _meanwhile(monkeypatch, lambda: drop_database(Log(other), cascade=True))
    move_away(live)
    assert os.listdir(tmp_path) == ["live"]
    assert Log(LocalStore(tmp_path / "live")).reader.read_head().transaction == made.transaction


def test_a_live_database_whose_place_was_taken_is_named_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "db"
    made = create_database(LocalStore(place), lone_table=False)
    monkeypatch.setattr(creation, "put_back", lambda store: False)  # it has looked before the move
    _meanwhile(monkeypatch, lambda: create_database(LocalStore(place), lone_table=False))
    with pytest.raises(StoreError, match=r"Its folder is .*/_moved-[0-9a-f-]{33} now"):
        move_away(LocalStore(place))
    drop_database(Log(LocalStore(place)), cascade=True)
    [left] = tmp_path.iterdir()
    assert Log(LocalStore(left)).reader.read_head().transaction == made.transaction


def test_the_next_drop_removes_what_killed_ones_have_left(tmp_path: Path) -> None:
    for name in ("_moved-0123456789abcdef-0123456789abcdef", "a"):
        create_database(LocalStore(tmp_path / name), lone_table=False)
    ended = Log(LocalStore(tmp_path / "_moved-0123456789abcdef-0123456789abcdef"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("colonnade.manifests.log.dropping.move_away", lambda store: None)
        drop_database(ended, cascade=True)
    assert ended.reader.is_dropped()
    (tmp_path / "_dropped-0123456789abcdee").mkdir()
    drop_database(Log(LocalStore(tmp_path / "a")), cascade=True)
    assert list(tmp_path.iterdir()) == []


def _killed_at(number: int, work: Callable[[], object]) -> bool:
    """Kill `work` at a step: odd numbers before a call, even ones after it. Whether it died."""
    steps = count(1)

    def around(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **how: Any) -> Any:
            if next(steps) == number:
                raise Stopped
            done = real(*args, **how)
            if next(steps) == number:
                raise Stopped
            return done

        return call

    with pytest.MonkeyPatch.context() as patch:
        for module, name in STEPS:
            patch.setattr(module, name, around(getattr(module, name)))
        patch.setattr(LocalStore, "put_if_absent", around(LocalStore.put_if_absent))
        try:
            work()
        except Stopped:
            return True
    return False


def _lone_table(place: Path) -> LocalStore:
    """A lone table with an object, an unfinished one, a RowSet in a folder, and a foreign file."""
    store, prefix = LocalStore(place), table_prefix(new_table_id())
    create_database(store, lone_table=True)
    for end in (".rowset", ".dv", "/rowset.json"):
        store.put(f"{prefix}{new_object_id(new_job_id())}{end}", b"bytes", sync=False)
    left = f".tmp-{0:016x}-{new_object_id(new_job_id())}.rowset"
    (place / prefix / left).write_text("left")
    (place / "notes.txt").write_text("mine")
    return store


def test_a_killed_drop_is_finished_by_the_next_one(tmp_path: Path) -> None:
    place = tmp_path / "db"
    for number in count(1):
        create_database(LocalStore(place), lone_table=False)
        died = _killed_at(number, lambda: drop_database(Log(LocalStore(place)), cascade=True))
        if place.exists():
            drop_database(Log(LocalStore(place)), cascade=True)
        else:
            move_away(LocalStore(place))
        assert os.listdir(tmp_path) == []
        if not died:
            assert number > 6
            return


@pytest.mark.slow
def test_a_killed_removal_of_a_lone_table_is_finished_by_the_next_one(tmp_path: Path) -> None:
    place = tmp_path / "t"
    for number in count(1):
        _lone_table(place)
        died = _killed_at(number, lambda: drop_lone_table(Log(LocalStore(place))))
        if (place / "_manifest").exists():
            drop_lone_table(Log(LocalStore(place)))
        else:
            remove_lone_table(LocalStore(place))
        assert [os.listdir(tmp_path), os.listdir(place)] == [["t"], ["notes.txt"]]
        if not died:
            assert number > 16
            return


@pytest.mark.slow
def test_creating_finishes_a_killed_removal_and_keeps_other_files(tmp_path: Path) -> None:
    place = tmp_path / "t"
    for number in count(1):
        _lone_table(place)
        died = _killed_at(number, lambda: drop_lone_table(Log(LocalStore(place))))
        try:
            create_database(LocalStore(place), lone_table=True)
        except AlreadyExistsError:
            assert number <= 2  # killed before the log ended
        assert (place / "notes.txt").read_text() == "mine"
        assert not Log(LocalStore(place)).reader.is_dropped()
        shutil.rmtree(place)
        for left in tmp_path.iterdir():
            assert left.name.startswith(("_moved-", "_dropped-"))
            shutil.rmtree(left)
        if not died:
            return


@pytest.mark.slow
def test_creating_a_database_of_several_tables_keeps_what_was_beside_a_lone_one(
    tmp_path: Path,
) -> None:
    place = tmp_path / "t"
    for number in count(1):
        _lone_table(place)
        died = _killed_at(number, lambda: drop_lone_table(Log(LocalStore(place))))
        try:
            create_database(LocalStore(place), lone_table=False)
        except AlreadyExistsError:
            assert number <= 2  # killed before the log ended
        assert (place / "notes.txt").read_text() == "mine"
        shutil.rmtree(place)
        for left in tmp_path.iterdir():
            shutil.rmtree(left)
        if not died:
            return


@pytest.mark.parametrize("lone", [True, False])
def test_a_damaged_database_is_dropped_although_another_process_looks_for_it(
    tmp_path: Path, lone: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log whose end cannot be read counts as live, so it would be moved back."""
    place, real = tmp_path / "db", os.rename
    create_database(LocalStore(place), lone_table=lone)
    for file in (place / "_manifest").iterdir():
        file.chmod(0o644)
        file.write_bytes(b"garbage")

    def rename(source: str, target: str) -> None:
        real(source, target)
        monkeypatch.setattr(os, "rename", real)
        put_back(LocalStore(place))

    monkeypatch.setattr(os, "rename", rename)
    log = Log(LocalStore(place))
    if lone:
        drop_lone_table(log)
    else:
        assert drop_database(log, cascade=True)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("again", ["look", "drop", "create"])
@pytest.mark.parametrize("lone", [True, False])
def test_a_live_database_is_moved_back_after_a_kill(tmp_path: Path, lone: bool, again: str) -> None:
    """A late drop sees an ended log, and then another process makes a database there."""
    real, place = removed_folder._is_dropped, tmp_path / "db"
    written: list[str] = []

    def look(folder: str) -> bool:
        if "_moved-" in folder:
            return real(folder)
        # By a writer of the new database.
        name = f"{table_prefix(new_table_id())}{new_object_id(new_job_id())}.rowset"
        (place / name).parent.mkdir()
        (place / name).write_bytes(b"rows")
        written.append(name)
        return True

    def late_drop() -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(removed_folder, "_is_dropped", look)
            (remove_lone_table if lone else move_away)(LocalStore(place))

    for number in count(1):
        store = _lone_table(place) if lone else LocalStore(place)
        if not lone:
            create_database(store, lone_table=False)
        made = Log(store).reader.read_head().transaction
        written.clear()
        died = _killed_at(number, late_drop)
        if again == "look":
            put_back(LocalStore(place))
        elif again == "create":
            with pytest.raises(AlreadyExistsError):
                create_database(LocalStore(place), lone_table=lone)
        if again != "drop":
            assert Log(LocalStore(place)).reader.read_head().transaction == made
            kept = {str(each.relative_to(place)) for each in place.rglob("*")}
            assert not lone or {"notes.txt", *written} <= kept
            shutil.rmtree(place)
            for left in tmp_path.iterdir():
                left.rmdir()  # nothing but an empty folder may be left
        elif lone:
            drop_lone_table(Log(LocalStore(place)))
            assert os.listdir(place) == ["notes.txt"]
            assert os.listdir(tmp_path) == ["db"]
        else:
            drop_database(Log(LocalStore(place)), cascade=True)
            assert os.listdir(tmp_path) == []
        if not died:
            assert number > 4
            return


def test_a_moved_database_of_another_place_stays(tmp_path: Path) -> None:
    create_database(LocalStore(tmp_path / "a"), lone_table=False)
    moved = removed_folder._moved_name(str(tmp_path / "a"), "0" * 16)
    os.rename(tmp_path / "a", moved)
    assert not put_back(LocalStore(tmp_path / "b"))
    assert not put_back(MemoryStore())
    create_database(LocalStore(tmp_path / "b"), lone_table=False)
    drop_database(Log(LocalStore(tmp_path / "b")), cascade=True)
    assert [str(left) for left in tmp_path.iterdir()] == [moved]
    assert put_back(LocalStore(tmp_path / "a"))
    assert os.listdir(tmp_path) == ["a"]


def test_a_drop_beside_a_removal_does_not_end_it_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another drop may remove the empty folder that the log is about to be moved into."""
    store, real = _lone_table(tmp_path / "t"), os.mkdir

    def make(path: str, *rest: Any, **how: Any) -> None:
        real(path, *rest, **how)
        if "_moved-" in str(path):
            monkeypatch.setattr(os, "mkdir", real)
            removed_folder._remove_dropped(str(tmp_path))

    monkeypatch.setattr(os, "mkdir", make)
    drop_lone_table(Log(store))
    assert os.listdir(tmp_path / "t") == ["notes.txt"]
