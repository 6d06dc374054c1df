"""Blocks that are encoded and decoded again."""

from __future__ import annotations

import pyarrow as pa

from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.rowset import block
from colonnade.tableformat.rowset.block import decode_block
from colonnade.tableformat.rowset.column import StoredColumn, column_of
from colonnade.tableformat.rowset.encodings.encoding import BlockEntry
from tests.strategies import identical


def column(text: str) -> StoredColumn:
    return column_of(SchemaField(id=7, name="c", type=text))


def encode_block(array: pa.Array, of: StoredColumn) -> tuple[BlockEntry, pa.Buffer | None]:
    """Encode rows; the bytes are in one part, and None if there are none."""
    entry, parts = block.encode_block(array, of)
    return entry, pa.py_buffer(b"".join(parts)) if parts else None


def round_trip(array: pa.Array, of: StoredColumn) -> BlockEntry:
    entry, data = encode_block(array, of)
    assert identical(decode_block(data, entry, of), array)
    assert entry.length == (0 if data is None else data.size)
    return entry
