"""Open the database or table that the user names; a command reads its head once."""

from __future__ import annotations

from dataclasses import dataclass

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import StorePath
from colonnade.tableformat.location import Location, locate_existing
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.table import ArrowTable


@dataclass(frozen=True, slots=True)
class DatabasePlace:
    """A database, or one table of it, at the head of the log."""

    location: Location
    log: Log
    head: Snapshot

    @property
    def is_table(self) -> bool:
        """Whether the path names one table: a table in a database, or a lone table."""
        return self.location.table is not None or self.head.lone_table

    @property
    def state(self) -> TableState:
        """The state of the named table.

        Raises NotFoundError if it does not exist, InvalidInputError for a database.
        """
        return self.location.require(self.head)

    @property
    def table(self) -> ArrowTable:
        """The named table, to read and write."""
        return ArrowTable(self.location, self.log, self.head)

    @property
    def database(self) -> ArrowDatabase:
        """The named database, or the database of the named table."""
        return ArrowDatabase(self.location.store, self.log, self.head)


def open_place(path: StorePath) -> DatabasePlace:
    """Open the database or table at `path`; reads the head of the log.

    Raises NotFoundError if it does not exist, and CorruptionError or UnsupportedFormatError if the
    head cannot be read.
    """
    location = locate_existing(path)
    log = Log(location.store)
    place = DatabasePlace(location, log, log.reader.read_head(opening=location.opening))
    if location.table is not None:
        location.require(place.head)
    return place


def open_database(path: StorePath) -> DatabasePlace:
    """Open the database at `path`.

    Raises the errors of `open_place`, and InvalidInputError for a table in a database.
    """
    place = open_place(path)
    if place.location.table is not None:
        raise InvalidInputError(
            f"{place.location.url} is a table; give its database, {place.location.store.url}."
        )
    return place
