"""Repair loses no row that can be read, says which ones are lost, and deletes nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from colonnade.manifests.errors import (
    AlreadyExistsError,
    ConflictError,
    CorruptionError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.object_names import HINT, deletion_vector_name
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.table.alteration import AlterProperties
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.table import ArrowTable
from tests.manifests.vacuum.world import Hooked
from tests.tableformat.repair.damaged import file_of, make
from tests.tableformat.verify.damaged import flip, rows

pytestmark = pytest.mark.usefixtures("directories")


def ids(table: ArrowTable) -> list[int]:
    return sorted(table.scan(["id"]).to_arrow()["id"].to_pylist())


def everything(store: MemoryStore) -> dict[str, bytes]:
    """All files but the hint, which is replaced in its place."""
    return {info.name: store.get(info.name) for info in store.list("") if info.name != HINT}


def test_a_damaged_block_costs_only_the_rows_of_its_stretch(tmp_path: Path) -> None:
    store = MemoryStore()
    db = make(store)
    table = db.table("a")
    name = file_of(db, 0, "3.col")
    flip(store, name, len(store.get(name)) - 3)
    with pytest.raises(CorruptionError):
        table.scan().to_arrow()
    rowsets = db.verify(3).damaged_rowsets("a")
    assert rowsets == [0]
    before = everything(store)
    planned = table.repair(rowsets, rescue=tmp_path / "lost.parquet", dry_run=True)
    assert everything(store) == before
    assert list(tmp_path.iterdir()) == []
    result = table.repair(rowsets, rescue=tmp_path / "lost.parquet")
    assert before.items() <= everything(store).items()
    assert (planned.lost, planned.rows_kept) == (result.lost, result.rows_kept)
    [lost] = result.lost
    assert (lost.rowset, lost.first, lost.last, lost.count) == (0, 200, 299, 99)
    assert (lost.columns, lost.certain) == (("s",), True)
    assert "RowSet 0, rows 200 to 299: 99 rows lost; not readable: s." in str(result)
    assert json.loads(json.dumps(result.to_json()))["rows_lost"] == 99
    assert ids(table) == sorted({*range(200), *range(300, 600)} - {7})
    assert db.verify(4).is_sound
    found = pq.read_table(tmp_path / "lost.parquet")
    assert found["id"].to_pylist() == [i for i in range(200, 300) if i != 250]
    assert found["s"].null_count == 99
    assert found["_row"].to_pylist() == found["id"].to_pylist()
    assert set(map(tuple, found["_lost_columns"].to_pylist())) == {("s",)}
    assert [path.name for path in tmp_path.iterdir()] == ["lost.parquet"]
    entry = table.history(1)[0]
    assert (entry.operation, entry.parameters["lost"]) == ("repair", "RowSet 0 rows 200 to 299")


@pytest.mark.parametrize("leaf", ["rowset.json", "1.col"])
def test_a_rowset_without_a_readable_row_is_removed_whole(leaf: str, tmp_path: Path) -> None:
    store = MemoryStore()
    db = make(store)
    store.delete(file_of(db, 0, leaf))
    table = db.table("a")
    assert db.verify(1).damaged_rowsets("a") == [0]
    result = table.repair([0], rescue=tmp_path / "lost.parquet")
    assert (result.rows_lost, result.rows_kept) == (298, 0)
    assert ids(table) == [*range(300, 600)]
    found = pq.read_table(tmp_path / "lost.parquet")
    assert found.num_rows == 298
    assert found["s"].null_count == (298 if leaf == "rowset.json" else 41 + 1)


def test_without_its_vector_the_live_rows_of_a_rowset_are_unknown(
    tmp_path: Path,
) -> None:
    store = MemoryStore()
    db = make(store, Limits(inline_bytes=0))
    state = db._refresh().table("a")
    [vector] = [r.vector for r in db._log.rowsets.read(state) if r.vector]
    store.delete(deletion_vector_name(state.prefix, vector.object))
    table = db.table("a")
    result = table.repair(db.verify(2).damaged_rowsets("a"), rescue=tmp_path / "lost.parquet")
    assert {each.certain for each in result.lost} == {False}
    assert ids(table) == [*range(300, 600)]
    found = pq.read_table(tmp_path / "lost.parquet")
    assert found["id"].to_pylist() == [*range(300)]
    assert not any(found["_certain"].to_pylist())


def test_a_damaged_filter_costs_no_row(tmp_path: Path) -> None:
    store = MemoryStore()
    db = make(store)
    table = db.table("a")
    table.alter(AlterProperties({"bloom-filter-enabled.column.id": "true"}))
    table.append(rows(600))
    before = table.scan(["id", "s"]).to_arrow()
    flip(store, file_of(db, 2, "1.idx"), 5)
    rowsets = db.verify(3).damaged_rowsets("a")
    planned = table.repair(rowsets, rescue=tmp_path / "lost.parquet", dry_run=True)
    result = table.repair(rowsets, rescue=tmp_path / "lost.parquet")
    assert (planned.lost, planned.rows_kept) == (result.lost, result.rows_kept) == ((), 300)
    assert (result.rows_lost, result.rescued) == (0, None)
    assert str(result) == f"Epoch {table.epoch} rewrites RowSets 2; all of their 300 rows stay."
    assert list(tmp_path.iterdir()) == []
    assert table.scan(["id", "s"]).to_arrow().equals(before)
    assert db.verify(4).is_sound
    assert table.history(1)[0].parameters == {}


@pytest.mark.parametrize("whole", [True, False])
def test_a_damaged_replacement_costs_the_rows_whose_columns_it_has(
    whole: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    db = make(store, Limits(in_place_bytes=-(2**20)))
    table = db.table("a")
    assert table.update({"x": 0.5}, "id >= 10 AND id < 300").rowsets_in_place == 1
    [rowset, _] = db._log.rowsets.read(table._state)
    [replacement] = rowset.replacements
    folder = f"{table._state.prefix}{replacement.object}"
    store.delete(f"{folder}/rowset.json") if whole else flip(store, f"{folder}/2.col", 10)
    rowsets = db.verify(3).damaged_rowsets("a")
    assert rowsets == [0]
    result = table.repair(rowsets, rescue=tmp_path / "lost.parquet")
    end = 300 if whole else 100
    assert {each.columns for each in result.lost} == {("x",)}
    assert ids(table) == [i for i in range(end, 600) if i != 250]
    assert table.scan(["x"], "id = 299").to_arrow()["x"].to_pylist() == [0.5][whole:]
    assert db.verify(4).is_sound
    found = pq.read_table(tmp_path / "lost.parquet").select(["id", "x", "s"])
    assert found["id"].to_pylist() == [i for i in range(end) if i not in (7, 250)]
    assert found["x"].null_count == len(found)
    assert found["s"].to_pylist()[:8] == rows()["s"].to_pylist()[:7] + rows()["s"].to_pylist()[8:9]


def test_damage_of_a_column_that_was_replaced_since_costs_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = MemoryStore()
    db = make(store, Limits(in_place_bytes=-(2**20)))
    table = db.table("a")
    table.update({"x": 0.5}, "id < 300")
    before = table.scan(["id", "s"]).to_arrow()
    store.delete(file_of(db, 0, "2.col"))
    assert db.verify(1).damaged_rowsets("a") == [0]
    assert table.repair([0], rescue=tmp_path / "lost.parquet").rows_lost == 0
    assert table.scan(["id", "s"]).to_arrow().sort_by("id").equals(before.sort_by("id"))
    assert set(table.scan(["x"], "id < 300").to_arrow()["x"].to_pylist()) == {0.5}
    assert db.verify(4, epoch=table.epoch).is_sound


def test_a_repair_of_a_sound_or_unknown_rowset_or_of_one_in_the_way_is_refused(
    tmp_path: Path,
) -> None:
    db = make(MemoryStore())
    table = db.table("a")
    before = table.epoch
    with pytest.raises(InvalidInputError, match="nothing to repair"):
        table.repair([0, 1], rescue=tmp_path / "lost.parquet")
    with pytest.raises(NotFoundError, match="has no RowSet 9"):
        table.repair([0, 9], rescue=tmp_path / "lost.parquet")
    (tmp_path / "mine.parquet").write_text("mine")
    with pytest.raises(AlreadyExistsError):
        table.repair([0], rescue=tmp_path / "mine.parquet")
    assert (tmp_path / "mine.parquet").read_text() == "mine"
    assert db.refresh().epoch == before
    assert [path.name for path in tmp_path.iterdir()] == ["mine.parquet"]


@pytest.mark.parametrize("appends", [True, False])
def test_concurrent_writers_lose_nothing_beside_a_repair(appends: bool, tmp_path: Path) -> None:
    store = MemoryStore()
    db = make(store)
    name = file_of(db, 0, "3.col")
    flip(store, name, len(store.get(name)) - 3)
    other = db.table("a")

    def meanwhile() -> None:
        if appends:
            other.append(rows(1000, 5))
        else:
            other.delete("id = 3")

    hooked = Hooked(store, {("put_if_absent", "_manifest/0000"): meanwhile})
    log = Log(hooked, checkpoint_interval=64, pause=lambda _: None)
    table = ArrowDatabase(hooked, log, log.reader.read_head()).table("a")
    if appends:
        table.repair([0], rescue=tmp_path / "lost.parquet")
        assert ids(table)[-5:] == [*range(1000, 1005)]
    else:
        with pytest.raises(ConflictError):
            table.repair([0], rescue=tmp_path / "lost.parquet")
        assert list(tmp_path.iterdir()) == []
        table.repair([0], rescue=tmp_path / "lost.parquet")
        assert 3 not in ids(table)
