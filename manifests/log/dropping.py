"""Drop a database: an epoch ends its log, its folder is moved away, and its files are removed.

After the end of the log, every commit is refused, and every reader says that the database was
dropped. The folder is moved before the first file is removed. A writer that slept meanwhile then
finds no log instead of a free slot. Dropping or creating again finishes a killed drop, or undoes it
if the log has not ended.
A bucket has no folders to move. There the log stays for ever, and all other objects are removed.
Spec: docs/spec/layout.md#dropping
"""

from __future__ import annotations

from collections.abc import Callable

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import (
    ConflictError,
    CorruptionError,
    NotFoundError,
    UnsupportedFormatError,
)
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.log.removed_folder import move_away, put_back, remove_lone_table
from colonnade.manifests.log.removed_objects import damaged_error, remove_objects
from colonnade.manifests.model.operations import DropDatabase

TRIES = 10
"""The most tries to end a log while concurrent writers commit to it."""


def drop_database(log: Log, *, cascade: bool) -> bool:
    """Drop the database of a log and remove everything in its folder.

    Returns whether it was dropped. Without `cascade`, only a database without tables is dropped.
    With `cascade`, a damaged database on local disk, or one of a newer version, is removed without
    an end of its log. In a store that keeps logs, the place cannot be used again.

    Raises InvalidInputError for a read-only store, and for a damaged log that the store keeps.
    Raises NotFoundError for an absent database, ConflictError if concurrent writers keep committing
    to it, and StoreError.
    """
    return _drop(log, cascade, move_away)


def drop_lone_table(log: Log) -> None:
    """Drop a lone table on local disk, and remove its log and objects; other files stay.

    Requires that the database is one of a lone table. A damaged table, or one of a newer version,
    is removed without an end of its log. Raises the errors of `drop_database`.
    """
    _drop(log, True, remove_lone_table)


def _drop(log: Log, cascade: bool, remove: Callable[..., None]) -> bool:
    """End a log, then remove what `remove` removes from local disk."""
    log.store.require_writable()
    put_back(log.store)
    try:
        if not _end(log, cascade):
            return False
    except (CorruptionError, UnsupportedFormatError) as error:
        if not cascade:
            raise
        if log.store.keeps_logs:
            raise damaged_error(log.store) from error
        remove(log.store, only_dropped=False)
        return True
    if log.store.keeps_logs:
        remove_objects(log.store)
    else:
        remove(log.store)
    return True


def _end(log: Log, cascade: bool) -> bool:
    """End a log that has not ended yet. Returns whether it has ended."""
    for attempt in range(TRIES):
        if log.reader.is_dropped():
            return True
        head = log.reader.read_head()
        if head.tables and not cascade:
            return False
        expected = None if cascade else head.epoch
        ops = (DropDatabase(),)
        change = Change(
            new_transaction_id(), "drop_database", ops, expect_epoch=expected, fresh=True
        )
        try:
            log.commit(change, head)
            return True
        except NotFoundError:
            if not log.reader.is_dropped():
                raise
        except ConflictError:
            if attempt == TRIES - 1:
                raise
    return True
