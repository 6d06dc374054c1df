"""Keys that the table has come first; rows of the table are read only where they count."""

from __future__ import annotations

import pyarrow as pa

from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.view import View
from colonnade.tableformat.keys.find import find_rows
from colonnade.tableformat.keys.key_numbers import key_numbers
from colonnade.tableformat.keys.key_set import KeySet
from colonnade.tableformat.keys.policy import policy_of
from colonnade.tableformat.statements.keyed.batch import keyed_batch
from colonnade.tableformat.statements.keyed.meeting import Meeting, meet
from tests.tableformat.statements.tables import made, rows


def meeting(data: pa.Table, **properties: str) -> Meeting:
    """The meeting of a batch with a table that has the keys 0 to 4."""
    table = made(key=("id",), properties=properties)
    table.append(rows(*range(5)))
    state, store = table._state, table._log.store
    key = TableSchema(fields=key_fields(state.primary_key, state.schema))
    policy = policy_of(state)
    batch = keyed_batch(state, data, key)
    numbers, firsts = key_numbers(batch.rows, key)
    keys = KeySet.of(batch.rows.select(["id"]).take(firsts), key)
    found = list(find_rows(store, View.stored(state, table._log.rowsets.read(state)), keys))
    return meet(store, state, key, batch, numbers, found, policy)


def test_keys_of_the_table_come_first_and_then_new_keys_as_they_arrived() -> None:
    met = meeting(rows(9, 3, 8, 1, 9, text="new"))
    assert met.matched == 2
    assert [row["id"] for part in met.updated() for row in part.to_pylist()] == [1, 3]
    assert [row["id"] for part in met.inserted() for row in part.to_pylist()] == [9, 8]


def test_rows_of_the_table_are_not_read_where_whole_rows_replace_them() -> None:
    assert meeting(rows(3, 9)).stored == 0
    assert meeting(rows(3, 9).drop_columns(["flag"])).stored == 1
    assert meeting(rows(3, 9), **{"merge.text": "coalesce"}).stored == 1
    assert meeting(rows(3, 9), sequence="day").stored == 1
