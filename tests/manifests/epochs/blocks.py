"""A log whose slots are freed in small blocks, and writers that sleep."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress

import pytest

from colonnade.manifests.commit.change import Change
from colonnade.manifests.epochs.slots import read_slot
from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.codec import encode_epoch
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import Operation
from colonnade.manifests.object_names import MANIFEST, epoch_name, epoch_number
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore, ObjectStore
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.log_samples import append, change, contents, make_log, table
from tests.manifests.vacuum.world import Hooked

BLOCK = 4


class Blocks:
    """A log whose slots are freed in small blocks: what each epoch was, and its state."""

    def __init__(self, epochs: int = 30, block: int = BLOCK) -> None:
        self.store = MemoryStore(now_ms=lambda: 0)
        ticks = itertools.count(1000)
        self.clock = lambda: next(ticks)
        first = create_database(self.store, lone_table=False, clock_ms=self.clock, slot_block=block)
        self.log = self.open(self.store)
        self.states = [first]
        self.send(change(table()))
        for _ in range(2, epochs + 1):
            self.send(append())
        self.expected = [contents(self.log, state) for state in self.states]
        self.epochs = [read_slot(self.store, state.epoch) for state in self.states]

    def open(self, store: ObjectStore) -> Log:
        """A log that shares the clock."""
        return Log(store, clock_ms=self.clock, checkpoint_interval=5, pause=lambda _: None)

    def send(self, mine: Change) -> Snapshot:
        self.states.append(self.log.commit(mine, self.states[-1]))
        return self.states[-1]

    def vacuum(self, epochs: int = 3, store: ObjectStore | None = None) -> int:
        """Remove all epochs except the newest `epochs`; return the floor."""
        log = self.log if store is None else self.open(store)
        return vacuum(log, VacuumRequest(0, epochs, trust_clock=True, threads=1)).floor

    def numbers(self) -> set[int]:
        """The slots that are taken."""
        names = (epoch_number(info.name) for info in self.store.list(f"{MANIFEST}/"))
        return {number for number in names if number is not None}

    def litter(self, slot: int, *ops: Operation, previous: str | None = None) -> Epoch:
        """What a writer leaves in a freed slot that slept since the epoch before it."""
        epoch = self.epochs[slot]
        assert isinstance(epoch, Epoch)
        stray = epoch.model_copy(
            update={
                "transaction": new_transaction_id(),
                "ops": ops or epoch.ops,
                "previous": previous or epoch.previous,
            }
        )
        self.store.put_if_absent(epoch_name(slot), encode_epoch(stray))
        return stray

    def check(self) -> None:
        """Every way to open the log finds the newest state, and none finds a removed epoch."""
        log = make_log(self.store, 5)
        head = log.reader.read_head()
        assert head.epoch == self.states[-1].epoch or head.epoch > len(self.expected) - 1
        want = contents(log, head)
        assert contents(log, log.reader.read_from_log(head.epoch)) == want
        for state in self.states:
            assert contents(log, log.reader.refresh(state)) == want, state.epoch
            if state.epoch >= len(self.expected):
                continue
            with suppress(NotFoundError):
                # Without a head, a removed epoch may be read; it must be unchanged.
                assert log.reader.read_at(state.epoch).transaction == state.transaction
            if log.reader.keeps(head, state.epoch):
                found = log.reader.read_at(state.epoch, head=head)
                assert contents(log, found) == self.expected[state.epoch]
            else:
                with pytest.raises(NotFoundError, match="removed by retention"):
                    log.reader.read_at(state.epoch, head=head)


def slept(old: Blocks, mine: Change, meanwhile: Callable[[], object]) -> Snapshot:
    """Commit a change by a writer that sleeps right before it puts its epoch."""
    slot = epoch_name(old.states[-1].epoch + 1)
    store = Hooked(old.store, {("put_if_absent", slot): meanwhile})
    return old.open(store).commit(mine, old.states[-1])
