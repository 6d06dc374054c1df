"""Restore an earlier state by a new epoch.

Rows and columns become what they were. The restored RowSets get new ids, and no file is touched.
Names, properties, comments, batches, tags and pins stay. A column that is restored gets the
properties that it had. A table that was dropped or replaced since is created again in its last
state. It has the name of the table that it replaces, and its former id, because its folder is named
by that id.

Spec: docs/spec/operations.md#restoring-tables
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from colonnade.manifests.arrays.hidden_rows import view_of
from colonnade.manifests.commit.change import Change, TableRead
from colonnade.manifests.commit.conflicts import has_landed
from colonnade.manifests.commit.rebase.targets import id_ranges
from colonnade.manifests.commit.removals import removals_are_conflicts
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.ids import TableId, new_job_id, new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.columns.identity import identity_columns, last_value, past
from colonnade.manifests.model.columns.statics import SUFFIX
from colonnade.manifests.model.deletion_vector import write_deletion_vector
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import (
    AddRowSet,
    CreateTable,
    DropRowSet,
    DropTable,
    Operation,
    Restore,
    SetPartitionLayout,
    SetProperties,
    SetSortOrder,
    Txn,
)
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot, TableState
from colonnade.manifests.state.sort_order import SortKey, order_of, orders_of
from colonnade.tableformat.rowset.deleted_rows import read_deleted
from colonnade.tableformat.table.design.restored_properties import restored_properties
from colonnade.tableformat.table.epochs.history import RESTORE
from colonnade.tableformat.table.epochs.restore_counts import restore_counts
from colonnade.tableformat.write.settings import CommitSettings

CARRIED = 1000
"""The most applications whose last batches a table brings along when it is made again."""

_CARRIED_BYTES = 2**22
"""The most bytes of the batches that all tables of one epoch bring along: half of an epoch."""

_BATCH_BYTES = 90
"""The most bytes of a batch in an epoch, without the name of its application."""


def restore_table(
    log: Log, base: Snapshot, table: TableState, then: Snapshot, commit: CommitSettings | None
) -> tuple[Snapshot, Epoch | None]:
    """Restore a table to its state in `then`. Returns the state after it, and the new epoch.

    The epoch is None if there was nothing to do. If the table replaced another one of its name
    since `then`, that one is restored in its place.
    Raises NotFoundError when neither existed, and ConflictError when a concurrent writer changed
    the table since the base, or removed the base. Raises NotFoundError if retention removes `then`.
    """
    commit = commit or CommitSettings()
    with (
        removals_are_conflicts(log.reader, RESTORE, base),
        log.reader.naming_removals(then.epoch),
    ):
        change = _table_again(log, base, table, then, commit)
        return (base, None) if change is None else log.commit_change(change, base)


def _table_again(
    log: Log, base: Snapshot, table: TableState, then: Snapshot, commit: CommitSettings
) -> Change | None:
    """Return the change that restores a table; None if there is nothing to do."""
    before = then.tables.get(table.id) or _replaced(base, table, then)
    if _is_same(table, before):
        kept = (table, *_statics_of(table, then))
        return _change(log, base, then, commit, kept, _emptied(log, kept, then))
    if _has_landed(commit, base, (table.id,)):
        return None
    lost = {each.id: each for each in (before, before.statics) if each is not None}
    last = _last_states(log, base, then, lost)
    if before.id != table.id:
        last[before.id] = replace(_following(last[before.id], table), name=table.name)
        if before.statics is not None:
            last[before.statics.id] = _named_after(last[before.statics.id], table)
    present = (table,) if table.statics is None else (table, table.statics)
    ops: list[Operation] = [op for each in present for op in _drop(each)]
    for key, each in lost.items():
        batches = _carried_batches(log, base, last[key], _CARRIED_BYTES // len(lost))
        ops += _made_again(log, last[key], each, commit, batches)
    return _change(log, base, then, commit, ops=ops)


def restore_database(
    log: Log, base: Snapshot, then: Snapshot, commit: CommitSettings | None
) -> tuple[Snapshot, Epoch | None]:
    """Restore all tables to their states in `then`, in one epoch; newer tables are dropped.

    Returns the state after it, and the epoch, which is None if there was nothing to do.

    Tables that were dropped since are created again. If a concurrent writer changes, creates or
    drops any table meanwhile, the restore begins again, at most ten times. So all tables are at its
    epoch what they were in `then`.

    Raises InvalidInputError when a dropped table has RowSets in partitions of a column that it had
    dropped. Raises ConflictError after ten tries, and AlreadyExistsError when another table has the
    name of a dropped one. Raises NotFoundError if retention removes `then` meanwhile.
    """
    commit = commit or CommitSettings()

    def evaluate(state: Snapshot) -> Change | None:
        with log.reader.naming_removals(then.epoch):
            return _all_again(log, state, then, commit)

    return log.commit_statement(base, evaluate)


def _all_again(log: Log, base: Snapshot, then: Snapshot, commit: CommitSettings) -> Change | None:
    """Return the change that restores all tables; None if there is nothing to do."""
    present = base.tables.items()
    kept = [table for key, table in present if _is_same(table, then.tables.get(key))]
    stay = {table.id for table in kept}
    ops: list[Operation] = [*_emptied(log, kept, then)]
    for table in base.tables.values():
        ops += () if {table.id, table.statics_of} & stay else _drop(table)
    lost = {key: table for key, table in then.tables.items() if key not in stay}
    if _has_landed(commit, base, lost):
        return None
    last = _last_states(log, base, then, lost)
    replaced = {table.name: table for key, table in present if key not in stay}
    for key, table in lost.items():
        other = replaced.get(last[key].name)
        state = last[key] if other is None else _following(last[key], other)
        batches = _carried_batches(log, base, state, _CARRIED_BYTES // len(lost))
        ops += _made_again(log, state, table, commit, batches)
    change = _change(log, base, then, commit, kept, ops)
    return None if change is None else replace(change, reads_all=True)


def _replaced(base: Snapshot, table: TableState, then: Snapshot) -> TableState:
    """Return the dropped table that this table replaced, which had its name in `then`."""
    for other in then.tables.values():
        if other.name == table.name and other.id not in base.tables:
            return other
    raise NotFoundError(
        f"Table {table.name!r} did not exist yet at epoch {then.epoch}; it was created in epoch"
        f" {table.created_epoch}."
    )


def _statics_of(table: TableState, then: Snapshot) -> Iterator[TableState]:
    """Yield the table of static values of a table, if it existed at an earlier state."""
    if table.statics is not None and _is_same(table.statics, then.tables.get(table.statics.id)):
        yield table.statics


def _emptied(log: Log, kept: Iterable[TableState], then: Snapshot) -> Iterator[Operation]:
    """Yield operations that drop the static values of tables that had none at an earlier state."""
    for table in kept:
        if table.statics is not None and not [*_statics_of(table, then)]:
            stored = log.rowsets.read_entries(table.statics, which="all").ids.tolist()
            yield DropRowSet(table=table.statics.id, rowsets=id_ranges(stored))


def _named_after(statics: TableState, table: TableState) -> TableState:
    """Return static values that take the place of those of another table."""
    state = statics if table.statics is None else _following(statics, table.statics)
    return replace(state, name=table.name + SUFFIX)


def _is_same(now: TableState, then: TableState | None) -> bool:
    """Return whether a table existed all the time, without being dropped and created again."""
    return then is not None and now.created_epoch == then.created_epoch


def _has_landed(commit: CommitSettings, base: Snapshot, tables: Iterable[TableId]) -> bool:
    """Return whether the same batch has already created these tables again."""
    ops = tuple(op for table in tables for op in commit._operations(table))
    return has_landed(Change("", RESTORE, ops), base)


def _drop(table: TableState) -> tuple[Operation, ...]:
    # Like any overwrite, the first operation fails rather than lose rows added since the base.
    return DropRowSet(table=table.id, rowsets=()), DropTable(table=table.id)


def _last_states(
    log: Log, base: Snapshot, then: Snapshot, lost: Mapping[TableId, TableState]
) -> dict[TableId, TableState]:
    """Return the last state of each table: of a dropped table, the state before its drop.

    A table whose last state retention has removed has its state in `then`, which is in `lost`.
    """
    found = {key: base.tables[key] for key in lost if key in base.tables}
    if len(found) == len(lost):
        return found
    for epoch in log.reader.read_epochs(base.epoch, base.epoch - max(then.epoch, base.floor)):
        dropped = {TableId(op.table) for op in epoch.ops if isinstance(op, DropTable)}
        if wanted := (dropped & lost.keys()) - found.keys():
            before = log.reader.read_at(epoch.epoch - 1, head=base)
            found.update((key, before.tables[key]) for key in wanted)
        if len(found) == len(lost):
            break
    return {**lost, **found}


def _carried_batches(log: Log, base: Snapshot, last: TableState, room: int) -> Mapping[str, int]:
    """Return the batches that a table in its `last` state brings along when it is made again.

    They are those of the `CARRIED` applications whose batches are the newest in the log, or of as
    many as `room` bytes hold. If the log shows fewer than `CARRIED`, others are added. Costs a GET
    for each epoch up to the last of these batches, and nothing if a table has no more applications.
    """
    batches, newest = dict(last.batches), dict[str, None]()
    if len(batches) <= CARRIED and _bytes_of(batches) <= room:
        return batches
    for epoch in log.reader.read_epochs(base.epoch, base.epoch - base.floor):
        landed = (op for op in reversed(epoch.ops) if isinstance(op, Txn) and op.table == last.id)
        newest |= dict.fromkeys(op.app for op in landed if op.app in batches)
        if len(newest) >= CARRIED:
            break
    chosen = [*dict.fromkeys((*newest, *batches))][:CARRIED]
    ends = accumulate(_bytes_of([app]) for app in chosen)
    return {app: batches[app] for app, end in zip(chosen, ends, strict=True) if end <= room}


def _bytes_of(apps: Iterable[str]) -> int:
    """Return the most bytes that the batches of some applications take in an epoch."""
    return sum(_BATCH_BYTES + len(app.encode()) for app in apps)


def _made_again(
    log: Log, last: TableState, then: TableState, commit: CommitSettings, carried: Mapping[str, int]
) -> list[Operation]:
    """Return the operations that create a table in its `last` state with rows as of `then`.

    It brings the `carried` batches along.
    """
    properties = restored_properties(last, then)
    columns = {field.id for field in then.schema.fields}
    orders = _orders(then)
    if any(f.column not in columns for layout in then.partition_layouts for f in layout):
        raise InvalidInputError(
            f"Table {then.name!r}, which was dropped, cannot be restored: it had partitions by a"
            " column that it had dropped; read it at that epoch and write it to a new table."
        )
    batches = _later(carried, dict([commit.batch] if commit.batch else ()))
    return [
        CreateTable(
            table=then.id,
            name=last.name,
            table_schema=then.schema,
            next_column_id=max(last.next_column_id, then.next_column_id),
            sort_key=orders[0],
            properties=properties,
            comment=last.comment,
            partition_fields=then.partition_layout(1) if then.partition_layouts else None,
            constraints=then.constraints or None,
            identities=last.identities or None,
            primary_key=then.primary_key or None,
            lifetimes=last.lifetimes,
            partition_key=then.partition_key or None,
            statics_of=then.statics_of,
        ),
        *_layouts(then),
        *_set_orders(then, orders),
        *(_renamed(each, orders, then) for each in _rows_again(log, then)),
        *(Txn(table=then.id, app=app, version=number) for app, number in batches.items()),
    ]


def _following(last: TableState, replaced: TableState) -> TableState:
    """Return the last state of a table that is restored in the place of another one of its name.

    What the other table has given is not given again: ids of columns, values of an identity column
    that both have, and batches.
    """
    counters = last.identities
    for column in identity_columns(last.schema):
        for other in identity_columns(replaced.schema):
            given = last_value(replaced.identities, other)
            same = other.identity == column.identity and other.id == column.id
            if given is not None and same:
                counters = past(counters, column, given, given)
    return replace(
        last,
        batches=_later(last.batches, replaced.batches),
        identities=counters,
        next_column_id=max(last.next_column_id, replaced.next_column_id),
    )


def _later(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """Return the last batch of each application."""
    return {app: max(one.get(app, 0), other.get(app, 0)) for app in (*one, *other)}


def _layouts(table: TableState) -> list[Operation]:
    """Return the operations for all layouts after the first, ending with the current one."""
    count = len(table.partition_layouts)
    numbers = [*range(2, count + 1)]
    if table.partition_layout_id != count:
        numbers.append(table.partition_layout_id)
    return [
        SetPartitionLayout(table=table.id, layout_id=n, fields=table.partition_layout(n))
        for n in numbers
    ]


def _orders(table: TableState) -> tuple[SortKey, ...]:
    """Return the sort orders of a table that is created again, with its sort key first.

    Orders that are the same without dropped columns become one.
    """
    return tuple(dict.fromkeys((order_of(table, table.sort_order_id), *orders_of(table))))


def _set_orders(table: TableState, orders: Sequence[SortKey]) -> list[Operation]:
    """Return the operations for all sort orders after the first, ending with the first."""
    numbers = [*range(1, len(orders)), 0] if len(orders) > 1 else []
    return [SetSortOrder(table=table.id, order_id=n, fields=orders[n]) for n in numbers]


def _change(
    log: Log,
    base: Snapshot,
    then: Snapshot,
    commit: CommitSettings,
    tables: Iterable[TableState] = (),
    ops: Iterable[Operation] = (),
) -> Change | None:
    """Return the restore of `tables` that existed all the time, with other operations.

    None means that there is nothing to do. Raises ConflictError then if the database is not at the
    epoch that `commit` expects.
    """
    kept = tuple(tables)
    changed = [table for table in kept if table.changed_epoch > then.epoch]
    operations = [*ops]
    for table in changed:
        operations += _operations(log, table, then.tables[table.id], then.epoch)
    # The batch is recorded in unchanged tables, too, so that sending it again changes nothing.
    operations += [op for table in kept for op in commit._operations(table.id)]
    if not operations:
        log.expect(RESTORE, commit.expect_epoch, base)
        return None
    own = None if commit.batch is None else commit.batch[0]
    batches = [op for op in operations if isinstance(op, Txn)]
    return Change(
        new_transaction_id(),
        RESTORE,
        tuple(operations),
        {"epoch": str(then.epoch), **commit._parameters()},
        reads=tuple(TableRead(table.id, overwrites=True) for table in changed),
        metrics=restore_counts(log, base, then, operations),
        expect_epoch=commit.expect_epoch,
        fresh=True,
        carried=frozenset((op.table, op.app) for op in batches if op.app != own),
    )


def _operations(log: Log, now: TableState, then: TableState, epoch: int) -> list[Operation]:
    dropped = id_ranges(log.rowsets.read_entries(now, which="all").ids.tolist())
    schema = None if now.schema == then.schema else then.schema
    before, after = now.stored_properties, restored_properties(now, then)
    stated = {name: text for name, text in after.items() if before.get(name) != text}
    unset = tuple(name for name in before if name not in after)
    same_layout = now.partition_layout_id == then.partition_layout_id
    layout = None if same_layout else then.partition_layout_id
    return [
        *([SetProperties(table=now.id, set=stated, remove=unset)] if stated or unset else ()),
        DropRowSet(table=now.id, rowsets=dropped),
        Restore(
            table=now.id,
            epoch=epoch,
            table_schema=schema,
            partition_layout_id=layout,
            constraints=None if now.constraints == then.constraints else then.constraints,
            sort_order_id=None if now.sort_order_id == then.sort_order_id else then.sort_order_id,
            primary_key=None if now.primary_key == then.primary_key else then.primary_key,
        ),
        *_rows_again(log, then),
    ]


def _rows_again(log: Log, then: TableState) -> Iterator[AddRowSet]:
    """Yield operations that add the RowSets of a state again.

    Rows of range tombstones are named by vectors, because the tombstones do not come back. Reads
    the columns of the tombstones where indexes do not decide them.
    """
    job_id, rowsets = new_job_id(), log.rowsets.read(then, which="all")
    view = view_of(then, [each for each in rowsets if not each.has_tombstones], None)
    shown = {each.id for each in view.rowsets}
    for rowset in rowsets:
        if rowset.id not in shown and not rowset.has_tombstones:
            continue
        added = _again(then.id, rowset)
        if not view.is_counted(rowset):
            deleted = read_deleted(log.store, view, rowset)
            if deleted is not None and deleted.cardinality == rowset.entry.rows:
                continue
            vector = deleted and write_deletion_vector(log.store, then.prefix, job_id, deleted)
            added = added.model_copy(update={"vector": vector})
        yield added


def _again(table: str, rowset: LiveRowSet) -> AddRowSet:
    vector = rowset.vector
    first = vector and vector.model_copy(update={"predecessor": None})
    return AddRowSet(table=table, rowset=rowset.stored_entry, vector=first)


def _renamed(added: AddRowSet, orders: Sequence[SortKey], before: TableState) -> AddRowSet:
    """Return the operation with the number that the RowSet's sort order has in `orders`."""
    entry = added.rowset
    number = orders.index(order_of(before, entry.sort_order_id))
    renamed = entry.model_copy(update={"sort_order_id": number})
    return added.model_copy(update={"rowset": renamed})
