"""What a merge has written stays until it is withdrawn, or the table merges in another way."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest

from colonnade.manifests.errors import ConflictError
from colonnade.manifests.model.column_properties import by_id
from colonnade.tableformat.keys.key_set import KeySet
from colonnade.tableformat.statements.keyed.merging import Merging
from colonnade.tableformat.statements.statement import write_batches
from tests.tableformat.statements.tables import log_of, made, rows

JOB = "0" * 16


def test_lost_rows_are_left_out_and_a_rowset_of_lost_rows_is_not_added() -> None:
    table = made(key=("id",))
    state = table._state
    first = write_batches(table._log, state, JOB, rows(1, 2, 3).to_batches())
    other = write_batches(table._log, state, JOB, rows(4).to_batches())
    merging = Merging(log_of(table), state, JOB, None, (*first, *other))
    merging.lose(first[0], [1])
    merging.lose(other[0], [0])
    # Nothing of this was written by the merge itself.
    merging.withdraw(KeySet.of(pa.table({"id": [1]}), merging.key))
    merging.withdraw_all()
    result = merging.result((), 2)
    assert [(each.rowset.object, list(each.deleted)) for each in result.added] == [
        (first[0].object, [1])
    ]
    assert result.metrics["rows_inserted"] == 2


def test_a_table_that_merges_in_another_way_is_a_conflict() -> None:
    table = made(key=("id",))
    merging = Merging(log_of(table), table._state, JOB, None)
    merging.check_unaltered(table._state)
    merging.check_unaltered(replace(table._state, stored_properties={"comment": "other"}))
    stated = by_id({"merge.text": "first"}, table._state.schema)
    with pytest.raises(ConflictError, match="merge modes of table 't' have changed"):
        merging.check_unaltered(replace(table._state, stored_properties=stated))
