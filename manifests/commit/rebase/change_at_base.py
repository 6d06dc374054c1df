"""A change right after its base: the rows that it deletes, and those that it gives other values.

Spec: docs/spec/conflicts.md
"""

from __future__ import annotations

from pyroaring import FrozenBitMap

from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.rebase.carried import Carried, rows_deleted
from colonnade.manifests.commit.rebase.compaction import OwnCompaction, Vectors
from colonnade.manifests.commit.rebase.replaced_rows import OriginWriter
from colonnade.manifests.commit.rebase.targets import (
    ChangedRows,
    RowSetAt,
    TargetRowSet,
    all_rows,
    ids_of,
)
from colonnade.manifests.commit.rebase.vector_writer import VectorWriter
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.operations import Compaction, DropRowSet, ReplaceColumn
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot


def change_at_base(
    change: Change, base: Snapshot, log: LogReader, *, stored: bool = True
) -> Carried:
    """Return a change in its planned form, right after its base.

    Without `stored` it writes no object. Reads the vector objects of the RowSets whose rows it
    deletes. Raises InvalidInputError if it replaces columns of a RowSet that is not live;
    CorruptionError, StoreError.
    """
    vectors = Vectors(log.store)
    targets = _targets_at_base(change, base, log, vectors)
    overwriting = frozenset(read.table for read in change.reads if read.overwrites)
    return Carried(
        change,
        base,
        log,
        vectors,
        VectorWriter(log.store, change.job_id, log.limits, stored=stored),
        targets,
        overwriting,
        {
            op.table: ids_of(op.rowsets)
            for op in change.ops
            if isinstance(op, DropRowSet) and op.table in overwriting
        },
        {
            op.table: OwnCompaction(op, base.epoch)
            for op in change.ops
            if isinstance(op, Compaction)
        },
        rows_deleted(targets),
        change.origins,
        OriginWriter(log.store, change.job_id, log.limits),
    )


def _targets_at_base(
    change: Change, base: Snapshot, log: LogReader, vectors: Vectors
) -> dict[str, dict[int, TargetRowSet]]:
    """Return the RowSets whose rows a change deletes or gives other values, as of its base."""
    targets: dict[str, dict[int, TargetRowSet]] = {}

    def target_of(table: str, rowset: LiveRowSet) -> TargetRowSet:
        vector = rowset.vector
        deleted = vectors.rows(table, vector)
        found = RowSetAt(rowset.id, rowset.entry.rows, deleted, vector)
        return targets.setdefault(table, {}).get(rowset.id) or TargetRowSet(found, ())

    for each in change.rows:
        target = target_of(each.table, each.rowset)
        wanted = all_rows(target.found.rows) if each.rows is None else FrozenBitMap(each.rows)
        fresh = wanted - target.found.deleted - target.rows
        deletion = ChangedRows(each.kind, fresh, _columns_read(change, each.table))
        targets[each.table][target.found.id] = target.with_change(deletion)
    for table, operations in _replacements(change).items():
        live = log.rowsets.find(base.tables[TableId(table)], {op.rowset for op in operations})
        for op in operations:
            if op.rowset not in live:
                raise InvalidInputError(f"Table {table} has no RowSet {op.rowset} to replace.")
            target = target_of(table, live[op.rowset])
            rows = vectors.changed(op, target.found.rows) - target.found.deleted
            columns = frozenset(op.replacement.columns)
            new = ChangedRows("replace", rows, _columns_read(change, table), columns)
            targets[table][op.rowset] = target.with_change(new)
    return targets


def _replacements(change: Change) -> dict[str, list[ReplaceColumn]]:
    found: dict[str, list[ReplaceColumn]] = {}
    for operation in change.ops:
        if isinstance(operation, ReplaceColumn):
            found.setdefault(operation.table, []).append(operation)
    return found


def _columns_read(change: Change, table: str) -> frozenset[int] | None:
    """Return the columns of a table that a change has read; None if it may have read all."""
    columns = [read.columns for read in change.reads if read.table == table]
    known = [each for each in columns if each is not None]
    return frozenset().union(*known) if columns and len(known) == len(columns) else None
