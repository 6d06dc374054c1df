"""Mistakes about slots whose epochs retention has removed, and that are free again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from colonnade.manifests.commit.sending import Sending
from colonnade.manifests.epochs.freed_slots import put_mark
from colonnade.manifests.epochs.slot_reader import SlotReader
from colonnade.manifests.model.slot_blocks import SlotBlocks
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import ObjectStore
from colonnade.manifests.vacuum import freeing, stubs
from colonnade.manifests.vacuum.freeing import free_slots
from tests.simulation.actors.litterer import Litterer
from tests.simulation.actors.reader import Reader
from tests.simulation.actors.vacuumer import Vacuumer
from tests.simulation.actors.writer import Writer
from tests.simulation.bugs.bug import Bug


@contextmanager
def _marked_last() -> Iterator[None]:
    """Slots are freed before their mark is visible."""
    later: list[tuple[Any, ...]] = []

    def free(store: ObjectStore, numbers: Sequence[int], threads: int) -> None:
        mine, later[:] = later[:], []
        free_slots(store, numbers)
        for each in mine:
            put_mark(*each)

    with (
        patch.object(freeing, "put_mark", lambda *mark: later.append(mark)),
        patch.object(stubs, "free_slots", free),
    ):
        yield


def _follow_whatever_is_there(
    log: LogReader, state: Snapshot, target: int | None, slots: SlotReader
) -> Any:
    """No reader asks whether the slot of the last epoch was freed."""
    after, freed = _real_follow_log(log, state, target, slots)
    return after, None if after.epoch == target else freed


_real_follow_log = LogReader._follow


_real_check_end = SlotReader.check_end


def _check_end_without_a_mark(slots: SlotReader, number: int, blocks: SlotBlocks) -> Any:
    """No reader asks whether a free slot was freed."""
    with patch("colonnade.manifests.epochs.slots.find_freed", lambda *_: None):
        return _real_check_end(slots, number, blocks)


SLEEPY = (Writer(8), Reader(3), Vacuumer(5), Litterer(3))


BUGS: tuple[Bug, ...] = (
    Bug(
        "a mark is put after the slots of its block are freed",
        _marked_last,
        actors=SLEEPY,
        long=True,
        seeds=100,
    ),
    Bug(
        "no writer looks for a mark after a PUT",
        lambda: patch.object(Sending, "_look_again", lambda *_: None),
        actors=(Writer(8), Vacuumer(5)),
        seeds=100,
        long=True,
    ),
    Bug(
        "a free slot is taken for the end of the log",
        lambda: patch.object(SlotReader, "check_end", _check_end_without_a_mark),
        actors=SLEEPY,
        seeds=100,
    ),
    Bug(
        "what is in a freed slot is taken for an epoch of the log",
        lambda: patch.object(LogReader, "_follow", _follow_whatever_is_there),
        actors=SLEEPY,
        long=True,
        seeds=100,
    ),
)
