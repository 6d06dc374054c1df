"""Tasks write RowSets: of several attempts one counts, and a failed one leaves nothing behind."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from colonnade.manifests.errors import (
    InvalidInputError,
)
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.write.job import WriteJob
from colonnade.tableformat.write.run import write_rows
from colonnade.tableformat.write.settings import WriteSettings
from tests.planned_write import ids, planned, rows


@pytest.fixture
def job(tmp_path: Path) -> WriteJob:
    return planned(tmp_path)


def test_of_several_attempts_at_a_task_only_the_reported_one_is_visible(
    job: WriteJob, tmp_path: Path
) -> None:
    first = write_rows(job, [rows(0)])
    speculative = write_rows(job, [rows(0)])
    assert {e.object for e in first}.isdisjoint(e.object for e in speculative)
    commit_written(job, speculative)
    write_rows(job, [rows(0)])  # an attempt that was not stopped writes on after the commit
    assert ids(tmp_path / "t") == list(range(5000))


def test_after_an_error_no_object_of_the_task_is_left(job: WriteJob, tmp_path: Path) -> None:
    wide = job.model_copy(update={"settings": WriteSettings(max_records=1000)})

    def failing() -> Iterator[pa.RecordBatch]:
        for first in range(0, 50_000, 5000):
            yield rows(first)
        yield pa.record_batch({"id": ["x"]})

    with pytest.raises(InvalidInputError, match="'id'"):
        write_rows(wide, failing())
    assert not list((tmp_path / "t").rglob("*.*"))
