"""Concatenate RowSets. Stretches that are full and complete are copied in their stored form.

A small stretch is decoded when it can be joined with a neighbour. A stretch with deleted rows is
always decoded, and so is one whose columns have other types now. A RowSet with values to purge or
with an internal column is decoded, too. The rows keep their order, so no origin needs to say where
they went.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from colonnade.tableformat.compaction.inputs import InputRowSet, Inputs
from colonnade.tableformat.compaction.job import CompactionJob
from colonnade.tableformat.rowset.stored_block import Stretch
from colonnade.tableformat.rowset.writer import RowSetWriter


def concatenate(inputs: Inputs, writer: RowSetWriter) -> int:
    """Write the live rows of a job's RowSets in order; return the stored bytes that were copied.

    Holds one read-ahead, and the rows of a block that the writer collects. Raises CorruptionError
    for a damaged block, also for a copied one, and StoreError.
    """
    copied, filtered = 0, inputs.job.target.bloom_columns
    for source, chosen in _with_choice(inputs):
        wanted = source.deleted_counts < source.rows
        stretches = source.stretches(wanted, bloom_columns=filtered)
        for stretch, copy in zip(stretches, chosen[wanted].tolist(), strict=True):
            copy = copy and source.is_plain and source.reader.is_current(source.fields, stretch)
            if copy:
                source.reader.verify(source.fields, stretch)
                copied += _copy(source, stretch, writer, filtered)
            else:
                writer.write_storage(source.decode(stretch))
    return copied


def _copy(
    source: InputRowSet, stretch: Stretch, writer: RowSetWriter, bloom_columns: Sequence[int]
) -> int:
    stretch = source.reader.with_filters(source.fields, stretch, bloom_columns)
    writer.write_stored(stretch.blocks, stretch.rows)
    return sum(block.entry.length for column in stretch.blocks for block in column)


def _with_choice(inputs: Inputs) -> Iterator[tuple[InputRowSet, NDArray[np.bool_]]]:
    """Yield each RowSet, with a mask of the stretches to copy."""
    before = False  # whether the previous stretch is loose
    found = ((source, _loose(source, inputs.job)) for source in inputs.open())
    current = next(found, None)
    while current is not None:
        source, loose = current
        current = next(found, None)
        after = current is not None and bool(current[1][0])
        near = np.array([before, *loose, after])
        # A small stretch is copied when it is complete and has no loose neighbour to join.
        alone = ~(near[:-2] | near[2:]) & (source.deleted_counts == 0)
        yield source, ~loose | alone
        before = bool(loose[-1])


def _loose(source: InputRowSet, job: CompactionJob) -> NDArray[np.bool_]:
    """Return which stretches should be decoded, unless no neighbour can be joined."""
    rows = source.rows
    size = source.rowset.byte_count * rows // source.rowset.entry.rows
    small = (rows < job.copied_rows) & (size < job.copied_bytes)
    loose: NDArray[np.bool_] = (source.deleted_counts > 0) | small
    return loose
