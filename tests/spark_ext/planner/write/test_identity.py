"""Tasks of a job share values of identity columns, and no value is given twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import ArrowTable, ConflictError, IdentityColumn, InvalidInputError, WidenColumn
from colonnade.manifests.errors import CommitUnknownError, NotFoundError
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.store import open_store
from colonnade.spark_ext.planner.clauses.identity_columns import require_fillable
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.spark_ext.planner.write import identity
from colonnade.spark_ext.planner.write.identity import draw_identity, record_identity
from colonnade.spark_ext.planner.write.writes import commit_write
from colonnade.tableformat.location import locate, locate_existing
from colonnade.tableformat.statements.commit import written_statement
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.types.input.column_types import as_table_schema
from colonnade.tableformat.write.job import WriteJob, plan_write
from colonnade.tableformat.write.pipeline import new_rows, write_through
from colonnade.tableformat.write.settings import CommitSettings
from tests.task_reports import rows_report

COLUMNS = pa.schema([("id", pa.int64()), ("v", pa.string())])


def make(path: Path, columns: pa.Schema = COLUMNS, **spec: Any) -> ArrowTable:
    return colonnade.create(str(path), columns, identity={"id": IdentityColumn(**spec)})


def job(table: ArrowTable) -> str:
    location = locate(table.path)
    return known(plan_write(location, colonnade.open(table.path)._snapshot, "append"))


def known(planned: WriteJob) -> str:
    """A job that this planner has planned."""
    identity.remember(planned)
    return planned.model_dump_json()


def draw(job: str, count: int, **more: Any) -> range:
    column = WriteJob.model_validate_json(job).target.table_schema.fields[0]
    assert column.identity is not None
    reply = draw_identity({"job": job, "column": column.id, "count": count, **more})
    first, step = int(reply["first"]), column.identity.step
    return range(first, first + reply["count"] * step, step)


def test_tasks_of_a_job_get_values_of_their_own_and_small_ones_leave_no_gap(tmp_path: Path) -> None:
    table = make(tmp_path / "t", start=5, step=-2)
    one, other = job(table), job(table)
    assert [*draw(one, 2)] == [5, 3]
    assert [*draw(one, 1)] == [1]
    assert [*draw(other, 2)] == [-1, -3]
    assert colonnade.open(table.path).next_identities == {"id": -5}


def test_many_tasks_take_few_epochs(tmp_path: Path) -> None:
    table = make(tmp_path / "t")
    planned = job(table)
    with ThreadPoolExecutor(8) as tasks:
        parts = list(tasks.map(lambda _: draw(planned, 1000), range(200)))
    values = [value for part in parts for value in part]
    assert len(values) == len(set(values))
    assert table.refresh().epoch < 40
    assert max(values) < 2 * 200_000


def test_values_lie_beyond_those_that_the_task_brings(tmp_path: Path) -> None:
    table = make(tmp_path / "t", always=False)
    planned = job(table)
    assert draw(planned, 3, beyond="100")[0] == 101
    assert min(draw(planned, 3)) > 100
    assert draw(planned, 1, beyond="-7")[0] > 100


def test_the_last_values_of_a_type_are_given_and_then_the_column_is_named(tmp_path: Path) -> None:
    table = make(tmp_path / "t", pa.schema([("id", pa.int8()), ("v", pa.string())]))
    planned = job(table)
    values: list[int] = []
    while len(values) < 127:
        values += draw(planned, 100)
    assert values == [*range(1, 128)]
    with pytest.raises(InvalidInputError, match="Identity column 'id' of table .* has 0 left"):
        draw(planned, 1)


def test_a_planner_that_replaces_another_one_gives_no_value_and_commits_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does not know which values tasks got, and could not find one that comes twice."""
    table = make(tmp_path / "t", always=False)
    planned = job(table)
    written = entries(planned, *draw(planned, 3))
    monkeypatch.setattr(identity, "_JOBS", identity._JOBS.__class__())
    with pytest.raises(ConflictError, match="table 't'.* run the statement again"):
        draw(planned, 3)
    with pytest.raises(CommitUnknownError, match="table 't'.* look at the history"):
        commit_write({"job": planned, "messages": [rows_report(written)], "database": None})
    assert colonnade.open(table.path).scan().to_arrow().num_rows == 0


def test_a_forgotten_job_gets_no_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identity, "_MOST_JOBS", 1)
    monkeypatch.setattr(identity, "_JOBS", identity._JOBS.__class__())
    table = make(tmp_path / "t")
    one, other = job(table), job(table)
    assert [*draw(other, 2)] == [1, 2]
    with pytest.raises(ConflictError, match="run the statement again"):
        draw(one, 2)


