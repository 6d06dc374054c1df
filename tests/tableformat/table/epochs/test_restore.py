"""A restore is a new epoch, which loses nothing and is refused when it comes too late."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

from colonnade import ArrowDatabase, ArrowTable, CommitSettings
from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.operations import Txn
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.table.alteration import (
    AddColumn,
    AlterProperties,
    DropColumn,
    RenameColumn,
)
from colonnade.tableformat.table.epochs.restore import restore_database, restore_table
from tests.log_samples import contents, replay

SCHEMA = pa.schema([("id", pa.int64()), ("v", pa.string())])


def rows(*ids: int, v: str = "x") -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "v": pa.array([v] * len(ids))}, SCHEMA)


def database(interval: int = 64, limits: Limits = LIMITS) -> ArrowDatabase:
    """Epochs 1 and 2 make `a` with the rows 0 to 9, epochs 3 and 4 `b` with one row."""
    store = MemoryStore()
    log = Log(store, checkpoint_interval=interval, pause=lambda _: None, limits=limits)
    db = ArrowDatabase(store, log, create_database(store, lone_table=False))
    db.create_table("a", SCHEMA).append(rows(*range(10)))
    db.create_table("b", SCHEMA).append(rows(100))
    return db


def read(table: ArrowTable, **when: Any) -> list[tuple[Any, ...]]:
    found = table.scan(**when).to_arrow().to_pylist()
    return sorted(tuple(each.values()) for each in found)


@pytest.mark.parametrize("interval", [2, 64])
def test_a_table_is_again_what_it_was_at_any_epoch(interval: int) -> None:
    db = database(interval)
    table = db.table("a")
    for change in (
        lambda: table.delete("id < 3"),
        lambda: table.update({"v": "'y'"}, "id = 5"),
        lambda: table.alter(
            DropColumn(("v",)),
            AddColumn(SchemaField(name="w", type="long")),
            RenameColumn(("id",), "key"),
        ),
        lambda: table.overwrite(pa.table({"key": [7], "w": [8]})),
        lambda: table.delete(),
    ):
        change()
    states = {epoch: read(table, epoch=epoch) for epoch in range(1, table.epoch + 1)}
    schemas = {epoch: table.scan(epoch=epoch).schema for epoch in states}
    for epoch in (2, 9, 6, 8, 5, 7, 1):
        table.restore(epoch=epoch)
        assert read(table) == states[epoch]
        assert table.scan().schema == schemas[epoch]
        assert contents(table._log, table._refresh()) == contents(table._log, replay(db._store))
    for epoch, state in states.items():
        assert read(table, epoch=epoch) == state
    assert table.history(1)[0].operation == "restore"
    assert table.history(1)[0].parameters == {"epoch": "1"}


def test_a_restore_keeps_the_name_properties_batches_and_rowset_ids_of_the_head() -> None:
    db = database()
    table = db.table("a")
    table.append(rows(20), commit=CommitSettings(batch=("job", 5)))
    table.alter(AlterProperties({"owner": "me"}))
    db.rename_table("a", "c")
    table.restore(epoch=2)
    assert read(table) == [(i, "x") for i in range(10)]
    assert (table.name, table._state.properties) == ("c", {"owner": "me"})
    table.append(rows(20), commit=CommitSettings(batch=("job", 5)))
    assert len(read(table)) == 10
    [rowset] = table._log.rowsets.read(table._state)
    assert (rowset.id, rowset.epoch) == (2, table.epoch)


def test_a_property_that_names_a_column_follows_it_back() -> None:
    table = database().table("a")
    table.alter(AlterProperties({"bloom-filter-enabled.column.id": "true"}))
    table.alter(RenameColumn(("id",), "key"))
    assert table._state.properties == {"bloom-filter-enabled.column.key": "true"}
    table.restore(epoch=2)
    assert table._state.properties == {"bloom-filter-enabled.column.id": "true"}


def test_nothing_to_restore_makes_no_epoch() -> None:
    db = database()
    head = db.refresh().epoch
    assert db.table("a").restore(epoch=2) == head
    assert db.restore(epoch=head) == head


@pytest.mark.parametrize("whole", [False, True])
def test_a_batch_lands_where_there_is_nothing_to_restore(whole: bool) -> None:
    db = database()
    table = db.table("a")
    restored: ArrowTable | ArrowDatabase = db if whole else table
    then = table.epoch
    for _ in range(2):
        restored.restore(epoch=then, commit=CommitSettings(batch=("job", 1)))
        if table.refresh().epoch == then + 1:
            table.append(rows(20))
    assert (20, "x") in read(table)


def test_statements_from_before_a_restore_run_again_and_appends_stay() -> None:
    db = database()
    table = db.table("a")
    table.delete("id = 1")
    old = table._snapshot
    late = ArrowTable(table._location, table._log, old)
    late._open.refresh = lambda: old  # type: ignore[method-assign]
    adding = ArrowTable(table._location, table._log, old)
    table.restore(epoch=2)
    assert late.delete("id < 3").rows_deleted == 3
    adding.append(rows(50))
    assert read(db.table("a")) == [(i, "x") for i in [*range(3, 10), 50]]


def test_a_restore_loses_no_rows_that_came_meanwhile() -> None:
    db = database()
    table, other = db.table("a"), db.table("a")
    table.delete("id = 1")
    seen = table._snapshot
    other.append(rows(50))
    table._open.refresh = lambda: seen  # type: ignore[method-assign]
    with pytest.raises(ConflictError, match="Rows of table 'a' that the statement overwrites"):
        table.restore(epoch=2)
    assert (50, "x") in read(other)


def test_a_table_of_many_rowsets_comes_back_by_segments() -> None:
    db = database(limits=Limits(listed_rowsets=2))
    table = db.table("a")
    for number in range(20, 24):
        table.append(rows(number, number + 100))
    table.delete("id in (3, 21, 121)")
    before, epoch = read(table), table.epoch
    table.overwrite(rows(1))
    table.restore(epoch=epoch)
    assert read(db.table("a")) == before
    assert "add_rowsets" in {op.op for op in next(table._log.reader.read_epochs(table.epoch)).ops}


def test_a_whole_database_is_restored_in_one_epoch() -> None:
    db = database()
    db.tag("start")
    db.table("a").delete("id < 9")
    db.table("b").upsert(rows(100, 101, v="new"), on="id")
    db.create_table("c", SCHEMA)
    head = db.refresh().epoch
    assert db.restore(tag="start") == head + 1
    assert db.tables() == ["a", "b"]
    assert len(read(db.table("a"))) == 10
    assert read(db.table("b")) == [(100, "x")]


@pytest.mark.parametrize("with_vacuum", [False, True])
def test_a_table_that_was_dropped_is_made_again(with_vacuum: bool) -> None:
    db = database()
    table = db.table("b")
    table.alter(AddColumn(SchemaField(id=0, name="w", type="long")))
    table.append(
        pa.table({"id": [101], "v": ["y"], "w": [1]}), commit=CommitSettings(batch=("j", 4))
    )
    table.partition_by("v")
    table.append(pa.table({"id": [102], "v": ["z"], "w": [2]}))
    table.partition_by("id")
    table.partition_by()
    table.delete("id = 101")
    wanted, layouts = read(table), table._state.partition_layouts
    db.tag("start")
    table.partition_by("v")
    table.alter(AddColumn(SchemaField(id=0, name="late", type="long")), AlterProperties({"a": "b"}))
    last = table._state
    db.drop_table("b")
    db.create_table("b", SCHEMA).append(rows(7))
    if with_vacuum:
        db.vacuum(0, force=True)
    head = db.refresh().epoch
    assert db.restore(tag="start") == head + 1
    assert db.tables() == ["a", "b"]
    again = db.table("b")
    assert read(again) == read(table) == wanted
    state = again._state
    assert (state.id, state.batches) == (last.id, {"j": 4})
    assert (state.partition_layouts, state.partition_layout_id) == (layouts, 0)
    if not with_vacuum:
        assert state.properties == {"a": "b"}
        assert state.next_column_id == last.next_column_id
        assert read(again, epoch=4) == [(100, "x")]
    shown = [entry.operation for entry in again.history(2)]
    assert shown == ["restore", "vacuum" if with_vacuum else "append"]
    again.append(pa.table({"id": [103], "v": ["z"], "w": [2]}))
    again.optimize().option("min-rowsets", 2).executeCompaction()
    after = read(again)
    assert len(after) == len(wanted) + 1
    batch = CommitSettings(batch=("restores", 1))
    restored = again.restore(tag="start", commit=batch)
    assert read(db.table("b")) == wanted
    assert again.restore(tag="start", commit=batch) == db.restore(tag="start", commit=batch)
    assert db.refresh().epoch == restored
    if not with_vacuum:
        assert contents(db._log, db._refresh()) == contents(db._log, replay(db._store))
    assert not db.verify(4).findings


@pytest.mark.parametrize("renamed", [False, True])
def test_static_values_of_a_table_that_was_made_again_come_back_again(renamed: bool) -> None:
    db = database()
    schema = pa.schema([(name, pa.int64()) for name in ("id", "v", "s")])
    table = db.create_table("t", schema, primary_key=["id"], static=["s"])
    epochs = [table.append(pa.table({"id": [n], "v": [n], "s": [n]})) for n in range(2)]
    db.drop_table("t")
    db.restore(epoch=epochs[1])
    if renamed:
        db.rename_table("t", "u")
    again = db.table("u" if renamed else "t")
    for epoch in epochs:
        again.restore(epoch=epoch)
        for found in (again, again.statics):
            expected = found.scan(epoch=epoch).to_arrow().to_pylist()
            assert found.to_pylist() == expected != []
    assert again.statics.count() == 2
    assert not db.verify(4).findings


def test_a_table_that_was_replaced_comes_back_alone() -> None:
    db = database()
    first = db.table("a")
    first.append(rows(10), commit=CommitSettings(batch=("j", 4)))
    first.alter(AlterProperties({"team": "sales"}))
    with db.transaction() as tx:
        tx.drop("a")
        tx.create("a", pa.schema([("n", pa.int32())]))
    second = db.table("a")
    second.append(pa.table({"n": pa.array([1], pa.int32())}), commit=CommitSettings(batch=("j", 5)))
    db.table("b").append(rows(101))
    again = db.table("a")
    assert again.restore(epoch=2) == db.refresh().epoch
    assert read(again) == read(db.table("a")) == [(number, "x") for number in range(10)]
    assert again._state.id == first._state.id
    assert (again._state.batches, again._state.properties) == ({"j": 5}, {"team": "sales"})
    assert len(read(db.table("b"))) == 2
    assert not db.verify(4).findings
    with pytest.raises(ConflictError, match="dropped by epoch"):
        second.append(pa.table({"n": pa.array([2], pa.int32())}))


def test_a_table_that_had_another_name_at_its_end_comes_back_by_that_of_the_new_one() -> None:
    db = database()
    db.rename_table("a", "old")
    db.drop_table("old")
    for name in ("old", "a"):
        db.create_table(name, SCHEMA).append(rows(50))
    table = db.table("a")
    assert table.restore(epoch=2) == db.refresh().epoch
    assert read(table) == read(db.table("a")) == [(number, "x") for number in range(10)]
    assert read(db.table("old")) == [(50, "x")]


def replace_at_once(db: ArrowDatabase) -> None:
    with db.transaction() as tx:
        tx.drop("a")
        tx.create("a", SCHEMA)


def drop_and_make(db: ArrowDatabase) -> None:
    db.drop_table("a")
    db.create_table("a", SCHEMA)


@pytest.mark.parametrize("make_another", [replace_at_once, drop_and_make])
def test_history_shows_what_came_back_and_what_that_took_the_place_of(
    make_another: Callable[[ArrowDatabase], None],
) -> None:
    db = database()
    make_another(db)
    table = db.table("a")
    table.append(rows(50))
    lost = table.epoch
    back = table.restore(epoch=2)
    shown = [entry.epoch for entry in table.history()]
    assert shown == [*range(back, 4, -1), 2, 1]
    assert [entry.rows_added for entry in table.history(2)] == [10, 1]
    db.restore(epoch=lost)
    table = db.table("a")
    assert read(table) == [(50, "x")]
    assert [entry.epoch for entry in table.history()] == [table.epoch, *shown]


def test_rows_that_came_into_the_new_table_are_not_lost_by_bringing_back_the_old_one() -> None:
    db = database()
    with db.transaction() as tx:
        tx.drop("a")
        tx.create("a", SCHEMA)
    base = db._refresh()
    other = db.table("a")
    other.append(rows(50))
    with pytest.raises(ConflictError, match="'a'"):
        restore_table(db._log, base, base.tables[other._state.id], db._log.reader.read_at(2), None)
    assert read(db.table("a")) == [(50, "x")]


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda db: db.table("a").history(-1), InvalidInputError, "whole number from 0"),
        (lambda db: db.restore(), InvalidInputError, "exactly one of"),
        (lambda db: db.restore(epoch=1, tag="t"), InvalidInputError, "exactly one of"),
        (lambda db: db.restore(epoch=99), NotFoundError, "99"),
        (lambda db: db.restore(tag="u"), NotFoundError, "'u' does not exist; the tags are: t"),
        (lambda db: db.restore(timestamp="1999-01-01"), NotFoundError, "did not exist yet"),
        (lambda db: db.table("b").restore(epoch=2), NotFoundError, "did not exist yet at epoch 2"),
        (lambda db: db.table("a").restore(epoch=1, commit=3), InvalidInputError, "CommitSettings"),
        (
            lambda db: db.table("a").restore(epoch=1, commit=CommitSettings(expect_epoch=1)),
            ConflictError,
            "expects epoch 1",
        ),
    ],
)
def test_a_table_that_cannot_be_restored_is_named(
    use: Callable[[ArrowDatabase], Any], error: type[Exception], message: str
) -> None:
    db = database()
    db.tag("t", 2)
    head = db.refresh().epoch
    with pytest.raises(error, match=message):
        use(db)
    assert db.refresh().epoch == head


def dropped_with_batch(epoch: int) -> tuple[ArrowDatabase, ArrowDatabase]:
    """Two handles of a database whose table `a` had a batch of a stream and is dropped."""
    db = database()
    db.table("a").append(rows(20), commit=CommitSettings(batch=("stream", 7)))
    db.drop_table("a")
    other = ArrowDatabase(db._store, Log(db._store, pause=lambda _: None), db._refresh())
    assert other._snapshot.epoch == epoch
    return db, other


@pytest.mark.parametrize("then", [4, 5])
def test_of_two_restores_of_a_dropped_table_the_later_one_decides(then: int) -> None:
    db, other = dropped_with_batch(6)
    late = other._snapshot
    db.restore(epoch=4)
    state = other._log.reader.read_at(then)
    restore_database(other._log, late, state, None)
    assert read(db.table("a")) == read(db.table("a", epoch=then), epoch=then)


def test_of_two_restores_by_one_batch_the_later_one_has_landed() -> None:
    db, other = dropped_with_batch(6)
    late, state = other._snapshot, other._log.reader.read_at(4)
    batch = CommitSettings(batch=("restores", 1))
    first = db.restore(epoch=4, commit=batch)
    db.table("a").append(rows(30))
    assert restore_database(other._log, late, state, batch)[0].epoch >= first
    assert (30, "x") in read(db.table("a"))


def test_a_restore_finds_a_table_that_came_back_meanwhile_by_another_name() -> None:
    db, other = dropped_with_batch(6)
    late, state = other._snapshot, other._log.reader.read_at(4)
    db.restore(epoch=4)
    db.rename_table("a", "again")
    restore_database(other._log, late, state, None)
    assert db.tables() == ["again", "b"]
    assert read(db.table("again")) == [(number, "x") for number in range(10)]


MEANWHILE: dict[str, Callable[[ArrowDatabase], object]] = {
    "append to a table that had not changed": lambda db: db.table("b").append(rows(777)),
    "append to a table that had changed": lambda db: db.table("a").append(rows(777)),
    "delete": lambda db: db.table("b").delete(),
    "alter": lambda db: db.table("b").alter(DropColumn("v")),
    "create": lambda db: db.create_table("c", SCHEMA).append(rows(777)),
    "drop": lambda db: db.drop_table("b"),
    "replace": lambda db: (db.drop_table("b"), db.create_table("b", SCHEMA)),
    "rename": lambda db: db.rename_table("b", "renamed"),
    "restore": lambda db: db.table("b").restore(epoch=3),
    "compaction": lambda db: db.table("a").optimize().option("min-rowsets", 2).executeCompaction(),
    "tag": lambda db: db.tag("meanwhile"),
}


@pytest.mark.parametrize("what", MEANWHILE)
def test_all_tables_are_what_they_were_though_one_changes_before_the_slot(what: str) -> None:
    db = database()
    wanted = {name: read(db.table(name)) for name in db.tables()}
    then, names = db._refresh(), db.tables()
    db.table("a").append(rows(666))
    base = db._refresh()
    other = ArrowDatabase(db._store, Log(db._store, pause=lambda _: None), base)
    MEANWHILE[what](db)
    after, _ = restore_database(other._log, base, then, None)
    names = ["a", "renamed"] if what == "rename" else ["a", "b"]
    assert db.tables() == names
    assert {name.replace("renamed", "b"): read(db.table(name)) for name in names} == wanted
    assert db.refresh().epoch == after.epoch


def test_a_restore_of_all_tables_gives_up_after_ten_writers() -> None:
    db = database()
    then = db._refresh()
    db.table("a").append(rows(666))
    commit_change, tries = db._log.commit_change, 0
    other = ArrowDatabase(db._store, Log(db._store, pause=lambda _: None), db._snapshot)

    def beside(*given: Any, **named: Any) -> Any:
        nonlocal tries
        tries += 1
        other.table("b").append(rows(1000 + tries))
        return commit_change(*given, **named)

    with (
        patch.object(db._log, "commit_change", beside),
        pytest.raises(ConflictError, match="Table 'b' was changed by epoch 15 .append."),
    ):
        db.restore(epoch=then.epoch)
    assert tries == 10
    assert (666, "x") in read(db.table("a"))


def test_a_restore_that_expects_an_epoch_does_not_run_again() -> None:
    db = database()
    then = db._refresh()
    db.table("a").append(rows(666))
    base, expected = db._refresh(), CommitSettings(expect_epoch=db._snapshot.epoch)
    db.table("b").append(rows(777))
    with pytest.raises(ConflictError):
        restore_database(db._log, base, then, expected)
    assert (777, "x") in read(db.table("b"))


def with_batches(db: ArrowDatabase, count: int) -> int:
    """Land a batch of each of many applications in `a`, and return the epoch after them."""
    table = db.table("a")
    state = table._refresh()
    for start in range(0, count, 30_000):
        apps = (f"application «{number}»" for number in range(start, min(count, start + 30_000)))
        batches = tuple(Txn(table=table._state.id, app=app, version=7) for app in apps)
        state = table._log.commit(Change(new_transaction_id(), "test", batches), state)
    return state.epoch


@pytest.mark.parametrize("interval", [1, 64])
def test_a_dropped_table_comes_back_with_its_batches(interval: int) -> None:
    db = database(interval, Limits(page_bytes=512))
    kept = with_batches(db, 100)
    for number in range(2):
        db.drop_table("a")
        own = CommitSettings(batch=("restores", number))
        back = db.restore(epoch=kept, commit=own)
        assert db.restore(epoch=kept, commit=own) == back
        table = db.table("a")
        assert len(table._state.batches) == 101
        landed, fresh = (CommitSettings(batch=("application «42»", n)) for n in (7, 8 + number))
        assert table.append(rows(20), commit=landed) == back
        table.append(rows(50 + number), commit=fresh)
        assert contents(db._log, db._refresh()) == contents(db._log, replay(db._store))
        assert not db.verify(4).findings
        kept = db.refresh().epoch
    assert read(db.table("a")) == [(i, "x") for i in (*range(10), 50, 51)]


def test_a_dropped_table_comes_back_with_the_batches_of_its_newest_1000_applications() -> None:
    db = database()
    with_batches(db, 1500)
    for number, app in enumerate(("application «3»", "fresh")):
        db.table("a").append(rows(50 + number), commit=CommitSettings(batch=(app, 8)))
    kept = db.refresh().epoch
    db.drop_table("a")
    db.restore(epoch=kept)
    batches = dict(db.table("a")._state.batches)
    newest = {f"application «{number}»": 7 for number in range(502, 1500)}
    assert batches == {"application «3»": 8, "fresh": 8, **newest}


@pytest.mark.slow
@pytest.mark.parametrize("tables", [1, 40])
def test_batches_that_tables_bring_along_always_fit_into_an_epoch(tables: int) -> None:
    db = database()
    names = [f"t{number}" for number in range(tables)]
    long = "a" * 248
    for name in names:
        made = db.create_table(name, SCHEMA)
        apps = (
            Txn(table=made._state.id, app=f"{long}{n:07}", version=2**53 - 1) for n in range(2000)
        )
        db._log.commit(Change(new_transaction_id(), "test", tuple(apps)), db._refresh())
    kept = db.refresh().epoch
    for name in names:
        db.drop_table(name)
    db.restore(epoch=kept)
    kept_each = min(1000, 2**22 // tables // (len(long) + 97))
    assert {len(db.table(name)._state.batches) for name in names} == {kept_each}
