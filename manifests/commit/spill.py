"""Store long lists of a change outside its epoch: the RowSets it adds, and batches it brings along.

Spec: docs/spec/operations.md#add_rowsets, #restoring-tables
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from colonnade.manifests.arrays.entry_block import block_of
from colonnade.manifests.arrays.entry_segment import split_block
from colonnade.manifests.checkpoint.paged_map import encode_table
from colonnade.manifests.checkpoint.stored_map import write_map
from colonnade.manifests.checkpoint.writer import write_entry_segment, write_object
from colonnade.manifests.commit.change import Change
from colonnade.manifests.ids import job_id_of, new_job_id
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.model.codec import encoded_length
from colonnade.manifests.model.named_objects import named_objects
from colonnade.manifests.model.operations import (
    AddRowSet,
    AddRowSets,
    CreateTable,
    Operation,
    Txn,
    Txns,
)
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.store.base import ObjectStore

_Lists: TypeAlias = Mapping[str, Sequence[Operation]]


def spill(store: ObjectStore, change: Change, limits: Limits = LIMITS) -> Change:
    """Replace long lists of a change by references to objects, which this call stores.

    Lists of `add_rowset` become segments. Lists of batches in `carried` become maps. Costs nothing
    for short lists. Raises StoreError; nothing then refers to the stored objects.
    """
    return _spill_batches(store, _spill_rowsets(store, change, limits), limits)


def _spill_rowsets(store: ObjectStore, change: Change, limits: Limits) -> Change:
    added: defaultdict[str, list[AddRowSet]] = defaultdict(list)
    for operation in change.ops:
        if isinstance(operation, AddRowSet):
            added[operation.table].append(operation)
    long = _too_long(added, limits.listed_bytes, limits.listed_rowsets)
    if not long:
        return change
    kept = [op for op in change.ops if not (isinstance(op, AddRowSet) and op.table in long)]
    stored = [op for table in long for op in _segments(store, table, added[table], limits)]
    listed = frozenset(named_objects(op for table in long for op in added[table]))
    return replace(change, ops=(*kept, *stored), listed=change.listed | listed)


def _spill_batches(store: ObjectStore, change: Change, limits: Limits) -> Change:
    """Store the batches that a table had before it was dropped. Its own batch stays in the epoch.

    The map comes right after the operation that creates the table.
    """
    created = {op.table for op in change.ops if isinstance(op, CreateTable)}
    brought: defaultdict[str, list[Txn]] = defaultdict(list)
    for op in change.ops if change.carried else ():
        if isinstance(op, Txn) and (op.table, op.app) in change.carried and op.table in created:
            brought[op.table].append(op)
    long = _too_long(brought, limits.listed_bytes)
    if not long:
        return change
    maps = {table: _batch_map(store, table, brought[table], limits) for table in long}
    gone = {id(batch) for table in long for batch in brought[table]}
    ops = (op for op in change.ops if id(op) not in gone)
    return replace(change, ops=tuple(_after_creation(ops, maps)))


def _after_creation(
    operations: Iterable[Operation], maps: Mapping[str, Txns]
) -> Iterator[Operation]:
    for operation in operations:
        yield operation
        if isinstance(operation, CreateTable) and operation.table in maps:
            yield maps[operation.table]


def _too_long(lists: _Lists, room: int, most: int | None = None) -> list[str]:
    """Return the tables whose lists do not fit into the epoch. Shorter lists get their room first.

    `room` is in bytes, for all lists together. `most` is the length that one list may have.
    """
    sizes = {table: encoded_length(ops) for table, ops in lists.items()}
    long = []
    for table in sorted(sizes, key=sizes.__getitem__):
        if (most is not None and len(lists[table]) > most) or sizes[table] > room:
            long.append(table)
        else:
            room -= sizes[table]
    return long


def _segments(
    store: ObjectStore, table: str, ops: Sequence[AddRowSet], limits: Limits
) -> list[AddRowSets]:
    # The fold gives the RowSet ids. These ids only keep the order.
    block = block_of([LiveRowSet.of(i, 0, op.rowset, op.vector) for i, op in enumerate(ops)])
    job_id = job_id_of(ops[0].rowset.object)
    return [
        AddRowSets(
            table=table, segment=write_entry_segment(store, table, b, job_id=job_id, with_ids=False)
        )
        for b in split_block(block, (), limits)
    ]


def _batch_map(store: ObjectStore, table: str, ops: Sequence[Txn], limits: Limits) -> Txns:
    batches, write = {op.app: op.version for op in ops}, partial(write_object, store, new_job_id())
    return Txns(
        table=table, batches=encode_table(write_map(store, None, batches, write, limits.page_bytes))
    )
