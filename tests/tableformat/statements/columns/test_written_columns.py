"""What tasks of another engine report of several columns, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from pyroaring import BitMap

from colonnade import ArrowTable
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.write_options import WriteOptions
from colonnade.tableformat.statements.columns.written_columns import (
    decode_columns,
    encode_rowsets,
    task_rowsets,
)
from colonnade.tableformat.types.storage_form import to_storage
from colonnade.tableformat.write.job import WriteJob, plan_write
from colonnade.tableformat.write.replaced_columns import WritePlace, write_replacement
from tests.tableformat.statements.tables import filled
from tests.task_reports import encode_rows


def planned(table: ArrowTable) -> WriteJob:
    return plan_write(table._location, table._snapshot, "append")


def report(
    table: ArrowTable,
    job: WriteJob,
    rowset: LiveRowSet,
    fields: Sequence[SchemaField],
    changed: list[int],
) -> str:
    """The report of a task that has written columns of a RowSet; the values stay as they are."""
    state = table._state
    place = WritePlace(table._log.store, state.id, state.prefix, job.job_id, 1024)
    schema = state.schema.model_copy(update={"fields": tuple(fields)})
    stretches = (
        to_storage(batch, schema)
        for _, batch in RowSetReader(table._log.store, View.written(state.prefix), rowset).read(
            fields
        )
    )
    done = write_replacement(place, rowset, fields, stretches, BitMap(changed), WriteOptions())
    stored = {
        **done.replacement.model_dump(mode="json", exclude={"columns"}),
        "rows": rowset.entry.rows,
        "cuts": rowset.entry.cuts,
    }
    return json.dumps(
        [
            {
                "rowset": rowset.id,
                "stored": {key: value for key, value in stored.items() if value is not None},
                "rows": len(changed),
                "changed": {str(rowset.id): encode_rows(changed)},
            }
        ]
    )


def test_columns_are_replaced_together_in_the_rows_that_tasks_report() -> None:
    table = filled()
    job, state = planned(table), table._state
    one, two = table._log.rowsets.read(state)
    fields = [state.schema.field("price"), state.schema.field("flag")]
    reports = [report(table, job, two, fields, [0, 4])]
    asked = [encode_rowsets([one, two])]
    none, some = decode_columns(table._log, job, state, fields, asked, reports)
    assert (none.rowset.id, none.operation, none.rows) == (one.id, None, 0)
    assert some.operation is not None
    assert some.operation.replacement.columns == tuple(field.id for field in fields)
    assert (some.operation.rowset, some.rows) == (two.id, 2)
    assert some.operation.changed is not None
    everything = [report(table, job, two, fields, list(range(two.entry.rows)))]
    [_, all_rows] = decode_columns(table._log, job, state, fields, asked, everything)
    assert all_rows.operation is not None
    assert all_rows.operation.changed is None


def test_a_report_of_other_rows_than_the_rowset_has_is_refused() -> None:
    table = filled()
    job, state = planned(table), table._state
    one, two = table._log.rowsets.read(state)
    fields = [state.schema.field("price"), state.schema.field("flag")]
    given = report(table, job, one, fields, [1])
    other = json.loads(given)
    other[0]["stored"]["rows"] -= 1
    for reports, asked in (([given], [two]), ([json.dumps(other)], [one])):
        with pytest.raises(InvalidInputError, match="column 'price', 'flag' of RowSet"):
            decode_columns(table._log, job, state, fields, [encode_rowsets(asked)], reports)


def test_tasks_learn_the_rows_of_a_rowset_and_its_cuts() -> None:
    table = filled()
    rowsets = table._log.rowsets.read(table._state)
    assert task_rowsets(table._log.store, View.stored(table._state, rowsets)) == [
        {"id": r.id, "rows": r.entry.rows, "live": r.row_count, "cuts": r.entry.cuts}
        for r in rowsets
    ]
