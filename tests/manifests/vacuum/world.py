"""A database in memory whose RowSets are files, a clock that tests turn, and what must be true."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

import pytest

from colonnade.manifests.checkpoint.reader import read_hint, state_of
from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.ids import new_job_id
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.operations import AddRowSet, DropRowSet, Operation
from colonnade.manifests.object_names import (
    CHECKPOINTS,
    COPIES,
    HINT,
    checkpoint_name,
    packed_name,
)
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore, ObjectInfo, ObjectStore
from colonnade.manifests.vacuum.hinted_checkpoints import segments_of
from colonnade.manifests.vacuum.result import VacuumResult
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.log_samples import ORDERS, change, entry, table

HOUR = 3_600_000
PREFIX = f"{ORDERS}/"
SLOT = ("put_if_absent", "_manifest/0000")
"""The call that commits a vacuum, for `during`."""


class World:
    """The table `orders`, and what each epoch held when it was made."""

    def __init__(
        self,
        interval: int = 4,
        properties: dict[str, str] | None = None,
        limits: Limits = LIMITS,
    ) -> None:
        self.limits = limits
        self.now = 1_700_000_000_000
        self.store = MemoryStore(now_ms=lambda: self.now)
        self.log = self.open(self.store, interval)
        self.head = create_database(self.store, lone_table=False, clock_ms=self.tick)
        self.expected: dict[int, list[str]] = {0: []}
        self.commit(table().model_copy(update={"properties": properties or {}}))

    def open(self, store: ObjectStore, interval: int = 4) -> Log:
        """A log that shares the clock of this world."""
        return Log(
            store,
            clock_ms=self.tick,
            checkpoint_interval=interval,
            pause=lambda _: None,
            limits=self.limits,
        )

    def tick(self) -> int:
        self.now += 1
        return self.now

    def wait(self, hours: float) -> None:
        self.now += int(hours * HOUR)

    def write(self, job_id: str | None = None, rows: int = 10) -> RowSetEntry:
        """A RowSet that is stored and that no epoch names."""
        made = entry(rows).model_copy(
            update={"object": (job_id or new_job_id()) + secrets.token_hex(8)}
        )
        self.store.put_if_absent(packed_name(PREFIX, made.object), b"R" * made.bytes)
        return made

    def commit(self, *operations: Operation, base: Snapshot | None = None) -> Snapshot:
        return self.send(change(*operations), base)

    def send(self, mine: Change, base: Snapshot | None = None) -> Snapshot:
        self.head = self.log.commit(mine, base or self.log.reader.read_head())
        self.note(self.head)
        return self.head

    def note(self, state: Snapshot) -> None:
        self.expected[state.epoch] = objects(self.log, state)

    def append(self, count: int = 1) -> Snapshot:
        for _ in range(count):
            self.commit(AddRowSet(table=ORDERS, rowset=self.write()))
        return self.head

    def overwrite(self) -> Snapshot:
        """Replace all RowSets by a new one."""
        state = self.log.reader.read_head()
        live = self.log.rowsets.read(state.table("orders"))
        drop = DropRowSet(table=ORDERS, rowsets=tuple((r.id, r.id) for r in live))
        return self.commit(drop, AddRowSet(table=ORDERS, rowset=self.write()), base=state)

    def vacuum(
        self, hours: float | None = 0, *, store: ObjectStore | None = None, **request: object
    ) -> VacuumResult:
        log = self.log if store is None else self.open(store)
        result = vacuum(log, VacuumRequest(hours, **{"threads": 1, **request}))  # type: ignore[arg-type]
        for number in range(max(self.expected) + 1, (result.epoch or 0) + 1):
            with suppress(NotFoundError):  # What begins again lets epochs of its first try go.
                self.note(self.log.reader.read_at(number))
        return result

    def files(self) -> set[str]:
        """The data files that there are."""
        return {info.name for info in self.store.list(PREFIX)}

    def keeps(self, epoch: int) -> bool:
        """Whether an epoch is readable, after a check of all of them."""
        return self.log.reader.keeps(self.check(), epoch)

    def check(self) -> Snapshot:
        """Every kept epoch reads as when it was made, with all its files; no other one reads."""
        log = self.open(self.store)
        head = log.reader.read_head()
        files = self.files()
        for number, expected in self.expected.items():
            if not log.reader.keeps(head, number):
                with pytest.raises(NotFoundError):
                    log.reader.read_at(number, head=head)
                continue
            found = objects(log, log.reader.read_at(number, head=head))
            assert found == expected, number
            missing = [each for each in found if packed_name(PREFIX, each) not in files]
            assert not missing, (number, missing)
        newest = max(self.expected)
        assert objects(log, head) == self.expected[newest]
        return head

    def check_hint(self) -> None:
        """The hint leads to a checkpoint whose objects all exist, unless there is no hint."""
        if HINT not in {info.name for info in self.store.list(HINT)}:
            return
        found = read_hint(self.store)
        assert found is not None, "the hint leads nowhere"
        for name in {found[0].root, *segments_of(state_of(self.store, *found))}:
            self.store.get(checkpoint_name(name))

    def check_tidy(self) -> None:
        """Nothing is there that no kept epoch needs."""
        head = self.check()
        kept = {
            e for n, each in self.expected.items() if self.log.reader.keeps(head, n) for e in each
        }
        assert self.files() == {packed_name(PREFIX, each) for each in kept}
        for _ in range(3):
            # A checkpoint may be due at an epoch of vacuum; it then replaces earlier checkpoints.
            again = self.vacuum()
            assert all(each.name.startswith((CHECKPOINTS, COPIES)) for each in again.files), again
        assert again.epoch is None, again


def objects(log: Log, state: Snapshot) -> list[str]:
    """The objects of the RowSets of `orders`, in order."""
    tables = [each for each in state.tables.values() if each.name == "orders"]
    return [r.entry.object for each in tables for r in log.rowsets.read(each)]


class Hooked(MemoryStore):
    """Another view of a store, that does something before certain calls: once each."""

    def __init__(self, inner: MemoryStore, before: dict[tuple[str, str], Callable[[], object]]):
        self.__dict__.update(inner.__dict__)
        self._before = dict(before)

    def _meet(self, call: str, name: str) -> None:
        for key in [k for k in self._before if k[0] == call and k[1] in name]:
            self._before.pop(key)()

    def put_if_absent(self, name, data):  # type: ignore[no-untyped-def]
        self._meet("put_if_absent", name)
        return super().put_if_absent(name, data)

    def put(self, name, data, *, sync):  # type: ignore[no-untyped-def]
        self._meet("put", name)
        super().put(name, data, sync=sync)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        self._meet("list", prefix)
        found: Sequence[ObjectInfo] = tuple(super().list(prefix))
        self._meet("listed", prefix)
        return iter(found)

    def delete(self, name: str) -> None:
        self._meet("delete", name)
        super().delete(name)

    def get(self, name: str, *, limit: int | None = None) -> bytes:
        self._meet("get", name)
        return super().get(name, limit=limit)


def busy(interval: int = 4, limits: Limits = LIMITS) -> World:
    """Epochs up to 7: files that only old epochs name, and one that nothing does."""
    world = World(interval, limits=limits)
    world.append(2)
    world.overwrite()
    world.append(2)
    world.overwrite()
    world.write()
    return world


def during(world: World, at: tuple[str, str], what: Callable[[], object]) -> None:
    """Run a vacuum, and something else right before one of its calls."""
    world.vacuum(store=Hooked(world.store, {at: what}))
