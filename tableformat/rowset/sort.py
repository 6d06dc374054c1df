"""The order of a sort key, which is Spark's.

NULL is first ascending and last descending; NaN is one value, greater than all others; -0.0
equals 0.0; strings and binary compare byte by byte. Rows that compare equal keep their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from colonnade.manifests.model.entries import SortField


def sort_indices(columns: Mapping[int, pa.Array], sort_key: Sequence[SortField]) -> pa.Array:
    """The rows in order, as uint64 indices. `columns` has those of the sort key, by id."""
    arrays: list[pa.Array] = []
    keys: list[tuple[str, str]] = []
    for field in sort_key:
        array = columns[field.column]
        order = "descending" if field.descending else "ascending"
        if array.null_count:
            # Arrow places NULL by an option for all keys; an own key places it for each.
            keys.append((str(len(arrays)), order))
            arrays.append(array.is_valid())
        keys.append((str(len(arrays)), order))
        arrays.append(_comparable(array))
    batch = pa.RecordBatch.from_arrays(arrays, [str(i) for i in range(len(arrays))])
    return pc.sort_indices(batch, sort_keys=keys)


def _comparable(array: pa.Array) -> pa.Array:
    """Values that Arrow compares as Spark does the given ones."""
    if not pa.types.is_floating(array.type):
        return array
    wide = array.cast(pa.float64()).fill_null(0.0).to_numpy() + 0.0  # makes -0.0 a 0.0
    wide[np.isnan(wide)] = np.nan
    bits = wide.view(np.int64)
    # Negative floats have descending bits below the sign.
    ordered = np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)
    return pa.array(ordered)
