"""Databases that are dropped and created again at one place, beside writers and vacuums that sleep.

Every process works on local disk. Before each call its store passes the turn to another process,
and may kill its own. Everything is drawn from one seed.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from colonnade.manifests.errors import ColonnadeError, CorruptionError
from colonnade.manifests.log.dropping import drop_database
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.log.removed_folder import put_back
from colonnade.manifests.model.codec import decode_slot
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import CreateDatabase, DropDatabase, Vacuum
from colonnade.manifests.object_names import MANIFEST, epoch_name, epoch_number
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import LocalStore, ObjectStore, PutOutcome
from colonnade.manifests.store.base import Data, ObjectInfo
from colonnade.manifests.store.turn import Turn
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.faults import Stopped
from tests.log_samples import change, table
from tests.simulation.turns import Turns

NEWEST = VacuumRequest(hours=0, epochs=1, threads=1, trust_clock=True)
"""A vacuum that keeps nothing but the newest epoch."""

PROCESSES = 4
WORK = 40


class Record:
    """What happened at one place: which database each epoch belongs to, and where logs ended."""

    def __init__(self) -> None:
        self.database_of: dict[str, str] = {}
        self.ended: dict[str, int] = {}
        self.created: set[str] = set()
        self.floors: dict[str, int] = {}
        self.newest: tuple[str, int] = ("", 0)
        self.vacuums = 0
        self.committed: list[tuple[str, int, str]] = []

    def land(self, data: bytes, name: str) -> None:
        """An epoch was put."""
        epoch = decode_slot(data, epoch_number(name) or 0, name)
        assert isinstance(epoch, Epoch)
        first = epoch.ops[0]
        database = (
            first.database
            if isinstance(first, CreateDatabase)
            else self.database_of[epoch.previous or ""]
        )
        self.database_of[epoch.transaction] = database
        self.newest = (database, epoch.epoch)
        if isinstance(first, DropDatabase):
            self.ended[database] = epoch.epoch
        for each in epoch.ops:
            if isinstance(each, Vacuum):
                self.floors[database] = each.floor


class ProcessStore(LocalStore):
    """One process's way to the folder."""

    def __init__(
        self, root: Path, record: Record, meet: Callable[..., None], doze: Callable[[str], None]
    ) -> None:
        super().__init__(root)
        self._record = record
        self._meet = meet
        self._doze = doze

    def get(self, name: str, *, limit: int | None = None) -> bytes:
        self._meet()
        return super().get(name, limit=limit)

    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        self._meet()
        outcome = super().put_if_absent(name, data)
        if outcome is PutOutcome.CREATED and epoch_number(name) is not None:
            self._record.land(bytes(data), name)
            self._meet(risk=0.2 if b'"drop_database"' in bytes(data) else 0.0)
        return outcome

    def put(self, name: str, data: Data, *, sync: bool) -> None:
        self._doze(name)
        self._meet()
        super().put(name, data, sync=sync)

    def delete(self, name: str) -> None:
        self._doze(name)
        self._meet()
        super().delete(name)

    def turn(self, folder: str) -> Turn:
        # The seed alone orders the processes. A lock would make them wait in real time.
        return ObjectStore.turn(self, folder)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        self._meet()
        return super().list(prefix)


