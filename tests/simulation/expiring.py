"""Rows and values that expire, beside purges, compactions and changes of how long they live.

Every process works on one store in memory, and has a clock of its own, which may be weeks off. The
clock of the store is right, or the store has none, as a disk. Before each call its store passes the
turn to another process, and may kill its own. Everything is drawn from one seed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone

import pyarrow as pa

from colonnade.manifests.clock import DAY_MS
from colonnade.manifests.ids import TableId
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.codec import decode_slot
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.lifetimes import Lifetimes
from colonnade.manifests.model.operations import CreateTable, SetLifetimes
from colonnade.manifests.object_names import epoch_number
from colonnade.manifests.store import MemoryStore, ObjectStore, PutOutcome
from colonnade.manifests.store.base import Data
from colonnade.manifests.store.turn import Turn
from colonnade.tableformat.compaction.purge import purge_table
from colonnade.tableformat.compaction.run import compact_here
from colonnade.tableformat.statements.expire import EXPIRE
from colonnade.tableformat.table.alteration import AlterProperties
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.write.settings import CommitSettings
from tests.simulation.lives import Life

WORK = 36
HOUR_MS = 3_600_000
START_MS = 20_000 * DAY_MS
NOTE = "a note"

INSTANT = pa.timestamp("us", tz="UTC")
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("made", INSTANT),
        ("ends", INSTANT),
        ("note", pa.string()),
    ]
)
NAMES = ("ttl", "ttl.column", "ttl.expires", "ttl.note", "ttl.grace")
LIVES: tuple[dict[str, str], ...] = (
    {},
    {"ttl.expires": "ends", "ttl.grace": "6 hours"},
    {"ttl": "8 hours", "ttl.column": "made", "ttl.grace": "5 hours"},
    {"ttl.note": "4 hours", "ttl.column": "made", "ttl.grace": "3 hours"},
    {"ttl": "12 hours", "ttl.note": "3 hours", "ttl.column": "made", "ttl.grace": "none"},
    {"ttl.expires": "ends", "ttl.note": "5 hours", "ttl.column": "made", "ttl.grace": "4 hours"},
)
"""How long rows and values may live, as properties."""

SUMS = pa.schema([("id", pa.int64()), ("n", pa.int64()), ("ends", INSTANT)])
"""A table whose upserts add to `n` until the row has expired."""

KEYS = 3

FAR_MS = 40 * DAY_MS

Times = tuple[int, int | None]
"""When a row was made, and when it expires, in ms."""


def instant(ms: int | None) -> datetime | None:
    """A time as a value of a column."""
    if ms is None:
        return None
    return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=ms)


@dataclass
class Record:
    """What landed: the epochs, the rows that each of them added, and the lifetimes after it.

    `came` are the true times of the epochs. `sums` has the values that the row of a key may have in
    the other table, and when it expires.
    """

    epochs: list[Epoch] = field(default_factory=list)
    lives: list[Lifetimes | None] = field(default_factory=list)
    born: dict[int, int] = field(default_factory=dict)
    times: dict[int, Times] = field(default_factory=dict)
    came: list[int] = field(default_factory=list)
    sums: dict[int, tuple[frozenset[int], int]] = field(default_factory=dict)
    summed: int = 0
    reads: int = 0
    hidden: int = 0
    purges: int = 0
    compactions: int = 0

    def land(self, data: bytes, number: int, now_ms: int) -> None:
        """An epoch was put at a true time."""
        epoch = decode_slot(data, number, f"epoch {number}")
        assert isinstance(epoch, Epoch)
        assert number == len(self.epochs)
        lives = self.lives[-1] if self.lives else None
        for op in epoch.ops:
            if isinstance(op, SetLifetimes) or (isinstance(op, CreateTable) and op.name == "t"):
                lives = op.lifetimes
        self.epochs.append(epoch)
        self.lives.append(lives)
        self.came.append(now_ms)
        self.purges += epoch.operation == EXPIRE
        self.compactions += epoch.operation == "compact"
        note = json.loads(epoch.parameters.get("userMetadata", "[]"))
        if isinstance(note, dict):
            self._add(note["key"], note["ends"], now_ms)
            return
        for row, made, ends in note:
            assert row not in self.born
            self.born[row], self.times[row] = number, (made, ends)

    def _add(self, key: int, ends: int, now_ms: int) -> None:
        """An upsert added 1 to the row of a key. A clock may be a day off, so some sums differ."""
        before, expires = self.sums.get(key, (frozenset[int](), 0))
        found = set() if before and expires > now_ms + 2 * DAY_MS else {1}
        if expires > now_ms - 2 * DAY_MS:
            found |= {each + 1 for each in before}
        self.sums[key] = frozenset(found), ends
        self.summed += found == {max(before, default=0) + 1} and bool(before)

    def check_sums(self, found: pa.Table) -> None:
        """Compare the rows of the other table that have not been purged with the model."""
        for row in found.to_pylist():
            values, _ = self.sums[row["id"]]
            assert row["n"] in values, f"key {row['id']} has the sum {row['n']}, not {values}"

    def purgeable(self, row: int, epoch: int, *, value: bool) -> bool:
        """Whether an epoch may have purged a row, or only a value of it, up to another one."""
        for number in range(self.born[row] + 1, epoch + 1):
            lives, purge = self.lives[number - 1], self.epochs[number]
            if lives is None or purge.operation != ("compact" if value else EXPIRE):
                continue
            # The date may be ahead of the time. A clock that is a day off is not contradicted.
            now_ms = min(purge.time_ms, self.came[number] + DAY_MS)
            if is_expired(self.times[row], lives, now_ms - lives.grace_ms, value=value):
                return True
        return False

    def check(self, epoch: int, seen_ms: int, found: pa.Table) -> None:
        """Compare the rows of an epoch, as a reader sees them at a time, with the model."""
        lives = self.lives[epoch]
        rows = dict(zip(found["id"].to_pylist(), found["note"].to_pylist(), strict=True))
        assert len(rows) == found.num_rows, "a row was read twice"
        there = {row for row, number in self.born.items() if number <= epoch}
        assert rows.keys() <= there
        for row in sorted(there):
            times = self.times[row]
            if lives is not None and is_expired(times, lives, seen_ms, value=False):
                assert row not in rows, f"row {row} has expired and is read"
                self.hidden += 1
            elif row not in rows:
                assert self.purgeable(row, epoch, value=False), f"row {row} is lost"
            elif lives is not None and is_expired(times, lives, seen_ms, value=True):
                assert rows[row] is None, f"the value of row {row} has expired and is read"
            elif rows[row] is None:
                assert self.purgeable(row, epoch, value=True), f"the value of row {row} is lost"
        self.reads += 1


def is_expired(times: Times, lives: Lifetimes, now_ms: int, *, value: bool) -> bool:
    """Whether a row, or its value `note`, has expired at a time."""
    made, ends = times
    if value:
        return any(made + each.ms <= now_ms for each in lives.columns)
    if lives.rows_ms is not None and made + lives.rows_ms <= now_ms:
        return True
    return lives.expires_column is not None and ends is not None and ends <= now_ms


class ProcessStore(MemoryStore):
    """One process's way to the objects, which all processes share."""

    def __init__(
        self,
        shared: MemoryStore,
        record: Record,
        meet: Callable[[], None],
        true_ms: Callable[[], int],
        own_ms: Callable[[], int] | None = None,
    ) -> None:
        super().__init__()
        self.__dict__.update(
            {key: value for key, value in shared.__dict__.items() if key not in ("parallel",)}
        )
        self._record = record
        self._meet = meet
        self._true_ms, self._clock_ms = true_ms, own_ms or true_ms
        self.has_clock = own_ms is None

    def date_of_write(self, name: str) -> int:
        # With the clock of the machine that runs the test, runs of a seed would differ.
        return self._clock_ms()

    def modified_ms(self, name: str) -> int | None:
        super().modified_ms(name)
        return None

    def get(self, name: str, *, limit: int | None = None) -> bytes:
        self._meet()
        return super().get(name, limit=limit)

    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        self._meet()
        outcome = super().put_if_absent(name, data)
        number = epoch_number(name)
        if outcome is PutOutcome.CREATED and number is not None:
            self._record.land(bytes(data), number, self._true_ms())
            self._meet()
        return outcome

    def put(self, name: str, data: Data, *, sync: bool) -> None:
        self._meet()
        super().put(name, data, sync=sync)

    def turn(self, folder: str) -> Turn:
        # The seed alone orders the processes. A lock would make them wait in real time.
        return ObjectStore.turn(self, folder)


