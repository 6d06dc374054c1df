"""Every encoding of blocks, in the order in which a writer tries them.

The page of the specification is made from it, and the jar gets its limits.
Spec: docs/spec/rowset.md#encodings
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import pyarrow as pa

from colonnade.tableformat.rowset.block_statistics import Statistics
from colonnade.tableformat.rowset.column import StoredColumn
from colonnade.tableformat.rowset.encodings import (
    constant,
    dictionary,
    lengths,
    narrowed,
    null,
    plain,
)
from colonnade.tableformat.rowset.encodings.encoding import BlockEntry, Encoded
from colonnade.tableformat.rowset.encodings.rows import Rows


@dataclass(frozen=True, slots=True)
class Encoding:
    """One encoding of blocks; exactly one of `decode` and `repeat` is set.

    `encode` returns None where the encoding does not apply to the rows, or does not gain. `decode`
    restores the rows from a stream of one of `stream_types`, whose number of rows was compared
    (`one_row`: with 1). `repeat` makes any number of equal rows from what the index states: rows
    that differ need a stream. Both raise ValueError that says what is wrong.

    `limits` say when a writer chooses the encoding; the jar gets them. `stream` and `value` say on
    the page what the stream holds, and the value of row i.
    """

    name: str
    stream: str
    value: str
    encode: Callable[[Rows], Encoded | None]
    decode: Callable[[pa.Array, BlockEntry, StoredColumn], pa.Array] | None = None
    repeat: Callable[[Statistics, StoredColumn, int], pa.Array] | None = None
    stream_types: Callable[[pa.DataType], tuple[pa.DataType, ...]] = lambda _: ()
    one_row: bool = False
    limits: Mapping[str, float] = field(default_factory=dict)


_ALL = (
    Encoding(
        null.NAME,
        "no bytes",
        "NULL",
        lambda rows: null.encode(rows.array),
        repeat=lambda statistics, column, rows: null.decode(column.type, rows),
    ),
    Encoding(
        constant.NAME,
        "no bytes",
        "the block's `min`, which is exact. The block has no NULL and no NaN, and \u22120.0 only if"
        " every row is \u22120.0",
        lambda rows: constant.encode(rows.array, rows.statistics),
        repeat=constant.repeat,
    ),
    Encoding(
        dictionary.NAME,
        "dictionary of the storage type, index int8, int16 or int32",
        "`dictionary[index[i]]`; NULL is a NULL index. Floats with different bits are different"
        " values",
        lambda rows: rows.indexed,
        lambda stream, entry, column: dictionary.decode(stream, entry.decoded),
        stream_types=dictionary.stream_types,
        limits={
            "sample_rows": dictionary.SAMPLE_ROWS,
            "kept_share": dictionary.KEPT_SHARE,
            "overhead_bytes": dictionary.OVERHEAD_BYTES,
            "distinct_texts": dictionary.DISTINCT_TEXTS,
            "distinct_numbers": dictionary.DISTINCT_NUMBERS,
            "distinct_shorts": dictionary.DISTINCT_SHORTS,
        },
    ),
    Encoding(
        narrowed.NAME,
        "uint8, uint16 or uint32; int64 too for decimals",
        "`base + stream[i]`, as the integer that represents the type: date in days, timestamps in"
        " µs, time in ns, intervals in months or µs, decimals of ≤ 18 digits unscaled",
        lambda rows: rows.narrowed,
        lambda stream, entry, column: narrowed.decode(stream, entry.base, column.type),
        stream_types=narrowed.stream_types,
    ),
    Encoding(
        lengths.NAME,
        "one row of `struct<lengths: list<uint8, uint16 or uint32> not null, values: utf8 or binary"
        " not null>`",
        "the next `lengths[i]` bytes of `values`, after those of the rows before it; NULL if"
        " `lengths[i]` is NULL",
        lambda rows: lengths.encode(rows.array),
        lambda stream, entry, column: lengths.decode(stream, entry.rows, entry.decoded),
        stream_types=lengths.stream_types,
        one_row=True,
        limits={"from_rows": lengths.FROM_ROWS},
    ),
    Encoding(
        plain.NAME,
        "the storage type",
        "`stream[i]`; the bits of NaN and \u22120.0 are kept",
        lambda rows: plain.encode(rows.array),
        lambda stream, entry, column: plain.decode(stream),
        stream_types=plain.stream_types,
    ),
)

ENCODINGS: Mapping[str, Encoding] = MappingProxyType({each.name: each for each in _ALL})
"""The encodings by their names. A writer takes the first that applies; `plain` always does."""


def encode(rows: Rows) -> Encoded:
    """Encode rows by the first encoding that applies to them."""
    for each in ENCODINGS.values():
        found = each.encode(rows)
        if found is not None:
            return found
    raise AssertionError("The last encoding applies to all rows.")
