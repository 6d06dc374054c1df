"""What an epoch did to the rows of a table, from the log and the vectors alone."""

from __future__ import annotations

from dataclasses import dataclass

from pyroaring import FrozenBitMap

from colonnade.manifests.arrays.origins import NEW
from colonnade.manifests.commit.rebase.origin import read_origin
from colonnade.manifests.commit.rebase.targets import all_rows, ids_of, numbered
from colonnade.manifests.ids import TableId
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.deletion_vector import read_deletion_vector
from colonnade.manifests.model.entries import DeletionVectorEntry
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import (
    AddDeletionVector,
    AddRowSet,
    AddRowSets,
    DropRowSet,
    ReplaceRows,
)
from colonnade.manifests.object_names import table_prefix
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.scan.selection import deleted_rows

Place = tuple[int, int]
"""The id of a RowSet, and a row in it."""


@dataclass(frozen=True)
class RowChanges:
    """The rows that an epoch inserted, deleted, and moved: from their old places to new ones."""

    inserted: frozenset[Place]
    deleted: frozenset[Place]
    moved: dict[Place, Place]


def row_changes(
    log: Log | LogReader, before: Snapshot, epoch: Epoch, after: Snapshot, table_id: str
) -> RowChanges:
    """Return what the epoch after `before` did to the rows of a table, besides compactions."""
    table = TableId(table_id)
    there = {} if table not in before.tables else _live(log, before, table)
    gone = {rowset: _rows(log, table, each.vector) for rowset, each in there.items()}
    deleted: dict[int, FrozenBitMap] = {}
    added: list[int] = []
    origin: ReplaceRows | None = None
    for op, first in numbered(before, epoch):
        if getattr(op, "table", None) != table:
            continue
        match op:
            case AddRowSet():
                added.append(first)
            case AddRowSets():
                added += range(first, first + op.segment.rowset_count)
            case AddDeletionVector():
                deleted[op.rowset] = _rows(log, table, op.vector) - gone[op.rowset]
            case DropRowSet():
                for rowset in ids_of(op.rowsets):
                    deleted[rowset] = all_rows(there[rowset].entry.rows) - gone[rowset]
            case ReplaceRows():
                origin = op
    old = {
        (index << 32) + place: (rowset, row)
        for index, rowset in enumerate(sorted(each for each in deleted if deleted[each]))
        for place, row in enumerate(deleted[rowset])
    }
    now = _live(log, after, table) if table in after.tables and added else {}
    new = [(rowset, row) for rowset in added for row in range(now[rowset].entry.rows)]
    moved: dict[Place, Place] = {}
    if origin is not None:
        places = read_origin(log.store, table_prefix(table), origin.origin, len(new))
        moved = {
            old[place]: at for at, place in zip(new, places.tolist(), strict=True) if place != NEW
        }
        assert len(moved) == (places != NEW).sum(), "a row was replaced twice"
    left_out = {(rowset, row) for rowset in added for row in _rows(log, table, now[rowset].vector)}
    assert left_out.isdisjoint(moved.values()), "a row that is not added replaces one"
    inserted = frozenset(new) - left_out - set(moved.values())
    return RowChanges(inserted, frozenset(old.values()) - moved.keys(), moved)


def places(log: Log | LogReader, state: Snapshot, name: str, key: str = "k") -> dict[int, Place]:
    """Where the row of each key is in a table. All keys differ."""
    [table] = (each for each in state.tables.values() if each.name == name)
    found: dict[int, Place] = {}
    view = log.rowsets.view(table, None, None)
    for rowset in view.rowsets:
        gone = deleted_rows(log.store, view, rowset)
        field = table.schema.field(key)
        for first, batch in RowSetReader(log.store, view, rowset).read([field]):
            for row, number in enumerate(batch.column(0).to_pylist(), first):
                if row not in gone:
                    assert number not in found
                    found[number] = rowset.id, row
    return found


def changes_of(before: dict[int, Place], after: dict[int, Place], renewed: set[int]) -> RowChanges:
    """What happened to rows, given the keys of those that are other rows than before."""
    same = (before.keys() & after.keys()) - renewed
    return RowChanges(
        frozenset(after[k] for k in after.keys() - same),
        frozenset(before[k] for k in before.keys() - same),
        {before[k]: after[k] for k in same if before[k] != after[k]},
    )


def _live(log: Log | LogReader, state: Snapshot, table: TableId) -> dict[int, LiveRowSet]:
    return {each.id: each for each in log.rowsets.read(state.tables[table], which="all")}


def _rows(log: Log | LogReader, table: TableId, vector: DeletionVectorEntry | None) -> FrozenBitMap:
    if vector is None:
        return FrozenBitMap()
    return read_deletion_vector(log.store, table_prefix(table), vector, 2**32).rows
