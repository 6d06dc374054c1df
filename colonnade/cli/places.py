"""From what the user names to a database or table: read once, and not changed by a command."""

from __future__ import annotations

from dataclasses import dataclass

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.location import Location, locate_existing
from colonnade.tableformat.table.database import Database
from colonnade.tableformat.table.table import ArrowTable


@dataclass(frozen=True, slots=True)
class Place:
    """A database, or one table of it, as of the head of the log."""

    location: Location
    log: Log
    head: Snapshot

    @property
    def is_table(self) -> bool:
        """Whether one table is meant: named, or alone in its database."""
        return self.location.table is not None or self.head.lone_table

    @property
    def state(self) -> TableState:
        """The table that is meant. Raises NotFoundError, InvalidInputError for a database."""
        return self.location.require(self.head)

    @property
    def table(self) -> ArrowTable:
        """The same table, to read and write."""
        return ArrowTable(self.location, self.log, self.head)

    @property
    def database(self) -> Database:
        """The database that is meant."""
        return Database(self.location.store, self.log, self.head)


def open_place(path: str) -> Place:
    """Open the database or table at `path`; reads the head of the log.

    Raises NotFoundError where none is, CorruptionError and UnsupportedFormatError for a head that
    cannot be read.
    """
    location = locate_existing(path)
    log = Log(location.store)
    place = Place(location, log, log.read_head())
    if location.table is not None:
        location.require(place.head)
    return place


def open_database(path: str) -> Place:
    """Open the database at `path`. Raises as `open_place`, InvalidInputError for a table of one."""
    place = open_place(path)
    if place.location.table is not None:
        raise InvalidInputError(
            f"{place.location.url} is a table; give its database, {place.location.store.url}."
        )
    return place
