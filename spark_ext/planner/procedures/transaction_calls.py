"""`CALL colonnade.system.begin`, `commit`, `rollback` and `statement_counts`.

The Java half keeps the id that `begin` returns in the session's settings until the transaction
ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.planner.read.metadata import Row
from colonnade.spark_ext.planner.state.storage import place
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.tableformat.location import locate_existing
from colonnade.tableformat.statements.statement import COUNTED
from colonnade.tableformat.write.settings import CommitSettings

COUNTS_SCHEMA = ", ".join(f"{name} long" for name in COUNTED)


def begin(arguments: Mapping[str, Any]) -> Iterable[Row]:
    """Begin a transaction over the tables of a database; return one row with its id."""
    location = locate_existing(place(arguments["database"]))
    if location.table is not None:
        raise InvalidInputError(f"{location.url} is a table, not a database; name its database.")
    return [(TRANSACTIONS.begin(location, _settings(arguments)),)]


def commit(_: Mapping[str, Any]) -> Iterable[Row]:
    """Commit the session's transaction; return one row with the epoch."""
    return [(TRANSACTIONS.end(lambda transaction: transaction.commit()),)]


def rollback(_: Mapping[str, Any]) -> Iterable[Row]:
    """End the session's transaction and discard its changes; return no rows."""
    TRANSACTIONS.end(lambda transaction: transaction.rollback())
    return []


def statement_counts(arguments: Mapping[str, Any]) -> Iterable[Row]:
    """Return one row with what a statement of the session's transaction changed, by its id."""
    transaction = TRANSACTIONS.current()
    if transaction is None:
        raise InvalidInputError("This session is not in a transaction; begin one first.")
    counts = transaction.counts(arguments["statement"])
    return [tuple(getattr(counts, name) for name in COUNTED)]


def _settings(arguments: Mapping[str, Any]) -> CommitSettings:
    app, version = arguments["txn_app_id"], arguments["txn_version"]
    if (app is None) != (version is None):
        raise InvalidInputError("Give txn_app_id and txn_version both, or neither.")
    return CommitSettings(
        batch=None if app is None else (app, version),
        expect_epoch=arguments["expect_epoch"],
        metadata=arguments["user_metadata"],
    )