class Process:
    """One process that works on the table."""

    def __init__(self, world: Expiring, order: random.Random) -> None:
        self._world = world
        self._order = order
        far = FAR_MS if world.alone else order.choice((-FAR_MS, FAR_MS))
        self._off_ms = order.choice((0, 0, -DAY_MS, -2 * HOUR_MS, 90_000, far, far))
        self.now_ms = START_MS
        own_ms = (lambda: self.now_ms) if world.alone else None
        store = ProcessStore(world.shared, world.record, world.meet, lambda: world.now_ms, own_ms)
        log = Log(
            store,
            clock_ms=lambda: self.now_ms,
            checkpoint_interval=4,
            pause=lambda _: world.meet(),
            limits=world.limits,
        )
        self._database = ArrowDatabase(store, log, log.reader.read_head())
        self._log = log

    def work(self) -> None:
        """Do one piece of work, at one time."""
        world, order = self._world, self._order
        world.now_ms += order.choice(world.steps_ms)
        self.now_ms = world.now_ms + self._off_ms
        kinds = ("append", "read", "purge", "compact", "alter", "add")
        match order.choices(kinds, (5, 5, 3, 1.5, 2, 2))[0]:
            case "append":
                self._append()
            case "read":
                self.read()
            case "purge":
                base = (
                    self._database._snapshot
                    if order.random() < 0.4
                    else self._log.reader.read_head()
                )
                purge_table(self._log, base, TableId(self._database.table("t")._state.id))
            case "compact":
                begun = self._database.table("t").optimize().option("min-rowsets", 2)
                begun = begun.option("deleted-share", order.choice((0, 0.5)))
                begun._elsewhere(compact_here(self._log.store, 1)).executeCompaction()
            case "add":
                self._add()
            case "alter":
                given = order.choice(LIVES)
                gone = tuple(name for name in NAMES if name not in given)
                self._database.table("t").alter(AlterProperties(set=given, remove=gone))

    def _append(self) -> None:
        world, order = self._world, self._order
        rows = []
        for row in world.new_ids(order.randint(1, 6)):
            made = world.now_ms + order.randint(-10, 1) * HOUR_MS
            ends = order.choice((None, world.now_ms + order.randint(-3, 12) * HOUR_MS))
            rows.append((row, made, ends))
        ids, made_at, ends_at = zip(*rows, strict=True)
        columns = [
            pa.array(ids, pa.int64()),
            pa.array(map(instant, made_at), INSTANT),
            pa.array(map(instant, ends_at), INSTANT),
            pa.array([NOTE] * len(rows)),
        ]
        commit = CommitSettings(metadata=json.dumps(rows))
        self._database.table("t").append(
            pa.Table.from_arrays(columns, schema=SCHEMA), commit=commit
        )

    def _add(self) -> None:
        """Add 1 to a row of the other table, which then lives for hours or for weeks."""
        order = self._order
        key, lasts = order.randrange(KEYS), order.choice((3 * HOUR_MS, 20 * DAY_MS, 20 * DAY_MS))
        ends = self._world.now_ms + lasts
        row = {"id": [key], "n": [1], "ends": pa.array([instant(ends)], INSTANT)}
        commit = CommitSettings(metadata=json.dumps({"key": key, "ends": ends}))
        self._database.table("sums").upsert(pa.table(row, SUMS), commit=commit)

    def read_sums(self) -> None:
        """Compare what the other table stores, with expired rows, with the model."""
        scan = self._database.table("sums").scan(seen_at=instant(0))
        self._world.record.check_sums(scan.to_arrow())

    def read(self) -> None:
        """Compare one scan with the model: of the head, or of an earlier epoch as it was then.

        An earlier epoch is seen at its writer's clock, where that contradicts its date.
        """
        record, order = self._world.record, self._order
        epoch = order.randint(1, len(record.epochs) - 1) if order.random() < 0.4 else None
        scan = self._database.table("t").scan(epoch=epoch)
        then = record.epochs[scan.epoch]
        if epoch is None:
            seen_ms = max(then.time_ms, self.now_ms)
        else:
            seen_ms = then.time_ms if then.clock_ms is None else then.clock_ms
        record.check(scan.epoch, seen_ms, scan.to_arrow())


