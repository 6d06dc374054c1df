"""Read the epoch log of one database: its newest state, earlier states, and its epochs.

Spec: docs/spec/epoch-log.md#head
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial

from colonnade.manifests.checkpoint.anchor_list import find_anchor
from colonnade.manifests.checkpoint.reader import (
    UNUSABLE,
    find_checkpoint,
    read_hint,
    read_state,
    refuse_lost,
)
from colonnade.manifests.clock import elapsed_s, utc
from colonnade.manifests.epochs.dating import Clock
from colonnade.manifests.epochs.epoch_times import last_epoch_by, present_ms
from colonnade.manifests.epochs.freed_slots import is_freed
from colonnade.manifests.epochs.opening_reads import OpeningReads
from colonnade.manifests.epochs.slot_reader import AHEAD, SlotReader, read_slots_down
from colonnade.manifests.epochs.slots import (
    check_end,
    check_slot,
    dropped_error,
    log_has_epoch,
    missing_error,
    read_slot,
)
from colonnade.manifests.errors import (
    CorruptionError,
    MissingObjectError,
    NotFoundError,
    StoreError,
    UnsupportedFormatError,
)
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.named_objects import check_missing, rowset_objects
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.reading.following import LogFollower
from colonnade.manifests.reading.last_look import LastLook
from colonnade.manifests.reading.live_rowsets import LiveRowSets
from colonnade.manifests.state.fold import apply_epoch
from colonnade.manifests.state.snapshot import Snapshot, TableMap
from colonnade.manifests.store.object_store import ObjectStore

LOG_ERRORS = (CorruptionError, StoreError, UnsupportedFormatError)
"""Errors of a look at the log which do not say whether retention has removed an epoch."""


class LogReader:
    """Reads states and epochs of the database in `store`. Holds no state of the database.

    `follower` goes from a stored state to any later one, and `rowsets` reads the RowSets of a table
    at a state. The reader remembers only when it saw the log last (`LastLook`). `clock` says what
    time it is, by default the clock of this machine. Every method raises StoreError if the
    store fails, CorruptionError if an epoch is damaged, and UnsupportedFormatError if a newer
    version wrote it.
    """

    def __init__(
        self, store: ObjectStore, limits: Limits = LIMITS, clock: Clock | None = None
    ) -> None:
        self.store = store
        self.limits = limits
        self.clock = clock or Clock(store)
        self.follower = LogFollower(store, limits)
        self.rowsets = LiveRowSets(self.follower)
        self.last_look = LastLook(store)

    def now_ms(self) -> int:
        """Return the time by this machine's clock, in ms since 1970 UTC."""
        return self.clock.own_ms()

    def query_ms(self, state: Snapshot) -> int:
        """Return the time of a query on a state, in ms since 1970 UTC, which says what has expired.

        It is this machine's time, or the time of the state if a clock says that this is later.
        """
        return max(self.now_ms(), state.time_ms)

    def read_head(
        self, *, opening: OpeningReads | None = None, slots: SlotReader | None = None
    ) -> Snapshot:
        """Return the newest state. Costs the hint, a checkpoint, nine GETs, and one for each later
        epoch; without a checkpoint, two GETs more.

        If the store reads objects side by side, it costs about 20 GETs more for slots that are
        free. At most three of all requests then follow one another. The first one reads the hint.
        The second one reads the checkpoint, the next slots and samples of later ones. The third one
        reads the slots between these, and the mark. From about 100 epochs after the checkpoint on,
        each further 66 cost one more. Then the entry segments of a small checkpoint are read beside
        the slots, too. `opening` are reads of this store, which the call goes on with. It saves
        the first of the three requests, and the second one, too, if the log ends among the slots
        that they have read. `slots` reads the slots. Raises NotFoundError if there is no
        database, or if it was dropped.
        """
        return self.require_live(self._read_newest(opening, slots))

    def _read_newest(
        self, opening: OpeningReads | None = None, slots: SlotReader | None = None
    ) -> Snapshot:
        """Return the newest state, also of a log that has ended. Costs as `read_head`."""
        if slots is None:
            slots = opening.slots() if opening else SlotReader(self.store, ahead=AHEAD, far=True)
        head = self.follow_to_head(slots)
        self.last_look.record(head, slots.started)
        return head

    def follow_to_head(self, slots: SlotReader) -> Snapshot:
        """Return the newest state, also of a log that has ended, by a reader of its slots.

        Costs and raises as `read_head`. Trusted `slots` do not prove that no epoch follows.
        """
        return self.follower.advance(self.follower.begin(None, slots), slots=slots)

    def is_dropped(self) -> bool:
        """Return whether the log has ended: the database was dropped, but its files still exist.

        Costs as `read_head`. Raises NotFoundError if there is no database.
        """
        return self._read_newest().dropped

    def require_live(self, state: Snapshot) -> Snapshot:
        """Return the state unchanged. Raises NotFoundError if its log has ended."""
        if state.dropped:
            raise dropped_error(self.store, state.epoch)
        return state

    def try_read_head(self, opening: OpeningReads | None = None) -> Snapshot | None:
        """Return the newest state, or None if an epoch is damaged, unreadable or of a newer
        version.

        For callers that an earlier epoch may serve. `read_at` still reads that one, and `read_head`
        says what is wrong. `opening` is as in `read_head`. Raises NotFoundError if there is no
        database.
        """
        try:
            return self.read_head(opening=opening)
        except (CorruptionError, StoreError, UnsupportedFormatError):
            return None

    def try_read_first(self, opening: OpeningReads | None = None) -> Snapshot | None:
        """Return the state right after epoch 0, or None if that slot is empty.

        Costs one GET, or nothing with the `opening` reads of this store. Raises CorruptionError;
        UnsupportedFormatError; StoreError.
        """
        first = opening.read_first() if opening else read_slot(self.store, 0)
        return None if first is None else apply_epoch(None, first)

    def refresh(self, snapshot: Snapshot, following: SlotReader | None = None) -> Snapshot:
        """Return the newest state, given an earlier one.

        Costs four GETs, five in a bucket, and one for each later epoch. If the log was seen less
        than the store's `trust_s` seconds ago, it costs one GET when nothing is new, and a few that
        are read ahead when something is. It may then miss, for that time, that the database was
        removed or replaced. `following` has read the slot after the state already, for a log that
        was seen so recently.

        Raises NotFoundError if the database was dropped, removed or replaced since.
        """
        started, trusted = elapsed_s(), self.last_look.saw_end(snapshot)
        slots = SlotReader(self.store, ahead=1 if trusted else 2, trusted=trusted)
        slots = following if following is not None and trusted else slots
        known = False
        if not trusted and (self.store.parallel > 1 or self.store.keeps_logs):
            known, _ = self.store.both(
                partial(self._sees, snapshot),
                partial(slots.fetch, snapshot.epoch + 1),
            )
        try:
            newest = self.follower.advance(snapshot, slots=slots)
        except (CorruptionError, NotFoundError):
            # The next epoch does not fit. The log may now be that of another database.
            self._check_state(snapshot)
            if isinstance(snapshot.tables, TableMap):
                # Vacuum may have removed the checkpoint that the state reads its tables from.
                return self.read_head()
            raise
        if newest is snapshot and not (trusted or known):
            self._check_state(snapshot)
        if newest.stale:
            return self.read_head()
        if trusted and not self.last_look.saw_end(snapshot):
            return self.refresh(newest)  # The reads took so long that they do not tell the end.
        if not trusted:
            self.last_look.record(newest, started)
        return self.require_live(newest)

    def _sees(self, state: Snapshot) -> bool:
        """Return whether a state's epoch is in its slot. Raises as `log_has_epoch`."""
        return log_has_epoch(self.store, state.epoch, state.transaction, state.database)

    def _check_state(self, snapshot: Snapshot) -> None:
        check_slot(self.store, snapshot.epoch, snapshot.transaction, snapshot.blocks)

    def can_follow(self, snapshot: Snapshot) -> bool:
        """Return whether retention has not removed the epoch after a state. It may not exist yet.

        Costs one GET. Behind a network it costs two, three in a bucket; they are side by side and
        count as such a look if they find the state's own epoch and no mark. Costs nothing if the
        log was seen less than the store's `trust_s` seconds ago. The result may then miss that
        retention has just removed the epoch.
        """
        if self.last_look.covers(snapshot):
            return True
        number, started = snapshot.epoch + 1, elapsed_s()
        look = partial(is_freed, self.store, snapshot.blocks, number)
        if self.store.parallel == 1:
            return not look()
        freed, known = self.store.both(look, partial(self._sees, snapshot))
        if known and not freed:
            self.last_look.record_base(snapshot, started)
        return not freed

    def is_freed(self, epoch: int, head: Snapshot) -> bool:
        """Return whether the slot of an epoch was freed. Costs one GET."""
        return is_freed(self.store, head.blocks, epoch)

    def read_at(
        self,
        epoch: int | None = None,
        timestamp_ms: int | None = None,
        head: Snapshot | None = None,
    ) -> Snapshot:
        """Return the state at an epoch, at the last epoch not after a time, or at the head.

        `head` saves looking for it if the caller has a recent state. An epoch is also read from a
        log whose head cannot be read. Raises NotFoundError for an epoch that does not exist or is
        below the floor, and for a time before the oldest state.
        """
        if timestamp_ms is not None:
            head = head or self.read_head()
            present = present_ms(self.store, head, self.now_ms())
            epoch = self._find_epoch(timestamp_ms, head, present)
        if epoch is None:
            return head or self.read_head()
        head = head or self._try_newest()
        if head is not None and epoch == head.epoch:
            return head
        if head is not None and 0 <= epoch < head.floor:
            # Its file may still exist, and a cached checkpoint, but vacuum may be removing both.
            return self._read_removed(epoch, head)
        state = self._reach(epoch, head) if epoch >= 0 else None
        if state is None or state.epoch < epoch:
            if state is not None and epoch > state.epoch + 1:
                behind = [epoch - state.epoch - 1]
                check_end(self.store, state.epoch + 1, behind, state.blocks)
            if state is not None:
                # The epoch may be lost. A checkpoint of it, or of a later one, then says so.
                read_hint(self.store)
            raise NotFoundError(f"Epoch {epoch} of {self.store.url} does not exist.")
        return state if state.epoch == epoch else self._read_removed(epoch, self.read_head())

    def _try_newest(self) -> Snapshot | None:
        """Return the newest state, or None if the log is damaged or of a newer version there.

        Raises StoreError if it may pass: the newest state then says which epochs were removed.
        """
        try:
            return self._read_newest()
        except StoreError as error:
            if error.retryable:
                raise
        except (CorruptionError, UnsupportedFormatError):
            pass
        return None

    def _reach(self, epoch: int, head: Snapshot | None) -> Snapshot:
        """Return the state at an epoch, or at a later floor, or the newest one before the epoch."""
        if head is None:
            # Files of removed epochs may still exist. The last vacuum tells the floor.
            slots = SlotReader(self.store, ahead=AHEAD, far=True)
            found = self.follower.find_floor(self.follower.read_first(), slots)
            floor = found[0].epoch if found else 0
            begun = find_checkpoint(self.store, epoch, self.follower.replay, floor=floor)
            return self.follower.advance(begun or self.follower.read_floor(), epoch)
        begun = find_checkpoint(self.store, epoch, self.follower.replay, floor=head.floor)
        return self.follower.advance(begun or self.read_floor_of(head), epoch)

    def read_floor_of(self, head: Snapshot) -> Snapshot:
        """Return the state at the floor of a head, or at a later one, from the log alone.

        Costs one GET, or as `read_floor` if a vacuum has raised the floor since.
        """
        anchor = head.anchor(head.floor)
        if anchor is None:
            return self.follower.read_first()
        try:
            return self.follower.read_anchored(anchor)
        except NotFoundError:
            return self.follower.read_floor()

    def _read_removed(self, epoch: int, head: Snapshot) -> Snapshot:
        """Return the state of an epoch below the floor that a tag or pin keeps.

        Raises NotFoundError if none keeps it, else as `read_at`.
        """
        try:
            anchor = find_anchor(self.store, head, epoch)
            if anchor is not None:
                return replace(read_state(self.store, anchor), floor=head.floor)
        except UNUSABLE as error:
            # An old `head` may name an anchor that a later vacuum has removed.
            newest = self.read_head()
            if newest.anchors == head.anchors and newest.anchor_list == head.anchor_list:
                return refuse_lost(error, epoch)
            return self._read_removed(epoch, newest)
        raise self._removed(f"epoch {epoch}", head.floor)

    def keeps(self, state: Snapshot, epoch: int) -> bool:
        """Return whether an epoch up to a state is readable, as far as the state knows.

        Costs a GET for an epoch below the floor if an object lists the anchors.
        """
        if epoch >= state.floor:
            return epoch <= state.epoch
        return find_anchor(self.store, state, epoch) is not None

    def is_removed(self, epoch: int) -> bool:
        """Return whether retention has removed an epoch; False if the log cannot be read."""
        try:
            # Files of a removed epoch may still exist, in the store or in a cache.
            self.read_at(epoch, head=self.try_read_head())
        except NotFoundError:
            return True
        except (*UNUSABLE, StoreError):
            return False
        return False

    @contextmanager
    def naming_removals(self, epoch: int, *, staged: bool = False) -> Iterator[None]:
        """A block that reads the state at an epoch, and commits nothing.

        A missing object is not damage if retention has removed the epoch meanwhile: then the block
        raises NotFoundError that names the oldest readable epoch, and not CorruptionError.
        `staged` says that the block may also read files of an unfinished transaction on that state.
        If a vacuum since the epoch has removed one of these, the block raises ConflictError. That
        costs the entries of the state, and a GET for each epoch since.
        """
        try:
            yield
        except CorruptionError as error:
            if _is_missing(error):
                with suppress(*LOG_ERRORS):
                    head = self.read_head()
                    state = self.read_at(epoch, head=head)
                    if staged and not self._names(state, error):
                        for later in self.read_epochs(head.epoch, head.epoch - epoch):
                            check_missing(error, later)
            raise

    def _names(self, state: Snapshot, error: CorruptionError) -> bool:
        """Return whether a state names the object that an error misses."""
        return isinstance(error, MissingObjectError) and any(
            error.object in rowset_objects(each.stored_entry, each.vector)
            for table in state.tables.values()
            for each in self.rowsets.read(table, which="all")
        )

    def read_from_log(
        self, epoch: int, after: Snapshot | None = None, slots: SlotReader | None = None
    ) -> Snapshot:
        """Return the state at an epoch at or above the floor, without any checkpoint above the
        floor.

        For callers that must not rely on a cache. Costs a GET for each epoch since the state
        `after`, which must also come from the log alone and not be later. Without it, costs as
        `read_floor`, and a GET for each epoch since the floor. `slots` reads the slots after the
        state. Raises CorruptionError for a missing epoch; NotFoundError if a vacuum has removed the
        epoch meanwhile.
        """
        state = self.follower.advance(after or self.follower.read_floor(), epoch, slots)
        if state.epoch < epoch:
            raise missing_error(self.store, state.epoch + 1)
        if state.epoch > epoch:
            raise self._removed(f"epoch {epoch}", state.floor)
        return state

    def read_head_from_log(self) -> Snapshot:
        """Return the newest state, without any checkpoint above the floor.

        Costs a GET for each epoch since the floor. Raises as `read_head`; CorruptionError if the
        oldest readable state is lost.
        """
        return self.require_live(self.follower.advance(self.follower.read_floor()))

    def find_ended(self, timestamp_ms: int, head: Snapshot, present_ms: int) -> int | None:
        """Return the last readable epoch up to `head` that was certainly not committed after a
        time.

        Returns None if there is none. For callers that remove older states. Dates after
        `present_ms` do not count (`epoch_times.py`).
        """
        try:
            epoch = self._find_epoch(timestamp_ms, head, present_ms, for_removal=True)
        except NotFoundError:
            return None
        return epoch if epoch >= head.floor else None

    def _find_epoch(
        self, timestamp_ms: int, head: Snapshot, present_ms: int, *, for_removal: bool = False
    ) -> int:
        """Return the last epoch up to `head` that was not committed after `timestamp_ms`."""
        floor, when = head.floor, utc(timestamp_ms)
        while True:
            low = last_epoch_by(
                self.store, head, timestamp_ms, present_ms, floor, for_removal=for_removal
            )
            if low < 0:
                raise NotFoundError(
                    f"{self.store.url} did not exist yet at {when} UTC; choose a later time."
                )
            if low < floor:
                raise self._removed(f"the state at {when} UTC", floor)
            if low == head.epoch:
                return low
            # An object in a freed slot means nothing.
            if not is_freed(self.store, head.blocks, max(low, 1)):
                return low
            head = self.read_head()
            floor = head.floor

    def _removed(self, what: str, floor: int) -> NotFoundError:
        return NotFoundError(
            f"{what[0].upper()}{what[1:]} of {self.store.url} was removed by retention; the oldest"
            f" readable epoch is {floor}."
        )

    def read_kept_epochs(self, head: Snapshot, limit: int | None = None) -> Iterator[Epoch]:
        """Yield the epochs from a head down to its floor, at most `limit`. Costs as `read_epochs`.

        Requires and raises as `read_epochs`.
        """
        kept = head.epoch - head.floor + 1
        return self.read_epochs(head.epoch, kept if limit is None else min(limit, kept))

    def read_epochs(self, newest: int, limit: int | None = None) -> Iterator[Epoch]:
        """Yield epochs from `newest` down, at most `limit`; ends where slots were freed.

        Costs a GET for each, and reads some ahead if the store reads objects side by side. Epochs
        below the floor may be among them.

        Requires: `newest` was an epoch of the log that could be read just before. Raises
        NotFoundError if it does not exist; CorruptionError for a missing epoch.
        """
        oldest = 0 if limit is None else max(0, newest - limit + 1)
        later: Epoch | None = None
        for number, epoch in read_slots_down(self.store, newest, oldest):
            follows = later is None or (epoch and epoch.transaction == later.previous)
            if epoch is None or not follows:
                # The content of a freed slot is not an epoch, so the next epoch does not follow it.
                if number and is_freed(self.store, self.follower.read_first().blocks, number):
                    return
                location = self.store.locate(epoch_name(number))
                if epoch is not None:
                    raise CorruptionError(f"{location} is not the epoch that the next one follows.")
                if later is not None:
                    raise CorruptionError(f"{location} is missing.")
                raise NotFoundError(f"Epoch {number} of {self.store.url} does not exist.")
            yield epoch
            later = epoch


def _is_missing(error: BaseException | None) -> bool:
    """Return whether an error came from an object that does not exist, and not from wrong bytes."""
    return error is not None and (
        isinstance(error, NotFoundError) or _is_missing(error.__cause__ or error.__context__)
    )
