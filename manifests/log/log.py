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
import random
import time
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from colonnade.manifests.clock import now_ms
from colonnade.manifests.engine import Author, engine_name, present_author, working_for
from colonnade.manifests.epochs.agreement import Agreement
from colonnade.manifests.epochs.dating import Clock
from colonnade.manifests.errors import (
    ColonnadeError,
    ConflictError,
    CorruptionError,
    NotFoundError,
)
from colonnade.manifests.ids import TableId
from colonnade.manifests.later import later
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.log.background_checkpoint import BackgroundCheckpoint
from colonnade.manifests.log.creation import create_database
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.reading.live_rowsets import LiveRowSets
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.fold import with_changes
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store.object_store import ObjectStore

__all__ = ["Log", "create_database"]

if TYPE_CHECKING:
    from colonnade.manifests.checkpoint import writer as checkpoints
    from colonnade.manifests.commit import (
        attempt,
        conflicts,
        landed_changes,
        outcome,
        removals,
    )
    from colonnade.manifests.commit import next_epoch as epochs
    from colonnade.manifests.commit import statics as static_values
    from colonnade.manifests.commit.change import Change
    from colonnade.manifests.commit.rebase import change_at_base as rebase
else:  # what a program that only reads does not need
    attempt = later("colonnade.manifests.commit.attempt")
    rebase = later("colonnade.manifests.commit.rebase.change_at_base")
    checkpoints = later("colonnade.manifests.checkpoint.writer")
    conflicts = later("colonnade.manifests.commit.conflicts")
    landed_changes = later("colonnade.manifests.commit.landed_changes")
    epochs = later("colonnade.manifests.commit.next_epoch")
    outcome = later("colonnade.manifests.commit.outcome")
    removals = later("colonnade.manifests.commit.removals")
    static_values = later("colonnade.manifests.commit.statics")

_log = logging.getLogger(__name__)

TRIES = 10
"""How often a statement is evaluated before its conflict is reported."""

_FIRST_PAUSE_S = 0.01
_LONGEST_PAUSE_S = 1.0


def pause_before(attempt: int) -> float:
    """Return the seconds to wait before a try after the first; random, to separate rivals."""
    pause: float = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2**attempt)
    return pause * random.uniform(0.5, 1.0)


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
        self._background = BackgroundCheckpoint()

    @property
    def uncached(self) -> Log:
        """This log without the cache of its store, for work that must see what is really stored."""
        direct = copy(self)
        direct.store = self.store.uncached
        direct.reader = LogReader(direct.store, self.limits, self.clock)
        direct.reader.last_look = self.reader.last_look
        direct._background = BackgroundCheckpoint()
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
        (`BackgroundCheckpoint`).

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
        parameters = author.signed(change.parameters)
        if parameters is not change.parameters:
            change = replace(change, parameters=parameters)
        change = static_values.with_static_values(change, base)
        conflicts.check_change(change, base)
        with working_for(author):
            result = attempt.commit(change, base, self._writer)
        if not isinstance(result, outcome.Committed):
            raise result.error
        if not result.epochs:
            return result.state, None
        after = self._background.adopt(result.state, result.epochs)
        return self._checkpoint_if_due(after), result.epoch

    def commit_statement(
        self,
        base: Snapshot,
        evaluate: Callable[[Snapshot], Change | Snapshot | None],
        operation: str = "statement",
        tries: int = TRIES,
    ) -> tuple[Snapshot, Epoch | None]:
        """Evaluate a statement on a state and commit it; after a conflict, again on the newest one.

        It is also evaluated again when a vacuum has removed the state, or files of the statement,
        meanwhile. `evaluate` returns None if the statement changes nothing, or a later state if it
        changes nothing there. Returns the state after the statement, and its epoch. The epoch is
        None when the statement changes nothing, and when its batch has landed before. `operation`
        names the statement in errors. Raises ConflictError after `tries` with growing pauses, or at
        once when the change expects an epoch. Raises whatever `evaluate` and `commit` raise.
        """
        for attempt in range(tries):
            if attempt:
                self.pause(pause_before(attempt))
                base = self.reader.refresh(base)
            last = attempt == tries - 1
            try:
                change = evaluate(base)
            except CorruptionError:
                try:
                    with removals.removals_are_conflicts(self.reader, operation, base):
                        raise
                except ConflictError:
                    if last:
                        raise
                    continue
            if change is None:
                return base, None
            if isinstance(change, Snapshot):
                return change, None
            try:
                return self.commit_change(change, base)
            except ConflictError:
                if last or change.expect_epoch is not None:
                    raise
        raise AssertionError("unreachable")

    @property
    def _writer(self) -> attempt.Writer:
        return attempt.Writer(self.reader, self.clock, self._engine, self.pause, self._is_due)

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
            raise outcome.not_sent(removed)
        unknown = outcome.perhaps_sent(removed, transaction)
        return _state(landed_changes.search(self.reader, transaction, unknown, self.pause)), True

    def find_sent(self, transaction: str, error: ColonnadeError) -> Snapshot:
        """Return the state right after a change that an earlier send may have committed.

        `error` ended the last send, and does not tell the outcome of the earlier ones. Costs a GET
        for each epoch since the floor, and a PUT that makes the epoch durable. Raises
        CommitUnknownError if the change is not found, because a request of an earlier send may
        still arrive.
        """
        return _state(landed_changes.find_sent(self.reader, transaction, error, self.pause))

    def expect(self, operation: str, epoch: int | None, base: Snapshot) -> None:
        """Check the expected epoch of an operation that has nothing to commit.

        Raises ConflictError if the database is not at `epoch`. Cost: as `refresh`; nothing without
        an epoch.
        """
        if epoch is not None:
            conflicts.check_expected(operation, epoch, self.reader.refresh(base))

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
        change = static_values.with_static_values(change, before)
        conflicts.check_change(change, before)
        with removals.removals_are_conflicts(self.reader, change, base):
            carried = rebase.change_at_base(change, before, self.reader, stored=False)
            epoch = epochs.next_epoch(carried, before, self.clock, self._engine)
            state = epochs.fold_own(before, epoch)
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
            return checkpoints.write_checkpoint(self.store, fresh, self.limits, replay)
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
        return self._background.begin(snapshot, self.try_checkpoint, self.store.later)

    def _is_due(self, epoch: int) -> bool:
        """Return whether the writer of an epoch stores a checkpoint of it."""
        return epoch % self._interval == 0


def _state(found: outcome.Committed | outcome.Unknown) -> Snapshot:
    if isinstance(found, outcome.Unknown):
        raise found.error
    return found.state
