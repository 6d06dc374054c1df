"""Rows of range tombstones are named before a compaction, and come back in no order of commits."""

from __future__ import annotations

from itertools import permutations

import pytest

from colonnade.manifests.compaction.plan import CompactionGroup, GroupKind
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.compaction.clean import clean_table
from colonnade.tableformat.compaction.commit import commit_job
from colonnade.tableformat.compaction.job import plan_job
from colonnade.tableformat.compaction.optimize import Choices, plan_table
from colonnade.tableformat.compaction.run import run_job
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.table import ArrowTable
from tests.compaction_tables import another, content, jobs, live, new, rows, take
from tests.faults import FaultyStore

SCHEMA = TableSchema(
    fields=(
        SchemaField(name="id", type="long", nullable=False),
        SchemaField(name="n", type="long"),
    )
)
GONE = "id >= 15 AND id < 45"
LEFT = {*range(15), *range(45, 90)}
EDGES = "id >= 15 AND id < 25"
"""A range that no RowSet lies inside."""


def filled() -> ArrowTable:
    """Nine RowSets of ten rows. The range has some rows of two, and all rows of two more."""
    table = new(SCHEMA, ["id"])
    for at in range(9):
        table.append(rows(at * 10, 10))
    return table


def hidden(table: ArrowTable) -> list[int]:
    """How many regions readers hide of each RowSet."""
    view = table._log.rowsets.view(table._state, None, None)
    return [len(view.hidden_in(each)) for each in view.rowsets]


def test_the_rows_are_named_and_the_tombstones_are_forgotten() -> None:
    table = filled()
    table.delete_range(GONE)
    before = content(table)
    assert set(before) == LEFT
    assert hidden(table) == [0, 1, 1, 0, 0, 0, 0]
    clean_table(table._log, table._snapshot, table._state.id)
    assert content(table) == before
    assert table._state.range_tombstones == ()
    assert [each.row_count for each in live(table)] == [10, 5, 5, 10, 10, 10, 10]
    assert not any(hidden(table))


def test_a_table_without_range_tombstones_costs_no_read_and_gets_no_epoch() -> None:
    table = filled()
    store = FaultyStore(table._log.store)
    log = Log(store)
    head = log.reader.read_head()
    store.trace.clear()
    assert clean_table(log, head, table._state.id) is head
    assert store.trace == []


def test_a_table_that_was_dropped_is_left_alone() -> None:
    table = filled()
    table.delete_range(GONE)
    assert (
        clean_table(table._log, table._snapshot, type(table._state.id)("0" * 16)) is table._snapshot
    )


@pytest.mark.parametrize("kind", ["copy", "merge"])
@pytest.mark.parametrize("order", [*permutations(("tombstone", "clean", "compaction"))])
def test_deleted_rows_stay_deleted_whatever_is_committed_first(
    order: tuple[str, ...], kind: GroupKind
) -> None:
    """The compaction reads before the tombstone, and commits at any time."""
    table = filled()
    base, planned = jobs(table, kind, groups=2)
    outcomes = [run_job(job, table._log.store) for job in planned]
    other = another(table)
    left, deleted = {*range(15), *range(25, 90), 200, 201}, False
    for name in order:
        if name == "tombstone":
            other.delete_range(EDGES)
            other.append(rows(200, 2))
            deleted = True
        elif name == "clean":
            other.refresh()
            clean_table(other._log, other._snapshot, other._state.id)
        else:
            for job, outcome in zip(planned, outcomes, strict=True):
                commit_job(table._log, base, job, outcome)
        assert set(content(table)) == (left if deleted else {*range(90)})
    # A compaction of the whole table keeps the rows outside the range.
    table.optimize().option("deleted-share", 0).executeCompaction()
    assert set(content(table)) == left
    assert table._state.range_tombstones == ()


def test_a_compaction_between_two_tombstones_has_met_the_first_alone() -> None:
    table = filled()
    table.delete_range("id < 5")
    first = table.epoch
    clean_table(table._log, table._snapshot, table._state.id)
    table.refresh()
    base, planned = jobs(table, "merge")
    outcomes = [run_job(job, table._log.store) for job in planned]
    another(table).delete_range("id < 25 AND id >= 12")
    for job, outcome in zip(planned, outcomes, strict=True):
        commit_job(table._log, base, job, outcome)
    assert set(content(table)) == {*range(5, 12), *range(25, 90)}
    assert {each.clean_epoch for each in live(table)} == {base.epoch}
    assert base.epoch > first


@pytest.mark.parametrize("kind", ["copy", "merge"])
def test_rows_that_came_after_a_tombstone_do_not_join_rows_that_have_not_met_it(
    kind: GroupKind,
) -> None:
    """The tombstone was committed after the rows of earlier ones were named."""
    table = filled()
    table.delete_range(EDGES)
    table.append(rows(16, 4))
    table.append(rows(100, 10))
    base, planned = jobs(table, kind)
    assert base.table("t").range_tombstones
    assert [each.id for each in planned[0].view.rowsets] == list(range(9))
    for job in planned:
        commit_job(table._log, base, job, run_job(job, table._log.store))
    left = {*range(15), *range(25, 90), *range(16, 20), *range(100, 110)}
    assert set(content(table)) == left
    clean_table(table._log, table._refresh(), table._state.id)
    assert set(content(table)) == left


def test_a_plan_from_before_a_table_was_made_again_takes_no_other_rowsets_for_its_own() -> None:
    table = filled()
    take(table, [range(10) if at < 2 else () for at in range(9)])
    plan, ids = plan_table(table._log, table._snapshot, table._state, Choices())
    table.append(rows(200, 10))
    last = table._refresh()
    database = ArrowDatabase(table._log.store, table._log, last)
    database.drop_table(table._state.name)
    database.restore(epoch=last.epoch)
    group = CompactionGroup(
        kind="copy", reason="a test", rowsets=(2, 3, 4), rows=30, deleted_rows=0,
        bytes_in=1, bytes_out=1,
    )  # fmt: skip
    for base in (table._refresh(), another(table)._refresh()):
        with pytest.raises(ConflictError, match="were dropped"):
            plan_job(table._log, base, plan, group, ids)
