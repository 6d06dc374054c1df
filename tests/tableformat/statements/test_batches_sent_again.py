"""A batch that is sent again, or an older one, changes nothing, whichever way it is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from colonnade import ArrowDatabase, ArrowTable, CommitSettings
from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.operations import Txn
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.location import Location
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.table.epochs.restore import restore_table
from colonnade.tableformat.table.evolution.fit_rows import UnknownColumns, fit_rows
from colonnade.tableformat.types.input.column_types import as_table_schema
from colonnade.tableformat.write.job import plan_write
from colonnade.tableformat.write.run import write_rows
from tests.log_samples import contents, replay

SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False), ("v", pa.int64())])


def rows(number: int, **more: Any) -> pa.Table:
    """The rows of a batch."""
    made = pa.table({"id": [number], "v": [number]}, SCHEMA)
    for name, value in more.items():
        made = made.append_column(name, pa.array([value]))
    return made


def once(number: int) -> CommitSettings:
    return CommitSettings(batch=("app", number))


def replace_table(
    db: ArrowDatabase,
    number: int,
    *columns: tuple[str, pa.DataType],
    base: Snapshot | None = None,
) -> None:
    """CREATE OR REPLACE TABLE t AS SELECT, planned on a state: by default the newest."""
    design = new_table("t", as_table_schema(pa.schema([*SCHEMA, *columns])))
    log, location = db._log, Location(db._store, "t", exists=True)
    job = plan_write(
        location,
        base or db._refresh(),
        "append",
        create=design,
        replace=True,
        commit=once(number),
    )
    data = rows(number, **{name: number for name, _ in columns})
    commit_written(job, write_rows(job, data.to_batches(), log.store), log)


def transact(db: ArrowDatabase, number: int, *, again: bool, empty: bool = False) -> None:
    with db.transaction(commit=once(number)) as tx:
        if again:
            tx.drop("t")
            tx.create("t", SCHEMA)
        if not empty:
            tx.table("t").append(rows(number))


def restore(db: ArrowDatabase, number: int, *, whole: bool) -> None:
    """Restore a state that has more rows, the larger the number is."""
    restored: Any = db if whole else db.table("t")
    restored.restore(epoch=number + 3, commit=once(number))


Way = Callable[[ArrowDatabase, int], object]
WAYS: dict[str, Way] = {
    "append": lambda db, n: db.table("t").append(rows(n), commit=once(n)),
    "append that evolves": lambda db, n: db.table("t").append(
        rows(n, **{f"c{n}": n}), evolve=True, commit=once(n)
    ),
    "append of known columns": lambda db, n: db.table("t").append(
        rows(n, c=n), ignore_unknown_columns=True, commit=once(n)
    ),
    "overwrite": lambda db, n: db.table("t").overwrite(rows(n), commit=once(n)),
    "overwrite where": lambda db, n: db.table("t").overwrite(rows(n), f"id >= {n}", commit=once(n)),
    "overwrite of partitions": lambda db, n: db.table("t").overwrite_partitions(
        rows(n), commit=once(n)
    ),
    "upsert": lambda db, n: db.table("keyed").upsert(rows(n), commit=once(n)),
    "upsert by columns": lambda db, n: db.table("t").upsert(rows(n), ["id"], commit=once(n)),
    "append to a key": lambda db, n: db.table("keyed").append(rows(10 + n), commit=once(n)),
    "delete": lambda db, n: db.table("t").delete(f"id >= {10 - n}", commit=once(n)),
    "delete of a range": lambda db, n: db.table("t").delete_range(
        f"id >= {10 - n}", commit=once(n)
    ),
    "delete of keys": lambda db, n: db.table("keyed").delete_keys(
        rows(n).select(["id"]), commit=once(n)
    ),
    "update": lambda db, n: db.table("t").update({"v": 100 + n}, commit=once(n)),
    "add column": lambda db, n: db.table("t").add_column(f"c{n}", pa.int64(), n, commit=once(n)),
    "backfill": lambda db, n: db.table("t").backfill("v", 100 + n, commit=once(n)),
    "restore of a table": lambda db, n: restore(db, n, whole=False),
    "restore of a database": lambda db, n: restore(db, n, whole=True),
    "transaction": lambda db, n: transact(db, n, again=False),
    "transaction that makes the table again": lambda db, n: transact(db, n, again=True),
    "transaction that empties the table": lambda db, n: transact(db, n, again=True, empty=n > 5),
    "create or replace": replace_table,
    "create or replace with other columns": lambda db, n: replace_table(
        db, n, (f"c{n}", pa.int64())
    ),
}


def database(limits: Limits = LIMITS, interval: int = 64) -> ArrowDatabase:
    """A database whose table `t` got a row in each of its epochs 3 to 12, and `keyed` the same."""
    store = MemoryStore()
    log = Log(store, checkpoint_interval=interval, pause=lambda _: None, limits=limits)
    db = ArrowDatabase(store, log, create_database(store, lone_table=False))
    db.create_table("keyed", SCHEMA, primary_key=["id"])
    db.create_table("t", SCHEMA, sort_key=["id"])
    for number in range(10):
        db.table("t").append(rows(number))
    db.table("keyed").append(pa.concat_tables([rows(number) for number in range(10)]))
    return db


def found(db: ArrowDatabase) -> Any:
    """All that a batch could change."""
    state = db._refresh()
    tables = {name: db.table(name) for name in ("t", "keyed")}
    return state.epoch, {
        name: (
            sorted(map(str, table.scan().to_arrow().to_pylist())),
            table.schema.names,
            dict(table._state.batches),
        )
        for name, table in tables.items()
    }


def another(db: ArrowDatabase) -> ArrowDatabase:
    """Another handle of the database, which knows the present state."""
    log = Log(db._store, checkpoint_interval=db._log._interval, pause=lambda _: None)
    return ArrowDatabase(db._store, log, log.reader.read_head())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("interval", [2, 64])
def test_a_batch_that_is_sent_again_or_an_older_one_changes_nothing(
    way: str, interval: int
) -> None:
    db, send = database(interval=interval), WAYS[way]
    for number in (4, 6):
        before = found(db)
        send(db, number)
        landed = found(db)
        assert landed[1] != before[1], "the batch did not land"
    named = [each for each in landed[1].values() if each[-1]]
    assert all(each[-1] == {"app": 6} for each in named)
    assert named
    for number in (6, 4, 5, 0, 6):
        send(db, number)
        assert found(db) == landed, f"batch {number} changed something"
    assert contents(db._log, db._refresh()) == contents(db._log, replay(db._store))


@pytest.mark.parametrize("number", [4, 6])
@pytest.mark.parametrize("way", WAYS)
def test_it_is_decided_at_the_slot(way: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer begins before the newer batch lands, and commits after it."""
    db, send = database(), WAYS[way]
    send(db, 2)
    late, commit = another(db), Log.commit_change
    landed: list[Any] = []

    def beaten(log: Log, change: Any, base: Any) -> Any:
        if log is late._log and not landed:
            landed.append(None)
            send(db, 6)
            landed[0] = found(db)
        return commit(log, change, base)

    monkeypatch.setattr(Log, "commit_change", beaten)
    send(late, number)
    monkeypatch.undo()
    assert found(db) == landed[0], f"batch {number} changed something"


