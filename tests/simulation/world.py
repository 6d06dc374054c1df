"""One simulated run: processes that work on one database through a store that fails.

Everything is drawn from one seed, so a run that went wrong goes wrong again.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from itertools import count
from typing import Any, Protocol, TypeVar
from unittest.mock import patch

from colonnade.manifests.checkpoint.reader import UNUSABLE, read_hint, read_state
from colonnade.manifests.epochs.freed_slots import freed_slots
from colonnade.manifests.errors import (
    ColonnadeError,
    CommitUnknownError,
    CorruptionError,
    NotFoundError,
)
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.object_names import HINT, epoch_number
from colonnade.manifests.state.snapshot import Snapshot, TableMap
from colonnade.manifests.vacuum.copies import damaged_places
from colonnade.manifests.vacuum.references import StateObjects, read_state_objects
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from colonnade.tableformat.compaction import execute
from colonnade.tableformat.rowset.write_options import WriteOptions
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.write import job as write_job
from colonnade.tableformat.write.job import WriteJob, target_options
from tests.faults import Fault, Stopped
from tests.simulation.oracle import Oracle
from tests.simulation.rows import LAYOUTS, SCHEMA, Condition, given_value
from tests.simulation.statements import Intent, Step
from tests.simulation.store import EPOCHS, Disk, ProcessStore, Weather
from tests.simulation.turns import Turns

T = TypeVar("T")

TABLES = ("plain", "strict")
"""The second of them is serializable."""

COPIES, LARGE = 1500, 5
"""In one seed of 16 each row is there so often, so that RowSets have blocks of real sizes."""

PROCESSES = 4
DAY_MS = 86_400_000
YEAR_MS = 365 * DAY_MS


class Actor(Protocol):
    """One kind of work that a process does now and then. Its files are in `actors/`."""

    @property
    def weight(self) -> float:
        """The weight of this kind of work when one is chosen at random."""

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Do one piece of work. Raises whatever the code under test does."""


@dataclass
class Counters:
    """What runs went through."""

    runs: int = 0
    calls: int = 0
    faults: int = 0
    crashes: int = 0
    commits: int = 0
    shared: int = 0
    ruled: int = 0
    evolved: int = 0
    numbered: int = 0
    generated: int = 0
    reads: int = 0
    upgrades: int = 0
    losses: int = 0
    given_up: int = 0

    def add(self, world: World) -> None:
        """Count one run."""
        self.runs += 1
        self.calls += world.weather.calls
        self.faults += world.weather.faults
        self.crashes += world.weather.crashes
        self.commits += world.oracle.head
        self.shared += world.oracle.shared
        self.ruled += world.oracle.ruled
        self.evolved += world.oracle.evolved
        self.numbered += world.oracle.numbered
        self.generated += world.oracle.generated
        self.reads += world.oracle.reads
        self.upgrades += any(each.operation == "upgrade" for each in world.oracle.epochs)
        self.losses += world.losses
        self.given_up += world.given_up

    def __add__(self, other: Counters) -> Counters:
        return Counters(
            **{
                each.name: getattr(self, each.name) + getattr(other, each.name)
                for each in fields(self)
            }
        )

    def __str__(self) -> str:
        return (
            f"{self.runs:,} runs, {self.calls:,} store calls, {self.faults:,} faults,"
            f" {self.crashes:,} crashes, {self.commits:,} epochs,"
            f" {self.shared:,} changes that shared one, {self.reads:,} verified reads"
        )


