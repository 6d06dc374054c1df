"""`CALL colonnade.system.create_consumer`, `reset_consumer`, `drop_consumer` and `consumers`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.planner.procedures.epochs import database_of, moment_of
from colonnade.spark_ext.planner.read.metadata import Row
from colonnade.spark_ext.planner.state.storage import place
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.tableformat.location import locate_existing
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.epochs.epoch_range import Bound

CONSUMERS_SCHEMA = "name string, table string, epoch long, lag long, until timestamp"


def create_consumer(arguments: Mapping[str, Any]) -> Iterable[Row]:
    """Create a consumer of the changes of a table; return one row about it."""
    name = arguments["name"]
    TRANSACTIONS.refuse(f"Consumer {name!r}", "created")
    start = _start(arguments)
    location = locate_existing(place(arguments["table"]))
    database = ArrowDatabase.open(location.store.address)
    table = location.require(database._snapshot)
    keep = {} if arguments["keep"] is None else {"keep": arguments["keep"]}
    database.create_consumer(name, table.name, start, **keep)
    return _rows(database, name)


def reset_consumer(arguments: Mapping[str, Any]) -> Iterable[Row]:
    """Let a consumer go on with other changes; return one row about it."""
    name = arguments["name"]
    TRANSACTIONS.refuse(f"Consumer {name!r}", "reset")
    start = _start(arguments)
    database = database_of(arguments)
    database.reset_consumer(name, start)
    return _rows(database, name)


def drop_consumer(arguments: Mapping[str, Any]) -> Iterable[Row]:
    """Remove a consumer; return one row about what it was."""
    name = arguments["name"]
    TRANSACTIONS.refuse(f"Consumer {name!r}", "dropped")
    database = database_of(arguments)
    before = _rows(database, name)
    database.drop_consumer(name)
    return before


def consumers(arguments: Mapping[str, Any]) -> Iterable[Row]:
    """Return a row for each consumer of a database: how far it has read, and what it keeps."""
    return _rows(database_of(arguments))


def _rows(database: ArrowDatabase, name: str | None = None) -> list[Row]:
    return [
        (each.name, each.table, each.epoch, each.lag, each.until)
        for each in database.consumers()
        if name in (None, each.name)
    ]


def _start(arguments: Mapping[str, Any]) -> Bound | None:
    """Return the first changes of a consumer: an epoch, a time or a tag; None: the next ones."""
    found = [arguments["epoch"], moment_of(arguments), arguments["tag"]]
    stated = [each for each in found if each is not None]
    if len(stated) > 1:
        raise InvalidInputError(
            "A consumer begins with one epoch: give one of epoch, timestamp and tag, or none of"
            " them."
        )
    return stated[0] if stated else None
