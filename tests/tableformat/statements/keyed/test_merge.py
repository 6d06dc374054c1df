"""Incoming rows are matched with existing rows, and what is written stays until it is withdrawn."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from colonnade.manifests.arrays.origins import NEW
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.model.columns.properties import by_id
from colonnade.manifests.state.view import View
from colonnade.tableformat.keys.find import find_rows
from colonnade.tableformat.keys.key_set import KeySet, key_schema
from colonnade.tableformat.statements.keyed.incoming import batch_rows, written_rows
from colonnade.tableformat.statements.keyed.merge import MatchedRows, MergedRowSets, match
from colonnade.tableformat.statements.keyed.upsert import Upsert
from colonnade.tableformat.statements.statement import write_batches
from tests.tableformat.statements.tables import log_of, made, rows


def matched(data: pa.Table, **properties: str) -> MatchedRows:
    """A batch matched with a table that has the keys 0 to 4."""
    table = made(key=("id",), properties=properties)
    table.append(rows(*range(5)))
    state, store = table._state, table._log.store
    incoming = batch_rows(log_of(table), state, data)
    [part] = incoming.parts
    found = find_rows(store, View.stored(state, table._log.rowsets.read(state)), part.keys)
    batch = incoming.read(part, np.arange(data.num_rows))
    return match(store, state, incoming, batch, part.numbers, list(found))


def test_keys_of_the_table_come_first_and_then_new_keys_as_they_arrived() -> None:
    found = matched(rows(9, 3, 8, 1, 9, text="new"))
    assert found.matched == 2
    assert [row["id"] for part in found.updated() for row in part.to_pylist()] == [1, 3]
    assert [row["id"] for part in found.inserted() for row in part.to_pylist()] == [9, 8]


def test_the_example_of_the_header_holds() -> None:
    found = matched(rows(9, 3, 9).drop_columns(["flag"]))
    assert (found.existing, found.keys.tolist()) == (1, [0, 1, 0, 1])
    assert found.origins.tolist() == [3, NEW]
    assert [row["id"] for part in found.updated() for row in part.to_pylist()] == [3]
    assert [row["id"] for part in found.inserted() for row in part.to_pylist()] == [9]


def test_rows_of_the_table_are_not_read_where_whole_rows_replace_them() -> None:
    assert matched(rows(3, 9)).existing == 0
    assert matched(rows(3, 9).drop_columns(["flag"])).existing == 1
    assert matched(rows(3, 9), **{"merge.text": "coalesce"}).existing == 1
    assert matched(rows(3, 9), sequence="day").existing == 1


JOB = "0" * 16


def test_rows_are_left_out_and_a_rowset_without_other_rows_is_not_added() -> None:
    table = made(key=("id",))
    state = table._state
    first = write_batches(table._log, state, JOB, rows(1, 2, 3).to_batches())
    other = write_batches(table._log, state, JOB, rows(4).to_batches())
    incoming = written_rows(table._log.store, state, (*first, *other))
    merged = MergedRowSets(log_of(table), state, incoming, JOB)
    [part] = incoming.parts
    assert part.places[0].tolist() == [0, 0, 0, 1]
    merged.leave_out(part, np.array([1, 3]))
    # Nothing of this was written by the merge itself.
    merged.withdraw(KeySet.of(pa.table({"id": [1]}), key_schema(state)))
    merged.withdraw_all()
    result = merged.result((), 2, 0, {})
    assert [(each.rowset.object, list(each.deleted)) for each in result.added] == [
        (first[0].object, [1])
    ]
    assert result.metrics["rows_inserted"] == 2


def test_a_table_that_merges_in_another_way_is_a_conflict() -> None:
    table = made(key=("id",))
    upsert = Upsert(
        log_of(table), table._state, batch_rows(log_of(table), table._state, rows(1)), JOB
    )
    check = upsert.guard().check
    assert check is not None
    check(table._state)
    check(replace(table._state, stored_properties={"comment": "other"}))
    stated = by_id({"merge.text": "first"}, table._state.schema)
    with pytest.raises(ConflictError, match="merge modes of table 't' have changed"):
        check(replace(table._state, stored_properties=stated))
