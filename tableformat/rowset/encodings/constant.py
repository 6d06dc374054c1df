"""Encode rows that all have one value. The value is the block's exact minimum in the index.

Floats qualify only when all their bit patterns are equal. NaN never qualifies, because no bound can
hold it.

Spec: docs/spec/rowset.md#constant
"""

from __future__ import annotations

import pyarrow as pa

from colonnade.manifests.model.statistics import Bound
from colonnade.tableformat.rowset.encodings.encoded import Encoded
from colonnade.tableformat.types.stored_value import repeated

NAME = "constant"


def encode() -> Encoded:
    """Encode rows that all have the block's minimum."""
    return Encoded(NAME, None)


def decode(value: Bound, data_type: pa.DataType, rows: int) -> pa.Array:
    """Return `rows` copies of `value`, which is a bound of a column of that type."""
    return repeated(value, data_type, rows)