class Dropping:
    """One run."""

    def __init__(self, seed: int, folder: Path) -> None:
        self._order = random.Random(seed)
        self._root = folder / "db"
        self._record = Record()
        self._turns = Turns(lambda ready, last: self._order.choice(ready))
        self._left = WORK
        self._slot_block = self._order.choice((2, 1024))
        self._kill_rate = self._order.choice((0.0, 0.0, 0.01))
        self._sleepers = self._order.choice((0.0, 0.1, 0.5))

    def _meet(self, risk: float = 0.0) -> None:
        """Pass the turn, and perhaps kill this process; `risk` is higher at critical calls."""
        self._turns.pass_turn()
        if self._order.random() < max(risk, self._kill_rate):
            raise Stopped("killed")

    def _doze(self, name: str) -> None:
        """Sleep before a call for a slot, in some runs, until another log has an epoch there."""
        slot, mine = epoch_number(name), self._record.newest[0]
        if not slot or self._order.random() >= self._sleepers:
            return

        def over() -> bool:
            database, newest = self._record.newest
            return database != mine and newest >= slot

        self._turns.sleep(over)

    def run(self) -> Record:
        """Let all work, then check the place. Raises AssertionError."""
        with self._between_steps():
            self._turns.run([self._process] * PROCESSES)
        self._check()
        return self._record

    @contextmanager
    def _between_steps(self) -> Iterator[None]:
        """Also pass the turn, and kill, between the steps of a removal."""

        def around(real: Callable[..., None], risk: float) -> Callable[..., None]:
            def call(*args: Any, **how: Any) -> None:
                self._meet()
                real(*args, **how)
                self._meet(risk)

            return call

        here = "colonnade.manifests.log.removed_folder"
        with (
            patch(f"{here}.shutil.rmtree", around(shutil.rmtree, 0.0)),
            patch(f"{here}.os.rename", around(os.rename, 0.1)),
        ):
            yield

    def _process(self) -> None:
        while self._left > 0:
            try:
                self._live(ProcessStore(self._root, self._record, self._meet, self._doze))
            except Stopped:
                continue

    def _live(self, store: ProcessStore) -> None:
        log = Log(store, checkpoint_interval=4, pause=lambda _: self._turns.pass_turn())
        known: Snapshot | None = None
        while self._left > 0:
            self._left -= 1
            try:
                kinds = ("write", "create", "drop", "vacuum")
                match self._order.choices(kinds, (6, 2, 1, 1))[0]:
                    case "write":
                        if known is None or self._order.random() < 0.5:
                            known = log.reader.read_head()
                        known = self._write(log, known)
                    case "create":
                        made = create_database(
                            store, lone_table=False, pause=log.pause, slot_block=self._slot_block
                        )
                        self._record.created.add(made.database)
                    case "drop":
                        drop_database(log, cascade=self._order.random() < 0.7)
                    case "vacuum":
                        vacuum(log, NEWEST)
                        self._record.vacuums += 1
            except CorruptionError:
                raise  # Nothing is damaged here, whatever was dropped and made again.
            except ColonnadeError:
                known = None if self._order.random() < 0.5 else known

    def _write(self, log: Log, base: Snapshot) -> Snapshot:
        number = self._order.getrandbits(64)
        mine = change(table(f"{number:016x}").model_copy(update={"name": f"t{number}"}))
        after = log.commit(mine, base)
        self._record.committed.append((after.database, after.epoch, mine.transaction))
        return after

    def _check(self) -> None:
        record, store = self._record, LocalStore(self._root)
        put_back(store)
        moved = [*self._moved()]
        numbers = sorted(
            number
            for info in store.list(f"{MANIFEST}/")
            if (number := epoch_number(info.name)) is not None
        )
        first = decode_slot(store.get(epoch_name(0)), 0, "") if numbers else None
        there_now = record.database_of[first.transaction] if isinstance(first, Epoch) else ""
        # The checkpoint of the floor holds all epochs up to it. Epoch 0 also keeps its slot.
        floor = record.floors.get(there_now, -1)
        numbers = [number for number in numbers if number > floor]
        begin = floor + 1
        assert numbers == [*range(begin, begin + len(numbers))], f"epochs {numbers} are no log"
        found = [decode_slot(store.get(epoch_name(n)), n, "") for n in numbers]
        assert all(isinstance(each, Epoch) for each in found), "an epoch that is kept was removed"
        live = {record.database_of[each.transaction] for each in found if isinstance(each, Epoch)}
        assert len(live) <= 1, "epochs of two databases lie in one folder"
        # A database whose place was taken while a late drop looked at it stays beside its place.
        kept = {record.database_of[transaction] for transaction in moved}
        lost = record.created - record.ended.keys() - live - kept
        assert not lost, f"databases {lost} were created and are gone"
        there = {each.transaction for each in found if isinstance(each, Epoch)}.union(moved)
        for database, number, transaction in record.committed:
            end = record.ended.get(database)
            assert end is None or number < end, f"epoch {number} came after the end {end}"
            known = database in record.ended or number <= floor or transaction in there
            assert known, f"epoch {number} is lost"
        if not live - record.ended.keys():
            create_database(store, lone_table=False)
        log = Log(LocalStore(self._root))
        for _ in range(3):
            self._write(log, log.reader.read_head())

    def _moved(self) -> Iterator[str]:
        """Yield the transactions of the epochs in folders that late drops have moved."""
        for folder in self._root.parent.glob("_moved-*"):
            store = LocalStore(folder)
            for info in store.list(f"{MANIFEST}/"):
                if (number := epoch_number(info.name)) is not None:
                    epoch = decode_slot(store.get(info.name), number, info.name)
                    if isinstance(epoch, Epoch):
                        yield epoch.transaction


def simulate_dropping(seed: int) -> Record:
    """Run one seed. Raises AssertionError that names it where something is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            return Dropping(seed, Path(folder)).run()
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error!r}") from error
