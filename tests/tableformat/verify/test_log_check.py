"""Damage of the log is found, and what is sound or only a cache is not called damage."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

import colonnade
from colonnade.manifests.checkpoint.reader import read_hint
from colonnade.manifests.errors import StoreError
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.codec import seal, unseal
from colonnade.manifests.object_names import HINT, checkpoint_name, copy_name, epoch_name
from colonnade.manifests.store import LocalStore, MemoryStore
from colonnade.tableformat.table.alteration import DropColumn, WidenColumn
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.verify.findings import VerifyReport
from tests.placed import write_as
from tests.tableformat.verify.damaged import data_files, flip, make, rows


@pytest.mark.slow
def test_files_that_are_missing_or_of_another_size_are_found_by_the_log_alone(place: str) -> None:
    store = MemoryStore()
    db = make(store)
    for name in sorted(data_files(store)):
        whole = store.get(name)
        for broken in (None, whole[:-1], whole + b"x"):
            store.delete(name) if broken is None else store.put(name, broken, sync=False)
            found = {each.file or "" for each in db.verify(1).findings}
            assert any(name.startswith(each) for each in found), name
            assert len({each.split("/")[1] for each in found}) == 1
        store.put(name, whole, sync=False)


@pytest.mark.parametrize("number", [0, 1, 3, 5, 8])
def test_a_damaged_epoch_is_named_and_what_came_before_it_is_still_looked_at(
    number: int, tmp_path: Path
) -> None:
    store = LocalStore(tmp_path / "db")
    db = make(store)
    newest = db.refresh().epoch
    assert newest == 8
    flip(store, epoch_name(number), 60)
    reports: list[VerifyReport] = [db.verify(1), colonnade.verify(tmp_path / "db", 1)]
    for report in reports:
        assert [each.file for each in report.findings if each.kind == "damage"] == [
            epoch_name(number)
        ]
        assert report.epoch == (number - 1 if number else None)
        assert report.leftovers is None


def test_epochs_after_a_damaged_anchor_are_checked_all_the_same() -> None:
    store = MemoryStore()
    db = make(store)
    db.vacuum(0, force=True)
    db.table("b").append(rows())
    newest = db._refresh()
    flip(store, epoch_name(1), 60)  # a removed epoch, which nobody needs
    report = db.verify(1)
    assert report.findings == ()
    assert report.epoch == newest.epoch
    [anchor] = newest.anchors
    flip(store, checkpoint_name(anchor.root), 60)
    store.delete(copy_name(anchor.root))
    flip(store, epoch_name(newest.epoch), 60)
    files = {each.file for each in db.verify(1).findings}
    assert files == {checkpoint_name(anchor.root), epoch_name(newest.epoch)}


@pytest.mark.parametrize("retryable", [True, False])
def test_a_store_that_does_not_answer_any_more_ends_the_verification(
    retryable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    db, get = make(store), store.get

    def failing(name: str, *, limit: int | None = None) -> bytes:
        if name >= epoch_name(3):
            raise StoreError("The network is down.", retryable=retryable)
        return get(name, limit=limit)

    monkeypatch.setattr(store, "get", failing)
    with pytest.raises(StoreError, match="network"):
        db.verify(1)


def test_one_epoch_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    db, get = make(store), store.get

    def failing(name: str, *, limit: int | None = None) -> bytes:
        if name == epoch_name(3):
            raise StoreError("The sector is bad.")
        return get(name, limit=limit)

    monkeypatch.setattr(store, "get", failing)
    assert epoch_name(3) in {each.file for each in db.verify(1).findings}


def newer(data: bytes) -> bytes:
    """A sealed object of the next format version."""
    body = unseal(data, "newer")
    return seal(body.replace(b'"format_version":1', b'"format_version":2', 1))


def test_an_object_of_a_newer_format_is_not_called_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    write_as(monkeypatch, block_rows=100, packed_bytes=0, inline_bytes=0)
    store = MemoryStore()
    db = make(store)
    epochs = [epoch_name(number) for number in (0, 1, 3, 8)]
    for name in epochs:
        whole = store.get(name)
        store.put(name, newer(whole), sync=False)
        report = db.verify(4, threads=1)
        assert [each.file for each in report.findings if each.kind == "newer"] == [name]
        assert not report.is_damaged
        assert not report.is_sound
        assert "Some of it has a newer format" in str(report)
        store.put(name, whole, sync=False)
    assert db.verify(4).is_sound


def test_a_missing_epoch_is_found_however_far_behind_the_next_one_is() -> None:
    store = MemoryStore()
    db = make(store)
    store.put(epoch_name(500), store.get(epoch_name(3)), sync=False)
    [found] = db.verify(1).findings
    assert found.file == epoch_name(9)
    store.delete(epoch_name(500))
    store.delete(epoch_name(2))
    assert {each.file for each in db.verify(1).findings} == {epoch_name(2)}


@pytest.mark.parametrize(
    ("old", "value", "new", "wider"),
    [
        ("int", 3, "double", 4.5),
        ("decimal(5,2)", 3, "decimal(30,9)", 4),
        ("date", dt.date(2026, 1, 2), "timestamp_ntz", dt.datetime(2026, 1, 2, 3)),
    ],
)
def test_a_checkpoint_with_bounds_of_two_types_of_a_column_agrees_with_the_log(
    old: str, value: object, new: str, wider: object
) -> None:
    store = MemoryStore()
    log = Log(store, checkpoint_interval=4, pause=lambda _: None)
    db = ArrowDatabase(store, log, create_database(store, lone_table=False))
    table = db.create_table("t", {"a": old, "b": old})
    table.append([{"a": value, "b": value}])
    table.alter(WidenColumn("a", new), WidenColumn("b", new))
    table.append([{"a": wider, "b": wider}])
    table.alter(DropColumn("b"))
    for epoch in range(5, 9):
        assert not db.verify(1).findings, epoch
        table.append([{"a": wider}])


def test_damage_of_what_is_only_a_cache_is_told_apart() -> None:
    store = MemoryStore()
    db = make(store)
    newest = read_hint(store)
    assert newest is not None
    segments = [s.segment.object for table in newest[1].tables for s in table.segments]
    for object_id in (newest[0].root, *segments):
        name = checkpoint_name(object_id)
        whole = store.get(name)
        flip(store, name, 50)
        report = db.verify(1)
        assert {each.kind for each in report.findings} == {"cache"}
        assert report.is_sound
        store.put(name, whole, sync=False)
    flip(store, HINT, 40)
    assert [(each.kind, each.file) for each in db.verify(1).findings] == [("cache", HINT)]


def test_an_anchor_is_not_a_cache() -> None:
    store = MemoryStore()
    db = make(store)
    db.vacuum(0, force=True)
    [anchor] = db._snapshot.anchors
    flip(store, checkpoint_name(anchor.root), 50)
    assert not db.verify(1).is_sound


def test_objects_that_a_vacuum_would_remove_are_reported() -> None:
    store = MemoryStore(now_ms=lambda: 0)
    db = make(store)
    name = f"{next(iter(db._snapshot.tables))}/{'a' * 32}.rowset"
    store.put(name, b"abc", sync=False)
    report = db.verify(1)
    assert report.leftovers == {name: 3}
    assert "Vacuum would remove 1 files of 3 bytes" in str(report)
