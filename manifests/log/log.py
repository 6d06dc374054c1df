"""The epoch log of one database. Only this module commits to it.

    Log
      reader          states and epochs: `log.reader.read_head()`
        follower      from a stored state to a later one
        rowsets       the RowSets of a table at a state: `log.rowsets.view(table)`
        last_look     how long the last look at the log may be trusted
      clock           dates epochs
      agreement       the time of steps that destroy or decide by time

Spec: docs/spec/epoch-log.md#commit
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from colonnade.manifests.checkpoint.reader import read_hint
from colonnade.manifests.checkpoint.writer import write_checkpoint
from colonnade.manifests.clock import now_ms
from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.conflicts import (
    check_change,
    check_expected,
    check_head,
    has_landed,
)
from colonnade.manifests.commit.outcome_errors import not_sent, outdated_error, perhaps_sent
from colonnade.manifests.commit.rebase.begin import begin
from colonnade.manifests.commit.rebase.carried import Carried
from colonnade.manifests.commit.rebase.keyed import resolved
from colonnade.manifests.commit.sending import Sending
from colonnade.manifests.commit.spill import spill
from colonnade.manifests.commit.statics import with_static_values
from colonnade.manifests.commit.turns import pause_s, wait_for_turn
from colonnade.manifests.commit.vacuum_conflicts import check_removed, removes
from colonnade.manifests.engine import (
    Author,
    engine_name,
    present_author,
    user_name,
    working_for,
)
from colonnade.manifests.epochs.agreed import Agreement
from colonnade.manifests.epochs.dating import Clock
from colonnade.manifests.epochs.freed_slots import is_freed
from colonnade.manifests.epochs.slots import landed_error, read_slot
from colonnade.manifests.errors import (
    ColonnadeError,
    CommitUnknownError,
    ConflictError,
    CorruptionError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.ids import TableId
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.log.creation import create_database
from colonnade.manifests.log.landed import (
    UNREADABLE,
    UNTELLING,
    find_added,
    find_landed,
    read_landed,
)
from colonnade.manifests.log.late_checkpoint import LateCheckpoint
from colonnade.manifests.model.codec import encode_epoch
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.named_objects import check_missing
from colonnade.manifests.object_names import MANIFEST
from colonnade.manifests.reading.live_rowsets import LiveRowSets
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.fold import apply_epoch, with_changes
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store.object_store import ObjectStore

__all__ = ["Change", "Log", "create_database"]

_log = logging.getLogger(__name__)


class Log:
    """Commits epochs to the log of the database in `store`. Holds no state of the database.

    `clock_ms` dates epochs, unless the store's clock contradicts it. A writer that commits a
    multiple of `checkpoint_interval` stores a checkpoint. `pause` waits (seconds) between tries of
    a slot with an unknown outcome, and after a lost slot. `engine` is the writer's name in the
    history, by default the name of the process. `author` tells whom each commit is for, by default
    the author that its thread works for. `limits` say how work is divided into epochs and
    objects.
    """

    def __init__(
        self,
        store: ObjectStore,
        *,
        clock_ms: Callable[[], int] = now_ms,
        checkpoint_interval: int = 64,
        pause: Callable[[float], None] = time.sleep,
        engine: str | None = None,
        limits: Limits = LIMITS,
    ) -> None:
        self.store = store
        self.clock = Clock(store, clock_ms)
        self.reader = LogReader(store, limits, self.clock)
        self.agreement = Agreement(store, self.clock)
        self._interval = checkpoint_interval
        self.pause = pause
        self._engine = engine or engine_name()
        self.author: Callable[[], Author] = present_author
        self._late = LateCheckpoint()

    @property
    def uncached(self) -> Log:
        """This log without the cache of its store, for work that must see what is really stored."""
        direct = copy(self)
        direct.store = self.store.uncached
        direct.reader = LogReader(direct.store, self.limits, self.clock)
        direct.reader.last_look = self.reader.last_look
        direct._late = LateCheckpoint()
        return direct

    @property
    def rowsets(self) -> LiveRowSets:
        """The RowSets of a table at a state, as `reader` reads them."""
        return self.reader.rowsets

    @property
    def limits(self) -> Limits:
        """How work is divided into epochs and objects."""
        return self.reader.limits

    def commit(self, change: Change, base: Snapshot) -> Snapshot:
        """Make a change the next epoch. Returns the state after it. See `commit_change`."""
        return self.commit_change(change, base)[0]

    def commit_change(self, change: Change, base: Snapshot) -> tuple[Snapshot, Epoch | None]:
        """Make a change that was planned on `base` the next epoch. Returns the state and the epoch.

        If the same change is sent again, from any process, it is still committed only once. A batch
        that was committed before is not committed again, and the returned epoch is None. Epochs of
        concurrent writers do not matter unless they conflict: rows that the change deletes are
        followed through them. The change is durable when the call returns. Cost: one PUT, three
        GETs (four in a bucket), and one more GET for each epoch since the base. If the log was seen
        less than the store's `trust_s` seconds ago, one GET instead of these. If a checkpoint is
        due, the checkpoint and three GETs. The caller waits for these on local disk. Behind a
        network it waits only if commits have not yet continued from the checkpoint before
        (`LateCheckpoint`).

        Raises ConflictError; AlreadyExistsError for the name of a new table; InvalidInputError for
        an invalid change; NotFoundError if the database was dropped or replaced;
        UnsupportedFormatError; for a `fresh` change CorruptionError and StoreError. After any of
        these, nothing was committed. Raises CommitUnknownError if the change may have been
        committed, or was committed and the state after it cannot be read. The caller must then
        delete no file that the change names.

        If retention has removed epochs since the base, or the log cannot be read, a change that is
        not `fresh` is looked for in the log. That costs as `find_sent`.
        """
        author = self.author()
        change = replace(change, parameters=author.signed(change.parameters))
        change = with_static_values(change, base)
        check_change(change, base)
        sending = Sending(change, base, self.store, self.reader.last_look.covers, self.limits)
        try:
            with working_for(author):
                return self._send(sending)
        except CommitUnknownError as error:
            if not sending.outdated:
                raise
            return self._find_outdated(sending, error), None
        except ConflictError:
            raise
        except ColonnadeError as error:
            known = change.fresh or not isinstance(error, UNTELLING)
            if known and not sending.may_be_committed():
                with self.removals_are_conflicts(change, base):
                    raise
            return self.find_sent(change.transaction, error), None

    def _send(self, sending: Sending) -> tuple[Snapshot, Epoch | None]:
        change, base = sending.change, sending.base
        sending.look()
        if has_landed(change, base):
            return base, None
        with self.removals_are_conflicts(change, base):
            small = change if change.keyed else spill(self.store, change, self.limits)
            sending.carried = begin(small, base, self.reader)
        self._take_slot(sending)
        done = sending.done
        assert done is not None
        after = self._late.adopt(self._state_after(sending, done), [*sending.epochs])
        own = done if done.transaction == change.transaction else None
        return self._checkpoint_if_due(after), own

    def _take_slot(self, sending: Sending) -> None:
        """Get a change into a slot, or find it in one that another process has put."""
        for lost in range(self.limits.lost_slots):
            if lost:
                self.pause(pause_s(lost))
            with self.store.turn(MANIFEST) as turn:
                follow = partial(sending.follow, turn)
                if wait_for_turn(turn, follow) or self._put(sending):
                    sending.settle(self.pause)
                    return
        raise self._slower(sending)

    def _slower(self, sending: Sending) -> ColonnadeError:
        """Return the error for a change that has lost too many slots."""
        change = sending.change
        slower = (
            f"Other writers were faster than {change.operation!r} for {self.limits.lost_slots}"
            " epochs in a row,"
        )
        if change.fresh and not sending.may_be_committed():
            return ConflictError(f"{slower} and nothing of it was committed; run it again.")
        # A late request of another send may take a slot from now on.
        return perhaps_sent(slower, change.transaction)

    def _state_after(self, sending: Sending, done: Epoch) -> Snapshot:
        """Return the state after a change that is in the log. Raises CommitUnknownError."""
        try:
            return sending.head
        except UNREADABLE:
            # The base may read its tables from a checkpoint that is lost or was removed.
            return read_landed(self.reader, done)

    def _put(self, sending: Sending) -> bool:
        """Try to make a change the next epoch, in a slot that was free a moment ago."""
        with sending.true_errors():
            head = sending.head
            check_head(sending.change, sending.base, head, self.reader.keeps)
            epoch = self._next_epoch(sending.carried, head)
            data, after = encode_epoch(epoch, self.limits.epoch_bytes), _fold_own(head, epoch)
        if self._is_due(epoch.epoch) and not self.reader.last_look.covers(sending.base):
            # If an epoch was lost after the base, this epoch would get its number. The hint may
            # tell.
            read_hint(self.store)
        return sending.put(epoch, after, data, self.pause)

    def resume(self, epoch: int, transaction: str, *, fresh: bool = False) -> tuple[Snapshot, bool]:
        """Return the state that a change was planned on, or the state after the change itself.

        The second value says whether the change was found in the log. It is searched only if
        retention has removed `epoch`, the base of the change; that costs as `find_sent`. Raises
        CommitUnknownError if the log cannot tell any more whether the change was committed, or
        ConflictError for a `fresh` one. Raises NotFoundError if the database has no such epoch,
        else as `read_at`.
        """
        try:
            return self.reader.read_at(epoch), False
        except NotFoundError:
            if epoch >= self.reader.read_head().floor:
                raise
        removed = f"Epoch {epoch}, on which the change was planned, was removed by retention;"
        if fresh:
            raise not_sent(removed)
        return self._find_sent(transaction, perhaps_sent(removed, transaction)), True

    def find_sent(self, transaction: str, error: ColonnadeError) -> Snapshot:
        """Return the state right after a change that an earlier send may have committed.

        `error` ended the last send, and does not tell the outcome of the earlier ones. Costs a GET
        for each epoch since the floor, and a PUT that makes the epoch durable. Raises
        CommitUnknownError if the change is not found, because a request of an earlier send may
        still arrive.
        """
        unknown = CommitUnknownError(
            f"It is not known whether an earlier send of transaction {transaction} was committed to"
            f" {self.store.url}; look for it in the history before you repeat it. This send ended"
            f" with: {error.message}"
        )
        unknown.__cause__ = error
        return self._find_sent(transaction, unknown)

    def _find_sent(self, transaction: str, unknown: CommitUnknownError) -> Snapshot:
        """Return the state right after a change. Raises `unknown` if the change is not found."""
        try:
            landed = find_landed(self.reader, transaction, self.reader.read_head(), self.pause)
        except UNREADABLE:
            landed = None
        if landed is None:
            raise unknown
        return landed

    def _find_outdated(self, sending: Sending, unknown: CommitUnknownError) -> Snapshot:
        """Return the state right after a change that met a freed slot.

        If the change is not found, raises ConflictError if the log proves that it was not committed
        and never will be, else CommitUnknownError.
        """
        change = sending.change
        try:
            head = self.reader.read_head()
            landed = find_landed(self.reader, change.transaction, head, self.pause)
            if landed is not None:
                return landed
            added = find_added(self.reader, change, sending.base, head)
        except UNREADABLE:
            raise unknown from None
        if added is None:
            raise unknown
        if added:
            reason = "retention has removed that epoch."
            raise landed_error(self.store, change.transaction, added, reason)
        if not change.fresh:
            raise unknown
        raise outdated_error(change, sending.base, sent=False)

    @contextmanager
    def removals_are_conflicts(self, planned: Change | str, base: Snapshot) -> Iterator[None]:
        """A block that reads objects which a change or its base names, such as files of a slow job.

        `planned` is the change, or the name of the operation if nothing of it was sent yet. A
        missing object is not damage if a vacuum since the base has removed it, or the base. It is
        an object of a statement then, which no epoch names yet.
        Raises ConflictError or CommitUnknownError, as `commit_change` does. For a change that is
        not `fresh`, it may stay a CorruptionError, because an earlier send may be in the log.
        """
        try:
            yield
        except CorruptionError as error:
            change = planned
            if isinstance(change, str):
                change = Change("", change, (), fresh=True)
            number = base.epoch + 1
            if is_freed(self.store, base.blocks, number):
                raise outdated_error(change, base, sent=not change.fresh) from None
            while (found := read_slot(self.store, number)) is not None:
                if change.transaction == found.transaction:
                    break
                check_removed(change, base, found)
                if change.fresh and removes(found, base.epoch):
                    raise not_sent(
                        f"Epoch {base.epoch}, on which {change.operation!r} was planned, was"
                        f" removed by the vacuum of epoch {number};"
                    ) from None
                if change.fresh:
                    check_missing(error, found)
                number += 1
            raise

    def expect(self, operation: str, epoch: int | None, base: Snapshot) -> None:
        """Check the expected epoch of an operation that has nothing to commit.

        Raises ConflictError if the database is not at `epoch`. Cost: as `refresh`; nothing without
        an epoch.
        """
        if epoch is not None:
            check_expected(operation, epoch, self.reader.refresh(base))

    def preview(
        self,
        change: Change,
        base: Snapshot,
        earlier: Mapping[TableId, TableState | None] = MappingProxyType({}),
    ) -> Snapshot:
        """Return the state that a change would leave right after its base.

        `earlier` are tables as earlier previews on the same base have left them; None means a
        dropped table. So a writer with many statements previews each table and each statement by
        itself. Commits nothing and writes no object. Raises as `commit`.
        """
        before = replace(base, tables=with_changes(base.tables, earlier, base.epoch))
        change = with_static_values(change, before)
        check_change(change, before)
        check_head(change, before, before, self.reader.keeps)
        with self.removals_are_conflicts(change, base):
            carried = begin(change, before, self.reader, stored=False)
            epoch = self._next_epoch(carried, before)
            state = _fold_own(before, epoch)
        changed = {
            id_: replace(table, previews=(*table.previews, epoch))
            for id_, table in state.held_tables().items()
            if table and table.changed_epoch > base.epoch and table is not earlier.get(id_)
        }
        owners = {table.statics_of: table for table in changed.values() if table.statics_of}
        for owner, statics in owners.items():
            table = changed.get(owner) or state.tables[owner]
            changed[owner] = replace(table, statics=statics)
        return replace(state, tables=with_changes(state.tables, changed, base.epoch))

    def try_checkpoint(self, snapshot: Snapshot) -> Snapshot:
        """Store a committed state as a checkpoint, and return the stored state.

        A failure only logs a warning, and returns the given state. Never raises. Cost: as
        `write_checkpoint`; for a `stale` state also as `read_at`.
        """
        try:
            # An old state may refer to segments that vacuum has removed since.
            fresh = self.reader.read_at(snapshot.epoch) if snapshot.stale else snapshot
            replay = partial(self.reader.follower.replay, fresh.database)
            return write_checkpoint(self.store, fresh, self.limits, replay)
        except Exception as error:
            # The epoch is committed, and no reader needs a checkpoint of it. An error here would
            # tell the caller that the commit had failed.
            _log.warning(
                "No checkpoint of epoch %d: %s",
                snapshot.epoch,
                error,
                exc_info=not isinstance(error, ColonnadeError),
            )
            return snapshot

    def _checkpoint_if_due(self, snapshot: Snapshot) -> Snapshot:
        due = self._is_due(snapshot.epoch) and not snapshot.dropped
        if not due:
            return snapshot
        return self._late.begin(snapshot, self.try_checkpoint, self.store.later)

    def _is_due(self, epoch: int) -> bool:
        """Return whether the writer of an epoch stores a checkpoint of it."""
        return epoch % self._interval == 0

    def _next_epoch(self, carried: Carried, head: Snapshot) -> Epoch:
        with self.removals_are_conflicts(carried.change, head):
            carried = resolved(carried, head)
        change = carried.change
        operations = carried.write_operations()
        metrics = carried.metrics(operations)
        if change.fill is not None:
            filled, counts = change.fill.fill(head)
            operations, metrics = (*operations, *filled), {**metrics, **counts}
        date = self.clock.date(head.time_ms)
        return Epoch(
            epoch=head.epoch + 1,
            transaction=change.transaction,
            previous=head.transaction,
            base=carried.base.epoch,
            time_ms=date.time_ms,
            clock_ms=date.clock_ms,
            operation=change.operation,
            parameters=dict(change.parameters),
            engine=self._engine,
            user=user_name(),
            metrics=metrics or None,
            ops=operations,
        )


def _fold_own(head: Snapshot, epoch: Epoch) -> Snapshot:
    """Fold an epoch before it is written, so that the log has no epoch that readers refuse."""
    try:
        return apply_epoch(head, epoch)
    except CorruptionError as error:
        raise InvalidInputError(f"This change cannot be committed. {error.message}") from error
