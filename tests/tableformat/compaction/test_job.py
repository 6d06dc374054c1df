"""A group of a plan as a job: it survives JSON, and follows what concurrent writers did."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade import ArrowTable
from colonnade.manifests.compaction.plan import CompactionGroup, CompactionPlan
from colonnade.manifests.compaction.policy import CompactionPolicy
from colonnade.manifests.errors import ConflictError
from colonnade.tableformat.compaction.job import CompactionJob, plan_job
from tests.tableformat.statements.tables import made, rows


def planned(table: ArrowTable, *rowsets: int) -> CompactionPlan:
    """A plan to rewrite some RowSets of a table."""
    plan = table.optimize().plan()
    live = {each.id: each for each in table._log.rowsets.read(table._state)}
    chosen = [live[number] for number in rowsets]
    group = CompactionGroup(
        rowsets=rowsets,
        kind="rewrite",
        reason="small",
        rows=sum(each.entry.rows for each in chosen),
        deleted_rows=0,
        bytes_in=sum(each.byte_count for each in chosen),
        bytes_out=sum(each.byte_count for each in chosen),
    )
    return plan.model_copy(update={"groups": (group,), "policy": CompactionPolicy()})


def job_of(
    table: ArrowTable, plan: CompactionPlan, order_by: tuple[int, ...] = ()
) -> CompactionJob:
    return plan_job(table._log, table._refresh(), plan, plan.groups[0], order_by)


@pytest.fixture
def table() -> ArrowTable:
    """Three RowSets, with the ids 0 to 2 and two rows each."""
    made_table = made()
    for number in range(3):
        made_table.append(rows(2 * number, 2 * number + 1))
    return made_table


def test_a_job_survives_json_without_the_bounds_of_its_sources(table: ArrowTable) -> None:
    job = job_of(table, planned(table, 0, 1, 2), order_by=(1,))
    text = job.to_json()
    again = CompactionJob.model_validate_json(text)
    assert "statistics" not in text
    assert again.to_json() == text
    assert (again.base, again.group, again.target) == (job.base, job.group, job.target)
    assert [each.id for each in again.view.rowsets] == [0, 1, 2]


def test_rowsets_that_were_dropped_meanwhile_are_left_out(table: ArrowTable) -> None:
    plan = planned(table, 0, 1, 2)
    table.delete("id in (2, 3)")
    job = job_of(table, plan)
    assert job.group.rowsets == (0, 2)
    assert job.group.rows == 4
    assert job.group.bytes_in == sum(each.byte_count for each in job.view.rowsets)


def test_a_lone_rowset_is_rewritten_only_for_its_deleted_rows(table: ArrowTable) -> None:
    plan = planned(table, 0, 1)
    table.delete("id in (0, 1)")
    with pytest.raises(ConflictError, match="plan the compaction again"):
        job_of(table, plan)
    table.delete("id = 2")
    job = job_of(table, plan)
    assert (job.group.rowsets, job.group.deleted_rows) == ((1,), 1)


def test_a_group_whose_rowsets_or_order_columns_are_missing_is_refused(table: ArrowTable) -> None:
    plan = planned(table, 0, 1, 2)
    with pytest.raises(ConflictError, match="its columns changed"):
        job_of(table, plan, order_by=(1, 99))
    table.overwrite(pa.Table.from_batches([], rows(1).schema))
    with pytest.raises(ConflictError, match="were dropped before"):
        job_of(table, plan)


def test_a_group_of_an_earlier_layout_is_divided_by_the_current_one(table: ArrowTable) -> None:
    plan = planned(table, 0, 1, 2)
    table.partition_by("day")
    assert job_of(table, plan).group.kind == "repartition"
    table.partition_by()
    assert job_of(table, plan).group.kind == "rewrite"
