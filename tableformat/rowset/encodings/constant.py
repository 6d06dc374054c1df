"""Encode rows that all have one value. The value is the block's exact minimum in the index.

Floats qualify only when all their bit patterns are equal. NaN never qualifies, because no bound can
hold it.
Spec: docs/spec/rowset.md#constant
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from colonnade.manifests.model.statistics import Bound
from colonnade.tableformat.rowset.block_statistics import Statistics
from colonnade.tableformat.rowset.column import Order, StoredColumn
from colonnade.tableformat.rowset.encodings.encoding import Encoded
from colonnade.tableformat.types.stored_value import repeated

NAME = "constant"


def decode(value: Bound, data_type: pa.DataType, rows: int) -> pa.Array:
    """Return `rows` copies of `value`, which is a bound of a column of that type."""
    return repeated(value, data_type, rows)


def encode(array: pa.Array, statistics: Statistics) -> Encoded | None:
    """Encode rows with these statistics. Returns None if they have two values, or two forms."""
    return Encoded(NAME, None) if _is_constant(array, statistics) else None


def _is_constant(array: pa.Array, statistics: Statistics) -> bool:
    low, high = statistics.low, statistics.high
    if low is None or low != high or not statistics.exact or statistics.nulls or statistics.nans:
        return False
    # 0.0 equals -0.0, but is not the same value.
    return not isinstance(low, float) or low != 0.0 or len(set(np.signbit(array))) == 1


def repeat(statistics: Statistics, column: StoredColumn, rows: int) -> pa.Array:
    """Return rows of the value that the index states. Raises ValueError if it states none."""
    if statistics.low is None or not statistics.exact or column.order is Order.NONE:
        raise ValueError("its index does not state the one value that it holds")
    try:
        return decode(statistics.low, column.type, rows)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"its index states a value that is not a valid {column.type}") from error
