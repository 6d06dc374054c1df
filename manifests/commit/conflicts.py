"""Decide whether a change that was planned on one epoch may follow later epochs. Pure.

This module compares tables and batches. The modules beside it compare what their names say.
`rebase/` follows the rows that a change removes or has read.
Spec: docs/spec/conflicts.md
"""

from __future__ import annotations

from collections.abc import Callable

from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.column_conflicts import (
    Written,
    fits_columns,
    fits_replacements,
    keeps_meanings,
    keeps_ranges,
)
from colonnade.manifests.commit.constraint_conflicts import check_constraints
from colonnade.manifests.commit.identity_draws import check_draws
from colonnade.manifests.commit.key_conflicts import check_keys
from colonnade.manifests.commit.name_conflicts import check_kept, check_names
from colonnade.manifests.commit.vacuum_conflicts import check_removed
from colonnade.manifests.errors import (
    ColumnConflictError,
    ConflictError,
    InvalidInputError,
)
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.columns.properties import names_column
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import (
    AddCheck,
    AddDeletionVector,
    AddRangeTombstone,
    AddRowSet,
    AddRowSets,
    AlterSchema,
    Compaction,
    CreateDatabase,
    CreateTable,
    DrawIdentity,
    DropRowSet,
    DropTable,
    ForgetRangeTombstones,
    ReplaceColumn,
    Restore,
    SetPrimaryKey,
    SetProperties,
    TableOperation,
    Txn,
)
from colonnade.manifests.state.alterations import Clash, clash_of
from colonnade.manifests.state.features import check_writer_features
from colonnade.manifests.state.snapshot import Snapshot

_ROW_CHANGES = (DropRowSet, AddDeletionVector, AddRangeTombstone)
"""Operations beside alterations that concurrent changes can invalidate if the table still exists.

Any other operation may follow every change except the drop of its table.
"""

_UNSEEN = (Compaction, DrawIdentity, ForgetRangeTombstones)
"""Operations that change nothing that a reader sees of a table."""

_KEY_CHANGES = (AlterSchema, SetPrimaryKey, Restore)
"""Operations after which the columns of a range tombstone may be missing, or mean other rows."""


def check_change(change: Change, base: Snapshot) -> None:
    """Refuse a change that is invalid on the epoch that it was planned on. Reads nothing.

    Raises InvalidInputError for a table that does not exist at the base.
    """
    created = {op.table for op in change.ops if isinstance(op, CreateTable)}
    if any(isinstance(operation, CreateDatabase) for operation in change.ops):
        raise InvalidInputError("Only epoch 0 of a log may create a database.")
    touched = {op.table for op in change.ops if isinstance(op, TableOperation)}
    for table in sorted((touched | _tables_of_rows(change)) - created):
        if TableId(table) not in base.tables:
            raise InvalidInputError(
                f"Table {table} does not exist at epoch {base.epoch}, on which"
                f" {change.operation!r} was planned; plan it on an epoch that has the table."
            )


def _tables_of_rows(change: Change) -> set[str]:
    """Return the tables whose rows the change deletes or fills."""
    filled = () if change.fill is None else (change.fill.table,)
    return {*filled, *(each.table for each in change.rows)}


def has_landed(change: Change, head: Snapshot) -> bool:
    """Return whether a state has all batches of a change, so that its work was committed before.

    A change without batches has not landed. Batches in `carried` do not count. The batch of a table
    that the change creates is looked for in the table that has its name. Raises ConflictError if
    only some of the batches are committed.
    """
    names = {op.table: op.name for op in change.ops if isinstance(op, CreateTable)}

    def has_batch(batch: Txn) -> bool:
        table = head.tables.get(TableId(batch.table))
        if table is None and batch.table in names:
            # A table keeps the batches of the one whose place it takes.
            table = head.find_table(names[batch.table])
        return table is not None and table.has_batch(batch.app, batch.version)

    landed = {
        (op.table, op.app): has_batch(op)
        for op in (*change.ops, *change.prepared)
        if isinstance(op, Txn) and (op.table, op.app) not in change.carried
    }
    if any(landed.values()) and not all(landed.values()):
        there = sorted(
            f"{app!r} of table {names.get(table) or head.tables[TableId(table)].name!r}"
            for (table, app), done in landed.items()
            if done
        )
        raise ConflictError(
            f"Only some of the batches of {change.operation!r} were committed before:"
            f" {', '.join(there)}; repeat it without these."
        )
    return any(landed.values())


