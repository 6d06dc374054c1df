"""Choose rows with as few copies as possible: their values may be huge. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

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


def chosen_table_rows(table: pa.Table, rows: NDArray[np.integer]) -> pa.Table:
    """Return the rows of a table with some ascending numbers, in chunks of those of the table.

    Arrow's `take` would join all chunks of a column first, which fails above 2 GiB of text.
    """
    batches, end = [], 0
    for batch in table.to_batches():
        first, end = end, end + batch.num_rows
        low, high = np.searchsorted(rows, (first, end))
        if low < high:
            inside = rows[low:high] - first
            columns = [chosen_rows(column, inside) for column in batch.columns]
            batches.append(pa.RecordBatch.from_arrays(columns, schema=batch.schema))
    return pa.Table.from_batches(batches, table.schema)


def first_rows(batches: Iterator[pa.RecordBatch], left: int) -> Iterator[pa.RecordBatch]:
    """Yield the first rows, and end the read after them."""
    if not left:
        return
    with closing(batches):  # type: ignore[type-var]  # they come from a generator
        for batch in batches:
            yield batch.slice(0, min(left, batch.num_rows))
            left -= batch.num_rows
            if left <= 0:
                return
