"""Going back to an earlier state, by a new epoch.

Rows and columns are again what they were; RowSets that come back get new ids, and no file is
touched. Names, properties, comments, batches, tags and pins stay as they are; properties that name
a column follow it.
Spec: docs/spec/operations.md#restoring-tables
"""

from __future__ import annotations

from collections.abc import Iterable

from manifests.bloom_columns import follow_columns
from manifests.change import Change, TableRead
from manifests.errors import InvalidInputError, NotFoundError
from manifests.ids import new_transaction_id
from manifests.log import Log
from manifests.operations import AddRowSet, DropRowSet, DropTable, Operation, Restore, SetProperties
from manifests.rebase.targets import id_ranges
from manifests.snapshot import LiveRowSet, Snapshot, TableState
from tableformat.write_settings import CommitSettings


def restore_table(
    log: Log, base: Snapshot, table: TableState, then: Snapshot, commit: CommitSettings | None
) -> Snapshot:
    """Make a table again what it was in `then`; returns the state after it.

    Raises NotFoundError where it was not there yet, ConflictError when another writer changed it
    since the base.
    """
    if table.id not in then.tables:
        raise NotFoundError(
            f"Table {table.name!r} was not there yet at epoch {then.epoch}; it was made in epoch"
            f" {table.created_epoch}."
        )
    return _commit(log, base, "restore", (table,), then, (), commit)


def restore_database(
    log: Log, base: Snapshot, then: Snapshot, commit: CommitSettings | None
) -> Snapshot:
    """Make all tables again what they were in `then`, in one epoch; newer ones are dropped.

    Raises InvalidInputError where a table was dropped since, for its id is not given again;
    ConflictError when another writer changed one of them since the base.
    """
    lost = [then.tables[each].name for each in then.tables.keys() - base.tables.keys()]
    if lost:
        raise InvalidInputError(
            f"Tables that were dropped after epoch {then.epoch} cannot be restored:"
            f" {', '.join(sorted(lost))}; read them at that epoch and write them anew."
        )
    kept = [table for table in base.tables.values() if table.id in then.tables]
    drops = [DropTable(table=each) for each in base.tables if each not in then.tables]
    return _commit(log, base, "restore", kept, then, drops, commit)


def _commit(
    log: Log,
    base: Snapshot,
    operation: str,
    tables: Iterable[TableState],
    then: Snapshot,
    drops: Iterable[DropTable],
    commit: CommitSettings | None,
) -> Snapshot:
    chosen = commit or CommitSettings()
    changed = [table for table in tables if table.changed_epoch > then.epoch]
    ops: list[Operation] = list(drops)
    for table in changed:
        ops += _operations(log, table, then.tables[table.id], then.epoch)
        ops += chosen.operations(table.id)
    if not ops:
        log.expect(operation, chosen.expect_epoch, base)
        return base
    change = Change(
        new_transaction_id(),
        operation,
        tuple(ops),
        {"epoch": str(then.epoch), **chosen.parameters()},
        reads=tuple(TableRead(table.id, replaces=True) for table in changed),
        expect_epoch=chosen.expect_epoch,
    )
    return log.commit(change, base)


def _operations(log: Log, now: TableState, then: TableState, epoch: int) -> list[Operation]:
    dropped = id_ranges(log.read_entries(now).ids.tolist())
    schema = None if now.schema == then.schema else then.schema
    moved, gone = follow_columns(now.properties, now.schema, then.schema)
    same_layout = now.partition_layout_id == then.partition_layout_id
    layout = None if same_layout else then.partition_layout_id
    return [
        *([SetProperties(table=now.id, set=moved, remove=gone)] if moved or gone else ()),
        DropRowSet(table=now.id, rowsets=dropped),
        Restore(table=now.id, epoch=epoch, table_schema=schema, partition_layout_id=layout),
        *(_again(now.id, rowset) for rowset in log.read_rowsets(then)),
    ]


def _again(table: str, rowset: LiveRowSet) -> AddRowSet:
    vector = rowset.vector and rowset.vector.model_copy(update={"predecessor": None})
    return AddRowSet(table=table, rowset=rowset.entry, vector=vector)
