"""Whether the schedule of a table lets a round of maintenance compact it now.

A schedule divides time into windows that begin at 1970-01-01 00:00 UTC, and one round compacts the
table in each. The log alone tells whether one did: a live RowSet names the epoch that added it, and
that epoch says whether it was a compaction. Guide: docs/compaction.md#schedules
"""

from __future__ import annotations

import numpy as np

from colonnade.manifests.commit.removals import removals_are_conflicts
from colonnade.manifests.compaction.policy import parse_policy
from colonnade.manifests.epochs.epoch_times import present_ms
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import Compaction
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.compaction.commit import AFTER_COMMIT, OPERATION


def is_due(log: Log, head: Snapshot, table: TableState) -> bool:
    """Return whether the property `compaction.schedule` lets a round compact a table of `head`.

    Costs nothing without a schedule. With one, costs a GET for each bit of the number of epochs,
    the entries of the table's RowSets, and a GET for each epoch of the present window that added
    one of them. Raises InvalidInputError for an invalid property; ConflictError if a
    vacuum removed `head` meanwhile; CorruptionError; StoreError.
    """
    seconds = parse_policy(table.properties).schedule
    if seconds is None:
        return False
    return seconds == 0 or not _compacted_in_window(log, head, table, seconds * 1000)


def _compacted_in_window(log: Log, head: Snapshot, table: TableState, window_ms: int) -> bool:
    """Return whether a compaction of the present window added a live RowSet.

    One that a writer made after its own commit does not count, because it rewrites one small group.
    """
    present = present_ms(log.store, head, log.reader.now_ms())
    ended = log.reader.find_ended(present - present % window_ms - 1, head, present)
    with removals_are_conflicts(log.reader, OPERATION, head):
        entries = log.rowsets.read_entries(table)
    # The file of a removed epoch may still exist, or be lost.
    first = max(head.floor, 0 if ended is None else ended + 1)
    recent = np.flatnonzero(entries.epochs >= first)
    # A compaction makes large RowSets, so it is soon found if there is one.
    largest_first = recent[np.argsort(-entries.byte_counts[recent], kind="stable")]
    numbers = dict.fromkeys(entries.epochs[largest_first].tolist())
    return any(
        _compacts(epoch, table) for number in numbers for epoch in log.reader.read_epochs(number, 1)
    )


def _compacts(epoch: Epoch, table: TableState) -> bool:
    return AFTER_COMMIT not in epoch.parameters and any(
        isinstance(operation, Compaction) and operation.table == table.id for operation in epoch.ops
    )
