"""Static values in transactions, beside other writers, and through upkeep."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

import colonnade
from colonnade import AlterProperties, ConflictError, WidenColumn
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore, open_store
from colonnade.tableformat.location import locate_existing
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.statements.static_split import StaticSplit
from colonnade.tableformat.table.alteration import plan_alterations
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.write.column_changes import ColumnChanges
from colonnade.tableformat.write.job import plan_write
from colonnade.tableformat.write.run import write_rows

SCHEMA = pa.schema(
    [
        ("site", pa.string()),
        ("device", pa.int64()),
        ("at", pa.int32()),
        ("value", pa.float64()),
        ("owner", pa.string()),
        ("meta", pa.struct([("tags", pa.list_(pa.string())), ("size", pa.decimal128(38, 5))])),
    ]
)


@pytest.mark.slow
def test_static_values_are_compacted_and_vacuumed_with_their_table(tmp_path: Path) -> None:
    table = colonnade.create(
        tmp_path / "readings",
        SCHEMA,
        primary_key=["site", "device", "at"],
        static=["owner"],
        properties={"compaction.auto": "true", "compaction.min-rowsets": "4"},
    )
    for at in range(12):
        row = {"site": "a", "device": 1, "at": at, "value": 0.5, "owner": str(at), "meta": None}
        table.append(pa.Table.from_pylist([row], SCHEMA))
    for each in (table, table.statics):
        assert len(table._log.rowsets.read(each._state)) < 6
    done = table.vacuum(retention_hours=0, force=True)
    assert done.epochs_removed == table._refresh().floor > 10
    assert table.scan(["owner"]).to_arrow()["owner"].unique().to_pylist() == ["11"]
    assert colonnade.open_database(tmp_path / "readings").verify(depth=4).is_sound


def test_a_transaction_makes_a_table_and_its_static_values(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "plant")
    with database.transaction() as tx:
        for name in ("a", "b"):
            tx.create(name, SCHEMA, primary_key=["device", "at"], static=["owner"])
            row = {"site": "", "device": 7, "at": 1, "value": None, "owner": name, "meta": None}
            tx.table(name).append(pa.Table.from_pylist([row], SCHEMA))
            tx.table(name).upsert(pa.table({"device": [7, 8], "owner": [name, "other"]}))
    assert database.tables() == ["a", "b"]
    [newest] = colonnade.open(tmp_path / "plant" / "a").history(1)
    assert newest.metrics["rows_inserted"] == 2  # rows of the tables, and no static values
    for name in ("a", "b"):
        table = colonnade.open(tmp_path / "plant" / name)
        assert table.scan().to_arrow()["owner"].to_pylist() == [name]
        assert table.statics.scan().to_arrow().num_rows == 2


NUMBERS = pa.schema(
    [
        ("k", pa.string()),
        ("n", pa.int64()),
        ("x", pa.float64()),
        ("list", pa.list_(pa.struct([("y", pa.float32())]))),
    ]
)


def test_static_values_of_nan_are_the_same_and_of_zeros_by_their_sign(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", NUMBERS, primary_key=["k", "n"], static=["x", "list"])

    def give(value: float) -> None:
        row = {"k": "a", "x": value, "list": [{"y": value}]}
        fields = [NUMBERS.field(each) for each in row]
        table.upsert(pa.Table.from_pylist([row], pa.schema(fields)))

    table.append(pa.table({"k": ["a", "a"], "n": [1, 2]}))
    give(float("nan"))
    written = table.statics._state.changed_epoch
    give(float("nan"))
    table.update({"x": "x", "list": "list"}, "k = 'a'")
    assert table.statics._state.changed_epoch == written
    for value in (-0.0, 0.0, -0.0):
        give(value)
        shown = table.scan(["x", "list"]).to_arrow().to_pylist()
        assert str(shown) == str([{"x": value, "list": [{"y": value}]}] * 2)


def test_a_transaction_replaces_a_table_and_its_static_values(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "plant")
    database.create_table("a", NUMBERS, primary_key=["k", "n"], static=["x"])
    database.table("a").append(pa.table({"k": ["a"], "n": [1], "x": [0.5]}))
    with database.transaction() as tx:
        tx.table("a").upsert(pa.table({"k": ["a"], "x": [1.5]}))
        tx.drop("a")
        tx.create("a", NUMBERS, primary_key=["k", "n"], static=["x"])
        tx.table("a").append(pa.table({"k": ["a", "b"], "n": [1, 1], "x": [None, 2.5]}))
        assert tx.table("a").scan(["x"]).to_arrow()["x"].to_pylist() == [None, 2.5]
    assert database.table("a").scan(["x"]).to_arrow()["x"].to_pylist() == [None, 2.5]
    assert database.verify(depth=4).is_sound


@pytest.mark.parametrize("reads", ["scan", "update", "delete"])
def test_serializable_transactions_conflict_with_static_values_they_read(
    tmp_path: Path, reads: str
) -> None:
    database = colonnade.create_database(tmp_path / "plant")
    table = database.create_table(
        "a",
        NUMBERS,
        primary_key=["k", "n"],
        static=["x"],
        properties={"isolation": "serializable"},
    )
    other = database.create_table("b", NUMBERS)
    table.append(pa.table({"k": ["a"], "n": [1], "x": [0.5]}))
    tx = database.transaction()
    if reads == "scan":
        tx.table("a").scan(["n"], where="x = 0.5").to_arrow()
    elif reads == "update":
        tx.table("a").update({"list": None}, "x = 0.5")
    else:
        tx.table("a").delete("x = 0.5")
    tx.table("b").append(pa.table({"k": ["a"]}))
    table.upsert(pa.table({"k": ["a"], "x": [1.5]}))
    with pytest.raises(ConflictError, match=r"a\.statics' that the statement reads changed"):
        tx.commit()
    assert other.scan().to_arrow().num_rows == 0


def test_an_append_that_meets_other_static_values_at_its_slot_is_compared_again(
    tmp_path: Path,
) -> None:
    keys = {"primary_key": ["device", "at"], "static": ["owner"]}
    table = colonnade.create(tmp_path / "readings", SCHEMA, **keys)  # type: ignore[arg-type]
    other = colonnade.open(tmp_path / "readings")

    def rows(first: int, owner: str) -> pa.Table:
        row = {"site": "", "device": 1, "value": 0.5, "owner": owner, "meta": None}
        rows = [{**row, "at": first + 3 * at} for at in range(1_000)]
        return pa.Table.from_pylist(rows, SCHEMA)

    table.append(rows(0, "ann"))

    def late() -> Iterator[pa.RecordBatch]:
        yield from rows(1, "ann").to_batches()
        other.append(rows(2, "ann"))

    table.append(pa.RecordBatchReader.from_batches(SCHEMA, late()))
    assert sorted(table.scan().to_arrow()["at"].to_pylist()) == list(range(3_000))
    assert set(table.scan().to_arrow()["owner"].to_pylist()) == {"ann"}


@pytest.mark.slow
def test_a_writer_of_checkpoints_reads_static_values_from_the_newest_one(tmp_path: Path) -> None:
    store = open_store(tmp_path / "plant")
    create_database(store, lone_table=False)
    log = Log(store, checkpoint_interval=4)
    database = ArrowDatabase(store, log, log.reader.read_head())
    schema = pa.schema([SCHEMA.field(name) for name in ("device", "at", "owner")])
    table = database.create_table("t", schema, primary_key=["device", "at"], static=["owner"])
    for at in range(14):
        owner = f"owner {at}"
        table.append(pa.table([[at % 3], [at], [owner]], schema=schema))
        tables = {each.name: each for each in table._snapshot.tables.values()}
        assert tables["t"].statics == tables["t.statics"]
        others = colonnade.open_database(tmp_path / "plant")
        others.table("t").statics.optimize().executeCompaction()
        others.vacuum(retention_hours=0, force=True)
        table.scan().to_arrow()
        shown = table.scan(["device", "owner"]).to_arrow().to_pylist()
        assert {each["owner"] for each in shown if each["device"] == at % 3} == {owner}


SEEN = pa.schema(
    [
        ("device", pa.int64()),
        ("at", pa.int64()),
        ("owner", pa.string()),
        ("count", pa.int64()),
        ("last", pa.int64()),
    ]
)


def seen(device: int, at: int, owner: str | None, count: int, last: int | None) -> pa.Table:
    return pa.Table.from_pylist(
        [{"device": device, "at": at, "owner": owner, "count": count, "last": last}], SEEN
    )


@pytest.mark.parametrize("before", [("ann", 5), ("bo", None), (None, None)])
def test_rows_meet_static_values_of_concurrent_writers_at_their_slot(
    tmp_path: Path, before: tuple[str | None, int | None]
) -> None:
    table = colonnade.create(
        tmp_path / "t",
        SEEN,
        primary_key=["device", "at"],
        static=["owner", "count", "last"],
        properties={"merge.count": "add", "merge.last": "max"},
    )
    other = colonnade.open(tmp_path / "t")
    table.append(seen(1, 0, before[0], 1, before[1]))

    def late() -> Iterator[pa.RecordBatch]:
        # A stream is read once. So the statement cannot run again.
        yield from seen(1, 1, "ann", 10, 7).to_batches()
        yield from seen(2, 1, "eve", 10, 7).to_batches()
        other.upsert(seen(1, 2, "bo", 100, 6))
        other.append(seen(2, 2, None, 100, 8))
        other.statics.upsert(pa.table({"device": [3], "owner": ["zoe"]}))

    table.append(pa.RecordBatchReader.from_batches(SEEN, late()))
    found = sorted(tuple(each.values()) for each in table.statics.scan().to_arrow().to_pylist())
    assert found == [(1, "ann", 111, 7), (2, "eve", 110, 8), (3, "zoe", None, None)]
    assert table.scan().to_arrow().num_rows == 5


@pytest.mark.slow
def test_values_that_another_writer_keeps_setting_never_stop_an_append() -> None:
    log = Log(MemoryStore(), pause=lambda _: None)
    mine = ArrowDatabase(log.store, log, create_database(log.store, lone_table=False))
    table = mine.create_table("t", SEEN, primary_key=["device", "at"], static=["owner"])
    other = ArrowDatabase(log.store, Log(log.store), log.reader.read_head()).table("t")
    real, left = MemoryStore.put_if_absent, [*range(20)]

    def beaten(store: MemoryStore, name: str, data: Any) -> Any:
        if left and name.startswith("_manifest"):
            turns, left[:] = left[:-1], []  # The other writer is not beaten itself.
            other.upsert(pa.table({"device": [1], "owner": [f"o{len(turns)}"]}))
            left[:] = turns
        return real(store, name, data)

    with patch.object(MemoryStore, "put_if_absent", beaten):
        table.append(seen(1, 1, "ann", 0, 0))
    assert not left
    assert table.statics.scan().to_arrow().to_pylist() == [{"device": 1, "owner": "ann"}]
    assert len(table.statics.history()) == 22


@pytest.mark.parametrize("written", [True, False])
def test_rows_conflict_with_a_change_of_how_their_static_values_merge(
    tmp_path: Path, written: bool
) -> None:
    table = colonnade.create(tmp_path / "t", SEEN, primary_key=["device", "at"], static=["count"])
    table.append(seen(1, 0, "ann", 10, 7))
    other = colonnade.open(tmp_path / "t")

    def late() -> Iterator[pa.RecordBatch]:
        yield from seen(1, 1, "ann", 10, 7).to_batches()
        other.alter(AlterProperties(set={"merge.count": "add"}))
        if written:
            other.upsert(seen(1, 2, "bo", 100, 6))

    with pytest.raises(ConflictError, match="how they merge, have changed"):
        table.append(pa.RecordBatchReader.from_batches(SEEN, late()))
    assert table.scan().to_arrow().num_rows == 1 + written


def evolving(table: ArrowTable, rows: pa.Table) -> Callable[[], Snapshot]:
    """Write rows for a job that widens `count` in their epoch; return what commits them."""
    base, log, found = table._snapshot, table._log, table._state
    location = locate_existing(table._log.store.address)
    columns = ColumnChanges(
        operations=plan_alterations(found, [WidenColumn("count", "long")]), text="widen"
    )
    wider = columns.preview(log, base)
    job = plan_write(location, wider, "append").with_columns(base, columns)
    split = StaticSplit(wider.tables[found.id], job.job_id)
    entries = write_rows(job, split.batches(rows.to_batches()), log.store)
    brought = split.static_values
    return lambda: commit_written(job, entries, log, base, fresh=True, statics=brought)


def test_jobs_that_widen_a_static_column_at_once_both_set_its_values(tmp_path: Path) -> None:
    schema = pa.schema([("k", pa.int64()), ("n", pa.int64()), ("count", pa.int32())])
    keys = {"primary_key": ["k", "n"], "static": ["count"], "properties": {"merge.count": "add"}}
    table = colonnade.create(tmp_path / "t", schema, **keys)  # type: ignore[arg-type]
    table.append(pa.table({"k": [1], "n": [0], "count": [1]}, schema=schema))
    jobs = [
        evolving(table, pa.table({"k": [1, 2], "n": [n, n], "count": [10**n, 10**n]}))
        for n in (10, 11)
    ]
    for commit in jobs:
        commit()
    found = colonnade.open(tmp_path / "t").statics.scan(order="key").to_arrow()
    assert found.to_pydict() == {"k": [1, 2], "count": [10**10 + 10**11 + 1, 10**10 + 10**11]}
