"""A consumer sees each change once, and moves in the epoch that has what was made of it."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import colonnade
from colonnade import (
    AlreadyExistsError,
    ArrowDatabase,
    ConflictError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import MemoryStore

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.int64())])
HOUR_MS = 3_600_000


def rows(*keys: int) -> pa.Table:
    return pa.table({"k": keys, "v": keys}, SCHEMA)


class World:
    """A database in memory with the tables `orders` and `copy`, whose clock can be set."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000
        self.store = MemoryStore(now_ms=lambda: self.now)
        create_database(self.store, lone_table=False, clock_ms=lambda: self.now)
        database = self.database()
        database.create_table("orders", SCHEMA)
        database.create_table("copy", SCHEMA)

    def database(self) -> ArrowDatabase:
        log = Log(self.store, clock_ms=lambda: self.now, pause=lambda _: None)
        return ArrowDatabase(self.store, log, log.reader.read_head())

    def append(self, *keys: int) -> None:
        self.database()["orders"].append(rows(*keys))

    def copy(self, consumer: str = "c") -> list[int]:
        """Copy what a consumer has not seen. Returns the keys."""
        with self.database().transaction() as tx:
            new = tx.changes("orders", consumer, columns=["k", "v"]).to_arrow()
            if new.num_rows:
                tx.table("copy").append(new.select(["k", "v"]))
        return list(new["k"].to_pylist())

    def copied(self) -> list[int]:
        return sorted(self.database()["copy"].to_arrow()["k"].to_pylist())


@pytest.fixture
def world() -> World:
    found = World()
    found.append(1, 2)
    found.database().create_consumer("c", "orders", 0)
    return found


def test_each_change_is_seen_once_and_an_idle_look_commits_nothing(world: World) -> None:
    assert world.copy() == [1, 2]
    epoch = world.database().epoch
    assert world.copy() == []
    assert world.database().epoch == epoch
    world.append(3)
    assert world.copy() == [3]
    assert world.copied() == [1, 2, 3]


def test_a_change_of_static_values_alone_is_seen_once(world: World) -> None:
    """It is an epoch of another table, so the table itself has not changed."""
    design: Any = {"partition_key": ["k"], "static": ["v"], "primary_key": ["k", "n"]}
    parts = world.database().create_table(
        "parts", SCHEMA.append(pa.field("n", pa.int64())), **design
    )
    parts.append([{"k": 1, "v": 1, "n": 1}])
    world.database().create_consumer("static", "parts")
    parts.refresh().update({"v": "2"}, "k = 1")
    found = []
    for _ in range(3):
        with world.database().transaction() as tx:
            found.append(len(tx.changes("parts", "static", also=["statics"]).to_pylist()))
    assert found == [2, 0, 0]


def test_a_consumer_begins_with_what_is_to_come_or_with_a_start(world: World) -> None:
    database = world.database()
    database.create_consumer("new", "orders")
    database.create_consumer("last", "orders", database["orders"].history(1)[0].epoch)
    world.append(3)
    assert world.copy("new") == [3]
    assert world.copy("last") == [1, 2, 3]
    found = {each.name: (each.table, each.lag) for each in world.database().consumers()}
    assert found["last"] == ("orders", 1)
    assert sorted(found) == ["c", "last", "new"]


def test_a_transaction_that_fails_leaves_the_consumer_where_it_is(world: World) -> None:
    def fails() -> None:
        with world.database().transaction() as tx:
            tx.changes("orders", "c").to_arrow()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    with world.database().transaction() as tx:
        tx.changes("orders", "c")
        tx.rollback()
    assert world.copy() == [1, 2]


def test_two_processes_that_are_one_consumer_are_a_conflict_and_no_double(world: World) -> None:
    first, second = world.database().transaction(), world.database().transaction()
    for tx in (first, second):
        tx.table("copy").append(tx.changes("orders", "c").to_arrow().select(["k", "v"]))
    first.commit()
    with pytest.raises(ConflictError, match="'c' has read up to epoch"):
        second.commit()
    assert world.copied() == [1, 2]
    assert world.copy() == []


def test_changes_that_come_beside_a_transaction_are_seen_by_the_next(world: World) -> None:
    with world.database().transaction() as tx:
        seen = tx.changes("orders", "c").to_arrow()
        world.append(3)
        tx.table("copy").append(seen.select(["k", "v"]))
    assert world.copy() == [3]
    assert world.copied() == [1, 2, 3]


def test_vacuum_keeps_what_a_consumer_has_not_read_until_its_time(world: World) -> None:
    database = world.database()
    database.create_consumer("slow", "orders", keep="2 hours")
    world.append(3)
    world.now += HOUR_MS
    database.vacuum(retention_hours=0, force=True)
    assert world.copy("slow") == [3]
    world.append(4)
    world.now += 3 * HOUR_MS
    world.append(5)
    world.database().drop_consumer("c")
    world.database().vacuum(retention_hours=0, force=True)
    [slow] = world.database().consumers()
    assert slow.until is None
    with pytest.raises(NotFoundError, match="were kept for 2 hours, and then removed. Reset it"):
        world.database().transaction().changes("orders", "slow")
    world.database().reset_consumer("slow")
    world.append(6)
    assert world.copy("slow") == [6]


