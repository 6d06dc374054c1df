"""Encode and decode a block: some rows of one column as bytes, with its entry in the index.

The bytes are one Arrow IPC stream of one column, named by the column's id. The encodings `constant`
and `null` need no bytes. The index states the schema, the decoded size and the CRC32C of the
stream; the reader checks them before and after Arrow parses it. The writer makes the same checks,
so that it never stores a block that a reader refuses.

Spec: docs/spec/rowset.md#block
"""

from __future__ import annotations

from functools import lru_cache, reduce

import pyarrow as pa
from google_crc32c import extend
from google_crc32c import value as crc32c

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.rowset import ipc_stream
from colonnade.tableformat.rowset.column import StoredColumn
from colonnade.tableformat.rowset.encodings import plain, registry
from colonnade.tableformat.rowset.encodings.encoding import BlockEntry
from colonnade.tableformat.rowset.encodings.registry import ENCODINGS
from colonnade.tableformat.rowset.encodings.rows import Rows
from colonnade.tableformat.rowset.nested_forms import is_form
from colonnade.tableformat.types.array_size import array_bytes

MANY_ROWS_LIMIT = 64 * 2**20
"""The most decoded bytes of a block with several rows. Readers refuse an index that states more."""

ONE_ROW_LIMIT = 2**31 + 2**20
"""The most decoded bytes of any block, which is Arrow's limit for one value."""

_SAMPLE_ROWS = 8
"""The rows whose size tells that of a block without bytes: 8 booleans take one byte."""


def encode_block(array: pa.Array, column: StoredColumn) -> tuple[BlockEntry, tuple[pa.Buffer, ...]]:
    """Encode rows of a column as an entry and bytes, in parts (`ipc_stream.encode_parts`).

    There are no bytes if the entry alone describes all rows. Requires at least one row, in the
    column's storage type. Raises InvalidInputError for rows that no block can hold.
    """
    rows, size = len(array), array_bytes(array)
    if size > ONE_ROW_LIMIT:
        raise InvalidInputError(
            f"Column {column.name!r} has a value of {size} bytes; one value may take at most 2 GiB."
        )
    source = Rows(array, column, size)
    encoded, statistics = registry.encode(source), source.statistics
    if encoded.stream is None:
        entry = BlockEntry(rows, 0, size, 0, encoded.encoding, None, statistics)
        return entry, ()
    batch = pa.RecordBatch.from_arrays([encoded.stream], [str(column.id)])
    stream_size = size if encoded.stream is array else encoded.stream.nbytes
    parts = ipc_stream.encode_parts(batch, stream_size)
    length = ipc_stream.byte_count(parts)
    decoded = max(size, ipc_stream.measure(ipc_stream.outline(parts)))
    crc = reduce(extend, parts, 0)
    entry = BlockEntry(rows, length, decoded, crc, encoded.encoding, encoded.base, statistics)
    try:
        _check_stated(entry)
        _check_batch(batch, entry, column)
    except ValueError as error:
        raise InvalidInputError(f"Column {column.name!r} cannot be written: {error}.") from error
    return entry, parts


def decode_block(data: pa.Buffer | None, entry: BlockEntry, column: StoredColumn) -> pa.Array:
    """Decode the rows of a block.

    The rows have the storage type of the column, or an earlier form of it (`nested_forms`).
    Requires `data` of the length that the entry states. Raises ValueError that says what is wrong:
    the checksum, a decoded size above the stated or allowed one, or another type or row count than
    stated.
    """
    _check_stated(entry)
    encoding = ENCODINGS[entry.encoding]
    if encoding.decode is not None:
        array = encoding.decode(_read_stream(data, entry, column), entry, column)
    else:
        assert encoding.repeat is not None
        _check_repeated(encoding.repeat(entry.statistics, column, _SAMPLE_ROWS), entry)
        array = encoding.repeat(entry.statistics, column, entry.rows)
    if len(array) != entry.rows:
        raise ValueError(f"it holds {len(array)} rows, but its index states {entry.rows}")
    return array


def _limit(entry: BlockEntry) -> int:
    return ONE_ROW_LIMIT if entry.rows == 1 else MANY_ROWS_LIMIT


def _check_stated(entry: BlockEntry) -> None:
    limit = _limit(entry)
    if entry.decoded > limit:
        raise ValueError(
            f"its index states {entry.decoded} decoded bytes; at most {limit} are allowed"
        )


def _check_size(data: pa.Buffer, entry: BlockEntry) -> None:
    """Bound what Arrow will allocate for a stream."""
    size = ipc_stream.measure(data)
    if size > entry.decoded:
        raise ValueError(
            f"it would take {size} bytes decoded, but its index states {entry.decoded} bytes"
        )


def _check_repeated(sample: pa.Array, entry: BlockEntry) -> None:
    """Bound what the rows take of a block without bytes. `sample` has some of them."""
    size = array_bytes(sample) * entry.rows // len(sample)
    if size > _limit(entry):
        raise ValueError(f"its rows would take {size} bytes; at most {_limit(entry)} are allowed")


def _check_batch(batch: pa.RecordBatch, entry: BlockEntry, column: StoredColumn) -> None:
    """Compare the type and the row count of a stream with what the index states."""
    rows = 1 if ENCODINGS[entry.encoding].one_row else entry.rows
    if not _is_stream_of(column, entry.encoding, batch.schema) or batch.num_rows != rows:
        raise ValueError(
            f"its stream holds {batch.num_rows} rows of {batch.schema.types}, but its index"
            f" states {entry.rows} rows, {entry.encoding}, of {column.type}"
        )


def _read_stream(data: pa.Buffer | None, entry: BlockEntry, column: StoredColumn) -> pa.Array:
    if data is None or data.size != entry.length or int(crc32c(data)) != entry.crc32c:
        raise ValueError("its bytes do not match their checksum")
    _check_size(data, entry)
    batch = ipc_stream.read_batch(data)
    _check_batch(batch, entry, column)
    return batch.column(0)


def _is_stream_of(column: StoredColumn, encoding: str, found: pa.Schema) -> bool:
    """Return whether a block of a column may have a stream of this schema."""
    return found in _schemas(column, encoding) or _is_nested_form(column, encoding, found)


@lru_cache(maxsize=4096)
def _is_nested_form(column: StoredColumn, encoding: str, found: pa.Schema) -> bool:
    if column.nested is None or encoding != plain.NAME or found.names != [str(column.id)]:
        return False
    return is_form(found.field(0).type, column.nested)


@lru_cache(maxsize=4096)
def _schemas(column: StoredColumn, encoding: str) -> tuple[pa.Schema, ...]:
    """Return every schema that the stream of a block may have."""
    types = ENCODINGS[encoding].stream_types(column.type)
    return tuple(pa.schema([pa.field(str(column.id), each)]) for each in types)
