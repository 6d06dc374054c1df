"""A value that a job has taken and a concurrent writer gave to a row is found at the commit."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade import ArrowTable, ConflictError, IdentityColumn
from colonnade.tableformat.statements.append import evaluate_append
from colonnade.tableformat.statements.change import make_change
from colonnade.tableformat.statements.identity_guard import guarded
from colonnade.tableformat.statements.statement import Statement
from tests.tableformat.statements.tables import log_of

COLUMNS = pa.schema([("id", pa.int64()), ("v", pa.string())])


def make(path: Path, *, always: bool = False) -> ArrowTable:
    table = colonnade.create(str(path), COLUMNS, identity={"id": IdentityColumn(always=always)})
    table.append(pa.table({"v": ["first"]}))
    return table


def rows(*ids: int | None) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "v": ["x"] * len(ids)})


def evaluated(table: ArrowTable, *ids: int | None) -> Statement:
    """An append that has its values and waits for its slot."""
    statement = evaluate_append(log_of(table), table._state, rows(*ids).to_batches(), "ab" * 8)
    return guarded(statement, table._log.store, table._state)


def commit(table: ArrowTable, statement: Statement) -> None:
    table._log.commit(make_change(statement, table._state, "ab" * 8), table._snapshot)


@pytest.mark.parametrize("theirs", [(2,), (3, 50), (0, 4)])
def test_a_value_that_a_concurrent_writer_gave_is_a_conflict(
    tmp_path: Path, theirs: tuple[int, ...]
) -> None:
    table = make(tmp_path / "t")
    waiting = evaluated(table, None, None, None)  # the values 2 to 4
    colonnade.open(str(tmp_path / "t")).append(rows(*theirs))
    with pytest.raises(ConflictError):
        commit(table, waiting)


@pytest.mark.parametrize("theirs", [(5,), (1, 60), (None, None), (-4, 7)])
def test_concurrent_values_that_the_job_did_not_give_do_not_conflict(
    tmp_path: Path, theirs: tuple[int | None, ...]
) -> None:
    table = make(tmp_path / "t")
    waiting = evaluated(table, None, None, None)
    colonnade.open(str(tmp_path / "t")).append(rows(*theirs))
    commit(table, waiting)
    assert {2, 3, 4} <= set(table.scan().to_arrow()["id"].to_pylist())


def test_rows_that_an_update_moves_are_no_conflict(tmp_path: Path) -> None:
    table = make(tmp_path / "t")
    table.append(rows(None, 100))
    waiting = evaluated(table, None)
    other = colonnade.open(str(tmp_path / "t"))
    other.append(rows(None))
    other.update({"id": 1000}, "id = 100")
    commit(table, waiting)


def test_a_value_that_an_update_sets_is_a_conflict(tmp_path: Path) -> None:
    table = make(tmp_path / "t")
    waiting = evaluated(table, None)
    colonnade.open(str(tmp_path / "t")).update({"id": 2}, "id = 1")
    with pytest.raises(ConflictError):
        commit(table, waiting)


def test_a_column_that_only_the_table_fills_needs_no_guard(tmp_path: Path) -> None:
    table = make(tmp_path / "t", always=True)
    assert evaluated(table, None).keys == ()
    empty = Statement("delete", reads=())
    assert guarded(empty, table._log.store, table._state) == empty


def test_rows_that_compaction_or_a_writer_without_values_adds_are_not_read(tmp_path: Path) -> None:
    table = make(tmp_path / "t")
    table.append(rows(None, None))
    waiting = evaluated(table, None)
    other = colonnade.open(str(tmp_path / "t"))
    other.optimize().executeCompaction()
    other.delete("id = 2")
    commit(table, waiting)
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == [1, 3, 4]
