"""Store long lists of the RowSets that a change adds outside its epoch.

Spec: docs/spec/operations.md#add_rowsets
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from colonnade.manifests.arrays.entry_block import block_of
from colonnade.manifests.arrays.entry_segment import split_block
from colonnade.manifests.checkpoint.writer import write_entry_segment, write_object
from colonnade.manifests.commit.change import Change
from colonnade.manifests.ids import job_id_of
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.model.codec import encoded_length
from colonnade.manifests.model.named_objects import named_objects
from colonnade.manifests.model.operations import (
    AddRowSet,
    AddRowSets,
    Operation,
)
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.store.object_store import ObjectStore

_Lists: TypeAlias = Mapping[str, Sequence[Operation]]


def spill(store: ObjectStore, change: Change, limits: Limits = LIMITS) -> Change:
    """Replace long lists of `add_rowset` by references to segments, which this call stores.

    Costs nothing for short lists. Raises StoreError; nothing then refers to the stored segments.
    """
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
    # The fold gives the RowSet ids, which ascend by one from the first.
    block = block_of([LiveRowSet.of(i, 0, op.rowset, op.vector) for i, op in enumerate(ops)])
    write = partial(write_object, store, job_id_of(ops[0].rowset.object))
    return [
        AddRowSets(table=table, segment=write_entry_segment(write, table, b))
        for b in split_block(block, (), limits)
    ]
