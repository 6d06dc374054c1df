"""Send a change to its slot, and follow concurrent epochs on the way, by reads alone.

Spec: docs/spec/epoch-log.md#commit
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar

from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.conflicts import has_landed
from colonnade.manifests.commit.identity_draws import after_own_draws
from colonnade.manifests.commit.outcome_errors import outdated_error
from colonnade.manifests.commit.rebase.carried import Carried
from colonnade.manifests.epochs.freed_slots import is_freed
from colonnade.manifests.epochs.slots import (
    TRIES,
    SlotEnd,
    check_first,
    check_slot,
    dropped_error,
    log_has_epoch,
    read_slot,
    slot_pause_s,
    take_slot,
    unknown_error,
)
from colonnade.manifests.errors import (
    ColonnadeError,
    CommitUnknownError,
    CorruptionError,
    NotFoundError,
    StoreError,
)
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.model.codec import encode_epoch
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import DropDatabase, Txn
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.state.fold import apply_epochs
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store.object_store import ObjectStore
from colonnade.manifests.store.turn import Turn

T = TypeVar("T")


class Sending:
    """A change that was planned on `base`, and `head`, the newest epoch that it has followed.

    `carried` is the change as of `head`. It must be set before `follow`. `done` is the epoch that
    contains the change, or the last of its batches, once it was found; `head` is then the state
    after it. `outdated` says whether the change met a freed slot. `epochs` are the last epochs up
    to the head without gaps, at most `followed_epochs` of them. `covers` says whether the log of
    the base was seen a moment ago (`LastLook.covers`). An object must be used by one thread at a
    time.
    """

    carried: Carried

    def __init__(
        self,
        change: Change,
        base: Snapshot,
        store: ObjectStore,
        covers: Callable[[Snapshot], bool] = lambda base: False,
        limits: Limits = LIMITS,
    ) -> None:
        self.change = change
        self._covers = covers
        self.base = base
        self.done: Epoch | None = None
        self._store = store
        self._state = base
        # Epochs after that state. Folding them together takes one copy of the state.
        self._followed: list[Epoch] = []
        self._most_followed = limits.followed_epochs
        self.epochs: deque[Epoch] = deque(maxlen=limits.followed_epochs)
        self._has_batches = any(isinstance(op, Txn) for op in (*change.ops, *change.prepared))
        self._next: Epoch | None = None
        self._free = False
        # Whether the base was found in the log. If not, the process has seen it a moment ago.
        self._looked = False
        # Whether an own epoch was put into a slot that was not seen to hold another one.
        self._tried = False
        # Whether epochs that were read have disproved that an own epoch was committed.
        self._disproved = False
        self.outdated = False
        # Whether `done` is known to be committed and durable.
        self._settled = False

    @property
    def head(self) -> Snapshot:
        """The state after the epochs that were followed.

        Raises CorruptionError if its tables cannot be read, because a vacuum has removed them.
        """
        if self._followed:
            try:
                self._state = apply_epochs(self._state, self._followed)
            except NotFoundError as error:
                raise CorruptionError(error.message) from error
            self._followed = []
        return self._state

    def may_be_committed(self) -> bool:
        """Return whether an epoch that was not read may hold the change, now or later.

        It cannot if the slot of each own epoch was seen to hold another one. Requires: this change
        was not sent before. Costs one GET if something was sent. Never raises.
        """
        return self._tried or (self._disproved and self._was_misled())

    def _was_misled(self) -> bool:
        """Return whether slots that were followed may have been freed before they were read.

        Then their contents need not be epochs, and disprove nothing. Costs one GET. Never raises.
        """
        try:
            return self._is_freed(self.base.epoch + 1)
        except (StoreError, CorruptionError):
            return True

    def look(self) -> None:
        """Read the slot after the base, and check that it belongs to the base's log.

        Does nothing if the log was seen a moment ago. Then the PUT itself tells whether the slot is
        free. Cost: one GET if another epoch follows the base, else two; in a bucket always three,
        side by side. Raises NotFoundError if the database was removed or
        replaced; ConflictError or CommitUnknownError if retention has removed that slot.
        """
        if self._covers(self.base):
            self._free = True
            return
        number = self.base.epoch + 1
        if self._store.parallel > 1 or self._store.keeps_logs:
            self._next, seen = self._store.both(
                partial(read_slot, self._store, number), self._sees_base
            )
        else:
            self._next = read_slot(self._store, number)
            seen = not self._follows_base() and self._sees_base()
        self._check_next(known=seen)

    def _sees_base(self) -> bool:
        """Return whether the base is in its slot. Raises as `log_has_epoch`."""
        base = self.base
        return log_has_epoch(self._store, base.epoch, base.transaction, base.database)

    def _follows_base(self) -> bool:
        return self._next is not None and self._next.previous == self.base.transaction

    def _check_next(self, *, known: bool = False) -> None:
        """Check that what was read after the base belongs to the base's log. Raises as `look`.

        `known` means that the base was seen in its slot.
        """
        self._looked, base = True, self.base
        seen = known or self._follows_base()
        if not seen and check_slot(self._store, base.epoch, base.transaction, base.blocks):
            self._next = self._read_after_removed(base.epoch + 1)
        self._free = self._next is None

    def follow(self, turn: Turn, waited: bool) -> bool:
        """Follow concurrent epochs up to a free slot, or to the change itself.

        Returns whether the change was found. Cost: one GET for each epoch since, and one more.
        Nothing if the slot was free at the last look, `waited` is false, and the turn knows of no
        later epoch. Raises ConflictError if the change cannot follow, else as `look`.
        """
        if self._free and not waited and not turn.may_exist(epoch_name(self._next_slot)):
            return False
        if not self._looked:
            # Another epoch was first, although the slot seemed to be free.
            self._next = self._next or read_slot(self._store, self.base.epoch + 1)
            self._check_next()
        self._free = False
        found, self._next = self._next or self._read(), None
        while found is not None:
            with self.true_errors():
                if self._is_done_by(found):
                    return True
            found = self._read()
        self._free = True
        return False

    def _is_done_by(self, found: Epoch) -> bool:
        """Follow one epoch. Returns whether it contains the change. Raises as `follow`."""
        before = self.head if self.carried.needs_states else None
        self._add(found)
        if self._is_own(found) or (self._has_batches and has_landed(self.change, self.head)):
            self.done = found
            return True
        if _ends_log(found):
            raise dropped_error(self._store, found.epoch)
        self.carried = self.carried.follow(before, found)
        self.change = after_own_draws(self.change, found)
        if len(self._followed) >= self._most_followed:
            _ = self.head
        return False

    def _add(self, found: Epoch) -> None:
        self._followed.append(found)
        self.epochs.append(found)

    @contextmanager
    def true_errors(self) -> Iterator[None]:
        """A block whose errors result from the epochs since the base.

        An object in a freed slot is not an epoch, so it conflicts with nothing. If the first slot
        after the base was freed, an error becomes that of `look`. Costs one GET for an error.
        """
        try:
            yield
        except ColonnadeError:
            self._check_not_freed(self.base.epoch + 1)
            raise

    def put(
        self,
        epoch: Epoch,
        after: Snapshot,
        data: bytes,
        pause: Callable[[float], None],
    ) -> bool:
        """Put the epoch with the change into the next slot. Returns whether the change is there.

        `after` is the state after the epoch. Returns True also if an earlier send of the change was
        first. If another change was first, the next `follow` begins with it. Raises as `take_slot`,
        for a freed slot as `look`, and for slot 1 as `check_first`.
        """
        if epoch.epoch == 1 and check_first(self._store, self.base.blocks) is SlotEnd.FREED:
            raise self._outdated_error()
        self._tried = True
        try:
            found = self._take(epoch, data, pause)
        except CommitUnknownError:
            raise
        except ColonnadeError:
            self._tried = False  # The epoch is not in its slot, and never will be.
            raise
        if found is epoch:
            self._tried = False
            if not self._looked and not self._covers(self.base):
                # The PUT took so long that the log may be another one by now.
                self._after_put(epoch, pause, self._check_base)
            self._state, self.done, self._settled = after, epoch, True
            self.epochs.append(epoch)
            return True
        self._free = False
        if self._is_own(found):
            self._add(found)
            self.done, self._settled = found, found.transaction == epoch.transaction
            return True
        self._tried, self._disproved = False, True
        self._next = found
        return False

    def _check_base(self) -> None:
        """Check that the base is still in the log that an epoch was put into. Raises as `look`."""
        base = self.base
        if not self._sees_base():
            check_slot(self._store, base.epoch, base.transaction, base.blocks)

    def settle(self, pause: Callable[[float], None]) -> None:
        """Make sure that the epoch with the change, which was found in the log, is durable.

        Its writer may have died before it was, or may have slept until its slot was freed. The
        change would then be lost. Cost: one PUT and one GET; nothing if this object has put the
        epoch. Raises as `put`.
        """
        assert self.done is not None
        if self._settled:
            return
        if self._is_own(self.done):
            self._tried = True
        self._take(self.done, encode_epoch(self.done), pause, settles=True)

    def _take(
        self, epoch: Epoch, data: bytes, pause: Callable[[float], None], *, settles: bool = False
    ) -> Epoch:
        """Take a slot as `take_slot` does. Check that the epoch's slot was not freed.

        The check follows the PUT, because a writer that slept may have put into a freed slot. With
        `settles`, the epoch was found there before, so it is made whatever the slot holds now.
        """
        found = take_slot(self._store, epoch, data, pause)
        if settles or found.transaction == epoch.transaction:
            self._look_again(epoch, pause)
        return found

    def _look_again(self, epoch: Epoch, pause: Callable[[float], None]) -> None:
        """Check that the slot of a put epoch was not freed. Raises as `look`."""
        if self._after_put(epoch, pause, partial(self._is_freed, epoch.epoch)):
            raise self._outdated_error()

    def _after_put(self, epoch: Epoch, pause: Callable[[float], None], look: Callable[[], T]) -> T:
        """Return what a look finds that has to follow the PUT of an epoch.

        The epoch may be committed, so an error of the look is an unknown outcome. Raises
        CommitUnknownError, and NotFoundError as `look`.
        """
        for attempt in range(TRIES):
            try:
                return look()
            except StoreError as error:
                cause: ColonnadeError = error
                pause(slot_pause_s(attempt))
            except CorruptionError as error:
                cause = error
                break
        raise unknown_error(self._store, epoch) from cause

    def _is_freed(self, slot: int) -> bool:
        return is_freed(self._store, self.base.blocks, slot)

    def _check_not_freed(self, slot: int) -> None:
        if self._is_freed(slot):
            raise self._outdated_error()

    def _outdated_error(self) -> ColonnadeError:
        """Return the error for a change that met a freed slot, and note that it has."""
        self.outdated = True
        sent = not self.change.fresh or self.may_be_committed()
        return outdated_error(self.change, self.base, sent=sent)

    def _read_after_removed(self, slot: int) -> Epoch:
        """Return the epoch in a slot that follows a removed base.

        Raises CorruptionError if the slot is empty and no mark explains that; else as `look`.
        """
        found = read_slot(self._store, slot)
        self._check_not_freed(slot)
        if found is None:
            raise CorruptionError(
                f"{self._store.locate(epoch_name(slot))} is missing, although the epoch before it"
                " was removed by retention. If only the mark of removed epochs is lost, `repair`"
                " puts it again."
            )
        return found

    def _is_own(self, found: Epoch) -> bool:
        return self.change.transaction == found.transaction

    @property
    def _next_slot(self) -> int:
        return self._state.epoch + len(self._followed) + 1

    def _read(self) -> Epoch | None:
        return read_slot(self._store, self._next_slot)


def _ends_log(epoch: Epoch) -> bool:
    return any(isinstance(op, DropDatabase) for op in epoch.ops)
