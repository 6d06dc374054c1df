"""The inputs of a compaction are read in order, without their deleted rows, until a stop."""

from __future__ import annotations

from concurrent.futures import CancelledError

import numpy as np
import pytest

from colonnade.tableformat.compaction.inputs import InputRowSet, Inputs
from colonnade.tableformat.jobs import Stop
from tests.compaction_tables import filled, jobs, live, take


def opened(stop: Stop, *deleted: set[int]) -> tuple[Inputs, list[InputRowSet]]:
    """The inputs of a job over all RowSets. Some of their rows are deleted first."""
    table = filled()
    count = len(live(table))
    take(table, [deleted[n] if n < len(deleted) else () for n in range(count)])
    _, [job] = jobs(table, "rewrite")
    inputs = Inputs(job, table._location.store, stop)
    return inputs, list(inputs.open())


def test_live_rows_come_with_their_numbers_and_their_values() -> None:
    deleted = {0, 3}
    inputs, sources = opened(Stop(), deleted)
    assert [each.index for each in sources] == [*range(len(inputs.job.view.rowsets))]
    for source in sources:
        missing = deleted if source.index == 0 else set()
        numbers: list[int] = []
        for rows, columns in source.batches():
            assert {len(column) for column in columns} == {len(rows)}
            numbers += rows.tolist()
            origin = source.origin(rows)
            assert (origin >> 32 == source.index).all()
            assert (origin & (2**32 - 1) == rows).all()
        assert numbers == [n for n in range(source.rowset.entry.rows) if n not in missing]
        assert source.rows.sum() == source.rowset.entry.rows
        assert source.deleted_counts.sum() == len(missing)


def test_only_wanted_stretches_are_read() -> None:
    _, [source, *_] = opened(Stop(), {1})
    nothing = np.zeros(len(source.rows), bool)
    assert list(source.stretches(nothing)) == []
    for number in range(len(source.rows)):
        wanted = nothing.copy()
        wanted[number] = True
        [stretch] = source.stretches(wanted)
        assert (stretch.first_row, stretch.rows) == (source.cuts[number], source.rows[number])
        assert len(source.decode(stretch)[0]) == source.rows[number] - source.deleted_counts[number]


def test_a_stop_ends_the_reading_between_two_stretches() -> None:
    stop = Stop()
    _, [source, *_] = opened(stop)
    stop.request()
    with pytest.raises(CancelledError):
        next(source.batches())
