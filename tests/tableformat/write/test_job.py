"""Write jobs: what attempts, re-sent commits and other processes may do to one write."""

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import (
    CommitUnknownError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import open_store
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from colonnade.tableformat.location import locate
from colonnade.tableformat.predicate import parse_predicate
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.types.input.column_types import as_table_schema
from colonnade.tableformat.write.job import WriteJob, WriteMode, plan_write
from colonnade.tableformat.write.run import decode_entries, encode_entries, write_rows
from tests.planned_write import SCHEMA, ids, planned, rows


@pytest.fixture
def job(tmp_path: Path) -> WriteJob:
    return planned(tmp_path)


def test_no_write_is_planned_for_a_store_that_cannot_commit() -> None:
    create = new_table("t", as_table_schema(SCHEMA))
    with pytest.raises(InvalidInputError, match=r"memory://.* is read-only: .* S3, GCS"):
        plan_write(locate("memory://db/t"), None, "append", create=create)


def test_a_commit_that_is_sent_again_lands_once(job: WriteJob, tmp_path: Path) -> None:
    message = encode_entries(write_rows(job, [rows(0)]))
    elsewhere = WriteJob.model_validate_json(job.model_dump_json())
    epochs = [commit_written(j, decode_entries(message)).epoch for j in (job, elsewhere, job)]
    assert epochs == [1, 1, 1]
    assert ids(tmp_path / "t") == list(range(5000))


def test_a_job_is_not_committed_to_another_database_at_its_path(
    job: WriteJob, tmp_path: Path
) -> None:
    commit_written(job, write_rows(job, [rows(0)]))
    location = locate(tmp_path / "t")
    append = plan_write(location, Log(location.store).reader.read_head(), "append")
    written = write_rows(append, [rows(5000)])
    shutil.rmtree(tmp_path / "t")
    colonnade.create(tmp_path / "t", SCHEMA).append(pa.Table.from_batches([rows(7)]))
    with pytest.raises(NotFoundError, match="replaced by another one .* run the write again"):
        commit_written(append, written)
    assert ids(tmp_path / "t") == list(range(7, 5007))


def test_of_two_first_writes_to_a_path_one_creates_the_table(job: WriteJob, tmp_path: Path) -> None:
    rival = plan_write(
        locate(tmp_path / "t"), None, "append", create=new_table("t", as_table_schema(SCHEMA))
    )
    entries = write_rows(job, [rows(0)])
    commit_written(rival, write_rows(rival, [rows(10_000)]))
    with pytest.raises(colonnade.AlreadyExistsError, match="'t'"):
        commit_written(job, entries)
    assert ids(tmp_path / "t") == list(range(10_000, 15_000))


def planned_append(path: Path) -> WriteJob:
    """An append to a table that is there, planned on its newest epoch."""
    location = locate(path)
    return plan_write(location, Log(location.store).reader.read_head(), "append")


def let_go(path: Path, keeping: int) -> None:
    """A vacuum that keeps some of the newest epochs."""
    vacuum(Log(open_store(path)), VacuumRequest(0, keeping, threads=1))


@pytest.mark.parametrize("epochs", [1, 3])
def test_a_commit_that_is_sent_again_after_its_base_was_removed_is_never_called_failed(
    epochs: int, job: WriteJob, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    commit_written(job, write_rows(job, [rows(0)]))
    again = planned_append(path)
    entries = write_rows(again, [rows(10_000)])
    landed = commit_written(again, entries)
    table = colonnade.open(path)
    for number in range(3):
        table.append(rows(20_000 + number, 1))
    let_go(path, keeping=epochs + 1)
    log = Log(open_store(path))
    if epochs == 3:
        assert commit_written(again, entries, log).epoch == landed.epoch
    else:
        with pytest.raises(CommitUnknownError, match=again.transaction):
            commit_written(again, entries, log)
    assert len(ids(path)) == 10_003


def test_an_unsent_change_is_refused_if_its_base_was_removed(job: WriteJob, tmp_path: Path) -> None:
    path = tmp_path / "t"
    commit_written(job, write_rows(job, [rows(0)]))
    late, empty = planned_append(path), planned_append(path)
    entries = write_rows(late, [rows(1)])
    table = colonnade.open(path)
    for number in range(3):
        table.append(rows(20_000 + number, 1))
    let_go(path, keeping=1)
    with pytest.raises(ConflictError, match="was removed by retention"):
        commit_written(late, entries, Log(open_store(path)), fresh=True)
    assert commit_written(empty, ()).epoch == colonnade.open(path).epoch


def test_a_commit_that_is_sent_again_on_a_base_in_memory_is_found_below_the_floor(
    job: WriteJob, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    commit_written(job, write_rows(job, [rows(0)]))
    base = Log(open_store(path)).reader.read_head()
    late = planned_append(path)
    table = colonnade.open(path)
    table.append(rows(20_000, 1))
    entries = write_rows(late, [rows(10_000)])
    landed = commit_written(late, entries, base=base)
    table.append(rows(20_001, 1))
    for keeping in (3, 1):
        let_go(path, keeping)
        assert commit_written(late, entries, base=base).epoch == landed.epoch
    assert len(ids(path)) == 10_002


def test_each_kind_of_job_replaces_what_its_mode_says(job: WriteJob, tmp_path: Path) -> None:
    path = tmp_path / "t"
    commit_written(job, write_rows(job, [rows(0)]))
    location, log = locate(path), Log(open_store(path))

    def write(given: pa.RecordBatch, mode: WriteMode, where: str | None = None) -> None:
        condition = None if where is None else parse_predicate(where)
        planned = plan_write(location, log.reader.read_head(), mode, where=condition)
        commit_written(planned, write_rows(planned, [given]), log)

    write(rows(0, 10), "overwrite", "id < 10")
    assert ids(path) == list(range(10, 5000)) + list(range(10))
    write(rows(7000, 3), "append")
    assert len(ids(path)) == 5003
    # A table without partitions is one partition.
    write(rows(9000, 2), "overwrite_partitions")
    assert ids(path) == [9000, 9001]
    write(rows(1, 1), "overwrite")
    assert ids(path) == [1]
    write(rows(1, 0), "overwrite")
    assert ids(path) == []


@pytest.mark.parametrize(("most", "place"), [(2**14, "inline"), (0, "packed")])
def test_every_job_carries_what_its_log_stores_of_small_rowsets(
    most: int, place: str, tmp_path: Path
) -> None:
    limits = Limits(inline_rowset_bytes=most, in_place_bytes=-(2**40))
    store = open_store(tmp_path / "db")
    database = create_database(store, lone_table=False)
    db = colonnade.ArrowDatabase(store, Log(store, limits=limits), database)
    table = db.create_table("t", SCHEMA)
    base = table._refresh()
    planned = plan_write(table._location, base, "append", limits=limits)
    entries = write_rows(WriteJob.model_validate_json(planned.model_dump_json()), [rows(0, 9)])
    commit_written(planned, entries, table._log, base, fresh=True)
    table.append(pa.Table.from_batches([rows(9, 9)]))
    table.update({"id": 103}, "id = 3")
    stored = table._log.rowsets.read(table._state)
    changed = [each.place for one in stored for each in one.replacements or ()]
    assert [*(one.entry.place for one in stored), *changed] == 3 * [place]
    assert len(changed) == 1
    table.optimize().option("min-rowsets", 2).executeCompaction()
    table.refresh()
    assert [one.entry.place for one in table._log.rowsets.read(table._state)] == [place]
