"""Blocks that are encoded and decoded again."""

from __future__ import annotations

import pyarrow as pa

from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.rowset.block import (
    BlockEntry,
    decode_block,
    encode_block,
)
from colonnade.tableformat.rowset.column import StoredColumn, column_of
from tests.strategies import identical


def column(text: str) -> StoredColumn:
    return column_of(SchemaField(id=7, name="c", type=text))


def round_trip(array: pa.Array, of: StoredColumn) -> BlockEntry:
    entry, data = encode_block(array, of)
    assert identical(decode_block(data, entry, of), array)
    assert entry.length == (0 if data is None else data.size)
    return entry
