"""One RowSet after another. Stretches that are full and whole are copied as they are stored.

A small stretch is decoded where it can be joined with a neighbour. One of which rows are gone, or
whose index states too few bytes, is decoded always. The rows keep their order, so nothing has to be
said about where they went.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from colonnade.manifests.compaction.picker import COPIED_ROWS
from colonnade.tableformat.compaction.inputs import Inputs, Source
from colonnade.tableformat.rowset.stored_block import Stretch
from colonnade.tableformat.rowset.write_options import MIB
from colonnade.tableformat.rowset.writer import RowSetWriter

_COPIED_BYTES = 8 * MIB
"""Stored bytes of all columns that make a stretch full, however few its rows are."""


def concatenate(inputs: Inputs, writer: RowSetWriter) -> int:
    """Write what is left of the RowSets of a job, in their order; the bytes that were copied.

    Holds one read-ahead and what the writer collects. Raises CorruptionError for a block that is
    damaged, copied ones included; StoreError.
    """
    copied, filtered = 0, inputs.job.target.bloom_columns
    for source, chosen in _with_choice(inputs.open()):
        wanted = source.deleted < source.rows
        stretches = source.stretches(wanted, bloom_columns=filtered)
        for stretch, copy in zip(stretches, chosen[wanted].tolist(), strict=True):
            if copy:
                source.reader.verify(source.fields, stretch)
            if copy and not source.reader.understates(source.fields, stretch):
                copied += _copy(source, stretch, writer, filtered)
            else:
                writer.write_storage(source.decode(stretch))
    return copied


def _copy(
    source: Source, stretch: Stretch, writer: RowSetWriter, bloom_columns: Sequence[int]
) -> int:
    stretch = source.reader.with_filters(source.fields, stretch, bloom_columns)
    writer.write_stored(stretch.blocks, stretch.rows)
    return sum(block.entry.length for column in stretch.blocks for block in column)


def _with_choice(sources: Iterator[Source]) -> Iterator[tuple[Source, NDArray[np.bool_]]]:
    """Each RowSet with which of its stretches to copy."""
    before = False  # whether the stretch before is loose
    found = ((source, _loose(source)) for source in sources)
    current = next(found, None)
    while current is not None:
        source, loose = current
        current = next(found, None)
        after = current is not None and bool(current[1][0])
        near = np.array([before, *loose, after])
        # Small, but whole and with nothing to join it with.
        alone = ~(near[:-2] | near[2:]) & (source.deleted == 0)
        yield source, ~loose | alone
        before = bool(loose[-1])


def _loose(source: Source) -> NDArray[np.bool_]:
    """Which stretches are not to be copied, unless they are alone."""
    rows = source.rows
    size = source.rowset.entry.byte_count * rows // source.rowset.entry.rows
    loose: NDArray[np.bool_] = (source.deleted > 0) | (
        (rows < COPIED_ROWS) & (size < _COPIED_BYTES)
    )
    return loose
