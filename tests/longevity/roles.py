"""Who works on the database: each an endless loop in a process of its own, killed at any time.

Rows have columns of every type and nested ones, whose values their batch alone decides. They come
in pairs of opposite values and go in pairs, by one commit each. So in every epoch all values add up
to 0, and each pair is there whole or not at all.
"""

from __future__ import annotations

import hashlib
import os
import random
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import colonnade
from colonnade.maintain.round import run_round
from colonnade.manifests.errors import (
    CommitUnknownError,
    ConflictError,
    CorruptionError,
    NotFoundError,
)
from colonnade.manifests.store import StoreAddress
from colonnade.tableformat.types.arrow_types import arrow_schema
from tests.large_tables import NESTED, TableMaker, feed
from tests.longevity.record import Record, Step, read_steps

TABLE = "pairs"

PLAIN = ("batch", "pair", "value", "text")
"""The columns that roles read; the other columns are compared by their digest."""

SCHEMA = pa.schema(
    [
        ("batch", pa.int64()),
        ("pair", pa.int64()),
        ("value", pa.int64()),
        ("text", pa.string()),
        *arrow_schema(NESTED),
    ]
)
PIN_SECONDS = 15.0
"""Renewed before each read, given up after the last, and left to its time by who is killed."""


def rows_of(batch: int, pairs: int) -> pa.Table:
    """The rows of a batch, which its number alone decides."""
    order = random.Random(batch)
    values = [order.randrange(1, 2**40) for _ in range(pairs)]
    texts = [f"text {value % 1000}" for value in values]
    both = [number for number in range(pairs) for _ in range(2)]
    columns: list[Any] = [
        pa.array([batch] * (2 * pairs), pa.int64()),
        pa.array(both, pa.int64()),
        pa.array([sign * value for value in values for sign in (1, -1)], pa.int64()),
        pa.array([texts[number] for number in both], pa.string()),
    ]
    columns += TableMaker(batch).rows_of(NESTED, 2 * pairs).columns
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def write(place: StoreAddress, records: Path, seat: str, order: random.Random) -> None:
    """Append batches, most of them small, and first of all one that has several cuts."""
    record = Record(records, seat)
    table = colonnade.open(place / TABLE)
    pairs = order.randrange(15_000, 40_000) if not any(read_steps(records, seat)) else 1
    while True:
        batch = order.randrange(2**62)
        rows = rows_of(batch, pairs)
        record.take(Step("append", batch, 0, pairs), partial(table.append, rows))
        time.sleep(order.random() / 10)
        pairs = int(order.lognormvariate(3, 2)) % 20_000 + 1


def delete(place: StoreAddress, records: Path, seat: str, order: random.Random) -> None:
    """Delete some pairs of batches that landed, or all of them."""
    record = Record(records, seat)
    table = colonnade.open(place / TABLE)
    while True:
        landed = [step for step in read_steps(records, "writer") if step.outcome == "landed"]
        if landed:
            batch = order.choice(landed)
            first = order.choice((0, 0, batch.end // 2))
            end = order.choice((batch.end, batch.end, (first + batch.end) // 2))
            condition = f"batch = {batch.batch} AND pair >= {first} AND pair < {end}"
            step = Step("delete", batch.batch, first, end)
            before = table.refresh().epoch
            try:
                record.take(step, partial(table.delete, condition))
            except (CorruptionError, NotFoundError):
                if table._refresh().floor <= before:
                    raise
                # It was so slow that vacuum took the epoch that it read.
        time.sleep(order.random() / 5)


def maintain(place: StoreAddress, records: Path, seat: str, order: random.Random) -> None:
    """Rounds of maintenance, as `colonnade maintain --every` does them."""
    record = Record(records, seat)
    while True:
        database = colonnade.open_database(place)
        done = run_round(
            database,
            database._log,
            lambda database, plan: database.table(plan.name).optimize().executeCompaction(),
        )
        faults = [e for e in done.errors if e.kind not in ("CONFLICT", "COMMIT_UNKNOWN")]
        record.note(
            groups=sum(each.groups for each in done.tables),
            conflicts=sum(each.conflicts for each in done.tables),
            removed=0 if done.vacuum is None else done.vacuum.files,
            faults=[f"{each.step}: {each.message}" for each in faults],
        )
        time.sleep(order.random())


def read(place: StoreAddress, records: Path, seat: str, order: random.Random) -> None:
    """Read all rows of one epoch again and again; see `read_pinned`."""

    def look(epoch: int) -> Mapping[str, object]:
        rows = colonnade.open(place / TABLE).scan(epoch=epoch).to_arrow()
        return {"rows": len(rows), **_seen(rows)}

    read_pinned(place, records, seat, order, look)


def read_pinned(
    place: StoreAddress,
    records: Path,
    seat: str,
    order: random.Random,
    look: Callable[[int], Mapping[str, object]],
) -> None:
    """Pin an epoch and look at it again and again; what is seen is the same each time."""
    record = Record(records, seat)
    name = f"{seat}-{os.getpid()}"
    database = colonnade.open_database(place)
    while True:
        renewed = -PIN_SECONDS
        try:
            epoch = database.pin(name, PIN_SECONDS)
            for _ in range(order.randint(2, 5)):
                asked = time.monotonic()
                database.pin(name, PIN_SECONDS, epoch)
                renewed = asked
                record.note(epoch=epoch, **look(epoch))
                time.sleep(order.random() / 2)
            database.unpin(name)
        except (ConflictError, CommitUnknownError):
            continue
        except (NotFoundError, CorruptionError):
            if time.monotonic() < renewed + PIN_SECONDS:
                raise
            # It was too slow: retention removed the epoch before the pin, or after it.


def _seen(rows: pa.Table) -> Mapping[str, object]:
    """What is wrong with rows, if anything, and a digest of them all, whatever their order."""
    order = pc.sort_indices(rows.select(PLAIN), [(name, "ascending") for name in PLAIN])
    digest = hashlib.sha256()
    for column in rows.combine_chunks().columns:
        whole = pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, column.type)
        feed(digest, whole.take(order))
    signs = rows.group_by(["batch", "pair"]).aggregate([("value", "sum"), ("value", "count")])
    broken = pc.sum(
        pc.or_(pc.not_equal(signs["value_sum"], 0), pc.not_equal(signs["value_count"], 2))
    )
    return {"digest": digest.hexdigest(), "broken": broken.as_py() or 0}


Role = Callable[[StoreAddress, Path, str, random.Random], None]

SEATS: Mapping[str, Role] = {
    "writer-1": write,
    "writer-2": write,
    "deleter": delete,
    "scheduler": maintain,
    "reader-1": read,
    "reader-2": read,
}
"""Who works at the same time."""


def work(role: Role, place: StoreAddress, records: Path, seat: str, seed: int) -> None:
    """Sit down and work. An error that ought not to be is noted, for the referee to find."""
    try:
        role(place, records, seat, random.Random(seed))
    except Exception as error:
        Record(records, "fault").note(seat=seat, error=f"{type(error).__name__}: {error}")
        raise
