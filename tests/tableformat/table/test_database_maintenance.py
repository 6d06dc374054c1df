"""A call on a database concerns all its tables, and its handle is at the newest epoch after it."""

from __future__ import annotations

from pathlib import Path

import colonnade
from tests.tableformat.table.trips import ids, rows


def test_every_table_goes_back_to_an_epoch_that_is_named_by_its_number(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    tables = [database.create_table(name, rows(1)) for name in "ab"]
    tagged = database.tag("both")
    for table in tables:
        table.overwrite(rows(2))
    restored = database.restore(tagged)
    assert [ids(database[name].scan()) for name in "ab"] == [[1], [1]]
    assert (database.repair().epoch, database.tags()) == (restored, {"both": tagged})
    assert database.verify(4).is_sound
    database.untag("both")
    assert database.tags() == {}
