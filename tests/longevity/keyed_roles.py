"""Eight writers of tables with a primary key, each an endless loop that is killed at any time.

A writer sends numbered batches that its seat and their number alone decide. It begins again with
the last one, which may have landed, and then counts once. All writers share the hot keys. They only
add there, or say how new each row and each deletion is, so the order of their batches does not
matter. Each has keys of its own, too.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

import colonnade
from colonnade import ArrowTable, CommitSettings, WriteSettings
from colonnade.manifests.errors import (
    CommitUnknownError,
    ConflictError,
    CorruptionError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.store import StoreAddress
from tests.longevity.record import Record, read_lines
from tests.longevity.roles import Role, maintain, read_pinned

SUMS, NEWEST = "sums", "newest"

SUMS_SCHEMA = pa.schema(
    [("k", pa.int64()), ("n", pa.int64()), ("top", pa.int64()), ("word", pa.string())]
)
NEWEST_SCHEMA = pa.schema([("k", pa.int64()), ("at", pa.int64()), ("word", pa.string())])

PROPERTIES: Mapping[str, Mapping[str, str]] = {
    SUMS: {"merge.n": "add", "merge.top": "max"},
    # Deleted keys are remembered as long as a run takes. The vacuumer keeps less of the history.
    NEWEST: {"sequence": "at", "retention.hours": "1"},
}

HOT = range(5)
OWN = 30
"""So many keys are a writer's own."""

WRITERS = 8

Action = Literal["add", "newest", "bury", "merge", "ignore", "insert", "delete", "move"]
MIX: Mapping[Action, float] = {
    "add": 6, "newest": 3, "bury": 2, "merge": 2, "ignore": 1, "insert": 1, "delete": 1, "move": 1
}  # fmt: skip
DATED: tuple[Action, ...] = ("newest", "bury")
"""A `bury` deletes keys at a time, so that older rows stay out whenever they arrive."""

Cells = dict[str, Any]
Rows = dict[int, Cells]
"""Rows by their keys, without these."""


@dataclass(frozen=True)
class Batch:
    """One batch: what it does, and its rows in order of arrival.

    A `move` has the old and the new key.
    """

    number: int
    action: Action
    rows: tuple[Cells, ...]

    @property
    def table(self) -> str:
        """The table that it is for."""
        return NEWEST if self.action in DATED else SUMS

    def data(self) -> pa.Table:
        """Its rows with the columns that they have."""
        schema = NEWEST_SCHEMA if self.action in DATED else SUMS_SCHEMA
        names = self.rows[0].keys()
        return pa.Table.from_pylist(
            list(self.rows), pa.schema([each for each in schema if each.name in names])
        )

    def send(self, table: ArrowTable, seat: str) -> None:
        """Send it to its table."""
        commit = CommitSettings(batch=(seat, self.number))
        match self.action:
            case "add" | "newest":
                table.upsert(self.data(), commit=commit)
            case "merge" | "ignore":
                table.append(
                    self.data(), settings=WriteSettings(on_duplicate=self.action), commit=commit
                )
            case "insert":
                table.append(self.data(), commit=commit)
            case "delete" | "bury":
                table.delete_keys(self.data(), commit=commit)
            case "move":
                old, new = (row["k"] for row in self.rows)
                table.update({"k": new}, f"k = {old}", commit=commit)


def batch_of(seat: str, number: int) -> Batch:
    """The batch of a writer with a number."""
    order = random.Random(f"{seat} {number}")
    [action] = order.choices(list(MIX), list(MIX.values()))
    writer = int(seat.rpartition("-")[2])
    word = f"{seat} {number}"
    if action == "add":
        gives, takes = order.sample(HOT, 2)
        amount, top = order.randrange(1, 10**6), order.randrange(10**6)
        changes = [(gives, -amount), (takes, amount), (takes, 1), (gives, -1)]
        return Batch(number, action, tuple({"k": k, "n": n, "top": top} for k, n in changes))
    if action in DATED:
        # No two batches have the same time, and many arrive late.
        at = (1000 * number + order.randrange(30_000)) * 2**20 + number * WRITERS + writer
        dated = {"k": order.choice(HOT), "at": at}
        return Batch(number, action, ({**dated, "word": word} if action == "newest" else dated,))
    first = (writer + 1) * 1000
    keys = order.sample(range(first, first + OWN), 2 if action == "move" else order.randint(1, 4))
    if action in ("delete", "move"):
        return Batch(number, action, tuple({"k": k} for k in keys))
    columns = order.choice((("n",), ("n", "word"), ("word", "top"), ("n", "top", "word")))
    values = {"n": order.randrange(100), "top": order.randrange(100), "word": word}
    return Batch(
        number, action, tuple({"k": k, **{name: values[name] for name in columns}} for k in keys)
    )


