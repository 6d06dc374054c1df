"""Repair loses no row that can be read, says which ones are lost, and deletes nothing."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from colonnade.manifests.checkpoint.reader import read_hint
from colonnade.manifests.errors import (
    AlreadyExistsError,
    ConflictError,
    CorruptionError,
    InvalidInputError,
    NotFoundError,
    StoreError,
)
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.object_names import HINT, checkpoint_name, deletion_vector_name, epoch_name
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.rowset.write_options import WriteOptions
from colonnade.tableformat.table.alteration import AddColumn, AlterProperties, RenameColumn
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.write import job as write_job
from tests.manifests.store.test_local import file_size_limit
from tests.manifests.vacuum.world import Hooked
from tests.tableformat.verify.test_verify import SCHEMA, flip, rows


@pytest.fixture(autouse=True)
def directories(monkeypatch: pytest.MonkeyPatch) -> None:
    """RowSets are directories with cuts every 100 rows."""
    options = partial(WriteOptions, block_rows=100, packed_bytes=0, inline_bytes=0)
    monkeypatch.setattr(write_job, "WriteOptions", options)


def make(store: MemoryStore, limits: Limits = LIMITS) -> ArrowDatabase:
    """RowSet 0 has rows 0 to 299; 7 and 250 are deleted. RowSet 1 has the next 300 rows."""
    log = Log(store, checkpoint_interval=4, pause=lambda _: None, limits=limits)
    db = ArrowDatabase(store, log, create_database(store, lone_table=False))
    table = db.create_table("a", SCHEMA)
    table.append(rows())
    table.append(rows(300))
    table.delete("id IN (7, 250)")
    return db


def file_of(db: ArrowDatabase, rowset: int, leaf: str) -> str:
    state = db.refresh().table("a")
    [live] = [r for r in db._log.read_rowsets(state) if r.id == rowset]
    return f"{state.prefix}{live.entry.object}/{leaf}"


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


def test_columns_of_the_rescue_file_do_not_mix_with_columns_of_the_table(tmp_path: Path) -> None:
    store = MemoryStore()
    db = make(store)
    table = db.table("a")
    table.alter(RenameColumn(("s",), "_ROW"), AddColumn(SchemaField(name="__row", type="int")))
    table.alter(AddColumn(SchemaField(name="_certain", type="string")))
    flip(store, name := file_of(db, 0, "3.col"), len(store.get(name)) - 3)
    table.repair(db.verify(3).damaged_rowsets("a"), rescue=tmp_path / "lost.parquet")
    found = pq.read_table(tmp_path / "lost.parquet")
    beside = ["_rowset", "___row", "_lost_columns", "__certain"]
    assert found.column_names == [*table.schema.names, *beside]
    assert found["___row"].to_pylist() == found["id"].to_pylist()
    assert found["_ROW"].null_count == found["_certain"].null_count == found.num_rows == 99
    assert set(found["__certain"].to_pylist()) == {True}


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
    state = db.refresh().table("a")
    [vector] = [r.vector for r in db._log.read_rowsets(state) if r.vector]
    store.delete(deletion_vector_name(state.prefix, vector.object))
    table = db.table("a")
    result = table.repair(db.verify(2).damaged_rowsets("a"), rescue=tmp_path / "lost.parquet")
    assert {each.certain for each in result.lost} == {False}
    assert ids(table) == [*range(300, 600)]
    found = pq.read_table(tmp_path / "lost.parquet")
    assert found["id"].to_pylist() == [*range(300)]
    assert not any(found["_certain"].to_pylist())


@pytest.mark.parametrize("limit", [0, 100])
def test_a_rescue_that_the_disk_has_no_room_for_leaves_table_and_folder_alone(
    limit: int, tmp_path: Path
) -> None:
    store = MemoryStore()
    db = make(store)
    flip(store, file_of(db, 0, "3.col"), -1)
    epoch = db.refresh().epoch
    with file_size_limit(limit), pytest.raises(StoreError, match="could not be written"):
        db.table("a").repair([0], rescue=tmp_path / "lost.parquet")
    assert list(tmp_path.iterdir()) == []
    assert db.refresh().epoch == epoch
    assert db.table("a").repair([0], rescue=tmp_path / "lost.parquet").rows_lost == 99


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
    [rowset, _] = db._log.read_rowsets(table.state)
    [replacement] = rowset.entry.replacements or ()
    folder = f"{table.state.prefix}{replacement.object}"
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


def test_what_is_sound_unknown_or_in_the_way_is_refused(tmp_path: Path) -> None:
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
def test_others_lose_nothing_beside_a_repair(appends: bool, tmp_path: Path) -> None:
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
    table = ArrowDatabase(hooked, log, log.read_head()).table("a")
    if appends:
        table.repair([0], rescue=tmp_path / "lost.parquet")
        assert ids(table)[-5:] == [*range(1000, 1005)]
    else:
        with pytest.raises(ConflictError):
            table.repair([0], rescue=tmp_path / "lost.parquet")
        assert list(tmp_path.iterdir()) == []
        table.repair([0], rescue=tmp_path / "lost.parquet")
        assert 3 not in ids(table)


def test_hint_and_checkpoint_are_made_anew_from_the_log() -> None:
    store = MemoryStore()
    db = make(store)
    newest = read_hint(store)
    assert newest is not None
    flip(store, checkpoint_name(newest[0].root), 60)
    assert [each.kind for each in db.verify(1).findings] == ["cache"]
    assert db.repair() == 4
    assert db.verify(1).findings == ()
    assert read_hint(store) != newest
    store.delete(HINT)
    db.repair()
    found = read_hint(store)
    assert found is not None
    assert found[0].epoch == 4


def test_epochs_that_were_lost_are_given_up_only_when_told_to() -> None:
    store = MemoryStore()
    db = make(store)
    db.table("a").append(rows(900, 1))
    for number in (4, 5):
        store.delete(epoch_name(number))
    log = Log(store)
    lost = ArrowDatabase(store, log, log.read_at(3))
    with pytest.raises(CorruptionError, match="is missing"):
        lost.repair()
    assert lost.repair(give_up_lost_epochs=True) == 3
    assert lost.verify(1).findings == ()
