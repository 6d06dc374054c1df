"""Encode and decode a block: some rows of one column as bytes, with its entry in the index.

The bytes are one Arrow IPC stream of one column, named by the column's id. The encodings `constant`
and `null` need no bytes. The index states the schema, the decoded size and the CRC32C of the
stream; the reader checks them before and after Arrow parses it. The writer makes the same checks,
so that it never stores a block that a reader refuses.

Spec: docs/spec/rowset.md#block
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np
import pyarrow as pa
from google_crc32c import extend
from google_crc32c import value as crc32c

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.rowset import ipc_stream
from colonnade.tableformat.rowset.block_statistics import Statistics, measure
from colonnade.tableformat.rowset.column import Order, StoredColumn
from colonnade.tableformat.rowset.encodings import (
    constant,
    dictionary,
    lengths,
    narrowed,
    null,
    plain,
)
from colonnade.tableformat.rowset.encodings.encoded import Encoded
from colonnade.tableformat.rowset.encodings.integers import (
    as_integers,
    bounds_of,
    is_stored_as_integer,
)
from colonnade.tableformat.rowset.nested_forms import is_form
from colonnade.tableformat.types.array_size import array_bytes

MANY_ROWS_LIMIT = 64 * 2**20
"""The most decoded bytes of a block with several rows. Readers refuse an index that states more."""

ONE_ROW_LIMIT = 2**31 + 2**20
"""The most decoded bytes of any block, which is Arrow's limit for one value."""

ENCODINGS = (
    plain.NAME,
    dictionary.NAME,
    narrowed.NAME,
    lengths.NAME,
    constant.NAME,
    null.NAME,
)

DISTINCT_TEXTS = 0.9
DISTINCT_NUMBERS = 0.5
DISTINCT_SHORTS = 128 / dictionary.SAMPLE_ROWS
"""A dictionary is tried if at most this share of the sampled values is distinct.

Shorts are numbers that take two bytes. An index of eight bits distinguishes 128 values, and a wider
one does not beat them.
"""


@dataclass(frozen=True, slots=True)
class BlockEntry:
    """What the index states about a block.

    `length` and `crc32c` describe the stored bytes; `decoded` is at least the bytes that the rows
    take as an Arrow array. The Bloom filter has `filter_length` bytes, 0 when there is none.
    """

    rows: int
    length: int
    decoded: int
    crc32c: int
    encoding: str
    base: int | None
    statistics: Statistics
    filter_length: int = 0
    filter_crc32c: int = 0


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
    encoded, statistics = _encode(array, column, size)
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


def _encode(array: pa.Array, column: StoredColumn, size: int) -> tuple[Encoded, Statistics]:
    nulls = array.null_count
    if nulls == len(array):
        return null.encode(), Statistics(nulls, exact=column.order is not Order.NONE)
    if pa.types.is_nested(column.type):
        return plain.encode(array), Statistics(nulls, exact=False)
    if is_stored_as_integer(column.type):
        return _encode_integers(array, column)
    encoded: Encoded | None = None
    # One row repeats nothing, and may be huge.
    if len(array) > 1 and not pa.types.is_boolean(column.type):
        share = DISTINCT_NUMBERS if column.order is Order.FLOAT else DISTINCT_TEXTS
        encoded = dictionary.encode(array, share, size)
    values = array
    if encoded is not None and encoded.stream is not None and column.order is not Order.FLOAT:
        # Statistics of floats need every row: a dictionary holds a NaN once, but NaNs are counted.
        values = encoded.stream.dictionary
    statistics = measure(values, column.order, nulls)
    if not nulls and _is_constant(array, statistics):
        return constant.encode(), statistics
    return encoded or lengths.encode(array) or plain.encode(array), statistics


