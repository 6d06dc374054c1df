"""The history counts what a restore brings back and what it takes away."""

from __future__ import annotations

import pyarrow as pa

from colonnade import ArrowDatabase, ArrowTable, CommitSettings
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import MemoryStore

SCHEMA = pa.schema([("id", pa.int64()), ("v", pa.int64())])


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "v": pa.array(ids, pa.int64())})


def stored(table: ArrowTable, epoch: int) -> dict[tuple[str, ...], int]:
    """The bytes of the RowSets of a table at an epoch, by the objects that store them."""
    state = table._log.reader.read_at(epoch).tables[table._state.id]
    found = table._log.rowsets.read(state, which="all")
    return {tuple(each.objects()): each.byte_count for each in found}


def test_a_restore_counts_the_rowsets_that_it_brings_back_and_takes_away() -> None:
    store = MemoryStore()
    log = Log(store, pause=lambda _: None)
    db = ArrowDatabase(store, log, create_database(store, lone_table=False))
    table = db.create_table("t", SCHEMA)
    table.append(rows(*range(10)))
    table.append(rows(*range(10, 20)))
    table.delete("id < 3")
    table.update({"v": "7"})
    table.optimize().option("min-rowsets", 2).executeCompaction()
    table.overwrite(rows(1))
    counted = []
    for epoch in (2, 6, 4, 4, 3, 5, 1, 7):
        then, now = stored(table, epoch), stored(table, table.epoch)
        before = table.epoch
        if table.restore(epoch) == before:
            continue
        removed, restored = now.keys() - then.keys(), then.keys() - now.keys()
        assert table.history(1)[0].metrics == {
            "rowsets_after": len(then),
            "bytes_after": sum(then.values()),
            "rowsets_removed": len(removed),
            "bytes_removed": sum(now[key] for key in removed),
            "rowsets_restored": len(restored),
            "bytes_restored": sum(then[key] for key in restored),
        }
        assert table._state.rowsets.byte_count == sum(then.values())
        counted.append((len(removed), len(restored)))
    assert len(set(counted)) > 3


def test_a_restore_of_a_database_counts_the_rowsets_of_all_tables_that_it_changes() -> None:
    store = MemoryStore()
    log = Log(store, pause=lambda _: None)
    db = ArrowDatabase(store, log, create_database(store, lone_table=False))
    lost, kept, same = (db.create_table(name, SCHEMA) for name in ("lost", "kept", "same"))
    for table in (lost, kept, same):
        table.append(rows(1))
    then = same.epoch
    kept.overwrite(rows(1, 2, 3))
    db.drop_table("lost")
    db.create_table("new", SCHEMA).append(rows(4))
    db.restore(then)
    counts = db.table("kept").history(1)[0].metrics
    names = ("rowsets_after", "rowsets_removed", "rowsets_restored")
    assert [counts[name] for name in names] == [2, 2, 2]


def test_a_restore_without_rows_to_change_counts_nothing() -> None:
    store = MemoryStore()
    log = Log(store, pause=lambda _: None)
    db = ArrowDatabase(store, log, create_database(store, lone_table=False))
    table = db.create_table("t", SCHEMA)
    epoch = table.append(rows(1))
    table.restore(epoch, commit=CommitSettings(batch=("app", 1)))
    newest = table.history(1)[0]
    assert (newest.operation, newest.metrics) == ("restore", {})
