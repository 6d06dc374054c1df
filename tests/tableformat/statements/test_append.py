"""Given rows are added and count as inserted. An unfit column is refused by its name."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.operations import AddRowSet
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.statements.append import evaluate_append
from colonnade.tableformat.statements.overwrite import evaluate_overwrite
from colonnade.tableformat.write.settings import WriteSettings
from tests.tableformat.statements.tables import log_of, made, rows

JOB = "0123456789abcdef"


def test_appended_rows_count_as_inserted_and_are_not_yet_in_the_table() -> None:
    table = made()
    batches = rows(*range(10)).to_batches(max_chunksize=3)
    settings = WriteSettings(max_records=4)
    statement = evaluate_append(log_of(table), table._state, batches, JOB, settings)
    added = [op.rowset for op in statement.ops if isinstance(op, AddRowSet)]
    assert [each.rows for each in added] == [4, 4, 2]
    assert all(each.object.startswith(JOB) for each in added)
    assert statement.counts.rows_inserted == 10
    assert (statement.operation, statement.is_plain) == ("append", True)
    assert table._refresh().table("t").rowsets.rowset_count == 0


def test_an_overwrite_is_an_append_that_deletes_every_other_row() -> None:
    table = made()
    statement = evaluate_overwrite(log_of(table), table._state, rows(1).to_batches(), JOB)
    assert statement.overwrites_all
    assert statement.operation == "overwrite"
    nothing = evaluate_overwrite(log_of(table), table._state, [], JOB)
    assert not nothing.is_empty
    assert evaluate_append(log_of(table), table._state, [], JOB).is_empty


def test_an_unfit_column_is_named_and_nothing_is_written() -> None:
    store = MemoryStore()
    table = made(store)
    before = {each.name for each in store.list("")}
    wrong = pa.table(
        {
            **{n: c for n, c in zip(rows(1).column_names, rows(1).columns, strict=True)},
            "price": ["a lot"],
        }
    )
    with pytest.raises(InvalidInputError, match="price"):
        evaluate_append(log_of(table), table._state, wrong.to_batches(), JOB)
    assert {each.name for each in store.list("")} == before
