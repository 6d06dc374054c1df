"""Keys of several live rows are found, in one part or in many."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.view import View
from colonnade.tableformat.keys import parts
from colonnade.tableformat.keys.repeated import repeated_keys
from tests.tableformat.statements.tables import made

SCHEMA = pa.schema([pa.field("k", pa.int64(), nullable=False), ("v", pa.int64())])


@pytest.mark.parametrize("part_rows", [parts.PART_ROWS, 2])
@settings(max_examples=25, deadline=None)
@given(
    batches=st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=5), max_size=3),
    deleted=st.integers(0, 5),
)
def test_keys_that_live_rows_share_are_found(
    part_rows: int, batches: list[list[int]], deleted: int
) -> None:
    table = made(schema=SCHEMA)
    for each in batches:
        table.append(pa.table([each, each], SCHEMA))
    table.delete(f"k = {deleted}")
    counts = Counter(k for each in batches for k in each if k != deleted)
    key = TableSchema(fields=table._state.schema.fields[:1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "PART_ROWS", part_rows)
        rowsets = table._log.rowsets.read(table._state)
        found = list(repeated_keys(table._log.store, View.stored(table._state, rowsets), key))
    assert {each.text: each.rows for each in found} == {
        f"k = {k}": n for k, n in counts.items() if n > 1
    }
    for key_of_rows in found:
        holding = [b for b in batches if int(key_of_rows.text[4:]) in b]
        assert len(key_of_rows.rowsets) == len(holding)
