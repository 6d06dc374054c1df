"""Drop a database: an epoch ends its log, its folder is moved away, and its files are removed.

After the end of the log, every commit is refused, and every reader says that the database was
dropped. The folder is moved before the first file is removed. A writer that slept meanwhile then
finds no log instead of a free slot. Dropping or creating again finishes a killed drop.
Spec: docs/spec/layout.md#dropping
"""

from __future__ import annotations

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import (
    ConflictError,
    CorruptionError,
    NotFoundError,
    UnsupportedFormatError,
)
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.log.removed_folder import move_away
from colonnade.manifests.model.operations import DropDatabase

TRIES = 10
"""The most tries to end a log while concurrent writers commit to it."""


def drop_database(log: Log, *, cascade: bool) -> bool:
    """Drop the database of a log and remove everything in its folder.

    Returns whether it was dropped. Without `cascade`, only a database without tables is dropped.
    With `cascade`, a damaged database, or one of a newer version, is removed without an end of its
    log. Raises InvalidInputError for a store other than local disk; NotFoundError if there is no
    database; ConflictError if concurrent writers keep committing to it; StoreError.
    """
    try:
        if not _end(log, cascade):
            return False
    except (CorruptionError, UnsupportedFormatError):
        if not cascade:
            raise
        move_away(log.store, only_dropped=False)
    else:
        move_away(log.store)
    return True


def _end(log: Log, cascade: bool) -> bool:
    """End a log that has not ended yet. Returns whether it has ended."""
    for attempt in range(TRIES):
        if log.is_dropped():
            return True
        head = log.read_head()
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
            if not log.is_dropped():
                raise
        except ConflictError:
            if attempt == TRIES - 1:
                raise
    return True
