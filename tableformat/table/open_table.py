"""An open table: which one it is, its log, and the newest state that was read.

`ArrowTable` holds one, and every read and statement of a table takes it:

    table = OpenTable(location, Log(location.store), None)
    scan(table, ["id"], where="price > 3")         reads the newest state
    run(table, evaluators.delete("id = 7"), None)  commits on it, and sees the state after it
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from colonnade.manifests.errors import (
    ColonnadeError,
    CorruptionError,
    NotFoundError,
    StoreError,
    UnsupportedFormatError,
)
from colonnade.manifests.log.log import Log
from colonnade.manifests.reading.begun_head import BegunHead, finish_head
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.keys.point_read import OpenRowSets
from colonnade.tableformat.location import Location
from colonnade.tableformat.table.epochs.time_travel import epoch_number, snapshot_at


class OpenTable:
    """A table of a database, as of the newest state that was read.

    It stays bound to the table that was opened, also when that is renamed. After the table was
    dropped, methods raise NotFoundError, even if another table has its name. `rowsets` are those
    that reads by key keep open.
    """

    def __init__(
        self,
        location: Location,
        log: Log,
        snapshot: Snapshot | None,
        begun: BegunHead | None = None,
    ) -> None:
        """Without a snapshot, the head of the log is read when it is first needed.

        `begun` is that head before its proof, which has the table.
        """
        self.location = self._named = location
        self.log = log
        self.rowsets = OpenRowSets()
        self._seen: Snapshot | None = None
        self._begun = begun
        if begun is not None:
            self.location = location.follow(begun.state)
        if snapshot is not None:
            self._see(snapshot)

    @property
    def snapshot(self) -> Snapshot:
        """The newest state of the database that was read so far."""
        return self.refresh() if self._seen is None else self._seen

    @property
    def state(self) -> TableState:
        """The state of the table in `snapshot`."""
        snapshot = self.snapshot  # The first look at the log may change the location.
        return self.location.require(snapshot)

    @property
    def proven(self) -> Snapshot | None:
        """The newest state that was read and proven to be the head at that time."""
        return self._seen

    @property
    def last_seen(self) -> Snapshot | None:
        """The newest state that was read, proven or not: for guesses alone."""
        begun = self._begun
        return self._seen if begun is None else begun.state

    def refresh(self) -> Snapshot:
        """Look for newer epochs, and return the newest state."""
        seen, begun = self._seen, self._begun
        if seen is None and begun is not None:
            return self._finish(begun)
        reader = self.log.reader
        return self._see(reader.read_head() if seen is None else reader.refresh(seen))

    def _finish(self, begun: BegunHead) -> Snapshot:
        found = finish_head(self.log.reader, begun)
        head = self.log.reader.read_head() if found is None else found
        self._require_database(head)
        if found is None:
            # Retention removed what told which table has the name.
            self.location = self._named
        return self._see(head)

    def _require_database(self, state: Snapshot) -> None:
        """Raise NotFoundError if a state belongs to another database than the last one read."""
        seen = self.last_seen
        if seen is not None and state.database != seen.database:
            url = self.location.url
            raise NotFoundError(f"{url} was removed or replaced; open it again.")

    def _see(self, snapshot: Snapshot) -> Snapshot:
        """Use a state as the newest one, and read the table's name from it."""
        self.location = self.location.follow(snapshot)
        self._seen, self._begun = snapshot, None
        return snapshot

    def see_committed(self, snapshot: Snapshot) -> Snapshot:
        """Use the state after a commit as the newest one. Raises no error of the store.

        The state may have to read the table from a checkpoint. The commit is durable by then, so an
        error would make the caller repeat it. The table keeps the name that was read last instead.
        """
        with suppress(ColonnadeError):
            self.location = self.location.follow(snapshot)
        self._seen, self._begun = snapshot, None
        return snapshot

    def follow_restored(self, former: TableState, snapshot: Snapshot) -> None:
        """Use the state after a restore, which may have put another table in the place of `former`.

        Raises no error of the store: see `see_committed`.
        """
        with suppress(ColonnadeError):
            if former.id not in snapshot.tables:
                self.location = replace(self.location, id=None)
        self.see_committed(snapshot)

    def newest(self) -> tuple[Snapshot, TableState]:
        """Look for newer epochs, and return the newest state, and that of the table in it."""
        head = self.refresh()
        return head, self.location.require(head)

    def snapshot_at(
        self,
        epoch: int | None = None,
        timestamp: datetime | str | None = None,
        tag: str | None = None,
    ) -> Snapshot:
        """Return the state at an epoch, at the last epoch up to a time, or at a tag; else the head.

        Text without an offset is in UTC, and a datetime must have a zone. Raises InvalidInputError
        when several are given, and for an invalid number or time. Raises NotFoundError for an epoch
        or tag that does not exist, and for a time before the first epoch.
        """
        if timestamp is None and tag is None:
            return self.refresh() if epoch is None else self._snapshot_of(epoch_number(epoch))
        return snapshot_at(self.log, self.refresh(), epoch, timestamp, tag)

    def _snapshot_of(self, epoch: int) -> Snapshot:
        head: Snapshot | None = None
        # With a damaged head, earlier epochs can still be read.
        with suppress(CorruptionError, StoreError, UnsupportedFormatError):
            head = self.refresh()
        found = self.log.reader.read_at(epoch=epoch, head=head)
        self._require_database(found)
        return found
