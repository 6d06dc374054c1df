"""Merging sorted runs returns the rows of one stable sort, whatever the batches."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.entries import SortField
from colonnade.tableformat.rowset.write.sort import sort_indices
from colonnade.tableformat.scan.merge import Batch, SortedRun, merge_runs

KEY = (SortField(column=1, descending=True), SortField(column=2))
PLACES = (2, 0)
Row = tuple[int | None, str | None]

rows = st.tuples(
    st.none() | st.integers(-2, 2), st.none() | st.sampled_from(["", "a", "b"])
)  # few values, so that keys repeat within and across runs


def columns_of(part: list[Row], first: int) -> list[pa.Array]:
    """The key columns, with a column between them that no key names."""
    numbers = pa.array(range(first, first + len(part)), pa.int64())
    texts = pa.array([row[1] for row in part], pa.string())
    return [texts, numbers, pa.array([row[0] for row in part], pa.int64())]


def in_order(part: list[Row]) -> list[Row]:
    columns = columns_of(part, 0)
    keys = {1: columns[2], 2: columns[0]}
    return [part[i] for i in sort_indices(keys, KEY).to_pylist()]


def run_of(number: int, part: list[Row], sizes: list[int]) -> SortedRun:
    """A run whose batches have these sizes, repeated; the label of a row is its run and place."""
    starts, at = [0], 0
    while starts[-1] < len(part):
        starts.append(min(len(part), starts[-1] + sizes[at % len(sizes)]))
        at += 1

    def batches() -> Iterator[Batch]:
        for first, end in pairwise(starts):
            labels = (number << 32) + np.arange(first, end, dtype=np.int64)
            yield labels, columns_of(part[first:end], first)

    return SortedRun(f"Run {number}", batches())


@given(
    st.lists(st.lists(rows, max_size=12).map(in_order), max_size=5),
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
)
def test_merged_rows_are_those_of_a_stable_sort_of_all_runs(
    parts: list[list[Row]], sizes: list[int]
) -> None:
    merged = list(merge_runs((run_of(i, part, sizes) for i, part in enumerate(parts)), KEY, PLACES))
    labels = [label for found, _ in merged for label in found.tolist()]
    values: list[Any] = [
        row
        for _, (texts, _, numbers) in merged
        for row in zip(numbers.to_pylist(), texts.to_pylist(), strict=True)
    ]
    together = [row for part in parts for row in part]
    places = [(i << 32) + at for i, part in enumerate(parts) for at in range(len(part))]
    columns = columns_of(together, 0)
    order = sort_indices({1: columns[2], 2: columns[0]}, KEY).to_pylist()
    assert values == [together[i] for i in order]
    assert labels == [places[i] for i in order]


def test_a_merge_holds_one_batch_of_each_run() -> None:
    runs = [run_of(i, [(n, None) for n in range(60, 0, -1)], [10]) for i in range(3)]
    for labels, columns in merge_runs(runs, KEY, PLACES):
        assert len(labels) == len(columns[0]) <= 3 * 10
        assert all(len(run.rows) <= 10 for run in runs)


def test_a_run_that_is_not_sorted_is_refused_by_name() -> None:
    unsorted = run_of(1, [(1, "a"), (2, "a"), (0, "a")], [2])
    other = run_of(2, [(2, "a"), (1, "b")], [2])
    with pytest.raises(CorruptionError, match="Run 1 is not in the order"):
        list(merge_runs([unsorted, other], KEY, PLACES))
