"""Bronze, silver and gold without a checkpoint folder, by processes that are killed all the time.

Bronze has events as they arrive: a customer moved to a city. Silver has the history of each
customer, one row for each stay (a slowly changing dimension of type 2). Gold counts the customers
of each city. Silver follows the changes of bronze, and gold those of silver. Each of them commits
its rows together with how far it has read. So a process that dies at any point is started again,
and each event counts once.

The example needs no Java. Run it with `.venv/bin/python examples/medallion.py`.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

import colonnade
from colonnade import ArrowDatabase, ConflictError

EVENTS = pa.schema([("number", pa.int64()), ("customer", pa.int64()), ("city", pa.string())])
STAYS = pa.schema(
    [
        pa.field("customer", pa.int64(), nullable=False),
        pa.field("begin", pa.int64(), nullable=False),
        ("end", pa.int64()),
        ("city", pa.string()),
    ]
)
CITIES = pa.schema([pa.field("city", pa.string(), nullable=False), ("customers", pa.int64())])

BATCHES, ROWS, CUSTOMERS = 40, 20, 30
PLACES = ("Bern", "Lyon", "Oslo", "Rome")


def create(lake: Path) -> ArrowDatabase:
    """Create the three tables, and the consumers of two of them."""
    database = colonnade.create_database(lake)
    database.create_table("bronze", EVENTS)
    database.create_table("silver", STAYS, primary_key=["customer", "begin"])
    counts = {"merge.customers": "add"}
    database.create_table("gold", CITIES, primary_key=["city"], properties=counts)
    database.create_consumer("silver", "bronze", 0)
    database.create_consumer("gold", "silver", 0)
    return database


def refine(database: ArrowDatabase) -> None:
    """Bring silver up to what bronze has: end the last stay of a customer, and begin another."""
    with database.transaction() as tx:
        events = tx.changes("bronze", consumer="silver").to_pylist()
        silver = tx.table("silver")
        open_stays = {row["customer"]: row for row in silver.to_pylist(where="end IS NULL")}
        changed = {}
        for event in sorted(events, key=lambda each: each["number"]):
            last = open_stays.get(event["customer"])
            if last is not None:
                ended = {**last, "end": event["number"]}
                changed[last["customer"], last["begin"]] = ended
            stay = {"customer": event["customer"], "begin": event["number"], "end": None}
            stay["city"] = event["city"]
            open_stays[event["customer"]] = changed[event["customer"], event["number"]] = stay
        if changed:
            silver.upsert(pa.Table.from_pylist([*changed.values()], STAYS))


def count(database: ArrowDatabase) -> None:
    """Bring gold up to what silver has: each stay that begins or ends moves one customer."""
    with database.transaction() as tx:
        moved: Counter[str] = Counter()
        for stay in tx.changes("silver", consumer="gold", where="end IS NULL"):
            here = stay["_change_type"] in ("insert", "update_postimage")
            moved[stay["city"]] += 1 if here else -1
        rows = [{"city": city, "customers": number} for city, number in moved.items() if number]
        if rows:
            tx.table("gold").upsert(pa.Table.from_pylist(rows, CITIES))


def work(lake: Path, step: str) -> None:
    """Do one of the two steps again and again, until the process is killed."""
    database = colonnade.open_database(lake)
    while True:
        # A process that was killed may have committed at the last moment.
        with suppress(ConflictError):
            {"silver": refine, "gold": count}[step](database.refresh())
        time.sleep(0.02)


def begin(lake: Path, step: str) -> subprocess.Popen[bytes]:
    """Start a process for one of the steps."""
    command = [sys.executable, __file__, str(lake), step]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def is_done(database: ArrowDatabase) -> bool:
    """Return whether silver has read all of bronze, and gold all of silver."""
    read = {each.name: each.epoch for each in database.consumers()}
    last = {name: database[name].history(1)[0].epoch for name in ("bronze", "silver")}
    return read["silver"] >= last["bronze"] and read["gold"] >= last["silver"]


def main(kills: int) -> None:
    """Land events while both steps work and are killed, and compare gold with a dictionary."""
    order, where = random.Random(kills), dict[int, str]()
    with tempfile.TemporaryDirectory() as folder:
        lake = Path(folder) / "lake"
        database = create(lake)
        bronze = database["bronze"]
        steps = {step: begin(lake, step) for step in ("silver", "gold")}
        left, number = kills, 0
        for batch in range(BATCHES):
            rows = []
            for _ in range(ROWS):
                number += 1
                customer, city = order.randrange(CUSTOMERS), order.choice(PLACES)
                where[customer] = city
                rows.append({"number": number, "customer": customer, "city": city})
            bronze.append(pa.Table.from_pylist(rows, EVENTS))
            for _ in range(-(-left // (BATCHES - batch))):
                step = order.choice(("silver", "gold"))
                time.sleep(order.uniform(0, 0.4))
                steps[step].send_signal(signal.SIGKILL)
                steps[step].wait()
                steps[step] = begin(lake, step)
                left -= 1
        while not is_done(database):
            time.sleep(0.1)
        for process in steps.values():
            process.kill()
            process.wait()
        found = {row["city"]: row["customers"] for row in database["gold"].to_pylist()}
        expected = Counter(where.values())
        assert {city: each for city, each in found.items() if each} == expected, (found, expected)
        stays = database["silver"].count()
        assert stays == number, f"{number} events made {stays} stays"
        print(f"{number} events, {kills} kills: each counts once. {dict(sorted(expected.items()))}")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        work(Path(sys.argv[1]), sys.argv[2])
    main(int(sys.argv[1]) if len(sys.argv) == 2 else 10)
