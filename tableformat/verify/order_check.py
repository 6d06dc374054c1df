"""Check that the rows of a RowSet are in the order of a sort key.

Spec: docs/spec/rowset.md#writer-requirements
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from colonnade.manifests.model.entries import SortField
from colonnade.manifests.model.schema import TableSchema
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.write.sort import sort_indices


def first_unsorted(
    reader: RowSetReader, schema: TableSchema, sort_key: Sequence[SortField]
) -> int | None:
    """Return the first row that sorts before the row above it; None when all rows are in order.

    Holds the columns of the key for one stretch. Raises CorruptionError, StoreError.
    """
    fields = [schema.by_id(key.column) for key in sort_key]
    last: list[pa.Array] = []
    for stretch in reader.read_stored(fields):
        columns = reader.decode(fields, stretch)
        joined = columns
        if last:
            joined = [pa.concat_arrays(pair) for pair in zip(last, columns, strict=True)]
        by_id = {key.column: each for key, each in zip(sort_key, joined, strict=True)}
        order = np.asarray(sort_indices(by_id, sort_key))
        before = np.empty(len(order), np.int64)
        before[order] = np.arange(len(order))
        sinks = np.flatnonzero(before[1:] < before[:-1])
        if len(sinks):
            return stretch.first_row - bool(last) + int(sinks[0]) + 1
        last = [column.slice(len(column) - 1) for column in columns]
    return None
