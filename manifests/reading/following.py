"""Follow the log of one database from a state that is stored to any later state.

Spec: docs/spec/epoch-log.md#head
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from colonnade.manifests.checkpoint.reader import (
    UNUSABLE,
    find_checkpoint,
    read_state,
)
from colonnade.manifests.epochs.freed_slots import find_newest_mark, is_freed
from colonnade.manifests.epochs.slot_reader import AHEAD, SlotReader
from colonnade.manifests.epochs.slots import SlotEnd, check_unused, read_slot
from colonnade.manifests.errors import (
    ColonnadeError,
    CorruptionError,
    NotFoundError,
    StoreError,
    UnsupportedFormatError,
)
from colonnade.manifests.ids import TableId
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import CheckpointRef, Vacuum
from colonnade.manifests.object_names import MANIFEST, checkpoint_name, epoch_name
from colonnade.manifests.reading.early_segments import EarlySegments
from colonnade.manifests.state.fold import apply_epoch, apply_epochs
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store.checks import no_database
from colonnade.manifests.store.object_store import ObjectStore


class LogFollower:
    """Follows the log of the database in `store`, from a checkpoint or from epoch 0 on.

    Methods raise as those of `LogReader`.
    """

    def __init__(self, store: ObjectStore, limits: Limits = LIMITS) -> None:
        self.store = store
        self.limits = limits
        self.early = EarlySegments(store)

    def begin(self, target: int | None, slots: SlotReader | None = None) -> Snapshot:
        """Return a state to start from: a checkpoint, or else the beginning of the log.

        The checkpoint is not after `target`. `slots` reads the slots after a checkpoint together
        with the checkpoint. If more reads of slots follow, a small checkpoint's entry segments are
        read beside them.
        """
        state = find_checkpoint(self.store, target, self.replay, slots)
        if state is None:
            return self._begin_log(slots)
        if slots:
            slots.beside = self.early.reads(state)
        return state

    def _begin_log(self, slots: SlotReader | None = None) -> Snapshot:
        """Return the state right after epoch 0. With `slots`, it may be that at a later floor."""
        first = slots.read(0) if slots else read_slot(self.store, 0)
        if first is None:
            check_unused(self.store)
            raise no_database(self.store.url)
        state = apply_epoch(None, first)
        if slots and slots.is_free(1):
            mark = find_newest_mark(self.store, state.blocks)
            return state if mark is None else self.read_floor(state, slots, mark)
        return state

    def read_first(self) -> Snapshot:
        """Return the state right after epoch 0, which describes the database. Costs one GET.

        Raises NotFoundError if there is no database.
        """
        return self._begin_log()

    def read_floor(
        self,
        first: Snapshot | None = None,
        slots: SlotReader | None = None,
        mark: int | None = None,
    ) -> Snapshot:
        """Return the oldest readable state, from the log alone: at the floor, or after epoch 0.

        `first` is the state after epoch 0, and `mark` the last freed block, if known. Costs as
        `find_floor`, and the root of the floor's anchor. Raises CorruptionError if that is lost.
        """
        first = first or self.read_first()
        slots = slots or SlotReader(self.store, ahead=AHEAD, far=True)
        before: CheckpointRef | None = None
        while (found := self.find_floor(first, slots, mark)) is not None:
            (anchor, end), mark = found, None
            try:
                state, _ = self.store.both(
                    partial(self.read_anchored, anchor),
                    partial(slots.look_for_mark, first.blocks, end),
                )
            except NotFoundError as error:
                if anchor == before:
                    raise CorruptionError(
                        f"{self.store.locate(checkpoint_name(anchor.root))} is missing, and nothing"
                        f" else stores the state at epoch {anchor.epoch}."
                    ) from error
                before = anchor  # A vacuum may have raised the floor meanwhile.
            else:
                if state.database != first.database:
                    raise CorruptionError(
                        f"The anchored checkpoint of {self.store.url} belongs to another database."
                    )
                return state
        return first

    def read_anchored(self, floor: CheckpointRef) -> Snapshot:
        """Return the state of the floor's anchor. Raises NotFoundError; CorruptionError."""
        return replace(read_state(self.store, floor), floor=floor.epoch)

    def find_floor(
        self, first: Snapshot, slots: SlotReader, mark: int | None = None
    ) -> tuple[CheckpointRef, int] | None:
        """Return the anchor of the present floor, and the free slot after the last epoch.

        The last vacuum in the log tells the floor. Returns None for a floor of 0. Damage of other
        epochs does no harm. Costs as `find_newest_mark`, and a GET for each epoch since the last
        freed block. Raises CorruptionError if a mark is lost; StoreError.
        """
        while True:
            mark = find_newest_mark(self.store, first.blocks) if mark is None else mark
            begin = 1 if mark is None else max(1, first.blocks.first(mark + 1))
            slots.keep()
            slots.fetch(begin)
            vacuum, end = self._last_vacuum(begin, slots)
            if vacuum is not None:
                floor = next((each for each in vacuum.anchors if each.epoch == vacuum.floor), None)
                return None if floor is None else (floor, end)
            if mark is None and end > begin:
                return None
            # The last vacuum is behind every marked block, and no block without a mark is empty.
            if not is_freed(self.store, first.blocks, begin):
                if mark is None and not slots.is_gap(begin):
                    return None
                lost = first.blocks.mark(first.blocks.of(begin))
                raise CorruptionError(
                    f"{self.store.locate(epoch_name(begin))} is missing, or no vacuum since can be"
                    f" read. Perhaps {self.store.locate(lost)} is lost: `repair` puts it again."
                )
            mark = None

    def _last_vacuum(self, number: int, slots: SlotReader) -> tuple[Vacuum | None, int]:
        """Return the last vacuum from a slot on, and the free slot after the last epoch."""
        found: Vacuum | None = None
        while True:
            try:
                epoch = slots.read(number)
                if epoch is None and slots.is_gap(number):
                    epoch = slots.read(number)
                elif epoch is None:
                    slots.record_free(number)
                    return found, number
            except (CorruptionError, UnsupportedFormatError, StoreError) as error:
                if isinstance(error, StoreError) and error.retryable:
                    raise
                epoch = None  # Who applies this epoch finds the damage again.
            for operation in () if epoch is None else epoch.ops:
                found = operation if isinstance(operation, Vacuum) else found
            number += 1

    def replay(self, database: TableId, error: ColonnadeError, epoch: int) -> Snapshot:
        """Return the state at an epoch whose checkpoint cannot be read, from the log.

        Returns the floor's state if that is later. Raises the error if the log does not help.
        """
        if not isinstance(error, UNUSABLE):
            raise error
        first = self.read_first()
        if first.database != database:
            raise self.replaced() from error
        state = self.advance(self.read_floor(first), epoch)
        if state.epoch < epoch:
            raise error
        return state

    def advance(
        self, state: Snapshot, target: int | None = None, slots: SlotReader | None = None
    ) -> Snapshot:
        """Apply the epochs after `state` up to `target`, or all.

        Goes on at the floor, which may be past `target`, where slots were freed. An epoch below the
        floor may also be lost or damaged, and an object in a freed slot need not follow.
        """
        slots = slots or SlotReader(self.store, ahead=AHEAD, last=target)
        while target is None or state.epoch <= target:
            try:
                after = self._follow(state, target, slots)
                if after is not None:
                    return after
            except CorruptionError:
                floor, slots = self._later_floor(state)
                if floor is None:
                    raise
            else:
                floor, slots = self._later_floor(state)
                if floor is None:
                    raise CorruptionError(
                        f"{self.store.locate(epoch_name(state.epoch + 1))} was freed, although no"
                        " vacuum has raised the floor so far."
                    )
            state = floor
        return state

    def _later_floor(self, state: Snapshot) -> tuple[Snapshot | None, SlotReader]:
        """Return the state at the floor if it is later than a state, and a reader for what follows.

        Raises NotFoundError if another database has taken the place.
        """
        slots = SlotReader(self.store, ahead=AHEAD, far=True)
        first = self.read_first()
        if first.database != state.database:
            raise self.replaced()
        floor = self.read_floor(first, slots)
        return (floor if floor.epoch > state.epoch else None), slots

    def _follow(self, state: Snapshot, target: int | None, slots: SlotReader) -> Snapshot | None:
        """Apply epochs up to `target`, or all. Returns None if their slots were freed."""
        pending: list[Epoch] = []
        number = state.epoch + 1
        while target is None or number <= target:
            found = slots.read(number, state.blocks)
            if found is not None:
                pending.append(found)
                number += 1
                if len(pending) >= self.limits.pending_epochs:
                    state, pending = self._applied(state, pending), []
                continue
            end = slots.check_end(number, state.blocks)
            if end is SlotEnd.FREED:
                return None
            if end is SlotEnd.END:
                return self._applied(state, pending)
        # If the slot of the last one was not freed, all of them are epochs of the log.
        if number > 1 and is_freed(self.store, state.blocks, number - 1):
            return None
        return self._applied(state, pending)

    def _applied(self, state: Snapshot, pending: Sequence[Epoch]) -> Snapshot:
        try:
            return apply_epochs(state, pending) if pending else state
        except (CorruptionError, NotFoundError) as error:  # A vacuum may have removed its tables.
            raise CorruptionError(f"{self.store.locate(MANIFEST)}: {error.message}") from error

    def replaced(self) -> NotFoundError:
        """Return the error for a state of a database that is not there any more."""
        return NotFoundError(
            f"The database at {self.store.url} was removed or replaced; open it again."
        )
