"""The epoch log of one database: what reads it, and the only code that commits to it.

Spec: docs/spec/epoch-log.md
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from manifests.bounds import BoundsTable, bounds_table
from manifests.change import Change
from manifests.clock import now_ms
from manifests.codec import encode_epoch
from manifests.conflicts import check_change, check_epoch, check_head
from manifests.creation import create_database
from manifests.entries import Epoch, Stub
from manifests.errors import (
    CommitUnknownError,
    CorruptionError,
    InvalidInputError,
    NotFoundError,
)
from manifests.fold import apply_epoch
from manifests.slots import read_slot, take_slot
from manifests.snapshot import LiveRowSet, Snapshot, TableState
from manifests.store.base import ObjectStore

__all__ = ["Change", "Log", "create_database"]

Keep = Callable[[BoundsTable], NDArray[np.bool_]]

ENGINE = "colonnade-python"


class Log:
    """Reads and commits epochs of the database in `store`. Holds no state of the database.

    `clock_ms` dates epochs, `pause` waits between tries of a slot whose outcome is unknown.
    Every method raises StoreError when the store fails, CorruptionError when an epoch is damaged
    and UnsupportedFormatError when it comes from a newer version.
    """

    def __init__(
        self,
        store: ObjectStore,
        *,
        clock_ms: Callable[[], int] = now_ms,
        checkpoint_interval: int = 64,
        pause: Callable[[float], None] = time.sleep,
        engine: str = ENGINE,
    ) -> None:
        self.store = store
        self._clock_ms = clock_ms
        self._interval = checkpoint_interval
        self._pause = pause
        self._engine = engine

    def read_head(self) -> Snapshot:
        """The newest state. Raises NotFoundError where no database is."""
        first = read_slot(self.store, 0)
        if not isinstance(first, Epoch):
            raise NotFoundError(f"{self.store.url} is no Colonnade database or table.")
        return self.refresh(apply_epoch(None, first))

    def refresh(self, snapshot: Snapshot) -> Snapshot:
        """The newest state, from one read earlier. Costs one GET an epoch since, and one."""
        while epoch := read_slot(self.store, snapshot.epoch + 1):
            assert isinstance(epoch, Epoch)
            snapshot = apply_epoch(snapshot, epoch)
        return snapshot

    def commit(self, change: Change, base: Snapshot) -> Snapshot:
        """Make a change that was planned on `base` the next epoch; returns the state after it.

        Sending the same change again, from any process, commits it once. Other epochs since the
        base do not matter unless they conflict. Durable when it returns. Cost: one PUT, and one
        GET an epoch since the base.

        Raises: ConflictError, AlreadyExistsError for the name of a new table, InvalidInputError
        for a change that cannot be, UnsupportedFormatError, StoreError: nothing was committed.
        CommitUnknownError: it may have been; delete no file that the change names.
        """
        check_change(change, base)
        head = base
        while True:
            check_head(change, base, head)
            epoch = self._next_epoch(change, base, head)
            data = encode_epoch(epoch)
            after = _fold_own(head, epoch)
            found = take_slot(self.store, epoch, data, self._pause)
            if found is epoch:
                return after
            head, done = self._follow(change, base, head, found)
            if done:
                return head

    def _follow(
        self, change: Change, base: Snapshot, head: Snapshot, found: Epoch | Stub | None
    ) -> tuple[Snapshot, bool]:
        """Go through the epochs from `found` on, up to a free slot or to the change itself."""
        while found is not None:
            if isinstance(found, Stub):
                raise self._outdated(change, base, found)
            if found.transaction == change.transaction:
                return apply_epoch(head, found), True
            check_epoch(change, base, found)
            head = apply_epoch(head, found)
            found = read_slot(self.store, head.epoch + 1)
        return head, False

    def _outdated(self, change: Change, base: Snapshot, stub: Stub) -> CommitUnknownError:
        # Whether the removed epoch was this very change, sent before, nobody can tell any more.
        return CommitUnknownError(
            f"Epoch {stub.removed}, after epoch {base.epoch} on which {change.operation!r} was"
            f" planned, was removed by retention; look for transaction {change.transaction} in"
            " the history before you repeat it."
        )

    def _next_epoch(self, change: Change, base: Snapshot, head: Snapshot) -> Epoch:
        return Epoch(
            epoch=head.epoch + 1,
            transaction=change.transaction,
            previous=head.transaction,
            base=base.epoch,
            time_ms=max(self._clock_ms(), head.time_ms + 1),
            operation=change.operation,
            parameters=dict(change.parameters),
            engine=self._engine,
            ops=change.ops,
        )

    def read_at(
        self,
        epoch: int | None = None,
        timestamp_ms: int | None = None,
        head: Snapshot | None = None,
    ) -> Snapshot:
        """The state at an epoch, or at the last one not after a time; the head without either.

        `head`, where the caller has a recent state, saves looking for it. Raises NotFoundError
        for an epoch that does not exist or was removed, or a time before the first.
        """
        first = read_slot(self.store, 0)
        if not isinstance(first, Epoch):
            raise NotFoundError(f"{self.store.url} is no Colonnade database or table.")
        state = apply_epoch(None, first)
        while epoch is None or state.epoch < epoch:
            following = read_slot(self.store, state.epoch + 1)
            if not isinstance(following, Epoch):
                break
            if timestamp_ms is not None and following.time_ms > timestamp_ms:
                break
            state = apply_epoch(state, following)
        if epoch is not None and state.epoch != epoch:
            raise NotFoundError(f"Epoch {epoch} of {self.store.url} does not exist.")
        if timestamp_ms is not None and state.time_ms > timestamp_ms:
            raise NotFoundError(f"{self.store.url} did not exist at that time.")
        return state

    def read_rowsets(self, table: TableState, keep: Keep | None = None) -> list[LiveRowSet]:
        """The live RowSets of a table, in the order of their ids.

        `keep` says from row counts and bounds which of many things may matter; it is asked about
        segments first, and those that it leaves out are not read.
        """
        added = table.rowsets.added
        if keep is None:
            return list(added)
        bounds = bounds_table([r.entry.statistics for r in added], [r.entry.rows for r in added])
        return [r for r, wanted in zip(added, keep(bounds), strict=True) if wanted]

    def read_epochs(self, newest: int, limit: int | None = None) -> Iterator[Epoch]:
        """Epochs from `newest` down, at most `limit`; ends at the floor. One GET each.

        Raises NotFoundError when `newest` does not exist.
        """
        oldest = 0 if limit is None else max(0, newest - limit + 1)
        for number in range(newest, oldest - 1, -1):
            epoch = read_slot(self.store, number)
            if epoch is None:
                raise NotFoundError(f"Epoch {number} of {self.store.url} does not exist.")
            if isinstance(epoch, Stub):
                return
            yield epoch


def _fold_own(head: Snapshot, epoch: Epoch) -> Snapshot:
    """Fold an epoch before it is written, so that none is written that readers refuse."""
    try:
        return apply_epoch(head, epoch)
    except CorruptionError as error:
        raise InvalidInputError(f"This change cannot be committed. {error.message}") from error
