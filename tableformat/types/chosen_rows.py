"""Choose rows of an array without a copy where that is possible: values may be huge. Pure."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def chosen_rows(array: pa.Array, rows: NDArray[np.integer]) -> pa.Array:
    """Return the rows with some numbers, in that order.

    Rows that follow each other are a slice of the array; all others are copied.
    """
    if len(rows) and bool((rows[1:] == rows[:-1] + 1).all()):
        return array.slice(int(rows[0]), len(rows))
    return array.take(pa.array(rows))
