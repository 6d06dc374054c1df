"""A trigger divides large RowSets at their cuts, and no epoch that changes rows."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from colonnade.tableformat.streams.admission import Limits
from colonnade.tableformat.streams.source import StreamRules
from tests.tableformat.streams.reading import Reading, appended, keys


@pytest.mark.slow
def test_a_large_rowset_is_divided_at_its_cuts(tmp_path: Path) -> None:
    table = appended(tmp_path, [])
    table().append(pa.table({"k": range(150_000), "v": [0] * 150_000, "s": ["x"] * 150_000}))
    assert len(table()._log.reader.rowsets.read(table()._state)) == 1
    triggers = list(Reading(table, limits=Limits(rows=70_000)).rest())
    assert [len(rows) for rows in triggers] == [65_536, 65_536, 18_928]
    assert keys([row for rows in triggers for row in rows]) == list(range(150_000))


def test_the_changes_of_an_epoch_stay_together_in_one_trigger(tmp_path: Path) -> None:
    table = appended(tmp_path, [4])
    reading = Reading(table, StreamRules(changes=True), Limits(rows=1))
    assert len(reading.trigger()) == 4
    table().update({"v": "1"}, None)
    table().append([{"k": 9, "v": 0, "s": "x"}])
    kinds = [sorted({row[1] for row in rows}) for rows in reading.rest()]
    assert kinds == [["update_postimage", "update_preimage"], ["insert"]]
