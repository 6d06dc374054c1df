"""A write with a lease is safe from vacuum however long it takes; without one it begins again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import colonnade
from colonnade import ArrowTable, CommitSettings, WriteSettings
from colonnade.manifests.arrays.entry_table import EntryTable
from colonnade.manifests.checkpoint.writer import write_checkpoint
from colonnade.manifests.errors import (
    ConflictError,
    CorruptionError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.log.log import create_database
from colonnade.manifests.reading.live_rowsets import LiveRowSets
from colonnade.manifests.store import open_store
from colonnade.tableformat.compaction.execute import execute_plan
from colonnade.tableformat.compaction.job import CompactionJob, CompactionOutcome
from colonnade.tableformat.compaction.optimize import Choices, plan_table
from colonnade.tableformat.compaction.run import run_job
from colonnade.tableformat.jobs import JobRunner, Stop
from colonnade.tableformat.predicate import parse_predicate
from colonnade.tableformat.scan.selection import select_rows
from colonnade.tableformat.statements.change import change_of
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.transaction.transaction import ArrowTransaction
from colonnade.tableformat.write.job import WriteMode, plan_write, take_lease

SCHEMA = pa.schema([("id", pa.int64())])


def noise(count: int) -> pa.Table:
    return pa.table({"id": np.random.default_rng(1).integers(0, 2**62, count)}, SCHEMA)


def interrupted(what: Callable[[], object]) -> pa.RecordBatchReader:
    """Rows for several RowSets, and something else between two of them."""

    def batches() -> Iterator[pa.RecordBatch]:
        yield from noise(50_000).to_batches(10_000)
        what()
        yield from noise(10_000).to_batches()

    return pa.RecordBatchReader.from_batches(SCHEMA, batches())


def settings(lease_hours: float | None) -> WriteSettings:
    return WriteSettings(max_records=10_000, lease_hours=lease_hours)


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_a_lease_keeps_a_write_from_vacuum_and_ends_with_it(mode: str, tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA)
    table.append(noise(5))
    other = colonnade.open(tmp_path / "t")

    def vacuum() -> None:
        other.append(noise(1)) if mode == "append" else None
        assert "lease of job" in str(other.vacuum(0, force=True))

    getattr(table, mode)(interrupted(vacuum), settings=settings(1))
    assert table.scan().to_arrow().num_rows == 60_000 + (6 if mode == "append" else 0)
    assert not table._snapshot.leases
    assert other.vacuum(0, force=True).held_by == ()
    assert table.scan().to_arrow().num_rows >= 60_000


@pytest.mark.parametrize(
    ("mode", "where"),
    [("append", None), ("overwrite", "id = -1"), ("overwrite_partitions", None)],
)
def test_a_lease_ends_where_no_rows_come(
    mode: WriteMode, where: str | None, tmp_path: Path
) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA)
    table.append(noise(5))
    base, condition = table._refresh(), None if where is None else parse_predicate(where)
    job = plan_write(table._location, base, mode, where=condition, settings=settings(1))
    take_lease(table._log, base, job.job_id, job.settings, job.commit)
    assert table._refresh().leases
    commit_written(job, (), table._log, base, fresh=True)
    assert not table._refresh().leases
    table.append(noise(0), settings=settings(1))
    assert not table._refresh().leases
    assert table.scan().to_arrow().num_rows == 5


def test_without_a_lease_a_write_that_vacuum_met_is_refused(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA)
    other = colonnade.open(tmp_path / "t")
    with pytest.raises(ConflictError, match="give it a lease"):
        table.append(interrupted(lambda: other.vacuum(0, force=True)), settings=settings(None))
    assert table._refresh().table("t").rowsets.rowset_count == 0


def test_a_lease_that_is_over_ends_twice_without_harm(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA)
    other = colonnade.open(tmp_path / "t")
    with pytest.raises(ConflictError, match="were removed by the vacuum of epoch 3"):
        table.append(interrupted(lambda: other.vacuum(0, force=True)), settings=settings(1e-9))
    assert not other._refresh().leases
    table.append(noise(20_000), settings=settings(1e-9))
    assert not table._snapshot.leases


def test_rows_in_the_log_alone_land_after_a_vacuum_that_ended_their_lease(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA)
    other = colonnade.open(tmp_path / "t")

    def rows() -> Iterator[pa.RecordBatch]:
        yield from noise(2).to_batches()
        other.append(noise(1))
        assert other.vacuum(0, force=True).floor > table._snapshot.epoch

    few = pa.RecordBatchReader.from_batches(SCHEMA, rows())
    table.append(few, settings=WriteSettings(lease_hours=1e-9))
    assert not table._snapshot.leases
    assert table.scan().to_arrow().num_rows == 3


@pytest.mark.parametrize("mode", ["append", "overwrite"])
def test_a_write_whose_lease_comes_after_a_vacuum_of_its_base_runs_again_or_is_refused(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA)
    other, raced = colonnade.open(tmp_path / "t"), list[str]()

    def take(*arguments: Any) -> None:
        if not raced:
            raced.append(mode)
            other.append(noise(1))
            other.vacuum(0, force=True)
        take_lease(*arguments)

    monkeypatch.setattr("colonnade.tableformat.table.writes.take_lease", take)
    if mode == "append":
        table.append(noise(2), settings=settings(1))
    else:
        with pytest.raises(ConflictError, match="removed by retention.*; read the table again"):
            table.overwrite(noise(2), settings=settings(1))
    assert other.refresh().scan().to_arrow().num_rows == (3 if mode == "append" else 1)


def test_a_lease_that_could_not_be_kept_is_refused(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA)
    leased = settings(1)
    with pytest.raises(InvalidInputError, match="excludes expect_epoch"):
        table.append(noise(1), settings=leased, commit=CommitSettings(expect_epoch=1))
    with pytest.raises(InvalidInputError, match="leave it out"):
        table.overwrite(noise(1), "id = 1", settings=leased)
    with (
        pytest.raises(InvalidInputError, match="leave it out"),
        colonnade.open_database(tmp_path / "t").transaction() as tx,
    ):
        tx.table("t").append(noise(1), settings=leased)


@pytest.mark.parametrize("lease_hours", [None, 1])
@pytest.mark.parametrize("opened", ["before its rows", "after them"])
def test_rows_are_appended_to_a_table_that_was_opened_before_a_vacuum(
    opened: str, lease_hours: float | None, tmp_path: Path
) -> None:
    db = colonnade.create_database(tmp_path / "db")
    table = db.create_table("t", SCHEMA)
    other = colonnade.open(tmp_path / "db" / "t")
    if opened == "after them":
        table.append(noise(1))
    for _ in range(3):
        other.append(noise(1))
    assert other.vacuum(0, force=True).floor > table._snapshot.epoch
    table.append(noise(2), settings=settings(lease_hours))
    rows = 5 + (opened == "after them")
    assert table.scan().to_arrow().num_rows == rows
    for _ in range(3):
        other.append(noise(1))
        other.vacuum(0, force=True)
    table.append(noise(2).to_reader(), settings=settings(lease_hours))
    assert table.scan().to_arrow().num_rows == rows + 5


def test_a_call_that_retention_overtakes_is_refused_or_runs_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(tmp_path / "db", create=True)
    create_database(store, lone_table=False, slot_block=1)
    db = colonnade.open_database(tmp_path / "db")
    table = db.create_table("t", SCHEMA)
    table.append(noise(20_000))
    other = colonnade.open(tmp_path / "db" / "t")

    def retire() -> None:
        for _ in range(2):
            other.overwrite(pa.table({"id": [1, 2, 3]}))
        other.vacuum(0, force=True)

    planned = table.scan()
    transaction = db.transaction()
    transaction.table("t").append(noise(1))
    retire()
    with pytest.raises(ConflictError, match="removed by retention; read the table again"):
        transaction.commit()
    with pytest.raises(NotFoundError, match="removed by retention; the oldest readable epoch"):
        planned.to_arrow()

    evaluated: list[bool] = []

    def select(*arguments: Any) -> Any:
        if not evaluated:
            evaluated.append(True)
            retire()
        return select_rows(*arguments)

    monkeypatch.setattr("colonnade.tableformat.statements.update.select_rows", select)
    assert table.update({"id": 7}, "id = 2").rows_updated == 1
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == [1, 3, 7]


@pytest.mark.parametrize(
    "change",
    [
        lambda table, tx: table.overwrite(noise(1)),
        lambda table, tx: table.overwrite(noise(1), "id > 0"),
        lambda table, tx: table.overwrite_partitions(noise(1)),
        lambda table, tx: tx.table("t").update({"id": 1}),
    ],
    ids=["overwrite", "where", "partitions", "transaction"],
)
@pytest.mark.parametrize(
    ("slot_block", "removed"),
    [
        (1, "removed by retention; read the table again"),
        (64, "removed by the vacuum of epoch 5; read the table again"),
    ],
)
def test_a_state_whose_segments_retention_has_removed_is_a_conflict_and_no_damage(
    change: Callable[[colonnade.ArrowTable, ArrowTransaction], object],
    slot_block: int,
    removed: str,
    tmp_path: Path,
) -> None:
    store = open_store(tmp_path / "db", create=True)
    create_database(store, lone_table=False, slot_block=slot_block)
    db = colonnade.open_database(tmp_path / "db")
    db.create_table("t", SCHEMA).append(noise(5))
    other = db.table("t")
    write_checkpoint(other._log.store, other._snapshot)
    table = colonnade.open(tmp_path / "db" / "t")
    transaction = colonnade.open_database(tmp_path / "db").transaction()
    for _ in range(2):
        other.overwrite(noise(5))
    other.vacuum(0, force=True)
    with pytest.raises(ConflictError, match=removed):
        change(table, transaction)


@dataclass(frozen=True)
class Raced:
    """A table whose state a checkpoint stores. A vacuum removes it right before its next read."""

    table: ArrowTable
    transaction: ArrowTransaction
    folder: Path

    @classmethod
    def make(cls, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Raced:
        db = colonnade.create_database(folder / "db")
        made = db.create_table("t", SCHEMA)
        for number in range(3):
            made.append(pa.table({"id": [number]}))
            if number == 1:
                db.tag("tagged")
        write_checkpoint(made._log.store, db._refresh())
        other = colonnade.open(folder / "db" / "t")
        found = cls(
            colonnade.open(folder / "db" / "t"),
            colonnade.open_database(folder / "db").transaction(),
            folder,
        )
        read, passed = LiveRowSets.read_entries, list[int]()

        def read_later(*arguments: Any, **named: Any) -> EntryTable:
            if not passed:
                passed.append(1)
                other.overwrite(pa.table({"id": [7, 8]}))
                other.append(pa.table({"id": [9]}))
                other.vacuum(0, force=True)
            return read(*arguments, **named)

        monkeypatch.setattr(LiveRowSets, "read_entries", read_later)
        return found


@pytest.mark.parametrize(
    "read",
    [
        lambda raced: raced.table.scan(),
        lambda raced: raced.table.scan(epoch=raced.table.epoch),
        lambda raced: raced.transaction.table("t").scan(),
        lambda raced: raced.table.restore(epoch=raced.table.epoch - 1),
    ],
    ids=["scan", "time travel", "scan in a transaction", "restore"],
)
def test_a_read_of_a_state_that_retention_removes_meanwhile_says_so(
    read: Callable[[Raced], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raced = Raced.make(tmp_path, monkeypatch)
    with pytest.raises(NotFoundError, match="removed by retention; the oldest readable epoch"):
        read(raced)


@pytest.mark.parametrize(
    "change",
    [
        lambda raced: raced.table.restore(tag="tagged"),
        lambda raced: raced.table.repair([0], rescue=raced.folder / "lost.parquet"),
        lambda raced: plan_table(
            raced.table._log, raced.table._snapshot, raced.table._state, Choices()
        ),
    ],
    ids=["restore", "repair", "plan of maintenance"],
)
def test_a_change_of_a_state_that_retention_removes_meanwhile_is_a_conflict(
    change: Callable[[Raced], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raced = Raced.make(tmp_path, monkeypatch)
    with pytest.raises(ConflictError, match=r"was removed by .*; read the table again"):
        change(raced)
    assert colonnade.open(tmp_path / "db" / "t").verify(4).is_sound


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.optimize().option("min-rowsets", 2).executeCompaction(),
        lambda table: table.optimize().executeZOrderBy("id"),
        lambda table: table.optimize().plan(),
        lambda table: table.delete("id = 7"),
    ],
    ids=["compaction", "z-order", "plan", "delete"],
)
def test_a_call_that_meets_a_vacuum_of_its_state_begins_again(
    change: Callable[[ArrowTable], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raced = Raced.make(tmp_path, monkeypatch)
    change(raced.table)
    assert {8, 9} <= set(raced.table.scan().to_arrow()["id"].to_pylist()) <= {7, 8, 9}
    assert raced.table.verify(4).is_sound


@pytest.mark.parametrize("when", ["planned", "read", "written"])
def test_a_group_of_a_compaction_that_meets_a_vacuum_of_its_state_is_no_damage(
    when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raced = Raced.make(tmp_path, monkeypatch)
    monkeypatch.undo()
    table = raced.table
    plan = table.optimize().option("min-rowsets", 2).plan()
    other = colonnade.open(tmp_path / "db" / "t")
    met, real = list[str](), LiveRowSets.find

    def meet(now: str) -> None:
        if now == when and not met:
            met.append(now)
            other.overwrite(pa.table({"id": [7, 8]}))
            other.vacuum(0, force=True)

    def find(*arguments: Any) -> Any:
        meet("planned")
        return real(*arguments)

    def run(job: CompactionJob, stop: Stop) -> CompactionOutcome:
        meet("read")
        if met == ["read"]:
            raise CorruptionError("a file of the group is missing")
        outcome = run_job(job, table._location.store)
        meet("written")
        return outcome

    monkeypatch.setattr(LiveRowSets, "find", find)
    _, report = execute_plan(table._log, table._snapshot, plan, runner=JobRunner(run, 1))
    assert met == [when]
    assert (report.groups, len(report.conflicts)) == (0, 1)
    # The files of removed epochs still exist, so the commit also meets the overwrite itself.
    assert ("changed in epoch 6" if when == "written" else "removed") in report.conflicts[0]
    assert colonnade.open(tmp_path / "db" / "t").verify(4).is_sound


def test_an_update_whose_own_files_vacuum_has_removed_runs_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA)
    table.append(pa.table({"id": [*range(100)]}))

    in_objects = replace(LIMITS, in_place_bytes=-10_000, inline_bytes=0)
    monkeypatch.setattr(table._log.reader, "limits", in_objects)
    planned: list[bool] = []

    def plan(*arguments: Any, **more: Any) -> Any:
        if not planned:
            assert colonnade.open(tmp_path / "t").vacuum(0, retain_epochs=9, force=True).files
        planned.append(True)
        return change_of(*arguments, **more)

    monkeypatch.setattr("colonnade.tableformat.table.writes.change_of", plan)
    assert table.update({"id": -1}, "id < 50").rowsets_in_place == 1
    assert len(planned) == 2
    assert table.scan(where="id = -1").to_arrow().num_rows == 50


def test_a_restore_of_a_database_begins_again_when_retention_removes_its_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raced = Raced.make(tmp_path, monkeypatch)
    database = colonnade.open_database(tmp_path / "db")
    database.restore(tag="tagged")
    assert colonnade.open(raced.folder / "db" / "t").scan().to_arrow()["id"].to_pylist() == [0, 1]
