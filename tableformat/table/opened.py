"""A table that was opened: which one it is, the newest state that was read, and its history."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from colonnade.manifests.errors import (
    ColonnadeError,
    CorruptionError,
    InvalidInputError,
    NotFoundError,
    StoreError,
    UnsupportedFormatError,
)
from colonnade.manifests.later import later
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.columns.generated import expression_of
from colonnade.manifests.model.columns.identity import identity_columns, next_value
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.reading.begun_head import BegunHead, finish_head
from colonnade.manifests.state.partition_layout import field_text
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.keys.point_read import OpenRowSets
from colonnade.tableformat.location import Location
from colonnade.tableformat.statements.statement import RowCounts
from colonnade.tableformat.table.design.properties import stated_properties
from colonnade.tableformat.table.epochs.history import History, moment, table_history
from colonnade.tableformat.table.epochs.time_travel import epoch_number, snapshot_at
from colonnade.tableformat.types.arrow_types import arrow_schema

if TYPE_CHECKING:
    from colonnade.tableformat.table.report import notebook
else:
    notebook = later("colonnade.tableformat.table.report.notebook")

T = TypeVar("T", bound="OpenTable")


class OpenTable:
    """A table of a database, as of the newest state that was read.

    It stays bound to the table that was opened, also when that is renamed. After the table was
    dropped, methods raise NotFoundError, even if another table has its name.
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
        self._location = self._named = location
        self._log = log
        self._open_rowsets = OpenRowSets()
        self._seen: Snapshot | None = None
        self._begun = begun
        if begun is not None:
            self._location = location.follow(begun.state)
        if snapshot is not None:
            self._see(snapshot)

    @property
    def path(self) -> str:
        """The location of the table, by the name that was read last."""
        return self._location.url

    @property
    def name(self) -> str:
        """The table's name in its database."""
        return self._state.name

    @property
    def _snapshot(self) -> Snapshot:
        """The newest state of the database that was read so far."""
        return self._refresh() if self._seen is None else self._seen

    @property
    def _state(self) -> TableState:
        """The state of the table in `_snapshot`."""
        snapshot = self._snapshot  # The first look at the log may change the location.
        return self._location.require(snapshot)

    @property
    def schema(self) -> pa.Schema:
        """The table's columns; field metadata has the exact types that Arrow lacks."""
        return arrow_schema(self._state.schema)

    @property
    def _columns(self) -> TableSchema:
        return self._state.schema

    @property
    def epoch(self) -> int:
        """The newest epoch that was read so far."""
        return self._snapshot.epoch

    @property
    def version(self) -> int:
        """The epoch, under the name that other formats use."""
        return self.epoch

    @property
    def properties(self) -> dict[str, str]:
        """The properties that users have set."""
        return stated_properties(self._state)

    @property
    def partitioning(self) -> tuple[str, ...]:
        """The partition fields of new rows, in the form that `create` takes."""
        table = self._state
        return tuple(field_text(field, table.schema) for field in table.partition_fields)

    @property
    def primary_key(self) -> tuple[str, ...]:
        """The columns of the primary key, in its order; empty without one."""
        table = self._state
        return tuple(field.name for field in key_fields(table.primary_key, table.schema))

    @property
    def constraints(self) -> dict[str, str]:
        """The conditions that every row meets, as SQL text by name."""
        return {each.name: each.text(self._state.schema) for each in self._state.constraints}

    @property
    def next_identities(self) -> dict[str, int | None]:
        """The next value of each identity column, by name; None after its last one.

        A concurrent writer may take it at any time.
        """
        table = self._state
        return {
            each.name: next_value(table.identities, each) for each in identity_columns(table.schema)
        }

    @property
    def generated(self) -> dict[str, str]:
        """The expressions of generated columns, as SQL text by column."""
        schema = self._state.schema
        return {
            each.name: expression_of(each.generated, schema)
            for each in schema.fields
            if each.generated is not None
        }

    def refresh(self: T) -> T:
        """Look for newer epochs, and return this table; costs one GET when there are none."""
        self._refresh()
        return self

    def _refresh(self) -> Snapshot:
        """Look for newer epochs, and return the newest state."""
        seen, begun = self._seen, self._begun
        if seen is None and begun is not None:
            return self._finish(begun)
        return self._see(
            self._log.reader.read_head() if seen is None else self._log.reader.refresh(seen)
        )

    def _finish(self, begun: BegunHead) -> Snapshot:
        found = finish_head(self._log.reader, begun)
        head = self._log.reader.read_head() if found is None else found
        self._require_database(head)
        if found is None:
            # Retention removed what told which table has the name.
            self._location = self._named
        return self._see(head)

    def _require_database(self, state: Snapshot) -> None:
        """Raise NotFoundError if a state belongs to another database than the last one read."""
        seen = self._last_seen
        if seen is not None and state.database != seen.database:
            raise NotFoundError(f"{self.path} was removed or replaced; open it again.")

    @property
    def _last_seen(self) -> Snapshot | None:
        """The newest state that was read, proven or not: for guesses alone."""
        begun = self._begun
        return self._seen if begun is None else begun.state

    def _see(self, snapshot: Snapshot) -> Snapshot:
        """Use a state as the newest one, and read the table's name from it."""
        self._location = self._location.follow(snapshot)
        self._seen, self._begun = snapshot, None
        return snapshot

    def _see_committed(self, snapshot: Snapshot) -> Snapshot:
        """Use the state after a commit as the newest one. Raises no error of the store.

        The state may have to read the table from a checkpoint. The commit is durable by then, so an
        error would make the caller repeat it. The table keeps the name that was read last instead.
        """
        with suppress(ColonnadeError):
            self._location = self._location.follow(snapshot)
        self._seen, self._begun = snapshot, None
        return snapshot

    def _snapshot_at(
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
            return self._refresh() if epoch is None else self._snapshot_of(epoch_number(epoch))
        return snapshot_at(self._log, self._refresh(), epoch, timestamp, tag)

    def _snapshot_of(self, epoch: int) -> Snapshot:
        head: Snapshot | None = None
        # With a damaged head, earlier epochs can still be read.
        with suppress(CorruptionError, StoreError, UnsupportedFormatError):
            head = self._refresh()
        found = self._log.reader.read_at(epoch=epoch, head=head)
        self._require_database(found)
        return found

    def history(self, limit: int | None = None) -> History:
        """Return the epochs that changed this table, newest first; reads one file for each epoch.

        The epochs of a table that this one replaced in one epoch follow. Raises InvalidInputError
        unless `limit` is a whole number from 0.
        """
        if limit is not None and (type(limit) is not int or limit < 0):
            raise InvalidInputError(f"A limit must be a whole number from 0, not {limit!r}.")
        head = self._refresh()
        table = self._location.require(head)
        epochs = self._log.reader.read_kept_epochs(head)
        found = table_history(
            epochs, table, lambda epoch: self._log.reader.read_at(epoch, head=head)
        )
        return History(islice(found, None if limit is None else min(limit, sys.maxsize)))

    def _find_counts(self, transaction: str, after: int) -> RowCounts:
        """Return what a transaction after the epoch `after` did; no counts when it made no epoch.

        Costs one GET for each epoch since. Raises InvalidInputError for a transaction that is not
        text, and for an epoch that is not a whole number.
        """
        if not isinstance(transaction, str):
            raise InvalidInputError(
                f"A transaction must be named by its id, which is text, not {transaction!r:.100}."
            )
        after = epoch_number(after)
        head = self._refresh()
        for epoch in self._log.reader.read_kept_epochs(head):
            if epoch.epoch <= after:
                break
            if epoch.transaction == transaction:
                return RowCounts._of_metrics(epoch.epoch, epoch.metrics or {})
        return RowCounts(head.epoch)

    def time_of(self, epoch: int) -> datetime | None:
        """Return when an epoch was committed; None if retention removed it.

        Costs as a look for newer epochs, and one GET. Raises NotFoundError for an epoch that does
        not exist, and InvalidInputError unless it is a whole number.
        """
        head = self._refresh()
        if not 0 <= epoch_number(epoch) <= head.epoch:
            raise NotFoundError(f"Epoch {epoch} of {self.path} does not exist.")
        if epoch < head.floor:
            return None
        found = next(self._log.reader.read_epochs(epoch, limit=1), None)
        return None if found is None else moment(found.time_ms)

    def __reduce__(self) -> tuple[Callable[..., OpenTable], tuple[Any, ...]]:
        """Pickle which table it is. The other process reads the newest state at its first need."""
        return _opened_again, (type(self), replace(self._location, opening=None))

    def __repr__(self) -> str:
        seen = self._last_seen
        epoch = None if seen is None else seen.epoch
        return f"{type(self).__name__}({self.path!r}, epoch={epoch})"

    def _repr_html_(self) -> str:
        return notebook.table_html(self, self)


def _opened_again(kind: type[OpenTable], location: Location) -> OpenTable:
    return kind(location, Log(location.store), None)
