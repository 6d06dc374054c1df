"""A compaction commits beside writers and other compactions, or drops a group."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.commit.change import Change
from colonnade.manifests.compaction.plan import GroupKind
from colonnade.manifests.errors import (
    ConflictError,
)
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.model.operations import Vacuum
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.compaction import execute
from colonnade.tableformat.compaction.commit import commit_job
from colonnade.tableformat.compaction.run import run_job
from colonnade.tableformat.table.alteration import AddColumn, DropColumn
from colonnade.tableformat.table.table import ArrowTable
from tests.compaction_tables import (
    another,
    content,
    filled,
    here,
    jobs,
    live,
    rows,
)
from tests.tableformat.compaction.beside import run_beside

KINDS: list[GroupKind] = ["copy", "merge", "zorder"]


def numbers(step: int, first: int = 0) -> str:
    return ", ".join(map(str, range(first, 120, step)))


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


def test_a_group_whose_rowsets_were_dropped_before_its_turn_is_dropped() -> None:
    table = filled(9)
    base, plan = table._refresh(), table.optimize().plan()
    other = another(table)
    other.overwrite(rows(0, 3))
    head, report = execute.execute_plan(table._log, base, plan, runner=here(table))
    assert (head.epoch, report.groups) == (base.epoch, 0)
    assert "that were to be compacted were dropped before epoch" in str(report)


def test_a_group_is_planned_on_the_newest_state_when_its_turn_comes() -> None:
    table = filled(9)
    base, plan = table._refresh(), table.optimize().plan()
    other = another(table)
    other.delete("id < 5")
    execute.execute_plan(table._log, base, plan, runner=here(table))
    [rowset] = live(table)
    assert (rowset.entry.rows, rowset.vector) == (85, None)


def test_files_that_a_vacuum_removed_before_the_commit_are_never_named() -> None:
    table = filled(9)
    base, [job] = jobs(table, "copy")
    outcome = run_job(job, table._location.store)
    [output] = outcome.outputs
    vacuum = Vacuum(floor=0, victims=(output.object,))
    table._log.commit(Change(new_transaction_id(), "vacuum", (vacuum,)), table._snapshot)
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


@pytest.mark.slow
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