def _encode_integers(array: pa.Array, column: StoredColumn) -> tuple[Encoded, Statistics]:
    integers = as_integers(array)
    low, high = bounds_of(integers)
    statistics = Statistics(array.null_count, 0, low, high)
    if low == high and not statistics.nulls:
        return constant.encode(), statistics
    encoded = narrowed.encode(integers, low, high, column.type)
    encoded = encoded or plain.encode(array)
    assert encoded.stream is not None
    width = encoded.stream.type.bit_width
    if width > 8:
        # A dictionary index must be narrower than the value. An 8-bit index has room for 128
        # values.
        share = DISTINCT_NUMBERS if width > 16 else DISTINCT_SHORTS
        encoded = dictionary.encode(array, share, encoded.stream.nbytes) or encoded
    return encoded, statistics


def _is_constant(array: pa.Array, statistics: Statistics) -> bool:
    low, high = statistics.low, statistics.high
    if low is None or low != high or not statistics.exact or statistics.nans:
        return False
    # 0.0 equals -0.0, but is not the same value.
    return not isinstance(low, float) or low != 0.0 or len(set(np.signbit(array))) == 1


def decode_block(data: pa.Buffer | None, entry: BlockEntry, column: StoredColumn) -> pa.Array:
    """Decode the rows of a block.

    The rows have the storage type of the column, or an earlier form of it (`nested_forms`).
    Requires `data` of the length that the entry states. Raises ValueError that says what is wrong:
    the checksum, a decoded size above the stated or allowed one, or another type or row count than
    stated.
    """
    _check_stated(entry)
    if entry.encoding == null.NAME:
        _check_repeated(null.decode(column.type, 8), entry)
        array = null.decode(column.type, entry.rows)
    elif entry.encoding == constant.NAME:
        array = _decode_constant(entry, column)
    else:
        array = _decode_stream(data, entry, column)
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
    rows = 1 if entry.encoding == lengths.NAME else entry.rows
    if not _is_stream_of(column, entry.encoding, batch.schema) or batch.num_rows != rows:
        raise ValueError(
            f"its stream holds {batch.num_rows} rows of {batch.schema.types}, but its index"
            f" states {entry.rows} rows, {entry.encoding}, of {column.type}"
        )


def _decode_constant(entry: BlockEntry, column: StoredColumn) -> pa.Array:
    statistics = entry.statistics
    if statistics.low is None or not statistics.exact or column.order is Order.NONE:
        raise ValueError("its index does not state the one value that it holds")
    try:
        one = constant.decode(statistics.low, column.type, 1)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"its index states a value that is not a valid {column.type}") from error
    _check_repeated(one, entry)
    return constant.decode(statistics.low, column.type, entry.rows)


def _decode_stream(data: pa.Buffer | None, entry: BlockEntry, column: StoredColumn) -> pa.Array:
    if data is None or data.size != entry.length or int(crc32c(data)) != entry.crc32c:
        raise ValueError("its bytes do not match their checksum")
    _check_size(data, entry)
    batch = ipc_stream.read_batch(data)
    _check_batch(batch, entry, column)
    stream = batch.column(0)
    if entry.encoding == dictionary.NAME:
        return dictionary.decode(stream, entry.decoded)
    if entry.encoding == narrowed.NAME:
        if entry.base is None:
            raise ValueError("its index lacks the base of its values")
        return narrowed.decode(stream, entry.base, column.type)
    if entry.encoding == lengths.NAME:
        return lengths.decode(stream, entry.rows, entry.decoded)
    return plain.decode(stream)


@lru_cache(maxsize=4096)
def _is_stream_of(column: StoredColumn, encoding: str, found: pa.Schema) -> bool:
    """Return whether a block of a column may have a stream of this schema."""
    if found in _schemas(column, encoding):
        return True
    if column.nested is None or encoding != plain.NAME or found.names != [str(column.id)]:
        return False
    return is_form(found.field(0).type, column.nested)


@lru_cache(maxsize=4096)
def _schemas(column: StoredColumn, encoding: str) -> tuple[pa.Schema, ...]:
    """Return every schema that the stream of a block may have."""
    types: dict[str, tuple[pa.DataType, ...]] = {
        plain.NAME: plain.stream_types(column.type),
        dictionary.NAME: dictionary.stream_types(column.type),
        narrowed.NAME: narrowed.stream_types(column.type),
        lengths.NAME: lengths.stream_types(column.type),
    }
    return tuple(pa.schema([pa.field(str(column.id), each)]) for each in types[encoding])
