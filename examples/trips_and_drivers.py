"""Keep a fact table and a dimension table by key, from batches that are late or sent twice.

Trips are facts: small batches arrive all the time, and each has other columns. Drivers are a
dimension, which changes seldom. Half of the batches of trips are late or sent twice. Meanwhile
`colonnade maintain` follows the schedule of each table, and a reader adds up what it finds. Its
sums are right at every epoch.

The example needs no Java. Run it with `.venv/bin/python examples/trips_and_drivers.py`.
"""

from __future__ import annotations

import bisect
import random
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

import colonnade
from colonnade import ArrowDatabase, ArrowTable, CommitSettings

TRIPS = pa.schema(
    [
        ("id", pa.int64()),
        ("driver_at", pa.int64()),
        ("driver", pa.int64()),
        ("status_at", pa.int64()),
        ("status", pa.string()),
        ("cents", pa.int64()),
    ]
)
TRIP_PROPERTIES = {
    "merge.cents": "add",
    "sequence.driver": "driver_at",
    "sequence.status": "status_at",
    "compaction.schedule": "1 second",
}
DRIVERS = pa.schema([("id", pa.int64()), ("name", pa.string()), ("city", pa.string())])
DRIVER_PROPERTIES = {"merge.city": "coalesce", "compaction.schedule": "1 day"}

BATCHES, ROWS, IDS, DRIVER_IDS = 32, 100, 2_000, 40
STATUS, DRIVER = ("status_at", "status"), ("driver_at", "driver")
COLUMNS = ((*DRIVER, *STATUS), STATUS, ("cents",), (*STATUS, "cents"))
STATUSES = ("requested", "riding", "paid", "cancelled")

Sums = tuple[int, Mapping[str, int]]
"""The cents of all trips, and the number of trips by status."""


@dataclass
class Book:
    """What the trips must be: a dictionary that sees each batch once, and its sums by epoch."""

    status: dict[int, tuple[int, str]] = field(default_factory=dict)
    trips: set[int] = field(default_factory=set)
    cents: int = 0
    epochs: list[int] = field(default_factory=list)
    sums: list[Sums] = field(default_factory=list)

    def note(self, batch: pa.Table, epoch: int) -> None:
        """Apply the rows of a batch that an epoch has committed."""
        for row in batch.to_pylist():
            self.trips.add(row["id"])
            self.cents += row.get("cents", 0)
            known = self.status.get(row["id"])
            if "status" in row and (known is None or row["status_at"] >= known[0]):
                self.status[row["id"]] = row["status_at"], row["status"]
        counts = Counter(status for _, status in self.status.values())
        self.epochs.append(epoch)
        self.sums.append((self.cents, counts))

    def at(self, epoch: int) -> Sums:
        """Return the sums that a reader of an epoch must find."""
        place = bisect.bisect_right(self.epochs, epoch)
        return self.sums[place - 1] if place else (0, {})


def sums(trips: ArrowTable, epoch: int) -> Sums:
    """Read the sums of one epoch."""
    rows = trips.scan(["cents", "status"], epoch=epoch).to_arrow()
    counts = Counter(status for status in rows["status"].to_pylist() if status is not None)
    return pc.sum(rows["cents"]).as_py() or 0, counts


def trip_batch(order: random.Random, number: int) -> pa.Table:
    """Make a batch with the columns that its turn has. Rows of every third batch are old."""
    newest = number - 10 if number % 3 == 0 else number
    names = ("id", *COLUMNS[number % len(COLUMNS)])
    rows = [
        {
            "id": order.randrange(IDS),
            "driver_at": newest * 1_000 + order.randrange(1_000),
            "driver": order.randrange(DRIVER_IDS),
            "status_at": newest * 1_000 + order.randrange(1_000),
            "status": order.choice(STATUSES),
            "cents": order.randrange(500, 5_000),
        }
        for _ in range(ROWS)
    ]
    schema = pa.schema([each for each in TRIPS if each.name in names])
    return pa.Table.from_pylist(rows, schema)


