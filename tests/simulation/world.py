"""One simulated run: processes that work on one database through a store that fails.

Everything is drawn from one seed, so a run that went wrong goes wrong again.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Protocol, TypeVar

from colonnade.manifests.checkpoint.reader import UNUSABLE, read_hint, read_state
from colonnade.manifests.errors import (
    ColonnadeError,
    CommitUnknownError,
    CorruptionError,
)
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.object_names import HINT, MANIFEST, epoch_number
from colonnade.manifests.state.snapshot import Snapshot, TableMap
from colonnade.manifests.vacuum.references import read_state_objects
from colonnade.tableformat.table.alteration import SetSortKey
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.write.job import WriteJob
from tests.faults import Fault
from tests.simulation.intents import Intent
from tests.simulation.keyed.rows import SCHEMA, STRICT
from tests.simulation.keyed.rows import TABLES as KEYED
from tests.simulation.keyed.sight import Sight
from tests.simulation.oracle import Oracle
from tests.simulation.replaced import ReplacedRows
from tests.simulation.rows import LAYOUTS, Shape
from tests.simulation.seeded import seeded
from tests.simulation.sizes import FORMS, draw_limits
from tests.simulation.statements import Step
from tests.simulation.store import Disk, ProcessStore, Weather
from tests.simulation.streams import Streams
from tests.simulation.turns import Turns

T = TypeVar("T")

TABLES = ("plain", "strict")
"""The second of them is serializable."""

SEATS, FAR_SEATS = 4, 8
"""The processes that work at once, usually and on a store that is far."""

COPIES, LARGE = 1500, 5
"""In one seed of 16 each row is there so often, so that RowSets have blocks of real sizes."""

READS = ("get", "get_ranges")

DAY_MS = 86_400_000
YEAR_MS = 365 * DAY_MS


class Actor(Protocol):
    """One kind of work that a process does now and then. Its files are in `actors/`."""

    @property
    def weight(self) -> float:
        """The weight of this kind of work when one is chosen at random."""

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Do one piece of work. Raises whatever the code under test does."""


