"""Check the values of one block against its index entry.

Spec: docs/spec/rowset.md#bounds
"""

from __future__ import annotations

import pyarrow as pa

from colonnade.tableformat.rowset.block import decode_block
from colonnade.tableformat.rowset.block_statistics import Statistics, contradiction, measure
from colonnade.tableformat.rowset.bloom_filter import hash_rows, members
from colonnade.tableformat.rowset.column import Order, StoredColumn
from colonnade.tableformat.rowset.encodings.encoding import BlockEntry
from colonnade.tableformat.rowset.encodings.integers import (
    as_integers,
    bounds_of,
    is_stored_as_integer,
)


def check_block(
    data: pa.Buffer, entry: BlockEntry, column: StoredColumn, bloom: memoryview
) -> str | None:
    """Return what is wrong with a block, or None: its bytes, its rows, or its statistics.

    `bloom` is the block's Bloom filter, empty when it has none.
    """
    try:
        array = decode_block(data, entry, column)
        array.validate(full=True)
    except (ValueError, pa.ArrowException) as error:
        return str(error)
    if bloom and not members(bloom, hash_rows(array, column)).all():
        return "it has values that its Bloom filter does not contain"
    return contradiction(entry.statistics, _measured(array, column.order))


def _measured(array: pa.Array, order: Order) -> Statistics:
    nulls = array.null_count
    if nulls == len(array):
        return Statistics(nulls)
    if order is not Order.INTEGER or not is_stored_as_integer(array.type):
        return measure(array, order, nulls)
    return Statistics(nulls, 0, *bounds_of(as_integers(array)))
