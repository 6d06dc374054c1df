"""Write checkpoints, and reuse unchanged segments.

Spec: docs/spec/checkpoint.md
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from colonnade.manifests.arrays.entry_block import EntryBlock, block_of, concat_blocks
from colonnade.manifests.arrays.entry_segment import (
    describe_entry_segment,
    encode_entry_segment,
    split_block,
)
from colonnade.manifests.checkpoint.hint import put_usable_hint
from colonnade.manifests.checkpoint.paged_map import PageTable
from colonnade.manifests.checkpoint.reader import (
    UNUSABLE,
    read_entry_segment,
    read_hint,
    refuse_lost,
)
from colonnade.manifests.checkpoint.root import encode_root, encode_table_record, plan_earlier
from colonnade.manifests.checkpoint.segment_choice import (
    is_worth_keeping,
    plan_merge,
    touched_segments,
)
from colonnade.manifests.checkpoint.stored_batches import store_batches
from colonnade.manifests.checkpoint.stored_map import StoredMap, write_map
from colonnade.manifests.checkpoint.stored_tables import CheckpointTables, StoredTables
from colonnade.manifests.epochs.slots import check_database
from colonnade.manifests.errors import StoreError
from colonnade.manifests.ids import TableId, new_job_id, new_object_id
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.model.codec import byte_check
from colonnade.manifests.model.entries import EntrySegment
from colonnade.manifests.model.operations import CheckpointRef
from colonnade.manifests.object_names import checkpoint_name
from colonnade.manifests.state.amendments import LaterAmendments
from colonnade.manifests.state.features import check_writer_features
from colonnade.manifests.state.folds.statics import joined
from colonnade.manifests.state.snapshot import (
    EntrySegmentRef,
    Replay,
    RowSets,
    Snapshot,
    TableState,
)
from colonnade.manifests.store.base import PutOutcome
from colonnade.manifests.store.object_store import ObjectStore


def write_entry_segment(
    write: Callable[[bytes], str], table: str, block: EntryBlock
) -> EntrySegment:
    """Store one segment by `write`, which returns its id, and return its entry."""
    data = encode_entry_segment(table, block)
    return describe_entry_segment(write(data), data, block)


def write_object(store: ObjectStore, job_id: str, data: bytes) -> str:
    """Store bytes under a new object id, durably, and return the id.

    Raises StoreError. Nothing refers to an object that such a call may have left.
    """
    object_id = new_object_id(job_id)
    name = checkpoint_name(object_id)
    for _ in range(2):
        outcome = store.put_if_absent(name, data)
        if outcome is PutOutcome.CREATED:
            return object_id
        # The id is random, so an existing object is this one, sent twice.
        if outcome is PutOutcome.EXISTS and store.get(name, limit=len(data)) == data:
            return object_id
    raise StoreError(f"It is not known whether {store.locate(name)} was written.", retryable=True)


def write_checkpoint(
    store: ObjectStore, snapshot: Snapshot, limits: Limits = LIMITS, replay: Replay = refuse_lost
) -> Snapshot:
    """Store a snapshot as a checkpoint. Returns the same state with its RowSets in segments.

    Costs one object for each table that changed since the last checkpoint, a few more if small
    segments are merged, the root, and `put_usable_hint`. Raises StoreError; CorruptionError or
    NotFoundError if an old segment is damaged or missing; ConflictError if vacuum removed one
    meanwhile; NotFoundError if another database has taken the place; UnsupportedFormatError for a
    writer feature that this code does not know. After an error nothing refers to the objects
    written so far.
    """
    check_writer_features(snapshot)
    if store.keeps_logs:
        check_database(store, snapshot.database)
    previous = read_hint(store)
    earlier = (previous[0], *previous[1].earlier) if previous else ()
    stored, ref = store_snapshot(
        store, snapshot, plan_earlier(earlier, snapshot.epoch), limits, replay
    )
    if previous is None or previous[0].epoch < snapshot.epoch:
        held = stored.held_tables().values()
        listing = (name for table in held if table for name in table.listing_objects())
        names = {ref.root, *listing, *stored.stored_objects()}
        put_usable_hint(store, ref, names, snapshot.epoch, snapshot.blocks)
    return stored


def store_snapshot(
    store: ObjectStore,
    snapshot: Snapshot,
    earlier: Sequence[CheckpointRef] = (),
    limits: Limits = LIMITS,
    replay: Replay = refuse_lost,
    erased: TableId | None = None,
    on_object: Callable[[str, bytes], None] = lambda *_: None,
) -> tuple[Snapshot, CheckpointRef]:
    """Store the root of a snapshot and its new segments. The hint does not change.

    `replay` reads from the log what the returned state cannot read from the checkpoint. No segment
    of the table `erased` has an entry of a dropped RowSet. `on_object` gets the id and the bytes of
    each stored object.

    Raises as `write_checkpoint`.
    """
    before = snapshot.tables if isinstance(snapshot.tables, StoredTables) else None
    job_id = new_job_id()

    def write(data: bytes) -> str:
        object_id = write_object(store, job_id, data)
        on_object(object_id, data)
        return object_id

    parts = _Parts(store, write, snapshot.epoch, limits, replay, erased)
    held = snapshot.held_tables()
    changed = {key: table and parts.table(table) for key, table in held.items()}
    if erased is not None and erased not in changed and erased in snapshot.tables:
        changed[erased] = parts.table(snapshot.tables[erased])
    changed = joined(changed)
    data = None
    if before is None or before.stored.records.table.byte_count <= limits.root_bytes:
        every = {**snapshot.tables, **changed}
        whole = joined({key: table and parts.table(table) for key, table in every.items()})
        tables = {key: table for key, table in whole.items() if table is not None}
        stored = replace(snapshot, tables=tables)
        data = encode_root(stored, earlier)
    if data is None or (len(tables) > limits.root_tables and len(data) > limits.root_bytes):
        maps = parts.tables(before, changed)
        stored = replace(snapshot, tables=StoredTables(maps, snapshot.epoch))
        data = encode_root(stored, earlier, maps.described())
    root = parts.write(data)
    return stored, CheckpointRef(epoch=snapshot.epoch, root=root, check=byte_check(data))


@dataclass(frozen=True, slots=True)
class _Parts:
    """Stores parts of the checkpoint of an epoch. `write` stores one part and returns its id."""

    store: ObjectStore
    write: Callable[[bytes], str]
    epoch: int
    limits: Limits
    replay: Replay
    erased: TableId | None

    def table(self, table: TableState) -> TableState:
        """Return the table with its RowSets in segments, and many batches in a map.

        Returns the same table if all of this is already stored.
        """
        page_bytes = self.limits.page_bytes
        batches = store_batches(self.store, table, self.epoch, self.write, page_bytes, self.replay)
        erased = table.id == self.erased
        rewritten = _rewritten(self.store, table, self.write, self.limits, erased)
        return rewritten if batches is table.batches else replace(rewritten, batches=batches)

    def tables(
        self, before: StoredTables | None, changed: Mapping[TableId, TableState | None]
    ) -> CheckpointTables:
        """Store tables outside the root: those that changed since the last checkpoint, or all."""
        old = None if before is None else before.stored
        try:
            records, names = self._maps(old, changed)
        except UNUSABLE as error:
            if before is None:
                raise
            # No part of an unreadable checkpoint is used again.
            told = {key: self.table(table) for key, table in before.replayed(error).items()}
            old, changed = None, joined({**told, **changed})
            records, names = self._maps(None, changed)
        # A committer keeps its tables in memory, so that later failures of the store do not matter.
        every = (*(old.held() if old else ()), *changed.values())
        held = [table for table in every if table and changed.get(table.id, table) is table]
        return CheckpointTables(records, names, self.replay, self.epoch, held)

    def _maps(
        self, old: CheckpointTables | None, changed: Mapping[TableId, TableState | None]
    ) -> tuple[StoredMap, StoredMap]:
        """Store the records of tables, and their ids by name."""

        def store_map(before: PageTable | None, changes: Mapping[str, Any]) -> StoredMap:
            page_bytes = self.limits.page_bytes
            table = write_map(self.store, before, changes, self.write, page_bytes)
            return StoredMap(self.store, table)

        records: dict[str, Any] = {
            key: None if table is None else encode_table_record(table)
            for key, table in changed.items()
        }
        names = _changed_names(old, changed)
        return (
            store_map(old.records.table if old else None, records),
            store_map(old.names.table if old else None, names),
        )


def _changed_names(
    old: CheckpointTables | None, changed: Mapping[TableId, TableState | None]
) -> dict[str, str | None]:
    """Return names that now mean another table (its id), or no table (None)."""
    names: dict[str, str | None] = {}
    for key, table in changed.items():
        was = old.get(key) if old else None
        if was is not None and (table is None or table.name != was.name):
            names.setdefault(was.name, None)
        if table is not None and (was is None or table.name != was.name):
            names[table.name] = key
    return names


def _rewritten(
    store: ObjectStore,
    table: TableState,
    write: Callable[[bytes], str],
    limits: Limits,
    erased: bool,
) -> TableState:
    """Return the table with all its RowSets in segments. Writes the new segments.

    If `erased`, none of them has the entry of a dropped RowSet.
    """
    rowsets = table.rowsets
    counted = rowsets.row_count is not None and rowsets.byte_count is not None
    if counted and not (rowsets.added or rowsets.dropped or rowsets.amended):
        return table
    touched = touched_segments(rowsets)
    newer_vectors = [k for k, each in rowsets.amended.items() if each.vector]
    replaced_columns = [k for k, each in rowsets.amended.items() if each.replaced]
    kept: list[EntrySegmentRef] = []
    blocks: list[EntryBlock] = [block_of(rowsets.added)] if rowsets.added else []
    row_count = byte_count = 0
    for ref in touched:
        block = read_entry_segment(store, table, ref)
        live = block.updated(rowsets.dropped, rowsets.amended)
        replaced = int(np.isin(live.ids, np.array(newer_vectors, np.int64)).sum())
        # A root has no statistics of replaced columns. Old bounds in the segment would prune
        # wrongly.
        other_columns = bool(np.isin(live.ids, np.array(replaced_columns, np.int64)).any())
        dropped = len(block) - len(live)
        anew = other_columns or (erased and dropped > 0)
        if not anew and is_worth_keeping(ref, dropped, replaced, limits):
            kept.append(ref)
            row_count += int((live.rows - live.deleted).sum())
            byte_count += int(live.byte_counts.sum())
        elif len(live):
            blocks.append(live)
    untouched = [ref for ref in rowsets.segments if ref not in touched]
    merged = plan_merge(untouched, sum(map(len, blocks)), limits)
    blocks += [read_entry_segment(store, table, ref) for ref in merged]
    untouched = [ref for ref in untouched if ref not in merged]
    written = _write_blocks(table, blocks, write, limits)
    whole = [*untouched, *written]
    ids = [(ref.first_id, ref.last_id) for ref in kept]
    return replace(
        table,
        rowsets=RowSets(
            segments=tuple(sorted((*whole, *kept), key=lambda ref: ref.first_id)),
            dropped=tuple(
                r for r in rowsets.dropped if any(r[0] <= b and a <= r[1] for a, b in ids)
            ),
            amended={
                k: LaterAmendments(each.vector)
                for k, each in rowsets.amended.items()
                if each.vector and any(a <= k <= b for a, b in ids)
            },
            rowset_count=rowsets.rowset_count,
            row_count=row_count + sum(ref.live_row_count for ref in whole),
            byte_count=byte_count + sum(ref.segment.byte_count for ref in whole),
        ),
    )


def _write_blocks(
    table: TableState, blocks: list[EntryBlock], write: Callable[[bytes], str], limits: Limits
) -> list[EntrySegmentRef]:
    if not blocks:
        return []
    parts = split_block(concat_blocks(blocks), table.sort_key, limits)
    return [
        EntrySegmentRef(
            write_entry_segment(write, table.id, part),
            int(part.ids.min()),
            int(part.ids.max()),
            int(part.epochs.min()),
        )
        for part in parts
    ]