def check_epoch(change: Change, base: Snapshot, theirs: Epoch) -> None:
    """Compare a change planned on `base` with an epoch committed since.

    Raises ConflictError that names table, operation and epoch.
    """
    check_removed(change, base, theirs)
    if change.reads_all:
        _check_unchanged(change, base, theirs)
    touched = [op for op in theirs.ops if isinstance(op, TableOperation)]
    if not touched:
        return
    declared = {read.table for read in change.reads if read.overwrites}
    tables = {op.table for op in change.ops if isinstance(op, TableOperation)}
    tables |= _tables_of_rows(change)
    wary = [op for op in change.ops if isinstance(op, TableOperation) and _is_wary(op)]
    dropped = {op.table for op in change.ops if isinstance(op, DropTable) and change.carried}
    for operation in touched:
        lost = isinstance(operation, DropTable) and operation.table in tables
        # The change has read the batches that it carries from the table that it drops.
        lost = lost or (isinstance(operation, Txn) and operation.table in dropped)
        if lost or any(
            mine.table == operation.table and _conflict(mine, operation, mine.table in declared)
            for mine in wary
        ):
            raise _conflict_error(change, base, theirs, TableId(operation.table), operation)


def _check_unchanged(change: Change, base: Snapshot, theirs: Epoch) -> None:
    """Refuse an epoch that changes what a reader sees of any table. Raises ConflictError."""
    for operation in theirs.ops:
        if isinstance(operation, CreateTable):
            raise ConflictError(
                f"Table {operation.name!r} was created by epoch {theirs.epoch}"
                f" ({theirs.operation}) after epoch {base.epoch}, on which {change.operation!r} of"
                " all tables was planned; repeat it."
            )
        if isinstance(operation, TableOperation) and not isinstance(operation, _UNSEEN):
            raise _conflict_error(change, base, theirs, TableId(operation.table), operation)


def check_head(
    change: Change, base: Snapshot, head: Snapshot, keeps: Callable[[Snapshot, int], bool]
) -> None:
    """Check the change against the state right before its slot.

    `keeps` tells whether an epoch is readable at a state (`LogReader.keeps`).

    Raises AlreadyExistsError for a name that is in use. Raises ConflictError if the head is not the
    epoch that the change expects, or if the table's columns changed so that the added rows do not
    fit. Raises it, too, if the table has got a constraint or a primary key that the added rows were
    not checked against. Raises InvalidInputError if an identity column has too few values left.
    Raises UnsupportedFormatError for a writer feature that this code does not know.
    """
    check_expected(change.operation, change.expect_epoch, head)
    check_writer_features(head)
    check_names(change.ops, base, head)
    check_kept(change.ops, head, keeps)
    check_constraints(change, base, head)
    check_keys(change, base, head)
    check_draws(change, base, head)
    _check_columns(change, base, head)


def _check_columns(change: Change, base: Snapshot, head: Snapshot) -> None:
    written = {op.table for op in change.ops if isinstance(op, Written)}
    dropped = {op.table for op in change.ops if isinstance(op, DropTable)}
    ranged = {op.table for op in change.ops if isinstance(op, AddRangeTombstone)}
    for table in map(TableId, sorted(written | dropped | ranged)):
        planned, current = base.tables.get(table), head.tables.get(table)
        if planned is None or current is None:
            continue
        fits = table not in written or fits_columns(change, planned, current)
        fits &= table not in dropped or keeps_meanings(change, planned, current)
        fits &= table not in ranged or keeps_ranges(change, planned, current)
        if not fits or not fits_replacements(change, current):
            kind = ColumnConflictError if fits else ConflictError
            raise kind(
                f"The columns of table {planned.name!r} changed after epoch {base.epoch}, on"
                f" which {change.operation!r} was planned; read the table again and repeat it."
            )


