"""The head of a log as it seems, one round of requests before it is proven.

A free slot is the end of the log only if a later look finds no mark of its block. Behind a network
that look takes a round, which the first refresh takes anyway. So whoever opens a table needs the
proof not at once, but before anything relies on the state.

Spec: docs/spec/epoch-log.md#freed-slots
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from colonnade.manifests.checkpoint.reader import UNUSABLE
from colonnade.manifests.clock import elapsed_s
from colonnade.manifests.epochs.slot_reader import AHEAD, SlotReader
from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.reading.live_rowsets import LiveRowSetReader
from colonnade.manifests.state.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Glimpse:
    """A state of a log, after which `slots` has found a free slot and no later object.

    It was the newest state, unless that slot was freed. `started` is when the look began
    (`elapsed_s`).
    """

    state: Snapshot
    slots: SlotReader
    started: float

    def is_head(self) -> bool:
        """Return whether the state was the newest one. Costs one to three GETs, in one round.

        After False, the log must be read again. Raises CorruptionError; StoreError.
        """
        return self.slots.proves_end(self.state.epoch + 1, self.state.blocks)


class GlimpseReader(LiveRowSetReader):
    """Reads a state that only `LogReader.settle` proves."""

    def glimpse_head(
        self,
        hint: bytes | ColonnadeError | None = None,
        early: Sequence[bytes | ColonnadeError] = (),
    ) -> Glimpse | None:
        """Return the newest state as it seems, a round of requests before `read_head` has it.

        Returns None on local disk, and where only `read_head` can tell the
        state, or what is wrong. `hint` is as in `read_head`. `early` is what `read_early` returned.
        With both, a small log without a checkpoint costs no request. Raises StoreError.
        """
        if self.store.parallel == 1:
            return None
        started = elapsed_s()
        slots = SlotReader(self.store, ahead=AHEAD, far=True, trusted=True, hint=hint, early=early)
        try:
            state = self._advance(self._begin(None, slots), slots=slots)
        except UNUSABLE:
            return None
        return None if state.dropped or state.stale else Glimpse(state, slots, started)
