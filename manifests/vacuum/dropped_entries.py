"""What is left of RowSets that a table no longer has: in shared segments, and in removed epochs.

A checkpoint keeps a large segment although a few of its RowSets were dropped. Their entries stay in
it, with bounds of their columns and with all the bytes of small RowSets. The file of a removed
epoch has such entries until its block is freed. No reader sees them, but an erasure must leave
nothing of them.
Spec: docs/spec/vacuum.md#erasure
"""

from __future__ import annotations

from colonnade.manifests.checkpoint.anchor_list import read_live_anchors
from colonnade.manifests.checkpoint.loaded_pages import read_plain_state
from colonnade.manifests.checkpoint.reader import UNUSABLE, read_hint, read_state
from colonnade.manifests.epochs.slot_reader import AHEAD, SlotReader
from colonnade.manifests.errors import CorruptionError, UnsupportedFormatError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.columns.statics import with_own_statics
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import CheckpointRef, Operation
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot


def has_remains(state: Snapshot, table: TableId) -> bool:
    """Return whether a segment of a table has the entry of a RowSet that the table dropped."""
    found = state.tables.get(table)
    return found is not None and any(
        first <= ref.last_id and ref.first_id <= last
        for ref in found.rowsets.segments
        for first, last in found.rowsets.dropped
    )


def anchors_with_remains(log: LogReader, head: Snapshot, table: TableId) -> list[CheckpointRef]:
    """Return the anchors of a head whose states have remains of a table, ascending by epoch.

    Reads the root of each anchor. Raises CorruptionError if one cannot be read; StoreError.
    """
    anchors = read_live_anchors(log.store, head)
    return [each for each in anchors if has_remains(read_plain_state(log.store, each), table)]


def epochs_with_remains(log: LogReader, head: Snapshot, table: TableId) -> dict[int, Epoch | None]:
    """Return the epochs up to the floor that may name a table, and whose slots were not freed yet.

    They descend. An epoch is None if it cannot be read: it is not needed any more, so no other road
    finds the damage, and its file may still hold anything. Costs a GET for each epoch up to the
    floor whose slot was not freed, and one for each block. Raises StoreError.
    """
    own, blocks, found = with_own_statics(table), head.blocks, dict[int, Epoch | None]()
    newest = head.floor
    while newest > 0 and not log.is_freed(newest, head):
        oldest = max(1, blocks.first(blocks.of(newest)))
        slots = SlotReader(log.store, ahead=AHEAD, last=newest)
        slots.fetch(oldest)
        for number in range(newest, oldest - 1, -1):
            try:
                epoch = slots.read(number)
            except (CorruptionError, UnsupportedFormatError):
                found[number] = None
            else:
                if epoch is not None and any(_table(op) in own for op in epoch.ops):
                    found[number] = epoch
        newest = oldest - 1
    return found


def _table(operation: Operation) -> str | None:
    return getattr(operation, "table", None)


def sheds_remains(log: LogReader, head: Snapshot, table: TableId, floor: int) -> bool:
    """Return whether fewer remains of a table would be left with a later floor.

    They are in anchors, which are then stored anew, and in epochs whose block is then freed. Raises
    as `anchors_with_remains` and `epochs_with_remains`.
    """
    if anchors_with_remains(log, head, table):
        return True
    freed = head.blocks.first(head.blocks.whole_below(floor))
    return any(epoch < freed for epoch in epochs_with_remains(log, head, table))


def caches_have_remains(log: LogReader, table: TableId) -> bool:
    """Return whether a checkpoint that the hint leads to has remains of a table.

    One that cannot be read has none that a vacuum keeps. Reads the root of each checkpoint. Raises
    StoreError.
    """
    newest = read_hint(log.store)
    for ref in (newest[0], *newest[1].earlier) if newest else ():
        try:
            if has_remains(read_state(log.store, ref), table):
                return True
        except UNUSABLE:
            continue
    return False
