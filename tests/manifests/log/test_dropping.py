"""A drop ends the log before it removes files, and a repeated drop finishes a killed one."""

from __future__ import annotations

from pathlib import Path

import pytest

from colonnade.manifests.errors import (
    ConflictError,
    CorruptionError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.log import dropping
from colonnade.manifests.log.dropping import TRIES, drop_database, drop_lone_table
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import LocalStore
from tests.log_samples import append, change, drop, make_log, table


@pytest.fixture
def log(tmp_path: Path) -> Log:
    """The log of an empty database on disk."""
    store = LocalStore(tmp_path / "db")
    create_database(store, lone_table=False)
    return make_log(store)


def test_only_an_empty_database_is_dropped_without_its_tables(log: Log, tmp_path: Path) -> None:
    state = log.commit(change(table()), log.reader.read_head())
    assert not drop_database(log, cascade=False)
    assert log.reader.read_head() == state
    assert drop_database(log, cascade=True)
    assert list(tmp_path.iterdir()) == []


def test_no_writer_commits_after_the_end_of_the_log(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = log.commit(change(table()), log.reader.read_head())
    monkeypatch.setattr(dropping, "move_away", lambda store: None)
    assert drop_database(log, cascade=True)
    assert log.reader.is_dropped()
    with pytest.raises(NotFoundError, match="was dropped in epoch 2"):
        log.commit(append(), base)
    # The drop was killed before it removed the files; another one finishes it.
    monkeypatch.undo()
    assert drop_database(log, cascade=False)
    with pytest.raises(NotFoundError):
        log.reader.read_head()


def test_a_table_that_is_created_meanwhile_keeps_the_database(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_head, late = log.reader.read_head, [change(table())]

    def overtaken() -> Snapshot:
        head = read_head()
        if late:
            make_log(log.store).commit(late.pop(), head)
        return head

    monkeypatch.setattr(log.reader, "read_head", overtaken)
    assert not drop_database(log, cascade=False)
    assert make_log(log.store).reader.read_head().find_table("orders")


def test_a_drop_that_always_loses_its_slot_ends_with_a_conflict(
    log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_head, tried = log.reader.read_head, list[int]()

    def overtaken() -> Snapshot:
        head = read_head()
        tried.append(head.epoch)
        name = f"t{len(tried)}"
        other = make_log(log.store)
        state = other.commit(change(table(f"{len(tried):016x}", name)), head)
        other.commit(drop(f"{len(tried):016x}"), state)
        return head

    monkeypatch.setattr(log.reader, "read_head", overtaken)
    with pytest.raises(ConflictError):
        drop_database(log, cascade=False)
    assert len(tried) == TRIES


def test_a_damaged_database_is_removed_only_with_its_tables(log: Log, tmp_path: Path) -> None:
    (tmp_path / "db" / "_manifest" / f"{0:020d}.json").write_bytes(b"damaged")
    with pytest.raises(CorruptionError):
        drop_database(log, cascade=False)
    assert drop_database(log, cascade=True)
    assert list(tmp_path.iterdir()) == []


def test_a_dropped_lone_table_leaves_the_files_that_are_not_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "t"
    store = LocalStore(folder)
    log = make_log(store)
    log.commit(change(table()), create_database(store, lone_table=True))
    (folder / "notes.txt").write_text("mine")
    drop_lone_table(log)
    assert [each.name for each in folder.iterdir()] == ["notes.txt"]


def test_a_read_only_database_is_refused(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise InvalidInputError("This store is read-only.")

    monkeypatch.setattr(log.store, "require_writable", refuse)
    with pytest.raises(InvalidInputError, match="read-only"):
        drop_database(log, cascade=True)
    assert not log.reader.is_dropped()
