"""Repairs what Spark 4.1 sends as empty nested arrays.

Where every list or map of a batch is empty, the child array has no values, and Spark's Java writer
leaves its one offset uninitialised. Arrow follows that offset when it checks, joins or stores the
array, so the array is replaced by a fresh empty one before anything looks at it.
"""

from __future__ import annotations

import pyarrow as pa

from colonnade.tableformat.types.sound_arrays import sound


def with_sound_arrays(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The same rows without uninitialised offsets; sound columns are not copied."""
    columns = batch.columns
    fresh = [sound(column, all_fresh=True) for column in columns]
    if all(new is old for new, old in zip(fresh, columns, strict=True)):
        return batch
    return pa.RecordBatch.from_arrays(fresh, schema=batch.schema)
