"""The RowSets of a verification are divided into jobs of similar bytes, each exactly once."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.ids import TableId
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.store import StoreAddress
from colonnade.tableformat.verify.job import Unit, VerifyJob, plan_jobs
from tests.log_samples import entry, table_state

ADDRESS = StoreAddress("s3://bucket/db")
TABLES = [
    replace(table_state(), id=TableId(f"{number:016x}"), name=f"t{number}") for number in range(3)
]


@given(
    st.lists(st.lists(st.integers(1, 1000), min_size=1, max_size=8), min_size=1, max_size=3),
    st.integers(1, 6),
)
def test_each_rowset_is_in_one_job_of_its_table_and_no_job_is_far_above_its_share(
    sizes: list[list[int]], count: int
) -> None:
    units = [
        Unit(table, as_written(entry(rows), number), epoch=5)
        for table, of_table in zip(TABLES, sizes, strict=False)
        for number, rows in enumerate(of_table)
    ]
    jobs = list(plan_jobs(ADDRESS, 2, units, count))
    planned = [(job.view.table, rowset) for job in jobs for rowset in job.view.rowsets]
    assert planned == [(unit.table.name, unit.rowset) for unit in units]
    assert all(job.view.rowsets and job.depth == 2 and job.epoch == 5 for job in jobs)
    share = sum(unit.rowset.byte_count for unit in units) / count
    largest = max(unit.rowset.byte_count for unit in units)
    assert all(job.bytes < share + largest for job in jobs)
    assert len(jobs) <= count + len(sizes)


def test_a_job_survives_the_way_to_another_machine() -> None:
    unit = Unit(TABLES[0], as_written(entry(), 3))
    [job] = plan_jobs(ADDRESS, 1, [unit], 4)
    assert VerifyJob.model_validate_json(job.model_dump_json()) == job
    assert job.bytes == unit.rowset.byte_count
