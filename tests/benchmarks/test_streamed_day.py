"""A table that a stream writes for a day costs at its end what it cost at its begin.

Costs are counted in requests and bytes of a bucket, so they are the same on any machine.
"""

from __future__ import annotations

import pytest

from benchmarks.log.streamed_day import COSTS, DAYS, FLAT, PARTS, Part, parts_of_day

ALL_KEPT, HOUR_KEPT = DAYS

MOST_ROWSETS = 6 * 8
"""Fewer than eight RowSets of each tier, and some batches whose compaction another one delayed."""


def checked(name: str, batches: int | None = None) -> tuple[Part, Part]:
    """The second part of a day and the last one, once all that must be flat is."""
    parts = [*parts_of_day(name, batches)]
    assert len(parts) == PARTS
    second, last = parts[1], parts[-1]
    for what in COSTS:
        assert last[what] <= FLAT * second[what], (what, second[what], last[what])
    assert last["RowSets"] <= MOST_ROWSETS
    assert last["requests of each batch"] < 6
    assert last["requests of each trigger"] < 8
    return second, last


@pytest.mark.slow
def test_batches_triggers_openings_and_vacuums_cost_the_same_after_some_hundred_batches() -> None:
    checked(ALL_KEPT, 640)


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_batches_triggers_openings_and_vacuums_cost_the_same_after_a_day() -> None:
    second, last = checked(ALL_KEPT)
    assert last["bytes of the root"] <= 2 * second["bytes of the root"]


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_with_an_hour_of_retention_the_files_of_the_log_stay_as_many() -> None:
    second, last = checked(HOUR_KEPT)
    assert last["files of the log"] <= FLAT * second["files of the log"]
