"""What is intact of a damaged RowSet is read, and what is lost is named, column by column."""

from __future__ import annotations

import pytest

from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.repair.reading import DamagedRowSet, ReadableStretch
from colonnade.tableformat.table.database import ArrowDatabase
from tests.tableformat.repair.damaged import file_of, make

pytestmark = pytest.mark.usefixtures("directories")

STRETCH = 100


def read(db: ArrowDatabase, rowset: int = 0) -> list[ReadableStretch]:
    state = db._refresh().table("a")
    [live] = [each for each in db._log.rowsets.read(state) if each.id == rowset]
    return list(DamagedRowSet(db._log.store, state, live).stretches())


def spoil(store: MemoryStore, name: str) -> None:
    data = store.get(name)
    store.put(name, bytes([data[0] ^ 255, *data[1:]]), sync=False)


def test_an_intact_rowset_is_whole_without_its_deleted_rows() -> None:
    db = make(MemoryStore())
    found = read(db)
    assert all(each.is_whole for each in found)
    assert [each.rows[0] for each in found] == [0, STRETCH, 2 * STRETCH]
    numbers = [row for each in found for row in each.rows.tolist()]
    assert numbers == [row for row in range(300) if row not in (7, 250)]
    for each in found:
        assert {len(array) for array in each.arrays.values()} == {len(each.rows)}


def test_a_damaged_block_loses_its_column_in_its_stretch_alone() -> None:
    store = MemoryStore()
    db = make(store)
    column = db._refresh().table("a").schema.fields[1]
    spoil(store, file_of(db, 0, f"{column.id}.col"))
    first, *rest = read(db)
    assert first.lost == (column,)
    assert first.certain
    assert not first.is_whole
    assert column.id not in first.arrays
    assert all(each.is_whole for each in rest)


def test_without_its_footer_every_column_of_a_rowset_is_lost() -> None:
    store = MemoryStore()
    db = make(store)
    store.delete(file_of(db, 1, "rowset.json"))
    schema = db._refresh().table("a").schema
    for each in read(db, 1):
        assert each.lost == schema.fields
        assert each.arrays == {}
        assert len(each.rows) == STRETCH
    assert all(each.is_whole for each in read(db, 0))
