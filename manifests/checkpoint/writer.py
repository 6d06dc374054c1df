"""Checkpoints that are written, reusing the segments that did not change.

Spec: docs/spec/checkpoint.md
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from colonnade.manifests.arrays.entry_block import EntryBlock, block_of, concat_blocks
from colonnade.manifests.arrays.segment import describe_segment, encode_segment, split_block
from colonnade.manifests.checkpoint.paged_map import PageTable
from colonnade.manifests.checkpoint.reader import UNUSABLE, read_hint, read_segment, refuse_lost
from colonnade.manifests.checkpoint.root import (
    CheckpointRef,
    Hint,
    encode_root,
    encode_table_record,
    is_worth_keeping,
    plan_earlier,
    plan_merge,
    touched_segments,
)
from colonnade.manifests.checkpoint.stored_map import StoredMap, write_map
from colonnade.manifests.checkpoint.stored_tables import CheckpointTables, Replay, StoredTables
from colonnade.manifests.epochs.slots import read_slot
from colonnade.manifests.errors import ConflictError, StoreError
from colonnade.manifests.ids import TableId, new_job_id, new_object_id
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.model.codec import byte_check, encode_model
from colonnade.manifests.model.entries import SegmentEntry
from colonnade.manifests.model.named_objects import removed_objects
from colonnade.manifests.model.operations import Anchor, Epoch
from colonnade.manifests.object_names import HINT, checkpoint_name
from colonnade.manifests.state.snapshot import RowSets, SegmentRef, Snapshot, TableState
from colonnade.manifests.store.base import ObjectStore, PutOutcome


def write_segment(
    store: ObjectStore, table: str, block: EntryBlock, *, job: str, with_ids: bool
) -> SegmentEntry:
    """Store one segment, durably, and return what describes it. Raises StoreError."""
    data = encode_segment(table, block, with_ids=with_ids)
    return describe_segment(write_object(store, job, data), data, block)


def write_object(store: ObjectStore, job: str, data: bytes) -> str:
    """Store bytes under a new object id, durably, and return the id.

    Raises StoreError; what was written, if anything, is named by nothing.
    """
    object_id = new_object_id(job)
    name = checkpoint_name(object_id)
    for _ in range(2):
        outcome = store.put_if_absent(name, data)
        if outcome is PutOutcome.CREATED:
            return object_id
        # The id is random: what exists under it is this very object, sent twice.
        if outcome is PutOutcome.EXISTS and store.get(name, limit=len(data)) == data:
            return object_id
    raise StoreError(f"It is not known whether {store.locate(name)} was written.", retryable=True)


def write_checkpoint(
    store: ObjectStore, snapshot: Snapshot, limits: Limits = LIMITS, replay: Replay = refuse_lost
) -> Snapshot:
    """Store a snapshot as a checkpoint; returns the same state with its RowSets in segments.

    Costs one object for each table that changed since the checkpoint before, one or few more
    where small segments are merged, the root, the hint, and a look for newer epochs. Raises
    StoreError, CorruptionError or NotFoundError where an old segment is damaged or gone, and
    ConflictError where vacuum removed one meanwhile; what was written until then is named by
    nothing.
    """
    previous = read_hint(store)
    earlier = (previous[0], *previous[1].earlier) if previous else ()
    stored, ref = store_snapshot(
        store, snapshot, plan_earlier(earlier, snapshot.epoch), limits, replay
    )
    if previous is None or previous[0].epoch < snapshot.epoch:
        _check_not_removed(store, stored, ref)
        point_hint(store, ref)
    return stored


def store_snapshot(
    store: ObjectStore,
    snapshot: Snapshot,
    earlier: Sequence[CheckpointRef] = (),
    limits: Limits = LIMITS,
    replay: Replay = refuse_lost,
) -> tuple[Snapshot, CheckpointRef]:
    """Store the root of a snapshot and the segments that are new; the hint stays as it is.

    `replay` reads from the log what the state that is returned cannot read in the checkpoint.

    Raises as `write_checkpoint`.
    """
    job = new_job_id()
    before = snapshot.tables if isinstance(snapshot.tables, StoredTables) else None
    changed = {
        key: None if table is None else _rewritten(store, table, job, limits)
        for key, table in snapshot.held_tables().items()
    }
    data = None
    if before is None or before.stored.records.table.byte_count <= limits.root_bytes:
        tables = {k: t for k, t in {**snapshot.tables, **changed}.items() if t is not None}
        stored = replace(snapshot, tables=tables)
        data = encode_root(stored, earlier)
    if data is None or (len(tables) > limits.root_tables and len(data) > limits.root_bytes):
        maps = _write_tables(store, before, changed, job, limits)
        # Whoever has committed goes on with its tables, whatever the store does then.
        old = before.stored.held() if before else ()
        held = [t for t in (*old, *changed.values()) if t and changed.get(t.id, t) is t]
        maps = CheckpointTables(maps.records, maps.names, replay, held)
        stored = replace(snapshot, tables=StoredTables(maps, snapshot.epoch))
        data = encode_root(stored, earlier, maps.described())
    root = write_object(store, job, data)
    return stored, CheckpointRef(epoch=snapshot.epoch, root=root, check=byte_check(data))


def _write_tables(
    store: ObjectStore,
    before: StoredTables | None,
    changed: Mapping[TableId, TableState | None],
    job: str,
    limits: Limits,
) -> CheckpointTables:
    """Store tables outside the root: those that changed since the checkpoint before, or all."""

    if before is not None:
        try:
            return _write_maps(store, before.stored, changed, job, limits)
        except UNUSABLE as error:
            # Of a checkpoint that cannot be read nothing is used again.
            changed = {**before.replayed(error), **changed}
    return _write_maps(store, None, changed, job, limits)


def _write_maps(
    store: ObjectStore,
    old: CheckpointTables | None,
    changed: Mapping[TableId, TableState | None],
    job: str,
    limits: Limits,
) -> CheckpointTables:
    def write(data: bytes) -> str:
        return write_object(store, job, data)

    def store_map(before: PageTable | None, changes: Mapping[str, Any]) -> StoredMap:
        return StoredMap(store, write_map(store, before, changes, write, limits.page_bytes))

    records: dict[str, Any] = {
        k: None if t is None else encode_table_record(t) for k, t in changed.items()
    }
    names = _changed_names(old, changed)
    return CheckpointTables(
        store_map(old.records.table if old else None, records),
        store_map(old.names.table if old else None, names),
        refuse_lost,
    )


def _changed_names(
    old: CheckpointTables | None, changed: Mapping[TableId, TableState | None]
) -> dict[str, str | None]:
    """The names that mean another table than in the checkpoint before, or none any more."""
    names: dict[str, str | None] = {}
    for key, table in changed.items():
        was = old.get(key) if old else None
        if was is not None and (table is None or table.name != was.name):
            names.setdefault(was.name, None)
        if table is not None and (was is None or table.name != was.name):
            names[table.name] = key
    return names


def point_hint(store: ObjectStore, ref: CheckpointRef | Anchor) -> None:
    """Name a checkpoint as the newest. Raises StoreError."""
    hint = Hint(epoch=ref.epoch, root=ref.root, check=ref.check)
    store.put(HINT, encode_model(hint), sync=False)


def _check_not_removed(store: ObjectStore, stored: Snapshot, ref: CheckpointRef) -> None:
    """Check that no vacuum since the epoch of a checkpoint names a part of it."""
    held = stored.held_tables().values()
    refs = (each for table in held if table for each in table.rowsets.segments)
    names = {ref.root, *(each.segment.object for each in refs), *stored.stored_objects()}
    number = stored.epoch + 1
    while isinstance(item := read_slot(store, number), Epoch):
        if not names.isdisjoint(removed_objects(item.ops)):
            raise ConflictError(f"Epoch {number} removes parts of the checkpoint of {ref.epoch}.")
        number += 1


def _rewritten(store: ObjectStore, table: TableState, job: str, limits: Limits) -> TableState:
    """The table with all its RowSets in segments, written where they are new."""
    rowsets = table.rowsets
    counted = rowsets.row_count is not None and rowsets.byte_count is not None
    if counted and not (rowsets.added or rowsets.dropped or rowsets.vectors or rowsets.replaced):
        return table
    touched = touched_segments(rowsets)
    kept: list[SegmentRef] = []
    blocks: list[EntryBlock] = [block_of(rowsets.added)] if rowsets.added else []
    row_count = byte_count = 0
    for ref in touched:
        block = read_segment(store, table, ref)
        live = block.updated(rowsets.dropped, rowsets.vectors, rowsets.replaced)
        replaced = int(np.isin(live.ids, np.array([*rowsets.vectors], np.int64)).sum())
        # A root says nothing of columns: bounds in a segment that do not hold would prune wrongly.
        other_columns = bool(np.isin(live.ids, np.array([*rowsets.replaced], np.int64)).any())
        if not other_columns and is_worth_keeping(ref, len(block) - len(live), replaced, limits):
            kept.append(ref)
            row_count += int((live.rows - live.deleted).sum())
            byte_count += int(live.byte_counts.sum())
        elif len(live):
            blocks.append(live)
    untouched = [ref for ref in rowsets.segments if ref not in touched]
    merged = plan_merge(untouched, sum(map(len, blocks)), limits)
    blocks += [read_segment(store, table, ref) for ref in merged]
    untouched = [ref for ref in untouched if ref not in merged]
    written = _write_blocks(store, table, blocks, job, limits)
    whole = [*untouched, *written]
    ids = [(ref.first_id, ref.last_id) for ref in kept]
    return replace(
        table,
        rowsets=RowSets(
            segments=tuple(sorted((*whole, *kept), key=lambda ref: ref.first_id)),
            dropped=tuple(
                r for r in rowsets.dropped if any(r[0] <= b and a <= r[1] for a, b in ids)
            ),
            vectors={k: v for k, v in rowsets.vectors.items() if any(a <= k <= b for a, b in ids)},
            rowset_count=rowsets.rowset_count,
            row_count=row_count + sum(ref.live_row_count for ref in whole),
            byte_count=byte_count + sum(ref.segment.byte_count for ref in whole),
        ),
    )


def _write_blocks(
    store: ObjectStore, table: TableState, blocks: list[EntryBlock], job: str, limits: Limits
) -> list[SegmentRef]:
    if not blocks:
        return []
    parts = split_block(concat_blocks(blocks), table.sort_key, limits)
    return [
        SegmentRef(
            write_segment(store, table.id, part, job=job, with_ids=True),
            int(part.ids.min()),
            int(part.ids.max()),
        )
        for part in parts
    ]
