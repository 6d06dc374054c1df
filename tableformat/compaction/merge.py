"""Merge sorted RowSets into the order of the sort key, as streams.

The loaded rows of all RowSets are sorted together. They are written up to a limit: the lowest last
loaded row among RowSets that have more to load. No row that is still to be loaded sorts before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.errors import CorruptionError
from colonnade.tableformat.compaction.inputs import WINDOW_BYTES, Inputs, Rows, Source
from colonnade.tableformat.compaction.job import CompactionJob
from colonnade.tableformat.rowset.sort import sort_indices
from colonnade.tableformat.rowset.writer import RowSetWriter


def merge(inputs: Inputs, writer: RowSetWriter) -> Rows:
    """Write the live rows of the RowSets of a job in order, and return the origin of each row.

    Holds a stretch and a read-ahead of each RowSet, and 8 bytes for each row. Raises
    CorruptionError, also when rows are not in the order of the sort key, and StoreError.
    """
    merging = _Merge(inputs.job)
    window = max(1, WINDOW_BYTES // len(inputs.job.sources))
    runs = [run for source in inputs.open() if (run := _Run.of(source, window)).load()]
    origins: list[Rows] = [np.zeros(0, np.int64)]
    while runs:
        rows, columns = merging.next(runs)
        writer.write_storage(columns)
        origins.append(rows)
        runs = [run for run in runs if len(run.rows) or run.load()]
    return np.concatenate(origins)


@dataclass(slots=True)
class _Run:
    """One RowSet: the rows that are loaded and not written, and `left` stretches to load."""

    batches: Iterator[tuple[Rows, list[pa.Array]]]
    source: Source
    left: int
    rows: Rows = field(default_factory=lambda: np.zeros(0, np.int64))
    columns: list[pa.Array] = field(default_factory=list)

    @classmethod
    def of(cls, source: Source, window_bytes: int) -> _Run:
        left = int((source.deleted < source.rows).sum())
        return cls(source.batches(window_bytes), source, left)

    def load(self) -> bool:
        """Load the next stretch. Returns False when there is none."""
        batch = next(self.batches, None)
        if batch is None:
            return False
        self.left -= 1
        self.rows, self.columns = self.source.origin(batch[0]), batch[1]
        return True

    def take(self, count: int) -> tuple[Rows, list[pa.Array]]:
        """Remove and return the first rows."""
        taken = self.rows[:count], [column.slice(0, count) for column in self.columns]
        self.rows = self.rows[count:]
        self.columns = [column.slice(count) for column in self.columns]
        return taken


class _Merge:
    """Merges runs in the order of a table's sort key."""

    def __init__(self, job: CompactionJob) -> None:
        places = {column.id: i for i, column in enumerate(job.target.table_schema.fields)}
        self._sort_key = job.target.sort_key
        self._keys = [places[key.column] for key in self._sort_key]

    def next(self, runs: Sequence[_Run]) -> tuple[Rows, list[pa.Array]]:
        """Remove the next rows from the runs, and return them in order."""
        limit = self._limit(runs)
        taking = runs if limit is None else self._not_after(runs, limit)
        if len(taking) == 1:
            return taking[0].take(len(taking[0].rows))
        order = self._order([run.columns for run in taking])
        starts = np.cumsum([0, *(len(run.rows) for run in taking)])
        if limit is not None:
            last = starts[1 + taking.index(limit)] - 1
            order = order[: 1 + int(np.flatnonzero(order == last)[0])]
        owners = np.searchsorted(starts, order, side="right") - 1
        counts = np.bincount(owners, minlength=len(taking))
        _check_sorted(taking, counts, np.bincount(owners, order - starts[owners], len(taking)))
        parts = [run.take(int(count)) for run, count in zip(taking, counts, strict=True)]
        # The remaining rows are not concatenated, so positions are shifted.
        moved = np.cumsum([0, *counts[:-1]]) - starts[:-1]
        places = order + moved[owners]
        columns = [_gather([part[1][i] for part in parts], places) for i in range(len(parts[0][1]))]
        return np.concatenate([part[0] for part in parts])[places], columns

    def _limit(self, runs: Sequence[_Run]) -> _Run | None:
        """Return the run with the lowest last row among runs that have more to load, or None."""
        more = [run for run in runs if run.left]
        if len(more) < 2:
            return more[0] if more else None
        lasts = self._order([[column.slice(len(column) - 1) for column in r.columns] for r in more])
        return more[int(lasts[0])]

    def _not_after(self, runs: Sequence[_Run], limit: _Run) -> list[_Run]:
        """Return the runs whose first row is not after the last row of `limit`, and `limit`."""
        ends = [[column.slice(0, 1) for column in run.columns] for run in runs]
        ends.append([column.slice(len(column) - 1) for column in limit.columns])
        order = self._order(ends)
        before = set(order[: int(np.flatnonzero(order == len(runs))[0])].tolist())
        return [run for i, run in enumerate(runs) if i in before or run is limit]

    def _order(self, parts: Sequence[Sequence[pa.Array]]) -> Rows:
        """Return the order of the rows of several parts, by their positions once concatenated."""
        keys = {
            key.column: pa.concat_arrays([part[place] for part in parts])
            for key, place in zip(self._sort_key, self._keys, strict=True)
        }
        return np.asarray(sort_indices(keys, self._sort_key), np.int64)


def _check_sorted(runs: Sequence[_Run], counts: Rows, sums: NDArray[Any]) -> None:
    """Check that the rows taken from each run are its first rows.

    `sums` adds up their positions. Raises CorruptionError for a RowSet that is not sorted, because
    merging it would mix up the order.
    """
    for run, count, found in zip(runs, counts.tolist(), sums.tolist(), strict=True):
        if found != count * (count - 1) // 2:
            raise CorruptionError(
                f"RowSet {run.source.rowset.entry.object} is not in the order of the table's sort"
                " key, as every RowSet of it must be."
            )


def _gather(parts: list[pa.Array], places: Rows) -> pa.Array:
    return pa.concat_arrays(parts).take(pa.array(places))
