"""A database is replaced, dropped, vacuumed or written while a table of it is opened.

Something happens before each request of the open in turn, and that request may take a minute. No
row of the open table then goes into a log that it does not belong to, and no other rows are read.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TypeVar
from unittest.mock import patch

import pyarrow as pa
import pytest

from colonnade import ArrowTable, col
from colonnade.manifests.errors import ColonnadeError, CommitUnknownError, NotFoundError
from colonnade.manifests.log.creation import create_database
from colonnade.manifests.log.dropping import drop_database
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.slot_blocks import SLOT_BLOCK
from colonnade.manifests.object_names import epoch_name, epoch_number
from colonnade.manifests.store import MemoryStore, StoreAddress
from colonnade.tableformat import location
from colonnade.tableformat.statements import commit
from tests.far_store import FarStore

T = TypeVar("T")

LATE = 1_000_000
LAKE = "far://bucket/lake"
CLOCKS = (
    *("epochs.opening_reads", "epochs.slot_reader"),
    *("reading.begun_head", "reading.last_look", "reading.reader"),
)


class World:
    """The stores of a bucket on one clock. `act` happens before the request number `at`."""

    def __init__(self, seed: int) -> None:
        self.order = random.Random(seed)
        self.now, self.delay_s = 1000.0, 0.0
        self.asked = self.at = 0
        self.act: Callable[[], None] = lambda: None
        self.busy = True
        self.stores: dict[str, RacingStore] = {}

    def open(self, address: StoreAddress | str, options: object = None) -> RacingStore:
        """Return the store at an address."""
        url = StoreAddress.of(address).url
        return self.stores.setdefault(url, RacingStore(MemoryStore(url), self))

    def copied(self, seed: int) -> World:
        """Return a world with the same objects."""
        made = World(seed)
        for url, store in self.stores.items():
            source, target = store.inner, made.open(url).inner
            assert isinstance(source, MemoryStore)
            assert isinstance(target, MemoryStore)
            target._objects.update(source._objects)
        return made

    @contextmanager
    def entered(self) -> Iterator[None]:
        """A block in which Colonnade sees these stores and this clock."""
        with ExitStack() as patches:
            for module in CLOCKS:
                clock = f"colonnade.manifests.{module}.elapsed_s"
                patches.enter_context(patch(clock, lambda: self.now))
            for user in (location, commit):
                patches.enter_context(patch.object(user, "open_store", self.open))
            yield

    def ask(self) -> None:
        """Let what is planned happen before a request."""
        if self.busy:
            return
        self.asked += 1
        if self.asked == self.at:
            with self.alone():
                self.act()
            self.now += self.delay_s

    def newest(self) -> int:
        """Return the number of the newest epoch."""
        names = [info.name for info in self.stores[LAKE].inner.list("")]
        return max(number for number in map(epoch_number, names) if number is not None)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """A block whose requests do not count."""
        before, self.busy = self.busy, True
        try:
            yield
        finally:
            self.busy = before


class RacingStore(FarStore):
    """A far store whose requests of one group come in any order."""

    def __init__(self, inner: MemoryStore, world: World) -> None:
        super().__init__(inner)
        self.keeps_logs = True
        self._world = world

    def together(self, calls: Sequence[Callable[[], T]]) -> list[T]:
        places = [*range(len(calls))]
        self._world.order.shuffle(places)
        found = dict(zip(places, super().together([calls[each] for each in places]), strict=True))
        return [found[each] for each in range(len(calls))]

    def _call(self, operation: str, name: str, effect: Callable[[], T]) -> T:
        self._world.ask()
        return super()._call(operation, name, effect)


def rows(first: int, count: int = 2) -> pa.Table:
    return pa.table({"id": pa.array([*range(first, first + count)], pa.int64())})


def ids(table: ArrowTable) -> list[int]:
    found: list[int] = table.scan().to_arrow()["id"].to_pylist()
    return sorted(found)


def make(world: World, path: str, first: int, epochs: int) -> None:
    """Make a table whose rows have ids from `first` on. Slots of a short log are freed early."""
    block = 2 if epochs < 6 else SLOT_BLOCK
    create_database(world.open(LAKE).inner, lone_table=path == LAKE, slot_block=block)
    table = ArrowTable.create(path, rows(0).schema)
    while table.epoch < epochs:
        table.append(rows(first + 2 * table.epoch))


def replace(world: World, path: str, epochs: int) -> None:
    """Remove everything by other means than Colonnade, and make the table anew with other rows."""
    for store in world.stores.values():
        for info in [*store.inner.list("")]:
            store.inner.delete(info.name)
    make(world, path, 1000, epochs)


def write(world: World, path: str, epochs: int) -> None:
    for _ in range(3):
        ArrowTable.open(path).append(rows(500))


def clean(world: World, path: str, epochs: int) -> None:
    table = ArrowTable.open(path)
    table.delete(col("id") < LATE)
    table.append(rows(700))
    table.vacuum(0, retain_epochs=1, force=True, trust_clock=True)


def drop(world: World, path: str, epochs: int) -> None:
    drop_database(Log(world.open(LAKE)), cascade=True)


@pytest.mark.slow
@pytest.mark.parametrize("step", [17, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("path", "epochs"), [(LAKE, 3), (f"{LAKE}/trips", 5), (f"{LAKE}/trips", 9), (LAKE, 66)]
)
@pytest.mark.parametrize(
    ("act", "delay_s"),
    # Who replaces a database by other means than Colonnade waits for `trust_s`.
    [(replace, 60.0), (write, 0.0), (write, 60.0), (clean, 60.0), (drop, 0.0), (drop, 60.0)],
)
def test_an_open_beside_another_writer_leads_to_one_log_and_its_rows(
    act: Callable[[World, str, int], None], delay_s: float, path: str, epochs: int, step: int
) -> None:
    begun = World(0)
    with begun.entered():
        make(begun, path, 0, epochs)
        before = ids(ArrowTable.open(path))
    for at in range(1, 1000, step):
        world = begun.copied(at)
        with world.entered():
            world.at, world.delay_s = at, delay_s
            world.act = partial(act, world, path, epochs)
            world.busy = False
            read, landed = _open_read_append(world, path, beside_append=act is not replace)
            done, world.busy = world.asked < at, True
            if done:
                break
            _check(world, path, before, read, landed)
    # Opening and reading the shortest log takes 18 requests; a replacement spares the append.
    assert at > 18


def _open_read_append(
    world: World, path: str, *, beside_append: bool
) -> tuple[list[int] | None, bool | None]:
    """Open, read and append. Returns what was read, and whether the append was acknowledged.

    The second value is None if its outcome is unknown, as where its slot was freed before the look
    for the mark. Nothing happens during the append unless `beside_append`.
    """
    read = None
    try:
        table = ArrowTable.open(path)
        read = ids(table)
        world.busy = not beside_append
        table.append(rows(LATE, 1))
    except CommitUnknownError:
        return read, None
    except ColonnadeError:
        return read, False
    return read, True


def _check(
    world: World, path: str, before: list[int], read: list[int] | None, landed: bool | None
) -> None:
    try:
        now = ids(ArrowTable.open(path))
    except NotFoundError:
        # The database was dropped.
        epochs = [*Log(world.open(LAKE)).reader.read_epochs(world.newest())]
        assert epochs[0].operation == "drop_database"
        appended = sum(each.operation == "append" for each in epochs) - len(before) // 2
        assert appended in ((0, 1) if landed is None else (landed,))
        assert read in (None, before)
        return
    assert now.count(LATE) in ((0, 1) if landed is None else (landed,))
    now = [each for each in now if each != LATE]
    assert read in (None, before, now)


@pytest.mark.parametrize("is_damaged", [False, True])
@pytest.mark.parametrize("epochs", [5, 9], ids=["put off", "read"])
def test_a_table_keeps_to_the_database_that_was_there_when_it_was_opened(
    epochs: int, *, is_damaged: bool
) -> None:
    """Another database has a table of the same name, at an epoch before the opened one existed.

    Opening a table puts its last reads off where the log is short.
    """
    world, path = World(0), f"{LAKE}/trips"
    with world.entered():
        make(world, f"{LAKE}/older", 0, epochs)
        ArrowTable.create(path, rows(0).schema)
        table = ArrowTable.open(path)
        is_put_off = table._open.proven is None
        assert is_put_off == (epochs == 5)
        replace(world, path, 9)
        if is_damaged:
            world.open(LAKE).inner.put(epoch_name(9), b"no epoch", sync=True)
        world.now += 60.0
        uses: list[Callable[[], object]] = [
            partial(table.scan, epoch=2),
            partial(table._open.snapshot_at, 2),
        ]
        if not is_damaged:
            uses += [table.refresh, table.history]
            uses += [lambda: table.epoch] if is_put_off else []
        for use in uses * 2:
            with pytest.raises(NotFoundError, match="(trips|lake) was removed or replaced; open"):
                use()
        rows_now = ArrowTable.open(path).scan(epoch=2).to_arrow()
        assert rows_now["id"].to_pylist() == [1002, 1003]
