"""Updates that replace columns where the rows are: what is read, written and counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from colonnade import ArrowTable
from colonnade.manifests.errors import CorruptionError, InvalidInputError
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from colonnade.manifests.store import MemoryStore, ObjectStore
from colonnade.tableformat.compaction.job import plan_job
from colonnade.tableformat.progress import Progress, progress
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.statements import update
from colonnade.tableformat.table.alteration import AddColumn, AlterProperties, DropColumn
from colonnade.tableformat.table.database import ArrowDatabase

ROWS = 2_000
SCHEMA = pa.schema(
    [("id", pa.int64()), *((f"c{i}", pa.float64()) for i in range(9)), ("s", pa.string())]
)


def rows(first: int = 0, count: int = ROWS) -> pa.Table:
    ids = np.arange(first, first + count)
    order = np.random.default_rng(first)
    columns = {f"c{i}": order.random(count) for i in range(9)}
    return pa.table({"id": ids, **columns, "s": [f"s{i % 50}" for i in ids]}, SCHEMA)


def made(store: ObjectStore | None = None, sort_key: tuple[str, ...] = ()) -> ArrowTable:
    """Two RowSets of equal size; every epoch but the first ones is stored as a checkpoint too."""
    store = store or MemoryStore()
    log = Log(store, checkpoint_interval=2, pause=lambda _: None)
    database = ArrowDatabase(store, log, create_database(store, lone_table=False))
    table = database.create_table("t", SCHEMA, sort_key=sort_key)
    table.append(rows())
    table.append(rows(ROWS))
    return table


def live(table: ArrowTable) -> list[LiveRowSet]:
    table.refresh()
    return table._log.rowsets.read(table._state)


def column(table: ArrowTable, name: str, where: str | None = None) -> list[object]:
    return list(table.scan([name], where).to_arrow()[name].to_pylist())


def test_an_update_of_most_rows_writes_only_the_columns_that_it_sets() -> None:
    table, before = made(), rows().to_pydict()
    counts = table.update({"c1": "c2", "s": "'new'"}, f"id >= 10 AND id < {ROWS}")
    assert (counts.rows_updated, counts.rowsets_in_place, counts.rowsets_touched) == (1990, 1, 1)
    assert 0 < counts.bytes_in_place == counts.bytes_written < live(table)[0].entry.bytes / 4
    assert column(table, "c1")[:ROWS] == before["c1"][:10] + before["c2"][10:]
    assert column(table, "c2")[:ROWS] == before["c2"]
    assert column(table, "s", "s = 'new'") == ["new"] * 1990
    assert column(table, "id", f"s = 's5' AND id < {ROWS}") == [5]
    [entry] = table.history(1)
    assert entry.metrics["rowsets_in_place"] == 1
    assert entry.metrics["bytes_in_place"] == counts.bytes_in_place


def test_replaced_columns_get_their_filters() -> None:
    table = made()
    table.alter(AlterProperties({"bloom-filter-enabled.column.c1": "true"}))
    assert table.update({"c1": "c2"}).rowsets_in_place == 2
    field = table._state.schema.field("c1")
    for rowset in live(table):
        reader = RowSetReader(table._log.store, View.written(table._state.prefix), rowset)
        [stretch] = reader.read_stored([field], bloom_columns=[field.id])
        reader.verify([field], stretch)
        [[block]] = stretch.blocks
        assert len(block.bloom) == 32 * 79
    [first, *_] = column(table, "c2")
    assert column(table, "id", f"c1 = {first!r}D") == [0]


def test_replaced_columns_count_among_the_bytes_of_work_to_do() -> None:
    table = made()
    table.append(rows(2 * ROWS))
    assert table.update({"c1": "c2"}).rowsets_in_place == 3
    plan = table.optimize().option("min-rowsets", 2).plan()
    table.delete(f"id < {ROWS}")
    stored = sum(each.byte_count for each in live(table))
    job = plan_job(table._log, table._refresh(), plan, plan.groups[0])
    assert job.group.bytes_in == job.group.bytes_out == stored
    told = list[Progress]()
    with progress(told.append):
        table.verify()
    assert (told[-1].done, told[-1].total) == (stored, stored)


def test_few_rows_move_and_small_rowsets_do_too() -> None:
    table = made()
    assert table.update({"c1": 1.0}, "id < 100").rowsets_in_place == 0
    table.append(rows(9000, 20))
    counts = table.update({"c1": 2.0})
    assert (counts.rowsets_touched, counts.rowsets_in_place) == (4, 2)
    assert set(column(table, "c1")) == {2.0}


def test_a_replacement_of_a_column_is_replaced_itself_and_vacuumed(tmp_path: Path) -> None:
    table = ArrowTable.create(str(tmp_path / "t"), SCHEMA)
    table.append(rows(count=20_000))
    found = []
    for values in ({"c1": "c2", "c3": "c2"}, {"c3": "c4"}, {"c1": "c5"}):
        table.update(values)
        [rowset] = live(table)
        found.append(rowset.replacements)
    assert [[r.columns for r in each] for each in found] == [[(3, 5)], [(3,), (5,)], [(5,), (3,)]]
    removed = {each.name.rpartition("/")[2] for each in table.vacuum(0, force=True).files}
    assert f"{found[0][0].object}.rowset" in removed
    assert not any(each.object in name for each in found[2] for name in removed)
    left = table.scan().to_arrow()
    assert left["c1"].equals(left["c5"])
    assert left["c3"].equals(left["c4"])
    assert not table.verify(4).findings


def test_replaced_columns_survive_deletions_new_columns_compactions_and_restores() -> None:
    table = made()
    table.delete("id < 5")
    table.alter(AddColumn(SchemaField(id=0, name="extra", type="long")))
    epoch = table.epoch
    counts = table.update({"extra": 7, "c0": "c1"})
    assert (counts.rowsets_in_place, counts.rows_updated) == (2, 2 * ROWS - 5)
    assert column(table, "extra") == [7] * (2 * ROWS - 5)
    table.optimize().option("min-rowsets", 2).executeCompaction()
    assert not any(rowset.replacements for rowset in live(table))
    replaced = table.scan().to_arrow()
    assert replaced["c0"].equals(replaced["c1"])
    assert replaced["extra"].null_count == 0
    table.restore(epoch=epoch)
    assert column(table, "extra") == [None] * (2 * ROWS - 5)
    table.restore(epoch=epoch + 1)
    assert all(rowset.replacements for rowset in live(table))
    assert table.scan().to_arrow().sort_by("id").equals(replaced.sort_by("id"))


def test_columns_that_decide_where_a_row_is_are_not_replaced() -> None:
    table = made(sort_key=("c1",))
    assert table.update({"c1": "c2", "c3": 1.0}).rowsets_in_place == 0
    assert table.update({"c3": 2.0}).rowsets_in_place == 1
    assert all(r.vector is None for r in live(table))


def test_a_transaction_sees_what_it_replaced_also_in_rowsets_of_its_own() -> None:
    store = MemoryStore()
    log = Log(store, pause=lambda _: None)
    database = ArrowDatabase(store, log, create_database(store, lone_table=False))
    database.create_table("t", SCHEMA).append(rows())
    with database.transaction() as transaction:
        table = transaction.table("t")
        table.append(rows(ROWS))
        assert table.update({"c1": "c2"}).rowsets_in_place == 2
        assert table.update({"c3": "c1", "c1": 1.0}).rowsets_in_place == 2
        table.delete("id = 7")
        seen = table.scan().to_arrow()
    after = database.table("t").scan().to_arrow()
    assert after.equals(seen)
    assert after.num_rows == 2 * ROWS - 1
    assert after["c3"].equals(after["c2"])
    assert after["c1"].to_pylist() == [1.0] * (2 * ROWS - 1)


def test_two_updates_of_one_column_do_not_undo_each_other() -> None:
    table = made()
    other = ArrowTable(table._location, table._log, table._snapshot)
    table.update({"c1": "c2"})
    counts = other.update({"c1": "c3"}, "c1 <= 0.9")
    assert counts.rowsets_in_place == 2
    found = other.scan().to_arrow().to_pydict()
    assert counts.rows_updated == sum(value <= 0.9 for value in found["c2"])
    pairs = zip(found["c2"], found["c3"], strict=True)
    assert found["c1"] == [new if old <= 0.9 else old for old, new in pairs]


def test_a_column_that_a_concurrent_writer_drops_is_a_conflict() -> None:
    table = made()
    other = ArrowTable(table._location, table._log, table._snapshot)
    table.alter(DropColumn(("c1",)))
    with pytest.raises(InvalidInputError, match="c1"):
        other.update({"c1": 0.5})


def test_a_value_that_a_column_cannot_hold_changes_nothing() -> None:
    store = MemoryStore()
    log = Log(store, pause=lambda _: None)
    database = ArrowDatabase(store, log, create_database(store, lone_table=False))
    fields = [f.with_nullable(f.name != "c1") for f in SCHEMA]
    table = database.create_table("t", pa.schema(fields))
    table.append(rows().cast(pa.schema(fields)))
    before = sorted(info.name for info in store.list(""))
    with pytest.raises(InvalidInputError, match="'c1'"):
        table.update({"c1": "NULL"})
    assert sorted(info.name for info in store.list("")) == before


def test_damage_of_a_replaced_column_is_found_and_named(tmp_path: Path) -> None:
    table = ArrowTable.create(str(tmp_path / "t"), SCHEMA)
    table.append(rows(count=20_000))
    table.update({"c1": "c2"})
    [rowset] = live(table)
    [replacement] = rowset.replacements
    [file] = list(tmp_path.rglob(f"{replacement.object}*"))
    data = bytearray(file.read_bytes())
    data[1000] ^= 1
    file.write_bytes(data)
    [finding] = table.verify(3).findings
    assert finding.file is not None
    assert replacement.object in finding.file
    with pytest.raises(CorruptionError, match=f"'c1'.*{replacement.object}"):
        table.scan(["c1"]).to_arrow()
    assert table.scan(["c2"]).to_arrow().num_rows == 20_000
    file.unlink()
    assert any("is missing" in each.problem for each in table.verify(1).findings)


def test_many_replacements_go_to_files_and_no_further_ones_in_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(update, "INLINE_LIMIT", 1)
    table = made()
    table.update({"c1": 0.5})
    assert {r.place for each in live(table) for r in each.replacements} == {"packed"}
    monkeypatch.setattr(update, "IN_PLACE_ROOM", 1000)
    counts = table.update({"c1": 0.25})
    assert (counts.rowsets_touched, counts.rowsets_in_place) == (2, 1)
    assert set(column(table, "c1")) == {0.25}
