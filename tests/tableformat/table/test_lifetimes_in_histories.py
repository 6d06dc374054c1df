"""Histories of tables with a time to live, compared with a model of their rows at every epoch.

The model knows which rows and values must be there, and which may be purged. So a purge before its
grace, a row that is visible again, and a lost row are all found.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
import pytest

from colonnade.tableformat.compaction.purge import purge_table
from colonnade.tableformat.table.alteration import AlterProperties
from tests.clocked import HOUR_MS, Clocked, moment

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("ts", pa.timestamp("us", tz="UTC")),
        ("gone", pa.timestamp("us")),
        ("note", pa.string()),
        ("parts", pa.list_(pa.struct([("n", pa.int64())]))),
    ]
)


@dataclass(frozen=True)
class Row:
    """A row of the model, in ms; `loses` says that its note may be purged, `dead` the row."""

    id: int
    ts: int
    gone: int | None
    note: str | None
    written: int
    loses: bool = False
    dead: bool = False


@dataclass
class Lives:
    """The lifetimes of the model, in hours; None: none."""

    rows: int | None = None
    by_column: bool = False
    expires: bool = False
    note: int | None = None
    grace: int = 24

    def properties(self) -> dict[str, str]:
        found = {
            "ttl": self.rows and f"{self.rows} hours",
            "ttl.column": "ts" if self.by_column and (self.rows or self.note) else None,
            "ttl.expires": "gone" if self.expires else None,
            "ttl.note": self.note and f"{self.note} hours",
            "ttl.grace": f"{self.grace} hours" if self.grace else "none",
        }
        some = self.rows or self.note or self.expires
        return {name: text for name, text in found.items() if text} if some else {}

    def is_expired(self, row: Row, now: int) -> bool:
        time = row.ts if self.by_column else row.written
        old = self.rows is not None and time + self.rows * HOUR_MS <= now
        return old or (self.expires and row.gone is not None and row.gone <= now)

    def lost_note(self, row: Row, now: int) -> bool:
        time = row.ts if self.by_column else row.written
        return self.note is not None and time + self.note * HOUR_MS <= now


@dataclass
class History:
    """A table, and the rows that the model has at each epoch."""

    seed: int
    rows: list[Row] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.lives = self.new_lives(by_column=self.random.random() < 0.5)
        self.world = Clocked(
            SCHEMA,
            self.lives.properties(),
            sort_key=self.random.choice([(), ("ts",), ("id",)]),
        )
        self.next = 0
        self.epochs: dict[int, tuple[list[Row], Lives, int]] = {}

    def new_lives(self, *, by_column: bool) -> Lives:
        pick = self.random.choice
        found = Lives(
            pick([None, 2, 5, 11]),
            by_column,
            pick([False, True]),
            pick([None, 1, 4]),
            pick([0, 3]),
        )
        return found if found.properties() else replace(found, rows=5)

    def now(self) -> int:
        return self.world.log.query_ms(self.world.log.read_head())

    def visible(self, now: int) -> list[Row]:
        return [row for row in self.rows if not self.lives.is_expired(row, now)]

    def some_ids(self) -> tuple[int, int]:
        low = self.random.randrange(self.next + 1)
        return low, low + self.random.choice([1, 20, 400])

    def append(self) -> None:
        now = self.now()
        count = self.random.choice([1, 5, 300])
        made = [
            Row(
                self.next + n,
                now + self.random.randint(-3, 3) * HOUR_MS,
                self.random.choice([None, now + self.random.randint(-1, 6) * HOUR_MS]),
                self.random.choice([None, f"note {self.next + n}"]),
                now,
            )
            for n in range(count)
        ]
        self.next += count
        self.world.table.append(table_of(made))
        self.rows += made

    def update(self) -> None:
        now, (low, high) = self.now(), self.some_ids()
        self.world.table.update({"note": "'set'"}, f"id >= {low} AND id < {high}")
        hit = {row.id for row in self.visible(now) if low <= row.id < high}
        self.rows = [
            replace(row, note="set", written=now, loses=False) if row.id in hit else row
            for row in self.rows
        ]

    def delete(self) -> None:
        now, (low, high) = self.now(), self.some_ids()
        self.world.table.delete(f"id >= {low} AND id < {high}", count_rows=True)
        hit = {row.id for row in self.visible(now) if low <= row.id < high}
        self.rows = [row for row in self.rows if row.id not in hit]

    def wait(self) -> None:
        self.world.now_ms += self.random.choice([1, HOUR_MS // 2, 2 * HOUR_MS, 6 * HOUR_MS])

    def alter(self) -> None:
        # A change of what times are counted from would begin again at the change.
        before, after = self.lives, self.new_lives(by_column=self.lives.by_column)
        if not (before.rows or before.note) or not (after.rows or after.note):
            after = replace(before, grace=after.grace)
        gone = set(before.properties()) - set(after.properties())
        self.world.table.alter(AlterProperties(after.properties(), tuple(gone)))
        self.lives = after

    def purge(self) -> None:
        table = self.world.table
        if self.random.random() < 0.5:
            head = self.world.log.read_head()
            purge_table(self.world.log, head, table.state.id)
            table.refresh()
        else:
            begun = table.optimize().option("min-rowsets", 2).option("deleted-share", 0)
            begun.executeCompaction()
        # Each epoch of the purge is a little later than the one before.
        cutoff = self.now() - self.lives.grace * HOUR_MS
        self.rows = [
            replace(
                row,
                dead=row.dead or self.lives.is_expired(row, cutoff),
                loses=row.loses or self.lives.lost_note(row, cutoff),
            )
            for row in self.rows
        ]

    def step(self) -> None:
        act = self.random.choice(
            [self.append, self.append, self.update, self.delete, self.wait, self.purge, self.alter]
        )
        act()
        head = self.world.log.read_head()
        self.epochs[head.epoch] = list(self.rows), self.lives, head.time_ms
        self.compare(self.rows, self.lives, self.now(), epoch=None)

    def compare(self, rows: list[Row], lives: Lives, now: int, epoch: int | None) -> None:
        found = self.world.table.scan(epoch=epoch).to_arrow().to_pylist()
        at = {each["id"]: each for each in found}
        assert len(at) == len(found), "a row is there twice"
        shown = {row.id: row for row in rows if not lives.is_expired(row, now)}
        needed = {number for number, row in shown.items() if not row.dead}
        assert needed <= at.keys() <= shown.keys()
        for number, values in at.items():
            row = shown[number]
            note = None if lives.lost_note(row, now) else row.note
            assert values["note"] in ((note, None) if row.loses else (note,))
            assert values["parts"] == [{"n": number}]
        counted = self.world.table.scan(["id"], "note IS NULL", epoch=epoch).to_arrow()
        assert counted.num_rows == sum(each["note"] is None for each in found)


def table_of(rows: list[Row]) -> pa.Table:
    values: list[dict[str, Any]] = [
        {
            "id": row.id,
            "ts": moment(row.ts),
            "gone": None if row.gone is None else moment(row.gone).replace(tzinfo=None),
            "note": row.note,
            "parts": [{"n": row.id}],
        }
        for row in rows
    ]
    return pa.Table.from_pylist(values, SCHEMA)


def run(seed: int, steps: int) -> None:
    history = History(seed)
    for _ in range(steps):
        history.step()
    for epoch, (rows, lives, time_ms) in history.epochs.items():
        history.compare(rows, lives, time_ms, epoch)
    assert not history.world.table.verify().findings


@pytest.mark.parametrize("seed", range(6))
def test_every_epoch_shows_what_the_model_shows(seed: int) -> None:
    run(seed, 15)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 160))
def test_every_epoch_of_many_long_histories_shows_what_the_model_shows(seed: int) -> None:
    run(seed, 60)