class Expiring(Life):
    """One run."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, WORK)
        self._rows = 0
        self.record = Record()
        self.now_ms = START_MS
        self.limits: Limits = LIMITS
        # On a disk, a clock that is wrong for more than a day is believed: such a life is shorter.
        self.alone = self.order.random() < 0.3
        self.steps_ms = (1, 60_000, HOUR_MS, 3 * HOUR_MS)
        if self.alone:
            self.steps_ms = (1, 60_000, 600_000, HOUR_MS // 3)

    def new_ids(self, count: int) -> Sequence[int]:
        """Ids of rows that never were."""
        self._rows += count
        return range(self._rows - count, self._rows)

    def begin(self) -> None:
        """Make a table without lifetimes."""
        store = ProcessStore(self.shared, self.record, lambda: None, lambda: self.now_ms)
        base = create_database(store, lone_table=False, clock_ms=lambda: self.now_ms)
        log = Log(store, clock_ms=lambda: self.now_ms)
        database = ArrowDatabase(store, log, base)
        database.create_table("t", SCHEMA)
        properties = {"merge.n": "add", "ttl.expires": "ends"}
        database.create_table("sums", SUMS, primary_key=["id"], properties=properties)

    def worker(self) -> Process:
        """Start a process with a clock of its own."""
        return Process(self, self.order)

    def run(self) -> Record:
        """Live, and return what landed. Raises AssertionError."""
        self.live()
        self.worker().read_sums()
        return self.record


def simulate_expiring(seed: int) -> Record:
    """Run one seed. Raises AssertionError that names it where something is wrong."""
    try:
        return Expiring(seed).run()
    except Exception as error:
        raise AssertionError(f"seed {seed}: {error!r}") from error