def check_expected(operation: str, epoch: int | None, head: Snapshot) -> None:
    """Check that the head is the epoch that a change expects. Raises ConflictError."""
    if epoch not in (None, head.epoch):
        raise ConflictError(
            f"{operation!r} expects epoch {epoch}, but the database is at epoch {head.epoch}; look"
            " at what changed and repeat it."
        )


def _is_wary(operation: TableOperation) -> bool:
    return isinstance(operation, _ROW_CHANGES) or clash_of(operation) is not Clash.ROWS


def _conflict(mine: TableOperation, theirs: TableOperation, declared: bool) -> bool:
    """Return whether a concurrent operation on the same table invalidates mine.

    `declared` means that the change said which rows it overwrites. These are compared row by row.
    """
    if clash_of(theirs) is not Clash.ROWS:
        return _alters_same(mine, theirs)
    if isinstance(theirs, DropTable | Txn | DrawIdentity | ForgetRangeTombstones):
        return False
    if isinstance(theirs, AddRangeTombstone) and isinstance(mine, _KEY_CHANGES):
        return not _keeps_regions(mine, theirs)
    if isinstance(mine, AddCheck) or (isinstance(mine, SetPrimaryKey) and mine.columns):
        # The rows that a concurrent writer has added were not checked.
        return isinstance(theirs, AddRowSet | AddRowSets | ReplaceColumn)
    if isinstance(mine, DropRowSet):
        # Without ranges, the whole table is replaced. A compaction adds no row that would be lost.
        return not declared and not (isinstance(theirs, Compaction) and not mine.rowsets)
    # A change's finished vector cannot be combined with another one.
    return isinstance(mine, AddDeletionVector) and _changes(theirs, mine.rowset)


def _changes(theirs: TableOperation, rowset: int) -> bool:
    match theirs:
        case AddDeletionVector() | ReplaceColumn():
            return theirs.rowset == rowset
        case DropRowSet():
            return theirs.kind is None or any(a <= rowset <= b for a, b in theirs.rowsets)
        case Compaction():
            return any(each.rowset == rowset for each in theirs.inputs)
    return False


def _alters_same(mine: TableOperation, theirs: TableOperation) -> bool:
    """Return whether a concurrent alteration invalidates mine, by the rows of `ALTERATIONS`."""
    if isinstance(mine, AddRangeTombstone):
        return isinstance(theirs, _KEY_CHANGES) and not _keeps_regions(theirs, mine)
    if _shapes(mine) and _shapes(theirs):
        return True
    if isinstance(mine, SetProperties) and isinstance(theirs, SetProperties):
        return not {*mine.set, *mine.remove}.isdisjoint((*theirs.set, *theirs.remove))
    return type(mine) is type(theirs)


def _shapes(operation: TableOperation) -> bool:
    """Return whether an alteration changes what must fit together: columns, keys and rules."""
    if isinstance(operation, SetProperties):
        return any(map(names_column, operation.set))
    return clash_of(operation) is Clash.DESIGN


def _keeps_regions(change: TableOperation, tombstone: AddRangeTombstone) -> bool:
    """Return whether a change of a table leaves the columns of a range tombstone unchanged."""
    if not isinstance(change, AlterSchema):
        return False
    kept = {field.id for field in change.table_schema.fields if not field.nullable}
    return all(side.column in kept for region in tombstone.regions for side in region)


def _conflict_error(
    change: Change, base: Snapshot, theirs: Epoch, table: TableId, operation: TableOperation
) -> ConflictError:
    name = base.tables[table].name if table in base.tables else table
    did = "dropped" if isinstance(operation, DropTable) else "changed"
    return ConflictError(
        f"Table {name!r} was {did} by epoch {theirs.epoch} ({theirs.operation}) after epoch"
        f" {base.epoch}, on which {change.operation!r} was planned; read the table again and"
        " repeat it."
    )
