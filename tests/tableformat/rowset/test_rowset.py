"""Written rows are read back, in every place, cut by cut, and memory stays small."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.store import MemoryStore
from tests.strategies import batches, identical, schemas
from tests.tableformat.rowset.written import PLACES, read, write


@pytest.mark.parametrize("place", PLACES)
@settings(max_examples=60, deadline=None)
@given(st.data())
def test_every_schema_comes_back_from_every_place(place: str, data: st.DataObject) -> None:
    schema = data.draw(schemas())
    rows = data.draw(batches(schema, min_rows=1, max_rows=60))
    size = data.draw(st.sampled_from((1, 7, 65_536)))
    wide = data.draw(st.sampled_from((16, 200, 8 * 2**20)))
    step = data.draw(st.integers(1, 60))
    parts = [rows.slice(at, step) for at in range(0, rows.num_rows, step)]
    store = MemoryStore()
    entries = write(store, schema, *parts, block_rows=size, block_bytes=wide, **PLACES[place])
    assert [entry.rows for entry in entries] == [rows.num_rows]
    constant = entries[0].place != place
    assert not constant or place == "directory"  # a RowSet without any block bytes
    found = read(store, schema, entries).combine_chunks().to_batches()
    assert identical(pa.concat_batches(found), rows)