@dataclass
class Tables:
    """What the tables hold after some batches."""

    sums: Rows = field(default_factory=dict)
    newest: Rows = field(default_factory=dict)
    buried: dict[int, int] = field(default_factory=dict)

    def refuses(self, batch: Batch) -> bool:
        """Whether a batch is refused, because a key is taken."""
        keys = [row["k"] for row in batch.rows]
        if batch.action == "move":
            return all(k in self.sums for k in keys)
        return batch.action == "insert" and any(k in self.sums for k in keys)

    def apply(self, batch: Batch) -> None:
        """Do what a batch does, unless it is refused."""
        if self.refuses(batch):
            return
        keys = [row["k"] for row in batch.rows]
        if batch.action == "delete":
            for k in keys:
                self.sums.pop(k, None)
        elif batch.action == "bury":
            for row in batch.rows:
                k, at = row["k"], max(row["at"], self.buried.get(row["k"], 0))
                self.buried[k] = at
                if k in self.newest and self.newest[k]["at"] < at:
                    del self.newest[k]
        elif batch.action == "move":
            old, new = keys
            if old in self.sums:
                self.sums[new] = self.sums.pop(old)
        else:
            for row in batch.rows:
                self._merge(batch, row)

    def _merge(self, batch: Batch, row: Cells) -> None:
        rows = self.newest if batch.action == "newest" else self.sums
        if rows is self.newest and row["at"] < self.buried.get(row["k"], 0):
            return
        empty = dict.fromkeys(("at", "word") if rows is self.newest else ("n", "top", "word"))
        before = rows.get(row["k"])
        if before is None:
            before = rows[row["k"]] = empty
        elif batch.action == "ignore" or (rows is self.newest and row["at"] < before["at"]):
            return
        for name, value in row.items():
            known = before.get(name)
            if name == "n":
                before["n"] = value + (known or 0)
            elif name == "top":
                before["top"] = value if known is None else max(known, value)
            elif name != "k":
                before[name] = value


def write(place: StoreAddress, records: Path, seat: str, order: random.Random) -> None:
    """Send one batch after another, each until it is done."""
    record, known = Record(records, seat), Tables()
    first = last_done(records, seat) + 1
    for number in range(first):
        known.apply(batch_of(seat, number))
    number = first
    while True:
        batch = batch_of(seat, number)
        send(place, seat, batch, known, record)
        record.note(done=number)
        known.apply(batch)
        number += 1
        time.sleep(order.random() / 20)


def last_done(records: Path, seat: str) -> int:
    """The number of the last batch of a writer that is known to be done."""
    return max((line["done"] for line in read_lines(records, seat) if "done" in line), default=-1)


def send(place: StoreAddress, seat: str, batch: Batch, known: Tables, record: Record) -> None:
    """Send a batch until it is done. It is refused if its keys are taken, and not otherwise.

    `known` has the writer's own keys. Raises AssertionError.
    """
    refused, database = known.refuses(batch), colonnade.open_database(place)
    while True:
        before = database.refresh().epoch
        try:
            batch.send(database.table(batch.table), seat)
        except InvalidInputError:
            if not refused:
                raise
            return
        except (ConflictError, CommitUnknownError) as error:
            record.note(again=batch.number, kind=error.kind)
        except (CorruptionError, NotFoundError):
            if database._refresh().floor <= before:
                raise
            # It was so slow that vacuum took the epoch that it read.
        else:
            assert not refused, f"batch {batch} was taken although a key is taken"
            return


def vacuum(place: StoreAddress, records: Path, seat: str, order: random.Random) -> None:
    """Remove again and again what the table of sums needs no more, also if the other one does."""
    while True:
        database = colonnade.open_database(place)
        hours = float(database.table(SUMS)._state.properties["retention.hours"])
        with suppress(CommitUnknownError, ConflictError):
            database.vacuum(hours, force=True)
        time.sleep(order.random() * 3)


def read(place: StoreAddress, records: Path, seat: str, order: random.Random) -> None:
    """Read both tables of one epoch again and again; see `read_pinned`."""

    def look(epoch: int) -> Mapping[str, object]:
        database = colonnade.open_database(place)
        rows = {
            name: database.table(name, epoch=epoch).scan(epoch=epoch).to_arrow().sort_by("k")
            for name in (SUMS, NEWEST)
        }
        return seen(rows)

    read_pinned(place, records, seat, order, look)


def seen(rows: Mapping[str, pa.Table]) -> Mapping[str, object]:
    """What is wrong with the rows of an epoch, if anything, and a digest of them all."""
    digest = hashlib.sha256()
    broken = 0
    for each in rows.values():
        digest.update(repr(each.to_pydict()).encode())
        broken += each.num_rows - len({*each["k"].to_pylist()})
    sums = zip(rows[SUMS]["k"].to_pylist(), rows[SUMS]["n"].to_pylist(), strict=True)
    # A batch adds to some hot keys what it takes from other hot keys.
    broken += sum(n for k, n in sums if k in HOT) != 0
    return {"digest": digest.hexdigest(), "broken": broken}


SEATS: Mapping[str, Role] = {
    **{f"writer-{number}": write for number in range(WRITERS)},
    "scheduler": maintain,
    "vacuumer": vacuum,
    "reader": read,
}
"""Who works at the same time."""
