"""What tasks of another engine report of a column is committed, or refused if it does not fit."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from colonnade import ArrowTable
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from colonnade.tableformat.rowset.write_options import WriteOptions
from colonnade.tableformat.statements.columns.computed import ComputedWriter, by_function
from colonnade.tableformat.statements.columns.fill import (
    Fill,
    FillPlan,
    fill_parameters,
    fill_target,
    with_columns,
)
from colonnade.tableformat.statements.columns.fill_job import (
    FillJob,
    UnfilledError,
    decode_filled,
    leave_to_engine,
)
from colonnade.tableformat.statements.columns.written_columns import encode_rowsets, task_rowsets
from colonnade.tableformat.table.computed_columns import NewColumn
from colonnade.tableformat.types.input.column_types import as_column
from colonnade.tableformat.write.job import plan_write
from colonnade.tableformat.write.replaced_columns import WritePlace
from tests.tableformat.statements.tables import another, filled, rows
from tests.task_reports import encode_rows


def planned(table: ArrowTable) -> tuple[FillJob, FillPlan]:
    """A job that adds a column `twice`, as it comes back from JSON."""
    before = table._state
    new = NewColumn(as_column("twice", pa.int64()))
    altered = new.alter(before)
    target = fill_target(with_columns(before, altered), "twice", is_new=True)
    job = FillJob(
        write=plan_write(table._location, table._snapshot, "append"),
        operation="add_column",
        altered=altered,
        target=target.id,
        reads=(before.schema.field("id").id,),
        parameters=fill_parameters(target),
    )
    again = FillJob.model_validate_json(job.model_dump_json())
    assert again == job
    return again, again.plan(before)


def written(table: ArrowTable, job: FillJob, plan: FillPlan, rowset: LiveRowSet) -> str:
    """The report of a task that has written the column of a RowSet."""
    store = table._log.store
    place = WritePlace(store, plan.table.id, plan.table.prefix, job.write.job_id, 1024)
    column = by_function(plan.table, plan.target, lambda batch: pc.multiply(batch["id"], 2), ["id"])
    writer = ComputedWriter(plan.table, None, column, None, place, WriteOptions())
    [done] = writer.write(table._snapshot, View.stored(plan.table, [rowset]))
    assert done.operation is not None
    stored = {
        **done.operation.replacement.model_dump(mode="json", exclude={"columns"}),
        "rows": rowset.entry.rows,
        "cuts": rowset.entry.cuts,
    }
    live = [n for n in range(rowset.entry.rows) if n != 3 or not rowset.deleted_count]
    report: dict[str, Any] = {
        "rowset": rowset.id,
        "stored": {key: value for key, value in stored.items() if value is not None},
        "rows": len(live),
        "changed": {str(rowset.id): encode_rows(live)},
    }
    return json.dumps([report])


def test_the_reports_of_all_tasks_become_one_epoch() -> None:
    table = filled()
    table.delete("id = 3")
    job, plan = planned(table)
    rowsets = table._log.rowsets.read(table._state)
    asked = task_rowsets(table._log.store, View.stored(table._state, rowsets))
    assert [(each["rows"], each["live"]) for each in asked] == [(10, 9), (10, 10)]
    fill = Fill(table._log, plan, leave_to_engine)
    with pytest.raises(UnfilledError) as left:
        fill.catch_up(table._snapshot)
    assert [*left.value.view.rowsets] == rowsets
    reports = [written(table, job, plan, each) for each in rowsets]
    another(table).append(rows(7000))
    fill.add(decode_filled(table._log, job, plan, [encode_rowsets(rowsets)], reports))
    head = table._refresh()
    [new] = fill.missing(head).rowsets
    more = [written(table, job, plan, new)]
    fill.add(decode_filled(table._log, job, plan, [encode_rowsets([new])], more))
    after = table._log.commit(fill.change(job.write, job.altered, job.parameters), table._snapshot)
    found = table.scan(["id", "twice"], epoch=after.epoch).to_arrow().to_pylist()
    assert sorted(row["id"] for row in found) == [
        *(i for i in range(10) if i != 3),
        *range(100, 110),
        7000,
    ]
    assert all(row["twice"] == 2 * row["id"] for row in found)
    assert table.verify().is_sound


def test_a_rowset_that_was_not_asked_for_is_refused() -> None:
    table = filled()
    job, plan = planned(table)
    one, two = table._log.rowsets.read(table._state)
    report = written(table, job, plan, two)
    with pytest.raises(InvalidInputError, match="column 'twice' of RowSet 1 of table 't'"):
        decode_filled(table._log, job, plan, [encode_rowsets([one])], [report])
    [none] = decode_filled(table._log, job, plan, [encode_rowsets([one])], [])
    assert none.operation is None
