"""What is left of RowSets that a table no longer has, in segments that live RowSets share.

A checkpoint keeps a large segment although a few of its RowSets were dropped. Their entries stay in
it, with bounds of their columns and with all the bytes of small RowSets. No reader sees them, but
an erasure must leave nothing of them.
Spec: docs/spec/vacuum.md#erasure
"""

from __future__ import annotations

from colonnade.manifests.checkpoint.anchor_list import read_live_anchors
from colonnade.manifests.checkpoint.loaded_pages import read_plain_state
from colonnade.manifests.checkpoint.reader import UNUSABLE, read_hint, read_state
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.operations import Anchor
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


def anchors_with_remains(log: LogReader, head: Snapshot, table: TableId) -> list[Anchor]:
    """Return the anchors of a head whose states have remains of a table, ascending by epoch.

    Reads the root of each anchor. Raises CorruptionError if one cannot be read; StoreError.
    """
    anchors = read_live_anchors(log.store, head)
    return [each for each in anchors if has_remains(read_plain_state(log.store, each), table)]


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
