"""The newest state of a log before the look that proves it, which can wait for the first use.

Behind a network, that look is a round of requests. A scan can make it beside the reads of its rows.
Spec: docs/spec/epoch-log.md#head
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from colonnade.manifests.clock import elapsed_s
from colonnade.manifests.epochs.freed_slots import is_freed
from colonnade.manifests.epochs.opening_reads import OpeningReads
from colonnade.manifests.epochs.slot_reader import SlotReader
from colonnade.manifests.epochs.slots import SlotEnd
from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot


class BegunHead(NamedTuple):
    """The state before the first free slot, and the reader that found this slot free.

    It is the newest state unless that slot was freed, or an epoch is lost. `is_proven` says that
    both are ruled out. Otherwise `finish_head` rules them out. Until then a caller may use the
    state to read ahead. It must not return or write rows because of it.
    """

    state: Snapshot
    slots: SlotReader
    is_proven: bool


def begin_head(log: LogReader, opening: OpeningReads) -> BegunHead | None:
    """Return the newest state without its proof.

    Costs as `LogReader.read_head` without the last of its rounds; after a checkpoint that several
    epochs follow, this round reads slots, and the state is proven then. Returns None after an
    error, and for a log that has ended: the caller then reads the head.
    """
    slots = opening.slots()
    slots.trusted = True
    try:
        state = log.follow_to_head(slots)
    except ColonnadeError:
        return None
    slots.trusted = False
    if state.dropped:
        return None
    is_proven = slots.proves_end(state.epoch + 1, state.blocks)
    if is_proven:
        log.last_look.record(state, slots.started)
    return BegunHead(state, slots, is_proven)


def finish_head(log: LogReader, begun: BegunHead) -> Snapshot | None:
    """Return the newest state at the time of the call; None if retention removed the begun one.

    Costs one round: the look for the mark and behind the free slot, beside one GET for newer
    epochs. Costs as `LogReader.read_head`, and a look for the mark, if the state was begun more
    than the store's `trust_s` ago, or if several epochs were added since. Raises as that.
    """
    state, slots = begun.state, begun.slots
    if elapsed_s() - slots.started >= log.store.trust_s:
        return _read_later_head(log, state)
    number, following = state.epoch + 1, SlotReader(log.store, trusted=True)
    found, _ = log.store.both(
        partial(slots.check_end, number, state.blocks), partial(following.fetch, number)
    )
    if found is SlotEnd.FREED:
        return None
    if found is SlotEnd.TAKEN:
        return _read_later_head(log, state)
    log.last_look.record(state, slots.started)
    return log.refresh(state, following)


def _read_later_head(log: LogReader, begun: Snapshot) -> Snapshot | None:
    # A begun state in freed slots was perhaps old already when the log was opened.
    freed = is_freed(log.store, begun.blocks, begun.epoch + 1)
    return None if freed else log.read_head()
