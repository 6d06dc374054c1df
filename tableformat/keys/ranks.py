"""Numbers that compare as the values of a column do. Pure.

-0.0 equals 0.0, and all NaNs are equal and greater than all other values, as in the order of Spark.
Spec: docs/spec/types.md
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.tableformat.types.compute import pc


def ranks(values: pa.Array) -> NDArray[np.int64]:
    """Return the place of each value among the distinct values; that of NULL has no meaning.

    Requires a column whose type has an order (`modes.is_ordered`). Places begin at 1.
    """
    places = pc.rank(_plain(values), tiebreaker="dense")
    return np.asarray(places.to_numpy(zero_copy_only=False), np.int64)


def distinct_codes(values: pa.Array) -> NDArray[np.int64]:
    """Return a number for each value; equal values have equal numbers, and NULL has one, too."""
    codes = pc.dictionary_encode(_plain(values), null_encoding="encode").indices
    return np.asarray(codes.to_numpy(zero_copy_only=False), np.int64)


def _plain(values: pa.Array) -> pa.Array:
    if not pa.types.is_floating(values.type):
        return values
    one_zero = pc.add(values, pa.scalar(0.0, values.type))
    nan = pa.scalar(float("nan"), values.type)
    return pc.if_else(pc.is_nan(one_zero), nan, one_zero)
