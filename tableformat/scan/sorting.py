"""Sort rows of any number with bounded memory: sorted parts wait on local disk, and are merged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from colonnade.manifests.model.entries import SortField
from colonnade.tableformat.rowset.write.sort import sort_indices
from colonnade.tableformat.rowset.write.spill import Spill, Spilled
from colonnade.tableformat.rowset.write_options import MIB
from colonnade.tableformat.rowset.writer import pieces
from colonnade.tableformat.scan.merge import Batch, SortedRun, merge_runs

PART_BYTES = 128 * MIB
"""The most bytes of rows that are sorted in memory at once."""

_PIECE_BYTES = MIB
"""The approximate bytes of a batch of sorted rows."""

_OPTIONS = pa.ipc.IpcWriteOptions(compression="lz4")


def sorted_rows(
    batches: Iterator[list[pa.Array]],
    sort_key: Sequence[SortField],
    places: Sequence[int],
    schema: pa.Schema,
) -> Iterator[Batch]:
    """Yield rows in the order of a sort key, after all of them were read. The sort is stable.

    `places` are the positions of the key's columns, and `schema` describes all columns. Holds 128
    MiB of rows, their sorted copy, and 1 MiB for each 128 MiB of rows. Raises StoreError when the
    local disk fails or is full, and the errors of the batches.
    """
    spill: Spill | None = None
    runs: list[SortedRun] = []
    part: list[pa.RecordBatch] = []
    size = 0
    try:
        for piece, piece_size in _pieces(batches, schema):
            if part and size + piece_size > PART_BYTES:
                spill = spill or Spill()
                kept = [spill_rows(spill, each) for each in _in_order(part, sort_key, places)]
                runs.append(_run(spilled_rows(spill, kept)))
                size = 0
            part.append(piece)
            size += piece_size
        if part:
            runs.append(_run(_in_order(part, sort_key, places)))
        yield from merge_runs(runs, sort_key, places)
    finally:
        if spill is not None:
            spill.close()


def _pieces(
    batches: Iterator[list[pa.Array]], schema: pa.Schema
) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Yield rows in batches that can be sorted at once, each with its size in bytes."""
    for columns in batches:
        yield from pieces(pa.RecordBatch.from_arrays(columns, schema=schema), PART_BYTES)


def _in_order(
    part: list[pa.RecordBatch], sort_key: Sequence[SortField], places: Sequence[int]
) -> Iterator[pa.RecordBatch]:
    """Sort batches, and yield their rows in small batches. Removes them from the list first."""
    schema = part[0].schema
    size = sum(batch.nbytes for batch in part)
    columns = [pa.concat_arrays(arrays) for arrays in zip(*(b.columns for b in part), strict=True)]
    part.clear()
    keys = {key.column: columns[at] for key, at in zip(sort_key, places, strict=True)}
    order = sort_indices(keys, sort_key)
    rows = max(1, len(order) * _PIECE_BYTES // max(1, size))
    for start in range(0, len(order), rows):
        piece = order.slice(start, rows)
        yield pa.RecordBatch.from_arrays([each.take(piece) for each in columns], schema=schema)


def spill_rows(spill: Spill, batch: pa.RecordBatch) -> Spilled:
    """Keep rows on local disk, and return their place. Raises StoreError."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=_OPTIONS) as stream:
        stream.write_batch(batch)
    return spill.add(sink.getvalue())


def spilled_rows(spill: Spill, places: Sequence[Spilled]) -> Iterator[pa.RecordBatch]:
    """Yield the rows at some places, each as one batch. Raises StoreError."""
    for place in places:
        for data in spill.read([place]):
            with pa.ipc.open_stream(data) as stream:
                yield from stream


def _run(batches: Iterator[pa.RecordBatch]) -> SortedRun:
    rows = ((np.zeros(each.num_rows, np.int64), each.columns) for each in batches)
    return SortedRun("a sorted part", rows)
