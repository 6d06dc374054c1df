"""Merge sorted runs of rows into one order, as streams. Pure.

The loaded rows of all runs are sorted together. They are returned up to a limit: the lowest last
loaded row among the runs. No row that is still to be loaded sorts before it. A run is loaded only
when the limit reaches the key that the run begins with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.entries import SortField
from colonnade.tableformat.rowset.write.sort import sort_indices

Labels = NDArray[np.int64]
"""A number for each row, which stays with the row when rows are merged."""

Batch = tuple[Labels, list[pa.Array]]
"""Some rows: their labels, and their columns in storage types."""


@dataclass(slots=True, eq=False)
class SortedRun:
    """Rows in the order of a sort key, which arrive in batches with at least one row each.

    `start` is a value of the first key column that no row of the run sorts before, as an array of
    one value; None means that it is not known. `name` names the run in errors.
    """

    name: str
    batches: Iterator[Batch]
    start: pa.Array | None = None
    rows: Labels = field(default_factory=lambda: np.zeros(0, np.int64))
    columns: list[pa.Array] = field(default_factory=list)

    def load(self) -> bool:
        """Load the next batch. Returns False when there is none."""
        batch = next(self.batches, None)
        if batch is None:
            return False
        self.rows, self.columns = batch
        return True

    def take(self, count: int) -> Batch:
        """Remove and return the first rows."""
        taken = self.rows[:count], [column.slice(0, count) for column in self.columns]
        self.rows = self.rows[count:]
        self.columns = [column.slice(count) for column in self.columns]
        return taken


Together = Callable[[Sequence[Callable[[], bool]]], Sequence[bool]]
"""Makes independent calls, perhaps side by side, and returns their results in order."""


def one_by_one(calls: Sequence[Callable[[], bool]]) -> Sequence[bool]:
    """Make calls one after another, and return their results."""
    return [call() for call in calls]


def merge_runs(
    runs: Iterable[SortedRun],
    sort_key: Sequence[SortField],
    places: Sequence[int],
    together: Together = one_by_one,
) -> Iterator[Batch]:
    """Yield the rows of all runs in the order of a sort key.

    `places` are the positions of the key's columns among the columns. Rows with equal keys keep the
    order of the runs, and their order within a run. Runs that are needed at the same time are first
    loaded by `together`. Holds one batch of each run whose rows may be next. Raises
    CorruptionError when the next rows of a run are not its first loaded ones, because the run is
    not in order. Raises the errors of the batches.
    """
    merging = _Merge([*runs], sort_key, places)
    loaded: list[SortedRun] = []
    while True:
        loaded = [run for run in loaded if len(run.rows) or run.load()]
        while needed := merging.needed(loaded):
            found = together([run.load for run in needed])
            loaded += [run for run, has_rows in zip(needed, found, strict=True) if has_rows]
            loaded.sort(key=merging.number_of)
        if not loaded:
            return
        yield merging.next(loaded)


def least_start(
    starts: Sequence[pa.Array | None], sort_key: Sequence[SortField]
) -> pa.Array | None:
    """Return the start of the rows of several runs together; None if one of them is not known."""
    known = [each for each in starts if each is not None]
    if len(known) < len(starts):
        return None
    return known[_order_of_starts(known, sort_key)[0]]


def _order_of_starts(starts: Sequence[pa.Array | None], sort_key: Sequence[SortField]) -> list[int]:
    """Return the order of values of the first key column, each of them an array of one value."""
    if not starts:
        return []
    first = sort_key[0]
    order: list[int] = sort_indices({first.column: pa.concat_arrays(starts)}, [first]).to_pylist()
    return order


class _Merge:
    """Merges runs in the order of a sort key."""

    def __init__(
        self, runs: Sequence[SortedRun], sort_key: Sequence[SortField], places: Sequence[int]
    ) -> None:
        self._sort_key = sort_key
        self._places = places
        self._numbers = {run: number for number, run in enumerate(runs)}
        known = [run for run in runs if run.start is not None]
        order = _order_of_starts([run.start for run in known], sort_key)
        # The run that is loaded next is the last of the list.
        self._waiting = [known[at] for at in reversed(order)]
        self._waiting += [run for run in reversed(runs) if run.start is None]

    def number_of(self, run: SortedRun) -> int:
        """Return the place of a run among all runs."""
        return self._numbers[run]

    def needed(self, loaded: Sequence[SortedRun]) -> list[SortedRun]:
        """Remove and return waiting runs that may begin before the limit of the loaded runs.

        Returns at least one run if none is loaded and one is waiting.
        """
        last = None
        if loaded and self._waiting:
            last = self._last_rows([self._limit(loaded)])[0][self._places[0]]
        found: list[SortedRun] = []
        while self._waiting and self._begins(self._waiting[-1], last, found):
            found.append(self._waiting.pop())
        return found

    def _begins(self, run: SortedRun, last: pa.Array | None, found: Sequence[SortedRun]) -> bool:
        if run.start is None:
            return True
        if last is None:
            return not found
        return _order_of_starts([run.start, last], self._sort_key)[0] == 0

    def next(self, runs: Sequence[SortedRun]) -> Batch:
        """Remove the next rows from the runs, and return them in order."""
        limit = self._limit(runs)
        taking = self._not_after(runs, limit)
        if len(taking) == 1:
            return taking[0].take(len(taking[0].rows))
        order = self._order([run.columns for run in taking])
        starts = np.cumsum([0, *(len(run.rows) for run in taking)])
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

    def _limit(self, runs: Sequence[SortedRun]) -> SortedRun:
        """Return the run with the lowest last row."""
        if len(runs) == 1:
            return runs[0]
        return runs[int(self._order(self._last_rows(runs))[0])]

    def _not_after(self, runs: Sequence[SortedRun], limit: SortedRun) -> list[SortedRun]:
        """Return the runs whose first row is not after the last row of `limit`, and `limit`."""
        ends = [[column.slice(0, 1) for column in run.columns] for run in runs]
        order = self._order([*ends, *self._last_rows([limit])])
        before = set(order[: int(np.flatnonzero(order == len(runs))[0])].tolist())
        return [run for i, run in enumerate(runs) if i in before or run is limit]

    @staticmethod
    def _last_rows(runs: Sequence[SortedRun]) -> list[list[pa.Array]]:
        return [[column.slice(len(column) - 1) for column in run.columns] for run in runs]

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
