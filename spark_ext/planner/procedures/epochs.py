"""`CALL colonnade.system.restore`, `tag`, `untag` and `tags`: procedures of a log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from colonnade.manifests.clock import EPOCH_START
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.spark_ext.answer_rows import restore_row
from colonnade.spark_ext.planner.read.metadata import Row
from colonnade.spark_ext.planner.state.storage import place
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.tableformat.location import Location, locate_existing
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.epochs.tags_and_pins import tagged_epoch
from colonnade.tableformat.table.epochs.time_travel import snapshot_at
from colonnade.tableformat.table.table import ArrowTable

TAGS_SCHEMA = "tag string, epoch long"


def restore(arguments: Mapping[str, Any]) -> Iterable[Row]:
    """Restore a table, or all tables of a database; return one row about what came back."""
    location = _location(arguments)
    TRANSACTIONS.refuse(location.url, "restored")
    when = arguments["epoch"], moment_of(arguments), arguments["tag"]
    if arguments["table"] is None:
        done = ArrowDatabase.open(location.address)._restore(*when)
        return [restore_row(done.after.tables.values(), done)]
    table = ArrowTable.open(location.address)
    done = table._restore(*when)
    return [restore_row([table._state], done)]


def tag(arguments: Mapping[str, Any]) -> Iterable[Row]:
    """Tag an epoch of a database; return one row with the tag and the epoch."""
    database, epoch, moment = database_of(arguments), arguments["epoch"], moment_of(arguments)
    if epoch is not None and moment is not None:
        raise InvalidInputError("A tag names one epoch: give epoch or timestamp, not both.")
    if moment is not None:
        log = Log(locate_existing(database._store.address).store)
        epoch = snapshot_at(log, log.reader.read_head(), timestamp=moment).epoch
    return [(arguments["name"], database.tag(arguments["name"], epoch))]


def untag(arguments: Mapping[str, Any]) -> Iterable[Row]:
    """Remove a tag; return one row with the tag and its epoch."""
    database, name = database_of(arguments), arguments["name"]
    epoch = tagged_epoch(database._snapshot, name)
    database.untag(name)
    return [(name, epoch)]


def tags(arguments: Mapping[str, Any]) -> Iterable[Row]:
    """Return the tags of a database and their epochs."""
    return database_of(arguments).tags().items()


def database_of(arguments: Mapping[str, Any]) -> ArrowDatabase:
    """Open the database in the arguments, or that of the table in them.

    Raises InvalidInputError for both or neither of them.
    """
    return ArrowDatabase.open(_location(arguments).store.address)


def _location(arguments: Mapping[str, Any]) -> Location:
    """Return the location of the table or database in the arguments. Raises InvalidInputError."""
    table, database = arguments["table"], arguments["database"]
    if (table is None) == (database is None):
        raise InvalidInputError("Name either a table or a database, as in database => 'shop'.")
    location = locate_existing(place(database if table is None else table))
    if table is not None:
        location.require(Log(location.store).reader.read_head(opening=location.opening))
    elif location.table is not None:
        raise InvalidInputError(f"{location.url} is a table, not a database; name its database.")
    return location


def moment_of(arguments: Mapping[str, Any]) -> datetime | None:
    """Return the time in the arguments, which Java sends in microseconds."""
    micros = arguments["timestamp"]
    return None if micros is None else EPOCH_START + timedelta(microseconds=micros)
