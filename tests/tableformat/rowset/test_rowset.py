"""Written rows are read back, in every place, cut by cut, and memory stays small."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.rowset.column import Order, column_of
from tests.examples_of import examples
from tests.strategies import batches, identical, schemas
from tests.tableformat.rowset.written import PLACES, read, write


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@settings(max_examples=examples(60), deadline=None)
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
    if place == "directory":
        assert entries[0].place in ("directory", "packed")  # packed: without any block bytes
    else:
        assert entries[0].place == place.replace("one object", "packed")
    found = read(store, schema, entries).combine_chunks().to_batches()
    assert identical(pa.concat_batches(found), rows)


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_blocks_that_waited_on_disk_become_the_same_object(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    rows = data.draw(batches(schema, min_rows=1, max_rows=60))
    filtered = [
        field.id
        for field in schema.fields
        if field.type != "boolean" and column_of(field).order is not Order.NONE
    ]
    bloom = data.draw(st.sets(st.sampled_from(filtered))) if filtered else ()
    limit = data.draw(st.integers(0, 2000))
    found = []
    for packed_bytes in (limit, 2**30):
        store = MemoryStore()
        (entry,) = write(
            store,
            schema,
            *(rows.slice(at, 7) for at in range(0, rows.num_rows, 7)),
            **{"block_rows": 5, "inline_bytes": 0, "one_object": True},
            packed_bytes=packed_bytes,
            bloom_columns=frozenset(bloom),
        )
        (info,) = store.list("")
        found.append((entry.model_copy(update={"object": ""}), store.get(info.name)))
    assert found[0] == found[1]
