"""A stream begins where its options say, once: later its checkpoint counts alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import colonnade
from colonnade.manifests.clock import moment
from colonnade.manifests.errors import NotFoundError
from colonnade.tableformat.streams.offsets import parse_offset
from tests.tableformat.streams.reading import Reading, appended, keys


@pytest.mark.parametrize("start", ["latest", "tag", "number", "time", "zero"])
def test_a_stream_begins_where_it_is_told_and_stays_there_after_a_restart(
    start: str, tmp_path: Path
) -> None:
    table = appended(tmp_path, [1, 1])
    colonnade.open_database(tmp_path / "t").tag("here")
    table().append([{"k": 2, "v": 0, "s": "x"}])
    here = table().epoch - 2
    starts: dict[str, Any] = {
        "latest": "latest",
        "tag": "here",
        "number": here,
        "time": moment(table()._log.reader.read_at(here).time_ms),
        "zero": 0,
    }
    wanted = {"latest": [], "tag": [1, 2], "number": [1, 2], "time": [1, 2], "zero": [0, 1, 2]}
    reading = Reading(table, start=starts[start])
    read = reading.trigger()
    assert keys(read) == wanted[start]
    table().append([{"k": 3, "v": 0, "s": "x"}])
    # The first batch has no start in Spark's log: it begins where its end says.
    end = parse_offset(str(reading.offset))
    assert keys(reading.between(end.beginning(), end)) == wanted[start]
    assert keys(Reading(table, start=0, offset=reading.offset).trigger()) == [3]


def test_a_start_of_the_future_is_refused(tmp_path: Path) -> None:
    table = appended(tmp_path, [1])
    for start in (99, "2999-01-01"):
        with pytest.raises(NotFoundError, match="later than its newest epoch"):
            Reading(table, start=start).trigger()
