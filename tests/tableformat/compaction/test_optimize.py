"""`table.optimize()` beside writers and other compactions."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.commit.change import Change
from colonnade.manifests.compaction.plan import GroupKind
from colonnade.manifests.errors import (
    ConflictError,
    CorruptionError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.model.operations import Vacuum
from colonnade.manifests.model.schema import ArrayType, SchemaField
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.compaction import auto, execute, lease
from colonnade.tableformat.compaction.commit import commit_job
from colonnade.tableformat.compaction.job import CompactionJob, CompactionOutcome
from colonnade.tableformat.compaction.run import run_job
from colonnade.tableformat.jobs import Stop, Workplace
from colonnade.tableformat.table.alteration import AddColumn, AlterProperties, DropColumn
from colonnade.tableformat.table.table import ArrowTable
from tests.compaction_tables import (
    NUMBERS,
    another,
    content,
    filled,
    here,
    jobs,
    live,
    new,
    rows,
)

KINDS: list[GroupKind] = ["copy", "merge", "zorder"]


def numbers(step: int, first: int = 0) -> str:
    return ", ".join(map(str, range(first, 120, step)))


def test_small_rowsets_become_one_and_history_says_why() -> None:
    table = filled()
    table.delete("id < 5")
    before = content(table)
    plan = table.optimize().plan()
    report = table.optimize().executeCompaction()
    assert content(table) == before
    [rowset] = live(table)
    assert rowset.entry.rows == 85
    assert rowset.vector is None
    newest = table.history(1)[0]
    assert newest.operation == "compact"
    assert newest.parameters == {"kind": plan.groups[0].kind, "reason": plan.groups[0].reason}
    assert newest.metrics == {
        "rowsets_removed": 9,
        "rowsets_added": 1,
        "rows_dropped": 5,
        "bytes_read": plan.bytes_in,
        "bytes_copied": 0,
        "bytes_written": rowset.entry.bytes,
    }
    assert (report.groups, report.epoch) == (1, table.epoch)
    assert str(report).startswith("t: 9 RowSets became 1 in 1 groups; 5 deleted rows dropped")
    again = table.optimize().executeCompaction()
    assert (again.groups, str(again)) == (0, "t: nothing to compact.")


def test_properties_and_options_say_what_is_compacted() -> None:
    table = filled(3)
    assert not table.optimize().plan().groups
    assert len(table.optimize().option("min-rowsets", 2).plan().groups) == 1
    table.alter(AlterProperties(set={"compaction.min-rowsets": "3"}))
    assert len(table.optimize().plan().groups) == 1
    assert not table.optimize().option("compaction.min-rowsets", "4").plan().groups
    with pytest.raises(
        InvalidInputError, match=r"'compaction\.min-rowsets' must be a whole number"
    ):
        table.alter(AlterProperties(set={"compaction.min-rowsets": "few"}))
    with pytest.raises(InvalidInputError, match=r"no property 'compaction\.speed'"):
        table.optimize().option("speed", 11)


def test_a_condition_chooses_rowsets_and_several_add_up() -> None:
    table = filled(12)
    narrowed = table.optimize("id >= 20").where("id < 80").option("min-rowsets", 2)
    assert narrowed.plan().groups[0].rowsets == tuple(range(2, 8))
    with pytest.raises(InvalidInputError, match="nope"):
        table.optimize("nope = 1").plan()
    with pytest.raises(InvalidInputError):
        table.optimize("id = ")


def test_a_table_whose_rows_are_all_deleted_in_one_group_is_left_empty() -> None:
    table = filled(1)
    table.delete("id < 9")
    table.optimize().executeCompaction()
    assert [r.entry.rows for r in live(table)] == [1]
    table.delete()
    assert str(table.optimize().plan()) == "t: nothing to compact (0 RowSets)."


def test_a_z_order_is_refused_where_it_cannot_be() -> None:
    with pytest.raises(InvalidInputError, match="has a sort key"):
        filled(kind="merge").optimize().executeZOrderBy("id")
    table = filled()
    for columns, problem in (((), "name them"), (("id", "ID"), "each once"), (("x",), "'x'")):
        with pytest.raises((InvalidInputError, NotFoundError), match=problem):
            table.optimize().executeZOrderBy(*columns)
    element = SchemaField(name="element", type="long")
    table.alter(AddColumn(SchemaField(name="list", type=ArrayType(element=element))))
    with pytest.raises(InvalidInputError, match="'list' .* no order"):
        table.optimize().executeZOrderBy(["id", "list"])
    report = table.optimize().executeZOrderBy("id", "n")
    assert (report.rowsets_removed, report.rowsets_added) == (9, 1)
    assert len(content(table)) == 90


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("late", [False, True])
def test_rows_that_concurrent_writers_change_are_carried_over(
    kind: GroupKind, late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = filled(kind=kind)
    table.delete("id = 3")
    base, planned = jobs(table, kind, (1, 2) if kind == "zorder" else (), groups=2)
    other = another(table)
    expected = content(table)
    outcomes = [run_job(job, table._location.store) for job in planned]
    if late:  # the writer plans before the compaction commits, and lands after it
        deleting, landing = other._log.commit_change, threading.Event()

        def first_ours(change: Any, at: Any) -> Any:
            if not landing.is_set():
                landing.set()
                for job, outcome in zip(planned, outcomes, strict=True):
                    commit_job(table._log, base, job, outcome)
            return deleting(change, at)

        monkeypatch.setattr(other._log, "commit_change", first_ours)
    other.delete(f"id IN ({numbers(11)})")
    other.update({"n": 1000}, f"id IN ({numbers(13)})")
    other.append(rows(200, 2))
    if not late:
        for job, outcome in zip(planned, outcomes, strict=True):
            commit_job(table._log, base, job, outcome)
    expected = {i: 1000 if i % 13 == 0 else n for i, n in expected.items() if i % 11}
    assert content(table) == expected | {200: 200 * 7919 % 101, 201: 201 * 7919 % 101}
    assert table.refresh().epoch == base.epoch + 5


def run_beside(
    table: ArrowTable, what: Callable[[ArrowTable], object], groups: int = 1, times: int = 1
) -> execute.CompactionReport:
    """Compact groups one after another; `what` runs while the first ones are at work."""
    _, planned = jobs(table, "copy", groups=groups)
    plan = table.optimize().plan()
    plan = plan.model_copy(update={"groups": tuple(job.group for job in planned)})
    runs: list[int] = []

    def run(job: CompactionJob, stop: Stop) -> CompactionOutcome:
        outcome = run_job(job, table._location.store)
        runs.append(len(job.sources))
        if len(runs) <= times:
            what(another(table))
        return outcome

    return execute.execute_plan(table._log, table.refresh(), plan, place=Workplace(run, 1))[1]


def test_a_group_that_a_concurrent_writer_rewrote_is_dropped_and_other_groups_stay() -> None:
    table = filled()
    before = content(table)

    def rewrite(other: ArrowTable) -> None:
        other.optimize("id < 30").option("min-rowsets", 2).executeCompaction()

    report = run_beside(table, rewrite, groups=3)
    assert (report.groups, len(report.conflicts)) == (2, 1)
    assert "RowSets of table 't' that the compaction rewrites changed" in str(report)
    assert len(live(table)) == 3
    assert content(table) == before


def test_a_group_continues_without_rowsets_that_a_concurrent_writer_emptied() -> None:
    table = filled()
    deletes = iter([range(20, 30), range(40, 50)])
    before = content(table)
    report = run_beside(table, lambda other: other.delete(f"id IN {tuple(next(deletes))}"), times=2)
    assert (report.groups, report.conflicts, report.rowsets_removed) == (1, (), 7)
    left = {i: n for i, n in before.items() if i not in range(20, 30) and i not in range(40, 50)}
    assert content(table) == left
    assert len(live(table)) == 1


def test_a_group_that_loses_rowsets_every_time_is_dropped_in_the_end() -> None:
    table = filled()
    firsts = iter(range(0, 90, 10))

    def empty(other: ArrowTable) -> None:
        first = next(firsts)
        other.delete(f"id >= {first} AND id < {first + 10}")

    report = run_beside(table, empty, times=9)
    assert (report.groups, len(report.conflicts), len(live(table))) == (0, 1, 6)


def test_a_long_compaction_has_a_lease_that_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    table = filled()
    before = content(table)
    monkeypatch.setattr(lease, "LEASED_BYTES", 1)
    monkeypatch.setattr(table._log, "agreed_ms", lambda: 10**15)
    held: list[str] = []

    def vacuum(other: ArrowTable) -> None:
        monkeypatch.setattr(other._log, "now_ms", lambda: 10**15 + 1)
        held.extend(other.vacuum(0, force=True).held_by)

    report = run_beside(table, vacuum)
    assert (report.groups, report.conflicts, len(held)) == (1, (), 1)
    assert held[0].startswith("lease of job")
    assert content(table) == before
    assert not table.snapshot.leases

    def fail(other: ArrowTable) -> None:
        assert other.refresh().leases
        raise CorruptionError("one block is damaged")

    for start in (200, 300):
        table.append(rows(start, 10))
    with pytest.raises(CorruptionError, match="one block"):
        run_beside(table, fail)
    assert not table.refresh().leases


def test_a_group_whose_rowsets_were_dropped_before_its_turn_is_dropped() -> None:
    table = filled(9)
    base, plan = table.refresh(), table.optimize().plan()
    other = another(table)
    other.overwrite(rows(0, 3))
    head, report = execute.execute_plan(table._log, base, plan, place=here(table))
    assert (head.epoch, report.groups) == (base.epoch, 0)
    assert "that were to be compacted were dropped before epoch" in str(report)


def test_a_group_is_planned_on_the_newest_state_when_its_turn_comes() -> None:
    table = filled(9)
    base, plan = table.refresh(), table.optimize().plan()
    other = another(table)
    other.delete("id < 5")
    execute.execute_plan(table._log, base, plan, place=here(table))
    [rowset] = live(table)
    assert (rowset.entry.rows, rowset.vector) == (85, None)


def test_files_that_a_vacuum_removed_before_the_commit_are_never_named() -> None:
    table = filled(9)
    base, [job] = jobs(table, "copy")
    outcome = run_job(job, table._location.store)
    [output] = outcome.outputs
    vacuum = Vacuum(floor=0, victims=(output.object,))
    table._log.commit(Change(new_transaction_id(), "vacuum", (vacuum,)), table.snapshot)
    with pytest.raises(ConflictError, match="removed by the vacuum"):
        commit_job(table._log, base, job, outcome)


def test_columns_added_and_dropped_meanwhile_do_not_conflict() -> None:
    table = filled()
    base, [job] = jobs(table, "copy")
    outcome = run_job(job, table._location.store)
    another(table).alter(DropColumn(("n",)), AddColumn(SchemaField(name="n", type="long")))
    commit_job(table._log, base, job, outcome)
    table.refresh()
    assert {row["n"] for row in table.scan().to_arrow().to_pylist()} == {None}


def test_a_commit_that_is_sent_again_lands_once() -> None:
    table = filled()
    base, [job] = jobs(table, "copy")
    outcome = run_job(job, table._location.store)
    first, epoch = commit_job(table._log, base, job, outcome)
    again, same = commit_job(table._log, base, job, outcome)
    assert (first.epoch, epoch) == (again.epoch, same)


def test_writers_and_compactions_side_by_side_lose_no_row(tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    schema = pa.schema([("id", pa.int64()), ("n", pa.int64())])
    colonnade.create(path, schema, properties={"compaction.min-rowsets": "2"})
    failures: list[BaseException] = []

    def guarded(work: Any) -> threading.Thread:
        def run() -> None:
            try:
                work(colonnade.open(path))
            except BaseException as error:
                failures.append(error)

        thread = threading.Thread(target=run)
        thread.start()
        return thread

    def write(table: ArrowTable) -> None:
        for i in range(12):
            table.append(rows(i * 10, 10))
            table.delete(f"id = {i * 10 + 3}")

    def update(table: ArrowTable) -> None:
        for _ in range(6):
            table.update({"n": -1}, f"id IN ({numbers(10, 4)})")

    def compact(table: ArrowTable) -> None:
        for _ in range(8):
            table.optimize().executeCompaction()

    for thread in [guarded(write), guarded(update), guarded(compact), guarded(compact)]:
        thread.join()
    assert not failures
    table = colonnade.open(path)
    table.update({"n": -1}, f"id IN ({numbers(10, 4)})")
    expected = {i: -1 if i % 10 == 4 else (i * 7919) % 101 for i in range(120) if i % 10 != 3}
    assert content(table) == expected


def test_a_store_that_cannot_be_written_is_said_before_any_work() -> None:
    class ReadOnly(MemoryStore):
        def require_writable(self) -> None:
            raise InvalidInputError("This store is read only.")

    store = ReadOnly()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ReadOnly, "require_writable", MemoryStore.require_writable)
        table = filled(store=store)
    with pytest.raises(InvalidInputError, match="read only"):
        table.optimize().executeCompaction()
    assert table.optimize().plan().groups
    assert len(live(table)) == 9


def test_a_writer_compacts_after_its_commit_where_the_table_asks_for_it() -> None:
    table = new(NUMBERS)
    table.alter(AlterProperties(set={"compaction.auto": "true"}))
    for i in range(20):
        epoch = table.append(rows(10 * i, 10))
        assert next(e for e in table.history(2) if e.operation == "append").epoch == epoch
        assert len(live(table)) < 8
    assert [entry.operation for entry in table.history()].count("compact") == 2
    counts = table.delete("id < 195")
    assert counts.epoch == table.epoch - 1, "the statement's own epoch"
    assert content(table).keys() == set(range(195, 200))


def test_a_compaction_after_a_commit_that_fails_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    table = filled(7)
    table.alter(AlterProperties(set={"compaction.auto": "true"}))

    def failing(*_: Any, **__: Any) -> None:
        raise CorruptionError("one block is damaged")

    monkeypatch.setattr(auto, "compact_here", lambda *_: Workplace(failing, 1))
    epoch = table.append(rows(100, 5))
    assert (table.epoch, len(live(table))) == (epoch, 8)
    assert f"No compaction after epoch {epoch}: one block is damaged" in caplog.text
    monkeypatch.setattr(auto, "AUTO_BYTES", 10)
    table.append(rows(200, 5))
    assert len(caplog.records) == 1, "a group that is too large is left to maintenance"
    monkeypatch.setattr(auto, "execute_plan", lambda *_, **__: 1 // 0)
    monkeypatch.setattr(auto, "AUTO_BYTES", 2**25)
    table.append(rows(300, 5))
    assert "ZeroDivisionError" in caplog.text, "a fault leaves its traceback"