class World:
    """A database, those who work on it, and what they may not do to it.

    With `waits`, writers wait for turns, and other writers commit meanwhile. With `far`, the store
    is a bucket behind a network: more processes share it, answers come late, and at times it is too
    busy to serve most calls. A `keyed` world also has tables with a primary key, which the oracle
    reads at every epoch. In a `ranged` world, tables are sorted by their ids.
    """

    def __init__(
        self,
        seed: int,
        rate: float = 0.04,
        faults: Sequence[Fault] = tuple(Fault),
        *,
        waits: bool = False,
        far: bool = False,
        keyed: bool = False,
        ranged: bool = False,
    ) -> None:
        self.order = random.Random(seed)
        self._naps = random.Random(seed)
        self._ranged = ranged
        self.shape = Shape(COPIES if seed % 16 == LARGE else 1, seed)
        self.oracle = Oracle(frozenset({"strict", STRICT}), self.shape)
        self.disk = self.oracle.store = Disk(self.oracle.land, self.oracle.free)
        self.weather = Weather(self.order, faults, rate, far)
        self.seats = FAR_SEATS if far else SEATS
        self.turns = Turns(lambda ready, last: self.order.choice(ready))
        self._interval = self.order.choice((2, 3, 5))
        self.now = 1_700_000_000_000
        self._far = far
        self._tries = max(self.order.choice((1, 5)), 5 * far)
        # In these runs slots are read ahead, as behind a network.
        self._parallel = 3 if far or seed % 3 == 1 else 1
        self._jumps = self.order.random() < 0.4
        self._sleepers = self.order.choice((0.0, 0.02, 0.1))
        self.seen: list[Snapshot] = []
        self.disk.clock = self.order.choice((self._clock, lambda: None))
        self.damaged, self.damaged_caches = set[str](), set[str]()
        self.losses = self.given_up = 0
        self.lost_floor = -1
        self.jobs: dict[str, tuple[Intent, WriteJob, Sequence[RowSetEntry]]] = {}
        self.streams = Streams()
        self._asking: Counter[str] = Counter()
        self._rows = count()
        self._names = count()
        self.work = 0
        self._waits = self.order if waits else None
        inline_rowset_bytes = self.order.choice((0, LIMITS.inline_rowset_bytes))
        self.form = FORMS.get(seed % 8, {})
        drawn = draw_limits(self.order)
        self.limits = replace(
            drawn,
            inline_rowset_bytes=inline_rowset_bytes,
            group_rows=drawn.group_rows * self.shape.copies,
            # Tables are so small that all updated rows would move, and no block would be copied.
            in_place_bytes=-(2**40) if seed % 3 == 0 else LIMITS.in_place_bytes,
            copied_rows=2 if seed % 2 == 0 else LIMITS.copied_rows,
            copied_bytes=1 if seed % 10 == 3 else LIMITS.copied_bytes,
        )
        self.oracle.replaced = ReplacedRows(self.disk, self.limits)
        if keyed:
            self.oracle.sight = Sight(self.disk, self.limits)
        with seeded(self.order, self.form):
            self._found()

    def _found(self) -> None:
        """Make the database and its tables, in good weather."""
        log = Log(self.disk, clock_ms=self._clock, limits=self.limits)
        self.block = self.order.choice((1, 2, 4, 4))
        base = create_database(
            self.disk,
            lone_table=False,
            clock_ms=self._clock,
            slot_block=self.block,
        )
        made = ArrowDatabase(self.disk, log, base)
        for name in TABLES:
            strict = {"isolation": "serializable"} if name == "strict" else {}
            layout = self.order.choice(list(LAYOUTS))
            schema = self.shape.schema()
            if self._ranged:
                schema = schema.set(0, schema.field(0).with_nullable(False))
            made.create_table(name, schema, properties=strict, partition_by=layout)
            if self._ranged:  # The table has had no sort key, so compactions may shuffle its rows.
                made.table(name).alter(SetSortKey(("id",)))
        for name, (key, merges) in KEYED.items() if self.oracle.sight else ():
            own = {**merges, "onDuplicate": self.order.choice(("error", "ignore", "merge"))}
            own |= {"isolation": "serializable"} if name == STRICT else {}
            layout = self.order.choice(((), ("bucket(2, k)",)))
            made.create_table(name, SCHEMA, properties=own, primary_key=key, partition_by=layout)

    def _clock(self) -> int:
        return self.now

    def open(self) -> ArrowDatabase:
        """The database as a process that has just started sees it."""
        store = ProcessStore(self.disk, self.weather, self.turns.pass_turn, self._tries)
        store.parallel = self._parallel
        store.late_answers = self._far
        store.off_ms = self._draw_off()
        store.doze = partial(self._doze, store)
        store.order = self._waits
        log = Log(
            store,
            clock_ms=lambda: self.now + store.off_ms,
            checkpoint_interval=self._interval,
            pause=lambda seconds: self.turns.pass_turn(),
            limits=self.limits,
        )
        head = log.reader.read_head()
        if not isinstance(head.tables, TableMap):  # These are read through their process's store.
            self.seen.append(head)
        return ArrowDatabase(store, log, head)

    def _doze(self, store: ProcessStore, operation: str, name: str) -> bool:
        """Sleep before a call for an epoch, most often a PUT, until the slot of it is freed.

        A PUT of the hint sleeps until a vacuum has raised the floor, and a read of a file that the
        piece of work has written itself until a vacuum has removed it, or some epochs have come.
        """
        if operation in READS and name in store.written and not name.startswith(MANIFEST):
            if self._naps.random() >= self._sleepers * 9:
                return False
            last = self.oracle.head + 10
            self.turns.sleep(lambda: not self.disk.has(name) or self.oracle.head >= last)
            return True
        if operation == "put" and name == HINT:
            floor = self.oracle.floor
            if self._naps.random() >= self._sleepers * 4:
                return False
            self.turns.sleep(lambda: self.oracle.floor > floor)
            return True
        slot = epoch_number(name)
        rate = self._sleepers * (4 if operation == "put_if_absent" else 1)
        if slot is None or slot <= self.oracle.freed or self.order.random() >= rate:
            return False
        self.turns.sleep(lambda: self.oracle.freed >= slot)
        return True

    def _draw_off(self) -> int:
        """How wrong a clock is: by up to a day, and in some runs by years."""
        if self._jumps and self.order.random() < 0.2:
            return self.order.choice((-50, -1, 1, 73)) * YEAR_MS
        return self.order.randint(-DAY_MS, DAY_MS)

    def pass_time(self, store: ProcessStore) -> None:
        """Let time pass, in some runs years of it, and a clock jump."""
        self.now += self.order.randint(0, 1000)
        if self._jumps and self.order.random() < 0.05:
            self.now += self.order.choice((DAY_MS, 2 * YEAR_MS))
        if self._jumps and self.order.random() < 0.1:
            store.off_ms = self._draw_off()

    def lose(self) -> None:
        """Note that the state at the floor was lost for good."""
        self.losses += 1
        self.lost_floor = self.oracle.floor

    @property
    def is_lost(self) -> bool:
        """Whether the state at the floor is lost."""
        return self.lost_floor >= self.oracle.floor

    @property
    def mended(self) -> int:
        """How many losses are over. During a loss, damage may be reported."""
        return self.losses - self.is_lost

    def sound_checkpoints(self) -> list[Snapshot]:
        """The states of whole checkpoints above the floor that the hint leads to."""
        found = read_hint(self.disk)
        states: list[Snapshot] = []
        for ref in (found[0], *found[1].earlier) if found else ():
            with suppress(*UNUSABLE):
                state = read_state(self.disk, ref)
                read_state_objects(self.disk, state)
                if ref.epoch > self.oracle.floor:
                    states.append(state)
        return states

    def new_ids(self, wanted: int) -> list[int]:
        """Ids of rows that never were."""
        return [next(self._rows) for _ in range(wanted)]

    def intend(
        self,
        *steps: Step,
        batch: tuple[str, int] | None = None,
        expect_epoch: int | None = None,
    ) -> Intent:
        """An intent of its own name."""
        wide = tuple(replace(step, shape=self.shape) for step in steps)
        return Intent(f"i{next(self._names)}", wide, batch, expect_epoch)

    def ask_of(self, database: ArrowDatabase, intent: Intent) -> None:
        """Ask a database for what an intent says, and remember the answer."""
        self.ask(intent, lambda: intent.ask(database))

    def ask(self, intent: Intent, act: Callable[[], int | None]) -> None:
        """Do what an intent says, and remember the answer.

        Any error other than an unknown outcome says that nothing was committed, not even by an
        earlier attempt. It says nothing of another process that asks for the same at this time,
        which may commit later. Raises CorruptionError, which only a lost state excuses.
        """
        self._asking[intent.name] += 1
        try:
            epoch = act()
        except CommitUnknownError:
            return
        except ColonnadeError as error:
            self.jobs.pop(intent.name, None)
            if self._asking[intent.name] == 1:
                self.oracle.tell(intent, error, None)
            if isinstance(error, CorruptionError):
                raise
        else:
            self.oracle.tell(intent, None, epoch)
        finally:
            self._asking[intent.name] -= 1
