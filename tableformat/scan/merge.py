"""Merge sorted runs of rows into one order, as streams. Pure.

The loaded rows of all runs are sorted together. They are returned up to a limit: the lowest last
loaded row among runs that have more to load. No row that is still to be loaded sorts before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.entries import SortField
from colonnade.tableformat.rowset.sort import sort_indices

Labels = NDArray[np.int64]
"""A number for each row, which stays with the row when rows are merged."""

Batch = tuple[Labels, list[pa.Array]]
"""Some rows: their labels, and their columns in storage types."""


@dataclass(slots=True)
class SortedRun:
    """Rows in the order of a sort key, which arrive in batches with at least one row each.

    `left` is the number of batches that are still to load. `name` names the run in errors.
    """

    name: str
    batches: Iterator[Batch]
    left: int
    rows: Labels = field(default_factory=lambda: np.zeros(0, np.int64))
    columns: list[pa.Array] = field(default_factory=list)

    def load(self) -> bool:
        """Load the next batch. Returns False when there is none."""
        batch = next(self.batches, None)
        if batch is None:
            return False
        self.left -= 1
        self.rows, self.columns = batch
        return True

    def take(self, count: int) -> Batch:
        """Remove and return the first rows."""
        taken = self.rows[:count], [column.slice(0, count) for column in self.columns]
        self.rows = self.rows[count:]
        self.columns = [column.slice(count) for column in self.columns]
        return taken


def merge_runs(
    runs: Iterable[SortedRun], sort_key: Sequence[SortField], places: Sequence[int]
) -> Iterator[Batch]:
    """Yield the rows of all runs in the order of a sort key.

    `places` are the positions of the key's columns among the columns. Rows with equal keys keep the
    order of the runs, and their order within a run. Holds one batch of each run. Raises
    CorruptionError when the next rows of a run are not its first loaded ones, because the run is
    not in order. Raises the errors of the batches.
    """
    loaded = [run for run in runs if run.load()]
    merging = _Merge(sort_key, places)
    while loaded:
        yield merging.next(loaded)
        loaded = [run for run in loaded if len(run.rows) or run.load()]


class _Merge:
    """Merges runs in the order of a sort key."""

    def __init__(self, sort_key: Sequence[SortField], places: Sequence[int]) -> None:
        self._sort_key = sort_key
        self._places = places

    def next(self, runs: Sequence[SortedRun]) -> Batch:
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

    def _limit(self, runs: Sequence[SortedRun]) -> SortedRun | None:
        """Return the run with the lowest last row among runs that have more to load, or None."""
        more = [run for run in runs if run.left]
        if len(more) < 2:
            return more[0] if more else None
        lasts = self._order([[column.slice(len(column) - 1) for column in r.columns] for r in more])
        return more[int(lasts[0])]

    def _not_after(self, runs: Sequence[SortedRun], limit: SortedRun) -> list[SortedRun]:
        """Return the runs whose first row is not after the last row of `limit`, and `limit`."""
        ends = [[column.slice(0, 1) for column in run.columns] for run in runs]
        ends.append([column.slice(len(column) - 1) for column in limit.columns])
        order = self._order(ends)
        before = set(order[: int(np.flatnonzero(order == len(runs))[0])].tolist())
        return [run for i, run in enumerate(runs) if i in before or run is limit]

    def _order(self, parts: Sequence[Sequence[pa.Array]]) -> Labels:
        """Return the order of the rows of several parts, by their positions once concatenated."""
        keys = {
            key.column: pa.concat_arrays([part[place] for part in parts])
            for key, place in zip(self._sort_key, self._places, strict=True)
        }
        return np.asarray(sort_indices(keys, self._sort_key), np.int64)


def _check_sorted(runs: Sequence[SortedRun], counts: Labels, sums: NDArray[Any]) -> None:
    """Check that the rows taken from each run are its first rows.

    `sums` adds up their positions. Raises CorruptionError for a run that is not sorted, because
    merging it would mix up the order.
    """
    for run, count, found in zip(runs, counts.tolist(), sums.tolist(), strict=True):
        if found != count * (count - 1) // 2:
            raise CorruptionError(
                f"{run.name} is not in the order of the table's sort key, as every RowSet of it"
                " must be."
            )


def _gather(parts: list[pa.Array], places: Labels) -> pa.Array:
    return pa.concat_arrays(parts).take(pa.array(places))
