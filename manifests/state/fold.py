"""The fold: a snapshot and the next epoch make the next snapshot.

The fold is pure and total: it gives every epoch exactly one meaning, or refuses it. All readers of
epoch N therefore have the same state. A commit folds its own epoch before it writes it, so the log
never has an epoch that readers refuse.
Spec: docs/spec/epoch-log.md#fold
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NoReturn

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.columns.statics import statics_id
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import (
    AddDeletionVector,
    AddRowSet,
    AddRowSets,
    Compaction,
    CreateDatabase,
    CreateTable,
    DropConsumer,
    DropDatabase,
    DropRowSet,
    DropTable,
    EnableFeatures,
    Lease,
    Operation,
    Pin,
    RenameTable,
    ReplaceColumn,
    ReplaceRows,
    SetConsumer,
    TableOperation,
    Tag,
    Txn,
    Unpin,
    Untag,
    Vacuum,
)
from colonnade.manifests.state.alterations import altered_table
from colonnade.manifests.state.features import FeaturesFold
from colonnade.manifests.state.folds.columns import check_columns, check_fields
from colonnade.manifests.state.folds.first_epoch import first_snapshot
from colonnade.manifests.state.folds.identity import (
    Valued,
    check_identities,
    with_values,
)
from colonnade.manifests.state.folds.refusal import refuse
from colonnade.manifests.state.folds.replaced_rows import check_replaced_rows
from colonnade.manifests.state.folds.retention import RetentionFold
from colonnade.manifests.state.folds.rowsets import RowSetsFold
from colonnade.manifests.state.folds.rules import (
    check_constraints,
    check_key,
    check_lifetimes,
    check_properties,
)
from colonnade.manifests.state.folds.statics import check_owner, check_statics, whole_table
from colonnade.manifests.state.snapshot import BatchMap, Snapshot, TableMap, TableState
from colonnade.manifests.state.sort_order import check_fits


def apply_epoch(snapshot: Snapshot | None, epoch: Epoch) -> Snapshot:
    """Return the state after `epoch`, which follows `snapshot` (None for epoch 0).

    Cost: copies the list of tables. For each changed table, it also copies the changes to its
    RowSets since the checkpoint. Raises as `apply_epochs`.
    """
    return apply_epochs(snapshot, (epoch,))


def apply_epochs(snapshot: Snapshot | None, epochs: Iterable[Epoch]) -> Snapshot:
    """Return the state after several consecutive epochs. Requires: at least one epoch.

    Cost: one copy as in `apply_epoch`. Raises CorruptionError for an epoch that does not follow the
    previous one or contradicts the state; UnsupportedFormatError for a reader feature that this
    code does not know.
    """
    fold: _Fold | None = _Fold(snapshot) if snapshot else None
    for epoch in epochs:
        if fold is None:
            fold = _Fold(first_snapshot(epoch))
        else:
            fold.apply(epoch)
    assert fold is not None
    return fold.snapshot()


class _Fold:
    """A snapshot that is being changed. RowSets of a table are copied at their first change."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._base = snapshot
        self._changed: dict[TableId, TableState | None] = {}
        self._rowsets: dict[TableId, RowSetsFold] = {}
        self._batches: defaultdict[TableId, dict[str, int]] = defaultdict(dict)
        self._kept = RetentionFold(snapshot)
        self._features = FeaturesFold(snapshot)
        self._epoch = snapshot.epoch
        self._transaction = snapshot.transaction
        self._time_ms, self._clock_ms = snapshot.time_ms, snapshot.clock_ms
        self._dropped = snapshot.dropped
        self._designed: set[TableId] = set()
        # In the present epoch: the batches of dropped tables by name, and those that tables which
        # took their places began with.
        self._left: dict[str, Mapping[str, int]] = {}
        self._taken: dict[TableId, Mapping[str, int]] = {}

    def apply(self, epoch: Epoch) -> None:
        if epoch.epoch != self._epoch + 1:
            raise CorruptionError(f"Epoch {epoch.epoch} does not follow epoch {self._epoch}.")
        if self._dropped:
            raise CorruptionError(f"Epoch {epoch.epoch} follows the end of the log.")
        if epoch.previous != self._transaction:
            raise CorruptionError(
                f"Epoch {epoch.epoch} follows transaction {epoch.previous}, but epoch"
                f" {self._epoch} is {self._transaction}: files of the log were exchanged."
            )
        if epoch.time_ms <= self._time_ms or epoch.base > self._epoch:
            raise CorruptionError(f"Epoch {epoch.epoch} is not later than the one before it.")
        self._epoch, self._transaction = epoch.epoch, epoch.transaction
        self._time_ms, self._clock_ms = epoch.time_ms, epoch.clock_ms
        self._designed.clear()
        self._left.clear()
        self._taken.clear()
        check_replaced_rows(self._epoch, epoch.ops)
        for operation in epoch.ops:
            self._apply_operation(operation)
        self._check_designed()
        if len(epoch.ops) > 1 and any(isinstance(op, DropDatabase) for op in epoch.ops):
            self._refuse("ends the log together with other operations")

    def _apply_operation(self, operation: Operation) -> None:
        match operation:
            case AddRowSet():
                self._numbered(operation).add(self._epoch, operation.rowset, operation.vector)
            case AddRowSets():
                self._numbered(operation).add_segment(self._epoch, operation.segment)
            case DropRowSet():
                self._touch(operation.table).drop(operation.rowsets)
            case AddDeletionVector():
                self._touch(operation.table).set_vector(operation.rowset, operation.vector)
            case ReplaceColumn():
                self._touch(operation.table).replace_column(operation)
            case Compaction():
                self._touch(operation.table).compact(self._epoch, operation)
            case ReplaceRows():
                self._touch(operation.table)
            case Txn():
                self._land(operation)
            case CreateTable():
                self._create(operation)
            case DropTable():
                self._drop(self._touch(operation.table).table)
            case Tag() | Untag() | Pin() | Unpin():
                self._kept.set_or_remove(self._epoch, operation)
            case Lease():
                self._kept.lease(self._epoch, operation)
            case SetConsumer() | DropConsumer():
                self._kept.consume(self._epoch, operation)
            case Vacuum():
                self._kept.vacuum(self._epoch, operation)
            case EnableFeatures():
                self._features.enable(operation)
            case DropDatabase():
                self._dropped = True
            case CreateDatabase():
                self._refuse("creates the database again")
            case _:
                self._alter(operation)

    def _numbered(self, operation: Valued) -> RowSetsFold:
        """Return the RowSets of a table whose identity columns may give values to new rows."""
        fold = self._touch(operation.table)
        fold.table = with_values(self._epoch, fold.table, operation)
        return fold

    def _drop(self, table: TableState) -> None:
        landed = self._batches.pop(table.id, {})
        self._left[table.name] = _with_batches(table, landed).batches
        if table.partition_key or table.statics_of is not None:
            self._designed.update((table.id, table.statics_of or table.id))
        self._changed[table.id] = None
        del self._rowsets[table.id]

    def _take_over(self, table: TableId, name: str) -> Mapping[str, int]:
        """Return the batches of the table of this name that the epoch has dropped, if any."""
        left = self._left.pop(name, {})
        kept = left.taken_over(table, self._epoch) if isinstance(left, BatchMap) else left
        self._taken[table] = kept
        return kept

    def _create(self, operation: CreateTable) -> None:
        table = TableId(operation.table)
        if self._find(table) is not None:
            self._refuse(f"creates table {table} again")
        if self._base.lone_table and operation.statics_of is None and any(self._own_tables()):
            self._refuse("adds a table to a database that holds one lone table")
        self._check_free(operation.name)
        fields = operation.partition_fields or ()
        check_columns(self._epoch, operation.table_schema)
        check_fields(self._epoch, operation.name, operation.table_schema, fields)
        state = self._changed[table] = TableState(
            id=table,
            name=operation.name,
            schema=operation.table_schema,
            schema_id=0,
            next_column_id=operation.next_column_id,
            sort_orders=(operation.sort_key,),
            stored_properties=operation.properties,
            comment=operation.comment,
            created_epoch=self._epoch,
            changed_epoch=self._epoch,
            batches=self._take_over(table, operation.name),
            partition_layouts=(fields,) if fields else (),
            partition_layout_id=1 if fields else 0,
            constraints=operation.constraints or (),
            identities=operation.identities or (),
            primary_key=operation.primary_key or (),
            lifetimes=operation.lifetimes,
            partition_key=operation.partition_key or (),
            statics_of=None if operation.statics_of is None else TableId(operation.statics_of),
        )
        self._designed.add(table)
        self._key_of_partitions(state)
        check_fits(self._epoch, state, operation.sort_key)
        check_constraints(self._epoch, state)
        check_key(self._epoch, state)
        check_lifetimes(self._epoch, state)
        check_identities(self._epoch, state)

    def _own_tables(self) -> Iterator[TableState]:
        """Yield the tables that are not tables of static values."""
        for key in {*self._base.tables, *self._changed}:
            table = self._find(key)
            if table is not None and table.statics_of is None:
                yield table

    def _key_of_partitions(self, statics: TableState) -> None:
        """Give a table the partition key of its new table of static values, if it has none."""
        owner = None if statics.statics_of is None else self._find(statics.statics_of)
        if owner is not None and not owner.partition_key:
            fold = self._touch(owner.id)
            fold.table = self._changed[owner.id] = replace(
                fold.table, partition_key=statics.primary_key
            )

    def _check_designed(self) -> None:
        """Check tables that the epoch has designed: their properties and their static values."""
        for key in self._designed:
            if (designed := self._find(key)) is not None:
                check_properties(self._epoch, designed)
        for key in self._designed:
            table, statics = self._find(key), None
            if table is None or table.partition_key:
                statics = self._find(statics_id(key))
            owner = None if table is None else self._find(table.statics_of or table.id)
            if owner is not None:
                check_statics(self._epoch, whole_table(owner, self._find))
            for each in (table, statics):
                if each is not None:
                    check_owner(self._epoch, each, self._find)

    def _is_stale(self) -> bool:
        """Return whether vacuum removed segments that this state refers to.

        Vacuum does so after newer segments contain the same RowSets.
        """
        removed = self._kept.removed
        if not removed:
            return False
        if not removed.isdisjoint(self._base.stored_objects()):
            return True
        held = {**self._base.held_tables(), **self._changed}
        return not all(
            table is None or removed.isdisjoint(table.listing_objects()) for table in held.values()
        )

    def _alter(self, operation: TableOperation) -> None:
        fold = self._touch(operation.table)
        if isinstance(operation, RenameTable):
            self._check_free(operation.name)
        state = altered_table(self._epoch, fold.table, operation)
        fold.table = self._changed[state.id] = state
        self._designed.add(state.id)

    def _land(self, operation: Txn) -> None:
        table = self._touch(operation.table).table
        landed = self._batches[table.id]
        last, step = landed.get(operation.app), 1
        if last is None:
            # Opening a table must not read a page of batches, so only loaded batches are compared.
            before, app = table.batches, operation.app
            last = before.known(app) if isinstance(before, BatchMap) else before.get(app)
            # A restored table repeats its batches, and it may have taken over the same ones.
            step = 0 if table.id in self._taken else 1
        if last is not None and operation.version < last + step:
            self._refuse(f"commits batch {operation.version} of {operation.app!r} again")
        landed[operation.app] = operation.version

    def _check_free(self, name: str) -> None:
        before = self._base.find_table(name)
        if (before is not None and before.id not in self._changed) or any(
            table is not None and table.name == name for table in self._changed.values()
        ):
            self._refuse(f"gives a second table the name {name!r}")

    def _touch(self, table_id: str) -> RowSetsFold:
        """Return the RowSets of a table that an operation of this epoch changes."""
        table = TableId(table_id)
        fold = self._rowsets.get(table)
        if fold is None:
            state = self._find(table)
            if state is None:
                self._refuse(f"names table {table_id}, which does not exist")
            fold = self._rowsets[table] = RowSetsFold(state)
        fold.changed_epoch = self._epoch
        return fold

    def _find(self, table: TableId) -> TableState | None:
        """Return a table as the last epoch that altered it left it. Its RowSets may be outdated."""
        if table in self._changed:
            return self._changed[table]
        return self._base.tables.get(table)

    def _refuse(self, what: str) -> NoReturn:
        refuse(self._epoch, what)

    def _join_statics(self) -> None:
        """Give each table the state that its table of static values has reached."""
        changed = [table for table in self._changed.values() if table is not None]
        owners = {table.id for table in changed if table.partition_key}
        owners |= {table.statics_of for table in changed if table.statics_of is not None}
        for owner in owners:
            table = self._find(owner)
            if table is not None:
                self._changed[owner] = whole_table(table, self._find)

    def snapshot(self) -> Snapshot:
        """Return the reached state. Requires: the fold is not used afterwards."""
        for table, fold in self._rowsets.items():
            state = fold.freeze()
            landed = self._batches.get(table)
            self._changed[table] = _with_batches(state, landed) if landed else state
        self._join_statics()
        return replace(
            self._base,
            epoch=self._epoch,
            transaction=self._transaction,
            time_ms=self._time_ms,
            clock_ms=self._clock_ms,
            floor=self._kept.floor,
            anchors=self._kept.anchors,
            anchor_list=self._kept.anchor_list,
            tags=self._kept.tags,
            pins=self._kept.pins,
            leases=self._kept.leases,
            consumers=self._kept.consumers,
            stale=self._base.stale or self._is_stale(),
            reader_features=self._features.reader,
            writer_features=self._features.writer,
            dropped=self._dropped,
            tables=with_changes(self._base.tables, self._changed, self._epoch),
        )


def _with_batches(table: TableState, landed: Mapping[str, int]) -> TableState:
    before = table.batches
    if isinstance(before, BatchMap):
        return replace(table, batches=before.with_changes(landed))
    return replace(table, batches={**before, **landed})


def with_changes(
    tables: Mapping[TableId, TableState],
    changed: Mapping[TableId, TableState | None],
    epoch: int,
) -> Mapping[TableId, TableState]:
    """Return the tables of an epoch that has changed some of them; None means a dropped table."""
    if isinstance(tables, TableMap):
        return tables.with_changes(changed, epoch)
    after = dict(tables)
    for key, table in changed.items():
        if table is None:
            after.pop(key, None)
        else:
            after[key] = table
    return after
