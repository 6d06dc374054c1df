"""Dropping a database: an epoch ends its log, then its folder is moved away, then the files go.

From the end of the log on every commit is refused and every reader says that the database was
dropped. The folder is moved before the first file goes, so that a writer that slept meanwhile finds
no log instead of a free slot. A drop that was killed is finished by dropping or creating again.
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
"""How often the log is ended anew where others commit to a database that must be empty."""


def drop_database(log: Log, *, cascade: bool) -> bool:
    """Drop the database of a log and remove everything in its folder.

    Without `cascade` only one that has no tables; returns whether it was dropped. A database that
    is damaged, or of a newer version, is removed with `cascade` without an end of its log. Raises
    InvalidInputError for a store other than local disk, NotFoundError where no database is,
    ConflictError where others commit to it all the time, StoreError.
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
    """End a log that has not ended yet; returns whether it has now."""
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