def test_a_consumer_in_use_is_renewed_though_its_table_does_not_change(world: World) -> None:
    world.database().create_consumer("slow", "orders", keep="2 hours")
    for _ in range(5):
        world.now += HOUR_MS + 1
        world.database()["copy"].append(rows(9))
        assert world.copy("slow") == []
        world.database().vacuum(retention_hours=0, force=True)
    world.append(7)
    assert world.copy("slow") == [7]


def test_a_consumer_of_a_dropped_table_keeps_nothing_and_says_so(world: World) -> None:
    database = world.database()
    database.drop_table("orders")
    database.create_table("orders", SCHEMA)
    [found] = world.database().consumers()
    assert found.table is None
    with pytest.raises(InvalidInputError, match="reads the changes of a table that was dropped"):
        world.database().transaction().changes("orders", "c")
    with pytest.raises(NotFoundError, match="was dropped; drop the consumer"):
        world.database().reset_consumer("c")
    world.now += HOUR_MS
    world.append(1)
    removed = world.database().vacuum(retention_hours=0, force=True).epochs_removed
    assert removed
    world.database().drop_consumer("c")
    assert world.database().consumers() == []


WRONG: dict[str, tuple[Callable[[ArrowDatabase], Any], type[Exception], str]] = {
    "unknown": (lambda d: d.transaction().changes("orders", "x"), NotFoundError, "are: c"),
    "another table": (
        lambda d: d.transaction().changes("copy", "c"),
        InvalidInputError,
        "'orders'",
    ),
    "no table": (lambda d: d.transaction().changes("nope", "c"), NotFoundError, "'nope'"),
    "exists": (lambda d: d.create_consumer("c", "orders"), AlreadyExistsError, "'c' exists"),
    "no name": (lambda d: d.create_consumer("", "orders"), InvalidInputError, "1 to 255"),
    "bad time": (
        lambda d: d.create_consumer("x", "orders", keep="soon"),
        InvalidInputError,
        "such as '7 days'",
    ),
    "future": (lambda d: d.create_consumer("x", "orders", 99), NotFoundError, "newest epoch"),
    "drop": (lambda d: d.drop_consumer("x"), NotFoundError, "'x' does not exist"),
    "reset": (lambda d: d.reset_consumer("x"), NotFoundError, "'x' does not exist"),
    "condition": (
        lambda d: d.transaction().changes("orders", "c", where="zz = 1"),
        InvalidInputError,
        "'zz'",
    ),
    "column": (
        lambda d: d.transaction().changes("orders", "c", columns=["zz"]),
        NotFoundError,
        "'zz'",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_call_is_refused_and_moves_nothing(world: World, what: str) -> None:
    call, error, message = WRONG[what]
    epoch = world.database().epoch
    with pytest.raises(error, match=message):
        call(world.database())
    assert world.database().epoch == epoch
    assert world.copy() == [1, 2]


def work(path: str, begun: Connection) -> None:
    """Add what comes to `orders` to `sums` until the process is killed; tell the first turn."""
    told = False
    while True:
        with suppress(ConflictError), colonnade.open_database(path).transaction() as tx:
            new = tx.changes("orders", "sums", columns=["k", "v"]).to_arrow()
            if new.num_rows:
                old = {row["k"]: row["v"] for row in tx.table("sums").to_pylist()}
                for key, value in zip(new["k"].to_pylist(), new["v"].to_pylist(), strict=True):
                    old[key] = old.get(key, 0) + value
                found = [{"k": key, "v": value} for key, value in old.items()]
                tx.table("sums").overwrite(pa.Table.from_pylist(found, SCHEMA))
        if not told:
            begun.send(None)
            told = True


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kills", [6, pytest.param(200, marks=pytest.mark.long)])
def test_a_pipeline_that_is_killed_at_any_moment_counts_each_row_once(
    tmp_path: Path, kills: int
) -> None:
    rng = random.Random(kills)
    database = colonnade.create_database(tmp_path / "db")
    orders = database.create_table("orders", SCHEMA)
    sums = database.create_table("sums", SCHEMA)
    database.create_consumer("sums", "orders", 0)
    # A new process has imported everything, so that it dies while it works.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    expected: dict[int, int] = {}

    def found() -> dict[int, int]:
        return {row["k"]: row["v"] for row in sums.refresh().to_pylist()}

    for turn in range(kills + 1):
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=work, args=(str(tmp_path / "db"), sender))
        process.start()
        with receiver, sender:
            assert receiver.poll(60)
        if turn < kills:
            for _ in range(rng.randint(1, 4)):
                keys = [rng.randrange(5) for _ in range(3)]
                orders.append(pa.table({"k": keys, "v": [1, 1, 1]}, SCHEMA))
                for key in keys:
                    expected[key] = expected.get(key, 0) + 1
            time.sleep(rng.uniform(0, 0.1))
        else:
            deadline = time.monotonic() + 60
            while found() != expected and time.monotonic() < deadline:
                time.sleep(0.05)
        process.kill()
        process.join()
        process.close()
    assert found() == expected
    assert int(pc.sum(orders.to_arrow()["v"]).as_py()) == sum(expected.values())
    assert database.verify(4).is_sound
