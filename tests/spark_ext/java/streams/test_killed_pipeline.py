"""Streams from tables into tables lose and double no row, wherever `kill -9` ends their driver.

Nor do they if two drivers run at once.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from tests.spark_ext.processes import kill_session, running

pytestmark = [pytest.mark.long, pytest.mark.spark, pytest.mark.timeout(10800)]
ROOT = Path(__file__).parents[4]
PROGRAM = Path(__file__).with_name("killed_pipeline.py")
ID = pa.field("id", pa.int64(), nullable=False)
ROW = pa.schema([ID, ("v", pa.int64())])
COUNTS = pa.schema([ID, ("n", pa.int64()), ("v", pa.int64())])
WRITTEN = "copied", "counts", "mirror"
IDS = 300


class Source:
    """Tables that a pipeline reads, and the work of another process on them."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random, self.values = random.Random(seed), count()
        self.database = colonnade.create_database(folder / "db")
        self.events = self.database.create_table("events", ROW)
        self.database.create_table("copied", ROW)
        self.orders = self.database.create_table("orders", ROW, primary_key=["id"])
        self.database.create_table("mirror", ROW, primary_key=["id"])
        self.database.create_table("counts", COUNTS, primary_key=["id"])

    def rows(self, ids: range) -> pa.Table:
        """One row for each of these ids, each with a value of its own."""
        return pa.table({"id": [*ids], "v": [next(self.values) for _ in ids]}, ROW)

    def merge(self, ids: range) -> None:
        """Delete some of the orders with these ids, update others, and insert new ones."""
        merging = self.orders.merge(self.rows(ids), "id").when_matched_delete("source.id % 3 = 0")
        merging.when_matched_update_all().when_not_matched_insert_all().execute()

    def work(self) -> None:
        """Add events, do one thing to the orders, and now and then tidy up."""
        low = self.random.randrange(IDS)
        ids = range(low, low + self.random.randint(1, 40))
        self.events.append(self.rows(ids))
        works: list[Callable[[], object]] = [
            lambda: self.orders.upsert(self.rows(ids)),
            lambda: self.merge(ids),
            lambda: self.orders.update({"v": next(self.values)}, f"id % 7 = {low % 7}"),
            lambda: self.orders.delete(f"id BETWEEN {low} AND {low + 20}"),
        ]
        self.random.choice(works)()
        if self.random.random() < 0.15:
            table = self.random.choice([self.events, self.orders])
            table.optimize().executeCompaction()
        if self.random.random() < 0.1:
            self.events.vacuum(0, force=True)  # of all tables of the database


KILLS = [2, pytest.param(200, marks=pytest.mark.long)]


@pytest.mark.parametrize("kills", KILLS)
def test_streams_between_tables_equal_their_sources_wherever_the_driver_is_killed(
    tmp_path: Path, kills: int
) -> None:
    source = Source(tmp_path, int(os.environ.get("COLONNADE_SAMPLE", "1")))
    log, command = tmp_path / "driver.log", [sys.executable, str(PROGRAM), str(tmp_path)]
    source.work()
    for _ in range(kills):
        with running(command, log, PYTHONPATH=str(ROOT)) as process:
            name = source.random.choice(WRITTEN)
            last = batch_of(source, name) + source.random.randint(1, 3)
            while batch_of(source, name) < last:
                assert process.poll() is None, log.read_text()[-8000:]
                source.work()
                time.sleep(source.random.uniform(0, 3))
            time.sleep(source.random.random())
            kill_session(process)
    finish(source, tmp_path)


def test_of_two_drivers_on_one_checkpoint_one_ends_and_no_row_is_lost_or_doubled(
    tmp_path: Path,
) -> None:
    source = Source(tmp_path, 1)
    source.work()
    command = [sys.executable, str(PROGRAM), str(tmp_path)]
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    one, other = tmp_path / "one" / "log", tmp_path / "other" / "log"
    with running(command, one, PYTHONPATH=str(ROOT)) as first:
        while batch_of(source, "copied") < 1:
            assert first.poll() is None, one.read_text()[-8000:]
            time.sleep(0.5)
            source.work()
        with running(command, other, PYTHONPATH=str(ROOT)) as second:
            while first.poll() is None and second.poll() is None:
                source.work()
                time.sleep(0.5)
            text = (other if first.poll() is None else one).read_text()
    assert "Concurrent update to the log" in text, text[-8000:]
    finish(source, tmp_path)


def finish(source: Source, folder: Path) -> None:
    """Let a driver read all that is left, and compare the written tables with the sources."""
    log, command = folder / "driver.log", [sys.executable, str(PROGRAM), str(folder), "end"]
    with running(command, log, PYTHONPATH=str(ROOT)) as process:
        assert process.wait(1800) == 0, log.read_text()[-8000:]
    events, orders = rows_of(source, "events"), rows_of(source, "orders")
    assert rows_of(source, "copied") == events
    assert rows_of(source, "mirror") == orders
    numbers = Counter(id for id, _ in events)
    sums: Counter[int] = Counter()
    for id, value in events:
        sums[id] += value
    assert rows_of(source, "counts") == sorted((id, n, sums[id]) for id, n in numbers.items())
    assert source.database.verify(4).is_sound


def batch_of(source: Source, name: str) -> int:
    """The number of the last batch that a stream has written to a table."""
    return max(source.database.table(name)._state.batches.values(), default=-1)


def rows_of(source: Source, name: str) -> list[tuple[int, ...]]:
    """All rows of a table, sorted."""
    table = source.database.table(name).scan().to_arrow()
    return sorted(tuple(row.values()) for row in table.to_pylist())