def draw_limits(order: random.Random) -> Limits:
    """Tiny limits, so that whatever can be divided is; each is the usual one in some runs."""
    tiny = {
        "epoch_bytes": 2**16,
        "listed_rowsets": order.choice((0, 1)),
        "listed_bytes": 1000,
        "inline_bytes": 0,
        "segment_rowsets": order.choice((1, 2, 6)),
        "segment_inline_bytes": 500,
        "segment_vectors": order.choice((0, 1)),
        "group_rowsets": order.choice((2, 3)),
        "group_rows": 4,
        "pending_epochs": 1,
        "stubs": order.choice((1, 2)),
    }
    chosen = {name: limit for name, limit in tiny.items() if order.random() < 0.7}
    # In runs that put stubs one by one, tables and batches lie outside the root of a checkpoint,
    # and batches that a table brings along lie outside the epoch.
    paged = {"root_tables": 0, "root_bytes": 0, "page_bytes": 20, "listed_bytes": 50}
    chosen |= paged if "stubs" in chosen else {}
    chosen |= {"followed_epochs": 3} if "pending_epochs" in chosen else {}
    # Vacuums that remove few objects in a part also list few anchors in an epoch.
    victims = order.choice((2, 2, 3, 8))
    listed = {2: 0, 3: 1}.get(victims, LIMITS.listed_anchors)
    return replace(LIMITS, victims=victims, listed_anchors=listed, **chosen)


FORMS: dict[int, dict[str, Any]] = {
    3: {"packed_bytes": 0, "one_object": False},
    6: {"packed_bytes": 0, "one_object": True},
}
"""How large RowSets are stored, by the remainder of a seed."""