def test_a_column_that_widens_meanwhile_gives_no_value_that_its_rows_cannot_hold(
    tmp_path: Path,
) -> None:
    table = make(tmp_path / "t", pa.schema([("id", pa.int8()), ("v", pa.string())]), start=127)
    planned = job(table)
    table.alter(WidenColumn("id", "int"))
    assert [*draw(planned, 1)] == [127]
    with pytest.raises(ConflictError, match="was widened while"):
        draw(planned, 1)


def test_a_table_that_is_dropped_gives_no_value(tmp_path: Path) -> None:
    database = colonnade.ArrowDatabase.create(str(tmp_path / "d"))
    database.create_table("t", COLUMNS, identity={"id": IdentityColumn()})
    planned = job(colonnade.open(str(tmp_path / "d" / "t")))
    database.drop_table("t")
    with pytest.raises(NotFoundError, match="dropped"):
        draw(planned, 1)


def test_a_transaction_takes_values_at_once_and_keeps_what_it_took(tmp_path: Path) -> None:
    table = make(tmp_path / "t")
    location = locate_existing(tmp_path / "t")
    id_ = TRANSACTIONS.begin(location, CommitSettings())
    with TRANSACTIONS.within(id_):
        state = TRANSACTIONS.to_write(location)
        assert state is not None
        planned = known(plan_write(location, state.snapshot, "append"))
        assert [*draw(planned, 2)] == [1, 2]
        table.append(pa.table({"v": ["a concurrent writer"]}))
        assert [*draw(planned, 2)] == [4, 5]
        TRANSACTIONS.end(lambda transaction: transaction.rollback())
    assert colonnade.open(table.path).next_identities == {"id": 6}


def test_a_table_of_an_open_transaction_gives_values_without_the_log(tmp_path: Path) -> None:
    database = colonnade.ArrowDatabase.create(str(tmp_path / "d"))
    location = locate(tmp_path / "d" / "t")
    fields = as_table_schema(COLUMNS).fields
    spec = {"identity": IdentityColumn(), "nullable": False}
    first = fields[0].model_copy(update=spec)
    design = new_table(
        "t", as_table_schema(COLUMNS).model_copy(update={"fields": (first, fields[1])})
    )
    id_ = TRANSACTIONS.begin(locate_existing(tmp_path / "d"), CommitSettings())
    with TRANSACTIONS.within(id_):
        state = TRANSACTIONS.to_write(location)
        assert state is not None
        created = plan_write(location, state.snapshot, "append", create=design)
        state.add(created, partial(written_statement, created, ()))
        planned = known(plan_write(location, state.snapshot, "append"))
        assert [*draw(planned, 2), *draw(planned, 2)] == [1, 2, 3, 4]
        TRANSACTIONS.end(lambda transaction: transaction.rollback())
    assert database.refresh().epoch == 0


def entries(planned: str, *ids: int) -> tuple[RowSetEntry, ...]:
    """One task's rows that bring values."""
    rows = pa.table({"id": pa.array(ids, pa.int64()), "v": ["x"] * len(ids)})
    job = WriteJob.model_validate_json(planned)
    store = open_store(job.address)
    return write_through(new_rows(job.target, None), rows.to_batches(), store, job.job_id)


@pytest.mark.parametrize("given", [2, 3, 50])
def test_a_value_that_one_task_gets_and_another_one_brings_is_refused(
    tmp_path: Path, given: int
) -> None:
    table = make(tmp_path / "t", always=False)
    planned = job(table)
    column = WriteJob.model_validate_json(planned).target.table_schema.fields[0].id
    one = entries(planned, *draw(planned, 3))
    other = entries(planned, -7, given)
    record_identity({"job": planned, "column": column, "farthest": str(given)})
    messages = [rows_report(each) for each in (one, other)]
    commit = {"job": planned, "messages": messages, "database": None}
    if given <= 3:
        with pytest.raises(InvalidInputError, match=f"has the value {given} in identity column"):
            commit_write(commit)
        assert colonnade.open(table.path).scan().to_arrow().num_rows == 0
    else:
        commit_write(commit)
        assert colonnade.open(table.path).next_identities == {"id": 51}


def test_spark_is_refused_what_it_would_sort_before_values_are_known(tmp_path: Path) -> None:
    spec = {"id": IdentityColumn(step=-1)}
    table = colonnade.create(str(tmp_path / "s"), COLUMNS, identity=spec, sort_key=["id"])
    target = WriteJob.model_validate_json(job(table)).target
    with pytest.raises(InvalidInputError, match="identity column 'id'.* colonnade.open"):
        require_fillable(target)
    table = colonnade.create(str(tmp_path / "t"), COLUMNS, identity=spec, sort_key=["v", "id desc"])
    require_fillable(WriteJob.model_validate_json(job(table)).target)
