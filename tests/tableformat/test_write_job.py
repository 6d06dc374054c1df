"""Write jobs: what attempts, re-sent commits and other processes may do to one write."""

from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from tableformat.arrow_types import as_table_schema
from tableformat.location import locate
from tableformat.table_design import new_table
from tableformat.write_job import (
    WriteJob,
    commit_write,
    decode_entries,
    encode_entries,
    plan_write,
    write_rows,
)

SCHEMA = pa.schema([("id", pa.int64())])


def rows(first: int, count: int = 5000) -> pa.RecordBatch:
    return pa.record_batch({"id": range(first, first + count)}, SCHEMA)


@pytest.fixture
def job(tmp_path: Path) -> WriteJob:
    location = locate(tmp_path / "t")
    return plan_write(location, None, "append", create=new_table("t", as_table_schema(SCHEMA)))


def ids(path: Path) -> list[int]:
    return colonnade.open(path).scan().to_arrow()["id"].to_pylist()


def test_of_several_attempts_at_a_task_only_the_reported_one_is_visible(
    job: WriteJob, tmp_path: Path
) -> None:
    first = write_rows(job, [rows(0)])
    speculative = write_rows(job, [rows(0)])
    assert {e.object for e in first}.isdisjoint(e.object for e in speculative)
    commit_write(job, speculative)
    write_rows(job, [rows(0)])  # an attempt that nobody stopped writes on after the commit
    assert ids(tmp_path / "t") == list(range(5000))


def test_a_commit_that_is_sent_again_lands_once(job: WriteJob, tmp_path: Path) -> None:
    message = encode_entries(write_rows(job, [rows(0)]))
    elsewhere = WriteJob.model_validate_json(job.model_dump_json())
    epochs = [commit_write(j, decode_entries(message)).epoch for j in (job, elsewhere, job)]
    assert epochs == [1, 1, 1]
    assert ids(tmp_path / "t") == list(range(5000))


def test_of_two_first_writes_to_a_path_one_creates_the_table(job: WriteJob, tmp_path: Path) -> None:
    rival = plan_write(
        locate(tmp_path / "t"), None, "append", create=new_table("t", as_table_schema(SCHEMA))
    )
    entries = write_rows(job, [rows(0)])
    commit_write(rival, write_rows(rival, [rows(10_000)]))
    with pytest.raises(colonnade.AlreadyExistsError, match="'t'"):
        commit_write(job, entries)
    assert ids(tmp_path / "t") == list(range(10_000, 15_000))
