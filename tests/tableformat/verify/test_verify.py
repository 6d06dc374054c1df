"""Whatever is damaged is found, and said where; what is sound is not called damaged."""

from __future__ import annotations

import json

import pytest

from colonnade.manifests.store import MemoryStore
from tests.tableformat.verify.damaged import ROWS, make


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_a_sound_database_is_not_called_damaged(place: str, depth: int) -> None:
    db = make(MemoryStore())
    report = db.verify(depth)
    assert report.findings == ()
    assert report.leftovers == {}
    assert (report.tables, report.rowsets, report.rows) == (2, 4, 3 * ROWS + 1)
    assert (report.bytes > 3000) is (depth > 2)
    assert report.epoch == db.refresh().epoch
    assert str(report).endswith("Nothing is damaged.")
    db.vacuum(0, force=True)
    assert db.verify(depth).findings == ()
    assert json.loads(json.dumps(report.to_json()))["sound"] is True
