"""Mistakes about slots whose epochs retention has removed, and that are free again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from colonnade.manifests.commit.attempt import Attempt
from colonnade.manifests.epochs import slot_reader
from colonnade.manifests.epochs.freed_slots import is_freed
from colonnade.manifests.epochs.slot_reader import SlotReader
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import Operation, Vacuum
from colonnade.manifests.model.slot_blocks import SlotBlocks
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.reading.following import LogFollower
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store.object_store import ObjectStore
from colonnade.manifests.vacuum import run
from colonnade.manifests.vacuum.freeing import free_blocks
from tests.simulation.actors.litterer import Litterer
from tests.simulation.actors.loser import Loser
from tests.simulation.actors.reader import Reader
from tests.simulation.actors.vacuumer import Vacuumer
from tests.simulation.actors.vandal import Vandal
from tests.simulation.actors.writer import Writer
from tests.simulation.bugs.bug import Bug


def _freed_first(log: Log, head: Snapshot, seen_s: float, freed: range) -> None:
    """Slots are freed before their mark is visible."""
    slots = range(max(1, freed.stop), head.blocks.first(head.blocks.whole_below(head.floor)))
    log.store.remove_many([*map(epoch_name, slots)])
    free_blocks(log, head, seen_s, freed)


def _marked_too_far(log: Log, head: Snapshot, seen_s: float, freed: range) -> None:
    """The block of the floor is given up, too, although the log goes on in it."""
    end = head.blocks.first(head.blocks.of(head.floor) + 1)
    free_blocks(log, replace(head, floor=end), seen_s, freed)


_unasked = ContextVar("_unasked", default=False)


@contextmanager
def _no_mark() -> Iterator[None]:
    """Within this, in this thread alone, no slot was freed for a reader that asks."""
    token = _unasked.set(True)
    try:
        yield
    finally:
        _unasked.reset(token)


def _asks(store: ObjectStore, blocks: SlotBlocks, slot: int) -> bool:
    return not _unasked.get() and is_freed(store, blocks, slot)


@contextmanager
def _unmarked(owner: type, method: str, mistake: Callable[..., Any]) -> Iterator[None]:
    """Plant a mistake that uses `_no_mark`. Threads of a run take turns within its methods."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(owner, method, mistake))
        for module in ("reading.following", "epochs.slots"):
            stack.enter_context(patch(f"colonnade.manifests.{module}.is_freed", _asks))
        yield


def _follow_whatever_is_there(
    log: LogFollower, state: Snapshot, target: int | None, slots: SlotReader
) -> Snapshot | None:
    """No reader asks whether the slot of the last epoch was freed."""
    with _no_mark():
        return _real_follow_log(log, state, target, slots)


_real_follow_log = LogFollower._follow


_real_check_end = SlotReader.check_end


def _check_end_without_a_mark(slots: SlotReader, number: int, blocks: SlotBlocks) -> Any:
    """No reader asks whether a free slot was freed."""
    with _no_mark():
        return _real_check_end(slots, number, blocks)


def _first_vacuum(log: LogFollower, number: int, slots: SlotReader) -> tuple[Vacuum | None, int]:
    """The first vacuum after the last mark is taken for the last one."""
    vacuum, end = _real_last_vacuum(log, number, slots)
    ops = [op for each in range(number, end) for op in _operations(slots, each)]
    return next((op for op in ops if isinstance(op, Vacuum)), vacuum), end


def _operations(slots: SlotReader, number: int) -> Sequence[Operation]:
    try:
        epoch = slots.read(number)
    except CorruptionError:
        return ()
    return () if epoch is None else epoch.ops


_real_last_vacuum = LogFollower._last_vacuum


SLEEPY = (Writer(8), Reader(3), Vacuumer(5), Litterer(3))


BUGS: tuple[Bug, ...] = (
    Bug(
        "a mark is put after the slots of its block are freed",
        lambda: patch.object(run, "free_blocks", _freed_first),
        actors=SLEEPY,
        long=True,
        seeds=100,
    ),
    Bug(
        "a block is marked before the floor is behind its end",
        lambda: patch.object(run, "free_blocks", _marked_too_far),
        actors=SLEEPY,
        seeds=20,
    ),
    Bug(
        "a reader without a hint begins at an earlier floor than the last",
        lambda: patch.object(LogFollower, "_last_vacuum", _first_vacuum),
        actors=(Writer(8), Reader(3), Vacuumer(5), Vandal(3)),
        seeds=100,
    ),
    Bug(
        "no writer looks for a mark after a PUT",
        lambda: patch.object(Attempt, "_look_again", lambda *_: None),
        actors=(Writer(8), Vacuumer(5)),
        seeds=100,
        long=True,
    ),
    Bug(
        "a free slot is taken for the end of the log",
        lambda: _unmarked(SlotReader, "check_end", _check_end_without_a_mark),
        actors=SLEEPY,
        seeds=100,
    ),
    Bug(
        "a log that has lost its hint and marks is taken for a new one",
        lambda: patch.object(slot_reader, "lists_later", lambda *_: False),
        actors=(Writer(8), Vacuumer(5), Loser(3)),
        seeds=100,
    ),
    Bug(
        "what is in a freed slot is taken for an epoch of the log",
        lambda: _unmarked(LogFollower, "_follow", _follow_whatever_is_there),
        actors=SLEEPY,
        long=True,
        seeds=100,
    ),
)
