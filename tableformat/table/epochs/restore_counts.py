"""What a restore did: for its callers, and for people."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from colonnade.manifests.ids import TableId
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import AddRowSet, DropRowSet, Operation
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot


@dataclass(frozen=True, slots=True)
class Restored:
    """A restore of the epoch `restored`: the state after it, and its own epoch.

    `done` is None if there was nothing to do.
    """

    after: Snapshot
    restored: int
    done: Epoch | None


def restore_counts(
    log: Log, base: Snapshot, then: Snapshot, operations: Iterable[Operation]
) -> dict[str, int]:
    """Return the metrics of a restore; none if it touches no RowSets. Static values do not count.

    A RowSet stays if its rows, deleted rows and replaced columns are stored where they were. Reads
    the entries of the RowSets that are live in `base`.
    """
    before: dict[tuple[str, ...], int] = {}
    after: dict[tuple[str, ...], int] = {}
    emptied = {op.table for op in operations if isinstance(op, DropRowSet)}
    for key in emptied:
        if base.tables[TableId(key)].statics_of is None:
            stored = log.rowsets.read_entries(base.tables[TableId(key)], which="all")
            before.update((tuple(each.objects()), each.byte_count) for each in stored)
    for op in operations:
        if isinstance(op, AddRowSet) and then.tables[TableId(op.table)].statics_of is None:
            rowset = LiveRowSet.of(0, 0, op.rowset, op.vector)
            after[tuple(rowset.objects())] = rowset.byte_count
    if not emptied and not after:
        return {}
    removed, restored = before.keys() - after.keys(), after.keys() - before.keys()
    return {
        "rowsets_after": len(after),
        "bytes_after": sum(after.values()),
        "rowsets_removed": len(removed),
        "bytes_removed": sum(before[key] for key in removed),
        "rowsets_restored": len(restored),
        "bytes_restored": sum(after[key] for key in restored),
    }