def feed_trips(lake: Path, book: Book) -> None:
    """Send all batches of trips, every fourth one twice."""
    order, trips = random.Random(7), colonnade.open(lake / "trips")
    for number in range(1, BATCHES + 1):
        batch, once = trip_batch(order, number), CommitSettings(batch=("trips", number))
        epoch = trips.upsert(batch, commit=once).epoch
        assert epoch is not None, f"batch {number} was there before it was sent"
        book.note(batch, epoch)
        if number % 4 == 0:
            trips.upsert(batch, commit=once)  # the number of the batch says that it is there


def feed_drivers(lake: Path) -> None:
    """Send a few batches of drivers. Some do not know the city, and leave the one that is there."""
    order, drivers = random.Random(8), colonnade.open(lake / "drivers")
    for number in range(12):
        ids = range(DRIVER_IDS) if number == 0 else order.sample(range(DRIVER_IDS), 10)
        cities = [("Oslo", "Rome", "Bern")[id_ % 3] if number % 2 == 0 else None for id_ in ids]
        names = [f"driver {id_} of batch {number}" for id_ in ids]
        rows = {"id": list(ids), "name": names, "city": cities}
        drivers.upsert(pa.table(rows, schema=DRIVERS))


def read_while(lake: Path, fed: threading.Event, found: dict[int, Sums]) -> None:
    """Add up the newest epoch again and again, until all batches were sent."""
    trips = colonnade.open(lake / "trips")
    while not fed.wait(0.05):
        epoch = trips.refresh().epoch
        found[epoch] = sums(trips, epoch)


def run_all(lake: Path) -> tuple[Book, dict[int, Sums]]:
    """Feed both tables, beside a reader and the command that maintains them."""
    book, found, fed = Book(), dict[int, Sums](), threading.Event()
    maintain = [sys.executable, "-m", "colonnade", "maintain", str(lake), "--every", "1s"]
    with subprocess.Popen(maintain, stdout=subprocess.DEVNULL) as maintenance:
        reader = threading.Thread(target=read_while, args=(lake, fed, found))
        feeds = [
            threading.Thread(target=feed_trips, args=(lake, book)),
            threading.Thread(target=feed_drivers, args=(lake,)),
        ]
        for thread in (reader, *feeds):
            thread.start()
        for thread in feeds:
            thread.join()
        fed.set()
        reader.join()
        maintenance.terminate()
    return book, found


def show(database: ArrowDatabase) -> None:
    """Print what trips earned by city, and how often each table was brought into order."""
    trips = database.table("trips").scan().to_arrow()
    drivers = database.table("drivers").scan().to_arrow()
    print(f"\n{trips.num_rows:,} trips of {drivers.num_rows} drivers; earned by city:")
    question = """
        SELECT city, count(*) AS trips, sum(cents) / 100 AS earned
        FROM trips JOIN drivers ON trips.driver = drivers.id GROUP BY city ORDER BY city
    """
    print(duckdb.sql(question))
    for name in ("trips", "drivers"):
        table = database.table(name)
        done = [entry.operation for entry in table.history()].count("compact")
        schedule = table._state.properties["compaction.schedule"]
        print(f"{name}: compacted {done} times; its schedule is {schedule}.")


def main() -> None:
    """Feed, maintain and read both tables at once, and compare every epoch with the dictionary."""
    with tempfile.TemporaryDirectory() as folder:
        lake = Path(folder) / "lake"
        database = colonnade.create_database(lake)
        database.create_table("trips", TRIPS, primary_key=["id"], properties=TRIP_PROPERTIES)
        database.create_table("drivers", DRIVERS, primary_key=["id"], properties=DRIVER_PROPERTIES)
        book, found = run_all(lake)

        head = database.refresh().epoch
        trips = database.table("trips")
        read = {epoch: sums(trips, epoch) for epoch in range(2, head + 1)}
        for epoch, seen in [*found.items(), *read.items()]:
            assert seen == book.at(epoch), f"epoch {epoch}: {seen}, but it must be {book.at(epoch)}"
        print(f"Sums were right in {len(found)} reads meanwhile, and at all {len(read)} epochs.")
        assert {row["id"] for row in trips.scan(["id"]).to_arrow().to_pylist()} == book.trips
        show(database)


if __name__ == "__main__":
    main()
