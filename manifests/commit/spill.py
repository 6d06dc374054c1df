"""Store the entries of a change in segments if it adds too many RowSets for an epoch file.

Spec: docs/spec/operations.md#add_rowsets
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from colonnade.manifests.arrays.entry_block import block_of
from colonnade.manifests.arrays.entry_segment import split_block
from colonnade.manifests.checkpoint.writer import write_entry_segment
from colonnade.manifests.commit.change import Change
from colonnade.manifests.ids import job_id_of
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.model.codec import encoded_length
from colonnade.manifests.model.named_objects import named_objects
from colonnade.manifests.model.operations import AddRowSet, AddRowSets, Operation
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.store.base import ObjectStore


def spill(store: ObjectStore, change: Change, limits: Limits = LIMITS) -> Change:
    """Replace long lists of `add_rowset` in a change with segments, which this call stores.

    Costs nothing for short lists. Raises StoreError; nothing then refers to the stored segments.
    """
    added: defaultdict[str, list[AddRowSet]] = defaultdict(list)
    for operation in change.ops:
        if isinstance(operation, AddRowSet):
            added[operation.table].append(operation)
    long = _long(added, limits)
    if not long:
        return change
    kept = [op for op in change.ops if not (isinstance(op, AddRowSet) and op.table in long)]
    stored = [op for table, ops in long.items() for op in _write(store, table, ops, limits)]
    listed = frozenset(named_objects(op for ops in long.values() for op in ops))
    return replace(change, ops=(*kept, *stored), listed=change.listed | listed)


def _long(added: Mapping[str, list[AddRowSet]], limits: Limits) -> dict[str, list[AddRowSet]]:
    """Return the lists that do not fit into the epoch. Shorter lists get their room first."""
    sizes = {table: encoded_length(ops) for table, ops in added.items()}
    long, room = {}, limits.listed_bytes
    for table in sorted(sizes, key=sizes.__getitem__):
        if len(added[table]) > limits.listed_rowsets or sizes[table] > room:
            long[table] = added[table]
        else:
            room -= sizes[table]
    return long


def _write(store: ObjectStore, table: str, ops: list[AddRowSet], limits: Limits) -> list[Operation]:
    # The fold gives the RowSet ids. These ids only keep the order.
    block = block_of([LiveRowSet.of(i, 0, op.rowset, op.vector) for i, op in enumerate(ops)])
    job_id = job_id_of(ops[0].rowset.object)
    return [
        AddRowSets(
            table=table, segment=write_entry_segment(store, table, b, job_id=job_id, with_ids=False)
        )
        for b in split_block(block, (), limits)
    ]