def test_a_batch_that_landed_on_a_replaced_table_is_success_at_the_slot() -> None:
    db = database()
    base = db._refresh()
    replace_table(db, 6)
    landed = found(db)
    replace_table(db, 6, base=base)
    assert found(db) == landed


MANY = Limits(page_bytes=512, listed_bytes=1000)


@pytest.mark.slow
@pytest.mark.parametrize("interval", [2, 64])
def test_a_table_that_is_made_again_keeps_the_batches_of_many_applications(interval: int) -> None:
    db = database(MANY, interval)
    model: dict[str, int] = {}
    for number in range(12):
        apps = [f"app «{(number * 37 + each) % 200}»" for each in range(60)]
        table = db.table("t")._state.id
        ops = tuple(Txn(table=table, app=app, version=100 + number) for app in apps)
        model |= dict.fromkeys(apps, 100 + number)
        db._log.commit(Change(new_transaction_id(), "test", ops), db._refresh())
        if number % 3 == 0:
            replace_table(db, number)
            model["app"] = number
        elif number % 3 == 1:
            db.table("t").restore(epoch=5)
        elif number == 8:
            db.restore(epoch=5)
        assert dict(db._refresh().table("t").batches) == model
        assert dict(db._log.reader.read_head().table("t").batches) == model
        assert contents(db._log, db._refresh()) == contents(db._log, replay(db._store))


def test_a_restore_is_refused_if_a_batch_came_to_the_table_that_it_replaces() -> None:
    db = database()
    then = db.refresh().epoch
    replace_table(db, 3)
    late = another(db)
    ops = (Txn(table=db.table("t")._state.id, app="rival", version=1),)
    state = db._log.commit(Change(new_transaction_id(), "append", ops), db._refresh())
    with pytest.raises(ConflictError, match="Table 't' was changed by epoch"):
        restore_at(late, then)
    assert db.refresh().epoch == state.epoch
    db.table("t").restore(epoch=then)
    assert db.table("t")._state.batches == {"app": 3, "rival": 1}


def restore_at(db: ArrowDatabase, epoch: int) -> None:
    """Restore the table by a handle that knows no newer epoch."""
    base = db._snapshot
    restore_table(db._log, base, base.table("t"), db._log.reader.read_at(epoch), None)


def test_a_replaced_table_remembers_a_batch_that_came_without_rows_before_the_slot() -> None:
    db = database()
    base = db._refresh()
    ops = (Txn(table=db.table("t")._state.id, app="rival", version=1),)
    db._log.commit(Change(new_transaction_id(), "append", ops), base)
    replace_table(db, 3, base=base)
    assert db._refresh().table("t").batches == {"app": 3, "rival": 1}


def test_columns_are_not_added_for_a_batch_that_landed_before_their_slot() -> None:
    db = database()
    late, table = another(db), db.table("t")
    table.append(rows(6), commit=once(6))
    first = rows(4, new=1).to_batches()
    location, base = late.table("t")._location, late._snapshot
    after, _ = fit_rows(late._log, location, base, first, UnknownColumns(evolve=True), once(4))
    assert after.epoch == table.epoch
    table.refresh()
    assert table.schema.names == SCHEMA.names


def test_a_table_that_is_dropped_and_created_in_two_epochs_begins_anew() -> None:
    db = database()
    table: ArrowTable = db.table("t")
    table.append(rows(6), commit=once(6))
    db.drop_table("t")
    again = db.create_table("t", SCHEMA)
    assert again._state.batches == {}
    again.append(rows(4), commit=once(4))
    assert again.scan().to_arrow()["id"].to_pylist() == [4]
