"""Follow the log of one database from a state that is stored to any later state.

Spec: docs/spec/epoch-log.md#head
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from colonnade.manifests.checkpoint.reader import (
    UNUSABLE,
    find_checkpoint,
    read_state,
)
from colonnade.manifests.epochs.freed_slots import find_freed, read_blocks
from colonnade.manifests.epochs.slot_reader import AHEAD, SlotReader
from colonnade.manifests.epochs.slots import check_unused, read_log_slot, read_slot
from colonnade.manifests.errors import (
    ColonnadeError,
    CorruptionError,
    NotFoundError,
)
from colonnade.manifests.ids import TableId
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.model.epoch import Epoch, Stub
from colonnade.manifests.object_names import MANIFEST, checkpoint_name, epoch_name
from colonnade.manifests.reading.early_segments import EarlySegments
from colonnade.manifests.state.fold import apply_epoch, apply_epochs
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store.base import ObjectStore
from colonnade.manifests.store.checks import no_database


class LogFollower:
    """Follows the log of the database in `store`, from a checkpoint or from epoch 0 on.

    Methods raise as those of `LogReader`.
    """

    def __init__(self, store: ObjectStore, limits: Limits = LIMITS) -> None:
        self.store = store
        self.limits = limits
        self.early = EarlySegments(store)

    def _begin(
        self, target: int | None, slots: SlotReader | None = None, *, use_hint: bool = True
    ) -> Snapshot:
        """Return a state to start from: a checkpoint not after `target`, or else epoch 0.

        `slots` reads the slots after a checkpoint together with the checkpoint. If more reads of
        slots follow, a small checkpoint's entry segments are read beside them.
        """
        state = find_checkpoint(self.store, target, self.replay, slots) if use_hint else None
        if state is not None:
            if slots:
                slots.beside = self.early.reads(state)
            return state
        first = slots.read(0) if slots else read_slot(self.store, 0)
        if first is None:
            check_unused(self.store)
            raise no_database(self.store.url)
        return self._state_of_first(first)

    def _state_of_first(self, first: Epoch | Stub) -> Snapshot:
        """Return the state right after epoch 0. Raises CorruptionError."""
        if isinstance(first, Stub):
            raise CorruptionError(
                f"{self.store.locate(epoch_name(0))} is a stub, but epoch 0 must never be removed."
            )
        return apply_epoch(None, first)

    def replay(self, database: TableId, error: ColonnadeError, epoch: int) -> Snapshot:
        """Return the state at an epoch whose checkpoint cannot be read, from the log.

        Returns the floor's state if that is later. Raises the error if the log does not help.
        """
        if not isinstance(error, UNUSABLE):
            raise error
        first = self._begin(0, use_hint=False)
        if first.database != database:
            raise self._replaced() from error
        state = self._advance(first, epoch)
        if state.epoch < epoch:
            raise error
        return state

    def _advance(
        self, state: Snapshot, target: int | None = None, slots: SlotReader | None = None
    ) -> Snapshot:
        """Apply the epochs after `state` up to `target`, or all. Stubs may lead past `target`."""
        slots = slots or SlotReader(self.store, ahead=AHEAD, last=target)
        while target is None or state.epoch <= target:
            begun, stub = state, None
            try:
                state, stub = self._follow(begun, target, slots)
            except CorruptionError:
                # An object in a freed slot is not an epoch, and need not follow. A damaged stub is
                # not needed either: the next slot has one that leads at least as far.
                number = begun.epoch + 1
                stub = find_freed(self.store, begun.blocks, number) or self._stub_in(number + 1)
                if stub is None:
                    raise
            if stub is None:
                break
            state = self._anchored(begun, stub)
        return state

    def _stub_in(self, number: int) -> Stub | None:
        """Return the stub in a slot, or None if the slot has anything else."""
        try:
            found = read_slot(self.store, number)
        except CorruptionError:
            return None
        return found if isinstance(found, Stub) else None

    def _follow(
        self, state: Snapshot, target: int | None, slots: SlotReader
    ) -> tuple[Snapshot, Stub | None]:
        """Apply epochs up to `target`, or all. Returns the state, and the stub it met, if any."""
        pending: list[Epoch] = []
        number = state.epoch + 1
        while target is None or number <= target:
            found = slots.read(number, state.blocks) or slots.check_end(number, state.blocks)
            if isinstance(found, Epoch):
                pending.append(found)
                number += 1
                if len(pending) >= self.limits.pending_epochs:
                    state, pending = self._applied(state, pending), []
            elif found is True:
                return self._applied(state, pending), None
            elif found:
                return state, found
        # If the slot of the last one was not freed, all of them are epochs of the log.
        freed = find_freed(self.store, state.blocks, number - 1) if number > 1 else None
        return self._applied(state, pending), freed

    def _applied(self, state: Snapshot, pending: Sequence[Epoch]) -> Snapshot:
        try:
            return apply_epochs(state, pending) if pending else state
        except CorruptionError as error:
            raise CorruptionError(f"{self.store.locate(MANIFEST)}: {error.message}") from error

    def _anchored(self, state: Snapshot, stub: Stub) -> Snapshot:
        """Return the state at the floor, which replaces the epochs that retention removed."""
        floor = self.read_anchored(stub)
        if floor.database != state.database:
            if self._begin(0, use_hint=False).database != state.database:
                raise self._replaced()
            raise CorruptionError(
                f"The anchored checkpoint of {self.store.url} belongs to another database."
            )
        return floor

    def _replaced(self) -> NotFoundError:
        return NotFoundError(
            f"The database at {self.store.url} was replaced by another one, which has other"
            " tables; open it again."
        )

    def read_anchored(self, stub: Stub) -> Snapshot:
        """Return the oldest readable state, which a stub leads to.

        That is the checkpoint that the stub names, or one that replaced it. Raises CorruptionError.
        """
        while True:
            try:
                state = read_state(self.store, stub.anchor)
                return replace(state, floor=stub.floor)
            except NotFoundError as error:
                number, blocks = stub.floor + 1, read_blocks(self.store)
                # The mark comes first, because an object in a freed slot means nothing.
                freed = find_freed(self.store, blocks, number)
                following = freed or read_log_slot(self.store, number, blocks)
                if not isinstance(following, Stub) or following.floor <= stub.floor:
                    raise CorruptionError(
                        f"{self.store.locate(checkpoint_name(stub.anchor.root))} is missing, and"
                        f" nothing else stores the state at epoch {stub.floor}."
                    ) from error
                stub = self._last_stub(following)

    def _last_stub(self, stub: Stub) -> Stub:
        """Return a stub with a later floor, if there is one: that of the last floor, as a rule.

        Each floor ends with its own stub, so following every one would cost a GET for each vacuum.
        Costs two GETs for each bit of the number of slots up to the last stub.
        """
        step, grows = 2, True
        while step:
            later = self._stub_in(stub.floor + step)
            if later is not None and later.floor > stub.floor:
                stub = later
                step = 2 * step if grows else step
            else:
                step, grows = step // 2, False
        return stub
