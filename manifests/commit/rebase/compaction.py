"""Carry row changes through compactions, in both orders.

A compaction that committed first has moved the rows that a later change removes. Rows that
concurrent writers removed during a compaction are removed from its outputs. This module reads
vectors and origins. If one of them is missing, the change must be planned again: it never guesses.
Spec: docs/spec/conflicts.md#compaction
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pyroaring import FrozenBitMap

from colonnade.manifests.commit.conflict_table import Kind, Rule, rule
from colonnade.manifests.commit.rebase.origin import read_origin
from colonnade.manifests.commit.rebase.row_map import RowMap, row_map
from colonnade.manifests.commit.rebase.targets import (
    Overlap,
    RowSetAt,
    TargetRowSet,
    all_rows,
    ids_of,
)
from colonnade.manifests.model.deletion_vector import read_deletion_vector
from colonnade.manifests.model.entries import DeletionVectorEntry
from colonnade.manifests.model.operations import (
    AddDeletionVector,
    AddRangeTombstone,
    Compaction,
    CompactionOutput,
    DropRowSet,
    Operation,
    ReplaceColumn,
)
from colonnade.manifests.object_names import table_prefix
from colonnade.manifests.store.object_store import ObjectStore

NO_ROWS = FrozenBitMap()
_ANY_ROWS = 2**32


@dataclass(frozen=True, slots=True)
class Vectors:
    """Reads deletion vectors and origins of the tables of a database.

    Keeps how compactions moved rows, because a change that loses its slot needs it again.
    """

    store: ObjectStore
    _maps: dict[tuple[str, ...], RowMap] = field(default_factory=dict, compare=False, repr=False)

    def rows(self, table: str, entry: DeletionVectorEntry | None) -> FrozenBitMap:
        """Return the rows that a vector deletes. Raises CorruptionError, StoreError."""
        if entry is None:
            return NO_ROWS
        return read_deletion_vector(self.store, table_prefix(table), entry, _ANY_ROWS).rows

    def changed(self, op: ReplaceColumn, rows: int) -> FrozenBitMap:
        """Return the rows with new values in a RowSet of `rows` rows. Raises as `rows`."""
        return all_rows(rows) if op.changed is None else self.rows(op.table, op.changed)

    def moves(self, op: Compaction) -> RowMap:
        """Return how a compaction moved rows; computed once. Raises CorruptionError, StoreError."""
        outputs = tuple(output.rowset.object for output in op.outputs)
        known = self._maps.get(outputs)
        if known is None:
            known = self._maps[outputs] = self._read_moves(op)
        return known

    def _read_moves(self, op: Compaction) -> RowMap:
        deleted = [self.rows(op.table, each.vector) for each in op.inputs]
        if op.origin is None:
            return row_map(op, deleted, None)
        count = sum(output.rowset.rows for output in op.outputs)
        prefix = table_prefix(op.table)
        return row_map(op, deleted, read_origin(self.store, prefix, op.origin, count))


def carry_through(
    op: Compaction, first_id: int, targets: Mapping[int, TargetRowSet], vectors: Vectors
) -> dict[int, TargetRowSet]:
    """Return the targets in a table, by RowSet id, after a compaction.

    The first output of the compaction has the id `first_id`. Raises CorruptionError if a vector or
    the origin is damaged or missing; Overlap if the change replaces a column of a compacted RowSet.
    """
    after = dict(targets)
    moved = [(i, after.pop(each.rowset, None)) for i, each in enumerate(op.inputs)]
    if not any(target for _, target in moved):
        return after
    moves = vectors.moves(op)
    for index, target in moved:
        for each in target.changes if target else ():
            if rule(each.kind, Kind.COMPACTION) is Rule.SAME_ROWSET:
                raise Overlap(op.inputs[index].rowset, each.rows, of_columns_only=True)
            for output, rows in moves.carry(index, each.rows).items():
                rowset = first_id + output
                known = after.get(rowset) or _output(op, output, rowset, vectors)
                after[rowset] = replace(known, changes=(*known.changes, replace(each, rows=rows)))
    return after


def _output(op: Compaction, output: int, rowset: int, vectors: Vectors) -> TargetRowSet:
    entry = op.outputs[output]
    deleted = vectors.rows(op.table, entry.vector)
    return TargetRowSet(RowSetAt(rowset, entry.rowset.rows, deleted, entry.vector), ())


@dataclass(frozen=True, slots=True)
class OwnCompaction:
    """A compaction of the change itself, on its way to its slot.

    Concurrent writers may delete rows of the inputs meanwhile. `deleted` has the deleted rows of
    such an input by its id. `deleted_since` has the rows that were deleted since the compaction
    read them: by the index of the output, as row numbers of the output. `cleaned` is the base of
    the change if a range tombstone came since, which the outputs have not met.
    """

    op: Compaction
    base: int
    deleted: Mapping[int, FrozenBitMap] = field(default_factory=dict)
    deleted_since: Mapping[int, FrozenBitMap] = field(default_factory=dict)
    cleaned: int | None = None

    def follow(self, theirs: Operation, vectors: Vectors) -> OwnCompaction | None:
        """Return the compaction after a concurrent operation; None if it must be planned again.

        Cost: each row that was removed from an input is carried to its output once.
        """
        ids = {each.rowset for each in self.op.inputs}
        match theirs:
            case AddDeletionVector() if theirs.rowset in ids:
                rows = vectors.rows(theirs.table, theirs.vector)
                return self._without(theirs.rowset, rows, vectors)
            case AddRangeTombstone():
                return replace(self, cleaned=self.base)
            case ReplaceColumn() if theirs.rowset in ids:
                return None
            case DropRowSet() if not ids_of(theirs.rowsets).isdisjoint(FrozenBitMap(ids)):
                return None
            case Compaction() if not ids.isdisjoint(each.rowset for each in theirs.inputs):
                return None
        return self

    def dated(self, output: CompactionOutput) -> CompactionOutput:
        """Return an output that states which range tombstones its rows have met."""
        if self.cleaned is None or output.rowset.clean_epoch is not None:
            return output
        entry = output.rowset.model_copy(update={"clean_epoch": self.cleaned})
        return output.model_copy(update={"rowset": entry})

    def _without(self, rowset: int, deleted: FrozenBitMap, vectors: Vectors) -> OwnCompaction:
        index = next(i for i, each in enumerate(self.op.inputs) if each.rowset == rowset)
        before = self.deleted.get(rowset)
        if before is None:
            before = vectors.rows(self.op.table, self.op.inputs[index].vector)
        since = dict(self.deleted_since)
        for output, places in vectors.moves(self.op).carry(index, deleted - before).items():
            since[output] = since.get(output, NO_ROWS) | places
        return replace(self, deleted={**self.deleted, rowset: deleted}, deleted_since=since)