class World:
    """A database, those who work on it, and what they may not do to it.

    With `waits`, writers wait for turns, and other writers may commit their changes meanwhile. With
    `old`, an earlier version made the database, which frees no slots and has no shared epochs.
    """

    def __init__(
        self,
        seed: int,
        rate: float = 0.04,
        faults: Sequence[Fault] = tuple(Fault),
        *,
        waits: bool = False,
        old: bool = False,
    ) -> None:
        self.order = random.Random(seed)
        self._naps = random.Random(seed)
        self._old = old
        self.copies = COPIES if seed % 16 == LARGE else 1
        self.oracle = Oracle(frozenset({"strict"}), self.copies)
        self.disk = self.oracle.store = Disk(self.oracle.land, self.oracle.stub, self.oracle.free)
        self.weather = Weather(self.order, faults, rate)
        self.turns = Turns(lambda ready, last: self.order.choice(ready))
        self._interval = self.order.choice((2, 3, 5))
        self._now = 1_700_000_000_000
        self._tries = self.order.choice((1, 5))
        # In these runs the store is behind a network, and slots are read ahead.
        self._parallel = 3 if seed % 3 == 1 else 1
        self._jumps = self.order.random() < 0.4
        self._sleepers = self.order.choice((0.0, 0.02, 0.1))
        self._seen: list[Snapshot] = []
        self.disk.clock = self.order.choice((self._clock, lambda: None))
        self.damaged, self.damaged_caches = set[str](), set[str]()
        self.losses = self.given_up = 0
        self._lost_floor = -1
        self.jobs: dict[str, tuple[Intent, WriteJob, Sequence[RowSetEntry]]] = {}
        self._rows = count()
        self._names = count()
        self.work = 0
        self._waits = self.order if waits else None
        inline_rowset_bytes = self.order.choice((0, LIMITS.inline_rowset_bytes))
        self._form = FORMS.get(seed % 8, {})
        drawn = draw_limits(self.order)
        if waits:  # Only appends that list their RowSets leave notes.
            listed = LIMITS.listed_rowsets
            drawn = replace(drawn, listed_rowsets=listed, listed_bytes=LIMITS.listed_bytes)
        self.limits = replace(
            drawn,
            inline_rowset_bytes=inline_rowset_bytes,
            group_rows=drawn.group_rows * self.copies,
            # Tables are so small that all updated rows would move, and no block would be copied.
            in_place_bytes=-(2**40) if seed % 3 == 0 else LIMITS.in_place_bytes,
            copied_rows=2 if seed % 2 == 0 else LIMITS.copied_rows,
            copied_bytes=1 if seed % 10 == 3 else LIMITS.copied_bytes,
        )
        with self._seeded():
            self._found()

    def _found(self) -> None:
        """Make the database and its tables, in good weather."""
        log = Log(self.disk, clock_ms=self._clock, limits=self.limits)
        self.block = self.order.choice((1, 2, 4, 4))
        base = create_database(
            self.disk,
            lone_table=False,
            clock_ms=self._clock,
            slot_block=None if self._old else self.block,
            shared_epochs=not self._old,
        )
        made = ArrowDatabase(self.disk, log, base)
        for name in TABLES:
            strict = {"isolation": "serializable"} if name == "strict" else {}
            layout = self.order.choice(list(LAYOUTS))
            made.create_table(name, SCHEMA, properties=strict, partition_by=layout)

    def _clock(self) -> int:
        return self._now

    def open(self) -> ArrowDatabase:
        """The database as a process that has just started sees it."""
        store = ProcessStore(self.disk, self.weather, self.turns.pass_turn, self._tries)
        store.parallel = self._parallel
        store.off_ms = self._draw_off()
        store.doze = self._doze
        store.order = self._waits
        log = Log(
            store,
            clock_ms=lambda: self._now + store.off_ms,
            checkpoint_interval=self._interval,
            pause=lambda seconds: self.turns.pass_turn(),
            limits=self.limits,
        )
        head = log.read_head()
        if not isinstance(head.tables, TableMap):  # These are read through their process's store.
            self._seen.append(head)
        return ArrowDatabase(store, log, head)

    def _doze(self, operation: str, name: str) -> bool:
        """Sleep before a call for an epoch, most often a PUT, until the slot of it is freed.

        A PUT of the hint sleeps until a vacuum has raised the floor.
        """
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

    def _pass_time(self, store: ProcessStore) -> None:
        """Let time pass, in some runs years of it, and a clock jump."""
        self._now += self.order.randint(0, 1000)
        if self._jumps and self.order.random() < 0.05:
            self._now += self.order.choice((DAY_MS, 2 * YEAR_MS))
        if self._jumps and self.order.random() < 0.1:
            store.off_ms = self._draw_off()

    def lose(self) -> None:
        """Note that the state at the floor was lost for good."""
        self.losses += 1
        self._lost_floor = self.oracle.floor

    @property
    def is_lost(self) -> bool:
        """Whether the state at the floor is lost, or a later floor is not finished yet."""
        return self._lost_floor >= self.oracle.stubbed

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
        wide = tuple(replace(step, copies=self.copies) for step in steps)
        return Intent(f"i{next(self._names)}", wide, batch, expect_epoch)

    def ask_of(self, database: ArrowDatabase, intent: Intent) -> None:
        """Ask a database for what an intent says, and remember the answer."""
        self.ask(intent, lambda: intent.ask(database))

    def ask(self, intent: Intent, act: Callable[[], int | None]) -> None:
        """Do what an intent says, and remember the answer.

        Any error other than an unknown outcome says that nothing was committed, not even by an
        earlier attempt.
        """
        try:
            epoch = act()
        except CommitUnknownError:
            return
        except ColonnadeError as error:
            self.jobs.pop(intent.name, None)
            self.oracle.tell(intent, error, None)
        else:
            self.oracle.tell(intent, None, epoch)

    def run(self, actors: Sequence[Actor], work: int = 60) -> None:
        """Let processes do pieces of work, then check everything in good weather.

        Raises AssertionError where something is wrong.
        """

        def process() -> None:
            while self.work < work:
                try:
                    self._live(actors, work)
                except Stopped:
                    continue

        with self._seeded():
            self.turns.run([process] * PROCESSES)
            self.weather.calm()
            self._check()

    def _live(self, actors: Sequence[Actor], work: int) -> None:
        try:
            database = self.open()
        except ColonnadeError:
            return
        weights = [actor.weight for actor in actors]
        while self.work < work:
            self.work += 1
            store = database._log.store
            assert isinstance(store, ProcessStore)
            self._pass_time(store)
            store.begin()
            mended = self.mended
            [actor] = self.order.choices(actors, weights)
            try:
                actor.act(database, self, self.order)
            except CorruptionError as error:
                if self.losses > mended:
                    continue
                raise AssertionError(f"whole data was called damaged: {error}") from error
            except ColonnadeError:
                continue

    def _check(self) -> None:
        """In good weather all is well: every epoch reads, and everybody gets on."""
        self.oracle.check_told()
        if self.is_lost and not self._salvage():
            return
        self._check_hint()
        for name in [name for name in TABLES if name in self.oracle.states[-1]]:
            self._finish(name)
        database = self.open()
        assert database.refresh().epoch == self.oracle.head
        for seen in self.order.sample(self._seen, min(4, len(self._seen))):
            assert database._log.refresh(seen).epoch == self.oracle.head
        assert database.tags() == self.oracle.tags
        kept = [epoch for epoch in range(2, self.oracle.head) if self.oracle.keeps(epoch)]
        wanted = {self.oracle.head, *self.oracle.tags.values(), *self.order.choices(kept, k=4)}
        for epoch in sorted(wanted):
            for name in self.oracle.states[epoch]:
                found = database.table(name, epoch=epoch).scan(epoch=epoch).to_arrow()
                self.oracle.check_read(epoch, name, Condition(), found)
        for epoch in range(1, self.oracle.floor):
            if not self.oracle.keeps(epoch):
                with suppress(NotFoundError):
                    database.table("plain", epoch=epoch)
                    raise AssertionError(f"epoch {epoch} is gone and can be read")
            with suppress(NotFoundError):
                found = database._log.read_at(epoch)
                told = self.oracle.epochs[epoch].transaction
                assert found.transaction == told, f"slot {epoch} was taken for an epoch"
        self._check_repair(database)
        report = database.verify(4, threads=1)
        assert report.is_sound, str(report)
        self._check_retention()

    def _salvage(self) -> bool:
        """Give up the lost state, if there is a whole checkpoint. Returns whether there is."""
        if self._lost_floor == self.oracle.floor and not self.sound_checkpoints():
            self.given_up += 1
            return False
        self._now += DAY_MS  # No lease lasts so long.
        database = self.open()
        try:
            database.repair(give_up_lost_epochs=True)
        except CorruptionError:
            for tag in database.tags():
                database.untag(tag)
            for pin in database.pins():
                database.unpin(pin)
            database.repair(give_up_lost_epochs=True)
        assert not self.is_lost
        if self.order.random() < 0.5:
            self.disk.delete(HINT)
        return True

    def _check_hint(self) -> None:
        """Check that the hint leads to a whole checkpoint, or that there is none.

        After a failure, this is true from the next vacuum on, also if it finds nothing to do.
        """
        if self.damaged or self.damaged_caches or self.losses:
            return
        database = self.open()
        if self.weather.faults:
            vacuum(database._log, VacuumRequest(1_000_000, 1, threads=1))
        report = database.verify(1, threads=1)
        assert not report.findings, str(report)

    def _check_repair(self, database: ArrowDatabase) -> None:
        """Check that verify names all damage and nothing else, and that one repair mends it."""
        if not self.damaged:
            return
        report = database.verify(1, threads=1)
        found = {each.file for each in report.findings if each.kind == "damage"}
        assert found <= self.damaged, str(report)
        objects = StateObjects(self.disk)
        if self.oracle.anchor_list is not None:
            objects.add_anchor_list(self.oracle.anchor_list)
        for anchor in self.oracle.anchors:
            objects.add_root(anchor)
            objects.add(read_state(self.disk, anchor))
        broken = {name for part in objects.parts for name in damaged_places(self.disk, part)}
        assert broken <= {each.file for each in report.findings}, f"{broken} are not named"
        database.repair()
        report = database.verify(1, threads=1)
        assert not report.findings, str(report)

    def _check_retention(self) -> None:
        """Whatever clocks said, a machine with a right one lets all go that is old."""
        database = self.open()
        store = database._log.store
        assert isinstance(store, ProcessStore)
        store.off_ms = 0
        for name in database.pins():
            database.unpin(name)
        name = sorted(database.refresh().tables.values(), key=lambda table: table.id)[0].name
        intent = self.intend(self._whole_row(name, self.new_ids(1)[0], 1))
        self.oracle.tell(intent, None, intent.ask(database))
        newest = self.oracle.head
        self._now += 3 * DAY_MS
        result = vacuum(database._log, VacuumRequest(24, 1, threads=1))
        assert result.floor >= newest, f"{newest} is old, and the floor {result}"
        freed = freed_slots(self.disk, database.refresh().blocks)
        listed = {epoch_number(info.name) for info in self.disk.list(EPOCHS)}
        kept = {0, *range(1, self.oracle.head + 1)} - {*freed}
        assert listed == kept, "freed slots are taken"

    def _finish(self, name: str) -> None:
        """Check that every writer succeeds at its first try once faults have stopped."""
        new = self.new_ids(1)[0]
        for step in (
            self._whole_row(name, new, 1),
            replace(self._whole_row(name, new, 2), kind="upsert"),
            Step("delete", name, where=Condition("ids", (new,))),
        ):
            intent = self.intend(step)
            self.oracle.tell(intent, None, intent.ask(self.open()))
        self.oracle.check_told()

    def _whole_row(self, name: str, row: int, v: int) -> Step:
        """Append a row with a value in each column."""
        given = tuple(sorted(self.oracle.columns[-1][name].by_name))
        salt = next(salt for salt in count() if given_value(row, salt) is not None)
        return Step("append", name, ((row, v),), given=given, salt=salt)

    @contextmanager
    def _seeded(self) -> Iterator[None]:
        """Draw ids from the seed, let no mistake pass as a warning, and run one thing at a time.

        Half of the runs keep small RowSets in objects. Some of these write them as large RowSets
        are written: as a directory, or as one object whose blocks have waited on disk.
        """

        def options(*arguments: Any) -> WriteOptions:
            return replace(target_options(*arguments), **self._form)

        def token_hex(size: int) -> str:
            return f"{self.order.getrandbits(8 * size):0{2 * size}x}"

        with (
            patch("secrets.token_hex", token_hex),
            patch.object(logging.Logger, "warning", _warn),
            patch.object(write_job, "target_options", options),
            patch.object(execute, "ThreadPoolExecutor", OneByOne),
        ):
            yield


def _warn(_: logging.Logger, message: str, *values: object, exc_info: bool = False) -> None:
    """Beside a commit faults are only warned of, and everything else with its traceback."""
    assert not exc_info, message % values


class OneByOne(Executor):
    """Runs each task at once in the thread of the caller, which has the turn."""

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__()

    def submit(self, work: Callable[..., T], /, *given: Any, **named: Any) -> Future[T]:
        """Run it here and now."""
        future = Future[T]()
        try:
            future.set_result(work(*given, **named))
        except Exception as error:
            future.set_exception(error)
        return future


def simulate(
    seed: int,
    actors: Sequence[Actor],
    counters: Counters | None = None,
    rate: float = 0.04,
    faults: Sequence[Fault] = tuple(Fault),
    *,
    waits: bool = False,
    old: bool = False,
) -> None:
    """Run one seed. Raises AssertionError that names it where something is wrong."""
    world = World(seed, rate, faults, waits=waits, old=old)
    try:
        world.run(actors)
    except Exception as error:
        raise AssertionError(f"seed {seed}, epoch {world.oracle.head}: {error!r}") from error
    finally:
        if counters is not None:
            counters.add(world)
