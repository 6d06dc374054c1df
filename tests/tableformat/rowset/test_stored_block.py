"""The blocks of a column are found by stretch: their ranges, their bytes and their filters."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pytest

from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet, as_written
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.rowset.column import column_of
from colonnade.tableformat.rowset.stored.column_segments import ColumnSegments
from colonnade.tableformat.rowset.stored_block import ColumnBlocks
from colonnade.tableformat.rowset.write_options import WriteOptions
from colonnade.tableformat.rowset.writer import RowSetWriter

FIELD = SchemaField(id=1, name="text", type="string")
SCHEMA = TableSchema(fields=(FIELD,))
CUT = 1000


@pytest.fixture(params=["inline", "packed", "directory"])
def written(request: pytest.FixtureRequest) -> tuple[MemoryStore, LiveRowSet]:
    """A RowSet of four stretches, whose blocks have Bloom filters."""
    place = request.param
    options = WriteOptions(
        block_rows=CUT,
        inline_bytes=2**20 if place == "inline" else 0,
        packed_bytes=0 if place == "directory" else 2**20,
        one_object=place == "packed",
        bloom_columns=frozenset({1}),
    )
    store = MemoryStore()
    values = pa.array([f"{number * 7919 % 10_007} and some text" for number in range(3500)])
    with RowSetWriter(store, "", "0" * 16, SCHEMA, (), options) as writer:
        writer.write_storage([values])
        [entry] = writer.close()
    assert entry.place == place
    return store, as_written(entry)


def opened(store: MemoryStore, rowset: LiveRowSet) -> ColumnBlocks:
    [blocks] = ColumnSegments(store, "", rowset).open([column_of(FIELD)])
    assert blocks is not None
    return blocks


def test_the_ranges_of_all_stretches_are_adjacent(
    written: tuple[MemoryStore, LiveRowSet],
) -> None:
    blocks = opened(*written)
    assert blocks.has_filters
    for piece in (blocks.piece, blocks.filter_piece):
        pieces = [piece(cut) for cut in range(4)]
        assert [each.place for each in pieces] == [(1, cut) for cut in range(4)]
        assert len({each.name for each in pieces}) == 1
        for one, following in pairwise(pieces):
            assert sum(one.extent) == following.extent[0]
        assert all(each.extent[1] for each in pieces)


def test_a_stretch_is_divided_into_the_bytes_and_filters_of_its_blocks(
    written: tuple[MemoryStore, LiveRowSet],
) -> None:
    blocks = opened(*written)
    numbers = []
    for cut in range(4):
        data = memoryview(bytes(range(256)) * 400)[: blocks.piece(cut).extent[1]]
        blooms = memoryview(bytes(range(256)) * 400)[: blocks.filter_piece(cut).extent[1]]
        found = blocks.stored(cut, data, blooms)
        numbers += [each.number for each in found]
        assert b"".join(each.data for each in found) == data
        assert b"".join(each.bloom for each in found) == blooms
        assert sum(each.entry.rows for each in found) == (500 if cut == 3 else CUT)
        without = blocks.stored(cut, data, memoryview(b""))
        assert not any(len(each.bloom) for each in without)
    assert numbers == list(range(len(numbers)))
