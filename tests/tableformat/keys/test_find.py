"""Only live rows are found, by RowSet and in ascending order, with the number of their key."""

from __future__ import annotations

import pyarrow as pa

from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.view import View
from colonnade.tableformat.keys.find import find_rows
from colonnade.tableformat.keys.key_set import KeySet
from tests.tableformat.statements.tables import filled


def test_live_rows_with_one_of_the_keys_are_found_by_rowset() -> None:
    table = filled()
    table.delete("id = 7")
    state = table._state
    key = TableSchema(fields=(state.schema.field("id"),))
    keys = KeySet.of(pa.table({"id": [105, 8, 7, 55, 3]}), key)
    rowsets = table._log.rowsets.read(state)
    found = list(find_rows(table._log.store, View.stored(state, rowsets), keys))
    assert [(each.rows.tolist(), each.keys.tolist()) for each in found] == [
        ([3, 8], [4, 1]),
        ([5], [0]),
    ]
    assert [each.rowset.id for each in found] == [each.id for each in rowsets]
