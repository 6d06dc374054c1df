"""What a verification looks at: tables, depths, kept epochs, and where it ends."""

from __future__ import annotations

import time
from typing import Any

import pytest

from colonnade.manifests.errors import CorruptionError, InvalidInputError, NotFoundError
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum import inventory
from colonnade.manifests.vacuum.inventory import read_used_objects
from colonnade.manifests.vacuum.retention import kept_below
from colonnade.tableformat.jobs import JobRunner, Stop
from colonnade.tableformat.progress import Progress, progress
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.verify import run
from colonnade.tableformat.verify.job import VerifyJob, VerifyOutcome
from colonnade.tableformat.verify.run import verify
from tests.placed import write_as
from tests.tableformat.verify.damaged import ROWS, SCHEMA, data_files, flip, make, rows


def test_tables_depths_and_epochs_are_chosen(place: str) -> None:
    db = make(MemoryStore())
    report = db.verify(2, tables=["b"], epoch=7)
    assert (report.epoch, report.tables, report.rowsets) == (7, 1, 1)
    with pytest.raises(InvalidInputError, match="depth"):
        db.verify(5)
    with pytest.raises(NotFoundError, match="the tables are"):
        db.verify(1, tables=["c"])


def test_an_interruption_ends_what_is_looked_at_on_other_threads() -> None:
    begun: list[VerifyJob] = []

    def look(job: VerifyJob, stop: Stop) -> VerifyOutcome:
        begun.append(job)
        while job is not begun[0]:
            stop.check()
            time.sleep(0.01)
        return VerifyOutcome(findings=(), bytes=1)

    def interrupt(now: Progress) -> None:
        while now.done and len(begun) == 1:
            time.sleep(0.01)
        if now.done:
            raise KeyboardInterrupt

    db = make(MemoryStore())
    with pytest.raises(KeyboardInterrupt), progress(interrupt):
        db.verify(elsewhere=JobRunner(look, 1))


@pytest.mark.parametrize("keep", ["tag", "pin"])
def test_rowsets_that_only_a_tag_or_a_pin_keeps_are_checked_too(place: str, keep: str) -> None:
    store = MemoryStore()
    db = make(store)
    db.tag("x", 3) if keep == "tag" else db.pin("x", 3600, 3)
    old = [name for name in data_files(store) if name.startswith(db.table("a")._state.prefix)]
    db.table("a").overwrite(rows().drop_columns("x"))
    report = db.verify(3)
    assert (report.findings, report.rowsets) == ((), 4)
    assert db.verify(3, epoch=db.refresh().epoch).rowsets == 2
    for name in old:
        flip(store, name, len(store.get(name)) // 2)
    found = {each.file for each in db.verify(3).findings}
    assert found <= {*old}
    assert len(found) == (0 if place == "inline" else 2)


def test_tagged_rowsets_are_checked_although_a_table_made_again_has_rowsets_of_their_ids(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_as(monkeypatch, packed_bytes=0, inline_bytes=0)
    store = MemoryStore()
    db = ArrowDatabase(store, Log(store), create_database(store, lone_table=False))
    table = db.create_table("a", SCHEMA)
    table.append(rows())
    db.tag("x")
    old = [*data_files(store)]
    table.overwrite(rows())
    last = db.refresh().epoch
    db.drop_table("a")
    db.restore(epoch=last)
    assert db.verify(3).rowsets == 2
    damaged = max(old, key=lambda name: len(store.get(name)))
    flip(store, damaged, len(store.get(damaged)) // 2)
    [finding] = db.verify(3).findings
    assert (finding.file, finding.epoch) == (damaged, db.tags()["x"])
    assert db.verify(3).damaged_rowsets("a") == []


def test_damage_of_what_only_a_tag_keeps_is_told_apart_from_that_of_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_as(monkeypatch, packed_bytes=0, inline_bytes=0)
    store = MemoryStore()
    log = Log(store, limits=Limits(in_place_bytes=0))
    db = ArrowDatabase(store, log, create_database(store, lone_table=False))
    table = db.create_table("a", SCHEMA)
    table.append(rows())
    own = [*data_files(store)]
    table.update({"s": "'first'"}, "id < 290")
    table.refresh()
    first = [name for name in data_files(store) if name not in own and name.endswith(".col")]
    db.tag("x", table.epoch)
    table.update({"s": "'second'"}, "id < 290")
    [replaced] = first
    flip(store, replaced, len(store.get(replaced)) - 1)
    table.scan().to_arrow()
    with pytest.raises(CorruptionError, match="'s'"):
        table.scan(tag="x").to_arrow()
    [finding] = db.verify(3).findings
    assert (finding.file, finding.column, finding.epoch) == (replaced, "s", db.tags()["x"])
    assert f"Only kept epoch {finding.epoch} needs it." in str(finding)
    assert db.verify(3).damaged_rowsets("a") == []
    [shared] = [name for name in own if name.endswith("/1.col")]
    flip(store, shared, len(store.get(shared)) - 1)
    found = {(each.file, each.epoch is None) for each in db.verify(3).findings}
    assert found == {(replaced, False), (shared, True)}
    store.delete(replaced)
    assert {each.file for each in db.verify(3).findings} >= {shared}
    assert db.verify(3).damaged_rowsets("a") == [0]


@pytest.mark.parametrize("step", ["_sizes", "_check_rowsets"])
def test_an_object_that_a_vacuum_removes_meanwhile_is_not_called_damaged(
    step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_as(monkeypatch, block_rows=100, packed_bytes=0, inline_bytes=0)
    store = MemoryStore()
    db = make(store)
    db.vacuum(0, force=True)  # so that the next one replaces an anchor
    [*_, name] = sorted(n for n in data_files(store) if n.startswith(db.table("a")._state.prefix))
    flip(store, name, len(store.get(name)) // 2)
    damaged = [each.file for each in db.verify(3).findings]
    assert set(damaged) == {name}
    real = getattr(run, step)

    def late(*given: Any) -> Any:
        if db._snapshot.epoch == 9:
            db.table("b").overwrite(rows(ROWS))
            db.vacuum(0, force=True)
        return real(*given)

    monkeypatch.setattr(run, step, late)
    assert [each.file for each in verify(Log(store), 3).findings] == damaged
    assert db._snapshot.floor == 10


def test_a_vacuum_beside_the_look_at_what_another_one_removed_is_no_damage(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The look reads an anchor and epochs that the second vacuum removes."""
    write_as(monkeypatch, block_rows=100, packed_bytes=0, inline_bytes=0)
    db = make(MemoryStore())
    db.vacuum(0, force=True)

    def overwrite() -> None:
        db.table("b").overwrite(rows(ROWS))
        db.vacuum(0, force=True)

    real_check, again = run._check_rowsets, list[int]()

    def check(*given: Any) -> Any:
        overwrite()
        return real_check(*given)

    def look(log: Log) -> set[str]:
        monkeypatch.setattr(inventory, "kept_below", kept)
        return read_used_objects(log)

    def kept(*given: Any) -> Any:
        monkeypatch.setattr(inventory, "kept_below", kept_below)
        monkeypatch.setattr(run, "read_used_objects", read_used_objects)
        overwrite()
        again.append(db._snapshot.floor)
        return kept_below(*given)

    monkeypatch.setattr(run, "_check_rowsets", check)
    monkeypatch.setattr(run, "read_used_objects", look)
    assert verify(Log(db._log.store), 3).findings == ()
    assert len(again) == 1
