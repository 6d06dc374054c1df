"""Repair empty nested arrays that Spark 4.1 sends with an uninitialised offset.

If every list or map of a batch is empty, the child array has no values, and Spark's Java writer
leaves its only offset uninitialised. Arrow follows that offset when it checks, joins or stores the
array. This module therefore replaces such an array by a new empty one before any other use.
"""

from __future__ import annotations

import pyarrow as pa

from colonnade.tableformat.types.sound_arrays import sound


def with_sound_arrays(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the same rows without uninitialised offsets; sound columns are not copied."""
    columns = batch.columns
    fresh = [sound(column, all_fresh=True) for column in columns]
    if all(new is old for new, old in zip(fresh, columns, strict=True)):
        return batch
    return pa.RecordBatch.from_arrays(fresh, schema=batch.schema)
