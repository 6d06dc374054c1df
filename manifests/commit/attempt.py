"""Commit a change: the steps of the specification, in its order.

    outcome = commit(change, base, writer)
    match outcome:
        case Committed(state, epoch): ...
        case NotCommitted(error) | Unknown(error): raise error

An `Attempt` holds what one commit has seen of the log, and what it has put there.
Spec: docs/spec/epoch-log.md#commit
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from colonnade.manifests.checkpoint.reader import read_hint
from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.conflicts import has_landed
from colonnade.manifests.commit.followed_head import FollowedHead
from colonnade.manifests.commit.landed_changes import (
    UNREADABLE,
    UNTELLING,
    find_added,
    find_landed,
    find_sent,
    read_landed,
)
from colonnade.manifests.commit.next_epoch import NextEpoch, fold_own, next_epoch
from colonnade.manifests.commit.outcome import (
    Committed,
    NotCommitted,
    Outcome,
    SendState,
    SlotFreed,
    Unknown,
    not_sent,
    outpaced,
    perhaps_sent,
    removed_base,
)
from colonnade.manifests.commit.rebase.carried import Carried
from colonnade.manifests.commit.rebase.change_at_base import change_at_base
from colonnade.manifests.commit.removals import check_removals
from colonnade.manifests.commit.spill import spill
from colonnade.manifests.commit.turns import pause_s, wait_for_turn
from colonnade.manifests.epochs.dating import Clock
from colonnade.manifests.epochs.freed_slots import is_freed
from colonnade.manifests.epochs.slots import (
    TRIES,
    SlotEnd,
    check_first,
    check_slot,
    dropped_error,
    landed_error,
    log_has_epoch,
    read_slot,
    slot_pause_s,
    take_slot,
    unknown_error,
)
from colonnade.manifests.errors import (
    ColonnadeError,
    CommitUnknownError,
    ConflictError,
    CorruptionError,
    StoreError,
)
from colonnade.manifests.model.codec import encode_epoch
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import DropDatabase, Txn
from colonnade.manifests.object_names import MANIFEST, epoch_name
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store.turn import Turn

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Writer:
    """What a commit uses of its log.

    `pause` waits (seconds). `is_due` says whether the writer of an epoch stores a checkpoint of it.
    """

    reader: LogReader
    clock: Clock
    engine: str
    pause: Callable[[float], None]
    is_due: Callable[[int], bool]


def commit(change: Change, base: Snapshot, writer: Writer) -> Outcome:
    """Make a change that was planned on `base` the next epoch, and say what is known of it then.

    Costs as `Log.commit_change`. Raises no ColonnadeError: an error that ends the steps is a part
    of the outcome.
    """
    attempt = Attempt(change, base, writer)
    try:
        # 1. Look.
        attempt.look()
        if has_landed(change, base):
            return Committed(base)
        attempt.begin()
        for lost in range(writer.reader.limits.lost_slots):
            if lost:
                writer.pause(pause_s(lost))
            with writer.reader.store.turn(MANIFEST) as turn:
                # 2. Follow.
                done = wait_for_turn(turn, partial(attempt.follow, turn))
                if done is not None:
                    attempt.make_durable(done)
                else:
                    # 3. Make.
                    made = attempt.make()
                    # 4. Put; 5. after another answer than CREATED, read the slot.
                    done = attempt.put(made)
            if done is not None:
                return attempt.committed(done)
        return attempt.outpaced()
    except SlotFreed:
        # 6. A slot was freed: look for the change in the epochs that can be read.
        return attempt.search_after_removal()
    except ColonnadeError as error:
        return attempt.ended(error)


class Attempt:
    """A change that was planned on `base`, on its way to a slot.

    `head` is the newest epoch that it has followed, and `carried` the change as of then, which
    `begin` makes. `sent` says what became of the own epochs. An object must be used by one thread.
    """

    carried: Carried

    def __init__(self, change: Change, base: Snapshot, writer: Writer) -> None:
        self.change = change
        self.base = base
        self.head = FollowedHead(base, writer.reader.limits.followed_epochs)
        self.sent = SendState.NOTHING
        self._writer = writer
        self._log = writer.reader
        self._store = writer.reader.store
        self._has_batches = any(isinstance(op, Txn) for op in (*change.ops, *change.prepared))
        # Whether the base was found in the log. If not, the process has seen it a moment ago.
        self._looked = False
        # The epoch in the next slot, if it was read; whether that slot was free at the last look.
        self._next: Epoch | None = None
        self._free = False

    def look(self) -> None:
        """Read the slot after the base, and check that it belongs to the base's log.

        Does nothing if the log was seen a moment ago. Then the PUT itself tells whether the slot is
        free. Cost: one GET if another epoch follows the base, else two; in a bucket always three,
        side by side. Raises NotFoundError if the database was removed or replaced; SlotFreed if
        retention has removed that slot.
        """
        if self._covered():
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

    def begin(self) -> None:
        """Prepare to follow epochs: read what the change deletes, and store what is too long."""
        change = self.change
        small = change if change.keyed else spill(self._store, change, self._log.limits)
        self.carried = change_at_base(small, self.base, self._log)

    def follow(self, turn: Turn, waited: bool) -> Epoch | None:
        """Follow concurrent epochs up to a free slot, or to the change itself.

        Returns the epoch that has the change, or the last of its batches, if it is there. Cost: one
        GET for each epoch since, and one more. Nothing if the slot was free at the last look,
        `waited` is false, and the turn knows of no later epoch. Raises ConflictError if the change
        cannot follow, else as `look`.
        """
        if self._free and not waited and not turn.may_exist(epoch_name(self.head.next_slot)):
            return None
        if not self._looked:
            # Another epoch was first, although the slot seemed to be free.
            self._next = self._next or read_slot(self._store, self.base.epoch + 1)
            self._check_next()
        self._free = False
        found, self._next = self._next or self._read(), None
        while found is not None:
            if self._has_change(found):
                return found
            found = self._read()
        self._free = True
        return None

    def _has_change(self, found: Epoch) -> bool:
        """Follow one epoch. Returns whether it contains the change. Raises as `follow`."""
        before = self.head.state if self.carried.needs_states else None
        self.head.add(found)
        if self._is_own(found) or (self._has_batches and has_landed(self.change, self.head.state)):
            return True
        if _ends_log(found):
            raise dropped_error(self._store, found.epoch)
        self.carried = self.carried.follow(before, found)
        return False

    def make(self) -> NextEpoch:
        """Make the epoch with the change, for a slot that was free a moment ago."""
        head = self.head.state
        epoch = next_epoch(self.carried, head, self._writer.clock, self._writer.engine)
        data = encode_epoch(epoch, self._log.limits.epoch_bytes)
        after = fold_own(head, epoch)
        if self._writer.is_due(epoch.epoch) and not self._covered():
            # If an epoch was lost after the base, this epoch would get its number. The hint may
            # tell.
            read_hint(self._store)
        return NextEpoch(epoch, data, after)

    def put(self, made: NextEpoch) -> Epoch | None:
        """Put the epoch with the change into the next slot.

        Returns the epoch with the change that is there: this one, or that of an earlier send. If
        another change was first, returns None, and the next `follow` begins with it. Raises as
        `take_slot`, SlotFreed for a freed slot, and for slot 1 as `check_first`.
        """
        epoch = made.epoch
        if epoch.epoch == 1 and check_first(self._store, self.base.blocks) is SlotEnd.FREED:
            raise SlotFreed
        before, self.sent = self.sent, SendState.OPEN
        try:
            found = self._take(epoch, made.data)
        except CommitUnknownError:
            raise
        except ColonnadeError:
            self.sent = before  # The epoch is not in its slot, and never will be.
            raise
        if found is epoch:
            self.sent = before
            if not self._looked and not self._covered():
                # The PUT took so long that the log may be another one by now.
                self._after_put(epoch, self._check_base)
            self.head.put(epoch, made.after)
            return epoch
        self._free = False
        if self._is_own(found):
            self.head.add(found)
            return found
        self.sent, self._next = SendState.LOST, found
        return None

    def make_durable(self, done: Epoch) -> None:
        """Put an epoch again that was found in the log.

        Its writer may have died before it was durable, or may have slept until its slot was freed.
        The change would then be lost. Cost: one PUT and one GET. Raises as `put`.
        """
        if self._is_own(done):
            self.sent = SendState.OPEN
        self._take(done, encode_epoch(done), found=True)

    def committed(self, done: Epoch) -> Committed:
        """Return the outcome of a change that is in an epoch. Raises CommitUnknownError."""
        own = done if self._is_own(done) else None
        try:
            return Committed(self.head.state, own, [*self.head.epochs])
        except UNREADABLE:
            # The base may read its tables from a checkpoint that is lost or was removed.
            return Committed(read_landed(self._log, done), own, [*self.head.epochs])

    def outpaced(self) -> NotCommitted | Unknown:
        """Return the outcome of a change that has lost too many slots."""
        perhaps = not self.change.fresh or self._was_misled()
        return outpaced(self.change, self._log.limits.lost_slots, perhaps=perhaps)

    def ended(self, error: ColonnadeError) -> Outcome:
        """Return the outcome of a change whose way an error has ended. Never raises.

        An object in a freed slot is not an epoch, so an error that results from it means nothing. A
        conflict with an epoch that was read proves that nothing was committed. Any other error says
        nothing about earlier sends. Costs one GET, and a look for an earlier send if there may be
        one.
        """
        if isinstance(error, CommitUnknownError):
            return Unknown(error)
        misled = True
        try:
            if is_freed(self._store, self.base.blocks, self.base.epoch + 1):
                return self.search_after_removal()
            misled = False
            if isinstance(error, CorruptionError):
                check_removals(self._log, self.change, self.base, error)
        except CommitUnknownError as unknown:
            return Unknown(unknown)
        except ColonnadeError as found:
            error = found
        if isinstance(error, ConflictError):
            return NotCommitted(error)
        perhaps = self.sent is SendState.OPEN or (misled and self.sent is SendState.LOST)
        if not perhaps and (self.change.fresh or not isinstance(error, UNTELLING)):
            return NotCommitted(error)
        return find_sent(self._log, self.change.transaction, error, self._writer.pause)

    def search_after_removal(self) -> Outcome:
        """Return the outcome of a change that has met a freed slot. Never raises.

        If nothing of it was sent, nothing was committed. Otherwise the change is looked for in the
        epochs that can be read. If it is not there, the ids of RowSets may still tell.
        """
        change, reason = self.change, removed_base(self.change, self.base)
        refused = NotCommitted(not_sent(reason))
        if change.fresh and self.sent is SendState.NOTHING:
            return refused
        unknown = Unknown(perhaps_sent(reason, change.transaction))
        try:
            head = self._log.read_head()
            landed = find_landed(self._log, change.transaction, head, self._writer.pause)
            if landed is not None:
                return Committed(landed)
            added = find_added(self._log, change, self.base, head)
        except CommitUnknownError as error:
            return Unknown(error)
        except ColonnadeError:
            return unknown
        if added:
            removed = "retention has removed that epoch."
            return Unknown(landed_error(self._store, change.transaction, added, removed))
        return refused if added == 0 and change.fresh else unknown

    def _covered(self) -> bool:
        """Return whether the log of the base was seen a moment ago (`LastLook.covers`)."""
        return self._log.last_look.covers(self.base)

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

    def _read_after_removed(self, slot: int) -> Epoch:
        """Return the epoch in a slot that follows a removed base.

        Raises CorruptionError if the slot is empty and no mark explains that; else as `look`.
        """
        found = read_slot(self._store, slot)
        if is_freed(self._store, self.base.blocks, slot):
            raise SlotFreed
        if found is None:
            raise CorruptionError(
                f"{self._store.locate(epoch_name(slot))} is missing, although the epoch before it"
                " was removed by retention. If only the mark of removed epochs is lost, `repair`"
                " puts it again."
            )
        return found

    def _check_base(self) -> None:
        """Check that the base is still in the log that an epoch was put into. Raises as `look`."""
        base = self.base
        if not self._sees_base():
            check_slot(self._store, base.epoch, base.transaction, base.blocks)

    def _take(self, epoch: Epoch, data: bytes, *, found: bool = False) -> Epoch:
        """Take a slot as `take_slot` does. Check that the epoch's slot was not freed.

        Every PUT of a commit goes through here. The check follows the PUT, because a writer that
        slept may have put into a freed slot. With `found`, the epoch was read there before, so it
        is made whatever the slot holds now.
        """
        taken = take_slot(self._store, epoch, data, self._writer.pause)
        if found or taken.transaction == epoch.transaction:
            self._look_again(epoch)
        return taken

    def _look_again(self, epoch: Epoch) -> None:
        """Check that the slot of a put epoch was not freed. Raises SlotFreed."""
        if self._after_put(epoch, partial(is_freed, self._store, self.base.blocks, epoch.epoch)):
            raise SlotFreed

    def _after_put(self, epoch: Epoch, look: Callable[[], T]) -> T:
        """Return what a look finds that has to follow the PUT of an epoch.

        The epoch may be committed, so an error of the look is an unknown outcome. Raises
        CommitUnknownError, and NotFoundError as `look`.
        """
        for attempt in range(TRIES):
            try:
                return look()
            except StoreError as error:
                cause: ColonnadeError = error
                self._writer.pause(slot_pause_s(attempt))
            except CorruptionError as error:
                cause = error
                break
        raise unknown_error(self._store, epoch) from cause

    def _was_misled(self) -> bool:
        """Return whether an epoch that was not read may hold the change.

        It cannot if the slot of each own epoch was seen to hold another one, unless that slot was
        freed before it was read: then its content need not be an epoch, and disproves nothing.
        Costs one GET if something was put. Never raises.
        """
        try:
            freed = self.sent is SendState.LOST and is_freed(
                self._store, self.base.blocks, self.base.epoch + 1
            )
        except (StoreError, CorruptionError):
            return True
        return freed or self.sent is SendState.OPEN

    def _is_own(self, found: Epoch) -> bool:
        return self.change.transaction == found.transaction

    def _read(self) -> Epoch | None:
        return read_slot(self._store, self.head.next_slot)


def _ends_log(epoch: Epoch) -> bool:
    return any(isinstance(op, DropDatabase) for op in epoch.ops)
