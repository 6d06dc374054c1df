"""A fault at every store call of every change of rows: all tables are as before, or as after."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import MemoryStore, ObjectStore
from colonnade.tableformat.table.database import ArrowDatabase
from tests.crash.every_step import EACH_PUSH, check_every_step
from tests.faults import Fault

SCHEMA = pa.schema([("id", pa.int64()), ("v", pa.int64())])
State = tuple[dict[str, list[tuple[int, int]]], dict[str, int]]


def rows(*ids: int, v: int = 0) -> pa.Table:
    return pa.table({"id": [*ids], "v": [v] * len(ids)}, SCHEMA)


def open_database(store: ObjectStore) -> ArrowDatabase:
    limits = Limits(inline_bytes=0)
    log = Log(store, checkpoint_interval=2, pause=lambda seconds: None, limits=limits)
    return ArrowDatabase(store, log, log.reader.read_head())


@pytest.fixture(scope="module")
def made() -> MemoryStore:
    """Two tables, one of them partitioned; of the other, one RowSet of three has lost a row."""
    store = MemoryStore()
    create_database(store, lone_table=False)
    database = open_database(store)
    for name, partition_by in (("a", ()), ("b", ("truncate(6, id)",))):
        table = database.create_table(name, SCHEMA, partition_by=partition_by)
        for first in (0, 4, 8):
            table.append(rows(*range(first, first + 4)))
    database.table("a").delete("id = 1")
    return store


def read(store: ObjectStore) -> State:
    """All rows of all tables, and the tags."""
    database = open_database(store)
    found = {}
    for name in database.tables():
        each = database.table(name).scan().to_arrow().to_pylist()
        found[name] = sorted((row["id"], row["v"]) for row in each)
    return found, database.tags()


def transaction(database: ArrowDatabase) -> None:
    with database.transaction() as tx:
        tx.table("a").update({"v": 5}, "id = 2")
        tx.table("b").delete("id < 6")
        tx.create("c", SCHEMA).append(rows(1))


WORKS: dict[str, Callable[[ArrowDatabase], object]] = {
    "delete": lambda db: db.table("a").delete("id = 2 OR id > 6"),
    "update": lambda db: db.table("a").update({"v": 7}, "id < 5"),
    "upsert": lambda db: db.table("a").upsert(rows(3, 50, v=9), on="id"),
    "replace": lambda db: db.table("a").overwrite(rows(8, v=3), where="id > 7"),
    "partitions": lambda db: db.table("b").overwrite_partitions(rows(7, 30, v=4)),
    "restore": lambda db: db.restore(epoch=5),
    "compact": lambda db: db.table("a").optimize().option("min-rowsets", 2).executeCompaction(),
    "tag": lambda db: db.tag("t", 3),
    "transaction": transaction,
}


CASES = [
    pytest.param(
        *(work, fault),
        id=f"{name}-{fault.name}",
        # A transaction takes the most steps: it tries both faults, and each other work tries one.
        marks=()
        if fault is Fault.FAIL_AFTER or (work is transaction and fault in EACH_PUSH)
        else pytest.mark.long,
    )
    for name, work in WORKS.items()
    for fault in Fault
]


@pytest.mark.slow
@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize(("work", "fault"), CASES)
def test_a_change_of_rows_happens_wholly_or_not_at_all(
    work: Callable[[ArrowDatabase], object],
    fault: Fault,
    every: int,
    made: MemoryStore,
) -> None:
    check_every_step(made, lambda store: work(open_database(store)), read, fault, every)
