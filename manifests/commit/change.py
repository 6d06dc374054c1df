"""A change that a writer wants to commit, from its plan to its slot.

An UPDATE of the rows 3 and 8 of RowSet 0 is planned on epoch 7:

    planned   rows 3 and 8 of RowSet 0 are deleted, and a RowSet with two rows is added
    slot 8    is taken by a DELETE of row 5 of RowSet 0: no row in common, so the change goes on
    slot 9    RowSet 0 gets the vector {3, 5, 8}, and the RowSet is added

Had epoch 8 deleted row 3, the change would be refused, and nothing of it committed.
Spec: docs/spec/conflicts.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pyroaring import AbstractBitMap, FrozenBitMap

from colonnade.manifests.arrays.bounds import BoundsFilter
from colonnade.manifests.arrays.origins import RowOrigins
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.operations import Operation, ReplaceColumn, RowKind
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot, TableState


@dataclass(frozen=True, slots=True)
class DeletedRows:
    """Rows of a RowSet that a statement deletes, as found at the change's base.

    This is not an operation yet, because concurrent writers may delete further rows of the RowSet.
    At the slot it becomes a deletion vector of the RowSet, or of the RowSets into which that was
    compacted. `rows` are stored row numbers; None means all live rows of the RowSet. For an update
    or a merge, the change also adds the new versions of the rows.
    """

    table: str
    rowset: LiveRowSet
    kind: RowKind
    rows: AbstractBitMap | None


@dataclass(frozen=True, slots=True)
class TableRead:
    """The rows of a table that a statement has read, or overwrites.

    They are the rows that `may_match` selects by their bounds; None means all rows. `columns` are
    the ids of the columns that were read; None means all columns. If a concurrent writer has added
    such a row since, that is a conflict in a `serializable` table, and with `overwrites` in every
    table.
    """

    table: str
    may_match: BoundsFilter | None = None
    columns: frozenset[int] | None = None
    overwrites: bool = False


@dataclass(frozen=True, slots=True)
class KeyGuard:
    """Keys that a change inserts into a table because they did not exist at its base.

    `meets` takes RowSets that concurrent writers have added since. It returns those with one of the
    keys, and may read data for that. It reads the columns with the ids `columns`; None means all.
    `check` takes the table before the slot, and raises ConflictError if its rules for such keys are
    no longer those that the change has followed.
    """

    table: str
    meets: Callable[[Sequence[LiveRowSet]], Sequence[LiveRowSet]]
    columns: frozenset[int] | None = None
    check: Callable[[TableState], None] | None = None


@dataclass(frozen=True, slots=True)
class AddedRows:
    """A RowSet that a change adds without its rows `deleted`, which are never all of them.

    `origins` says which rows of the state before the slot the rows replace; None means what the
    change says.
    """

    rowset: RowSetEntry
    deleted: FrozenBitMap = field(default_factory=FrozenBitMap)
    origins: RowOrigins | None = None


def origins_by_object(added: Iterable[AddedRows]) -> dict[str, RowOrigins]:
    """Return what is said of the origins of added RowSets, by the ids of their objects."""
    return {each.rowset.object: each.origins for each in added if each.origins is not None}


@dataclass(frozen=True, slots=True)
class ResolvedRows:
    """The rows that a change adds to a table with a primary key, and deletes, right after a state.

    `added` are the RowSets that it adds. `rows` are rows of that state which it deletes, besides
    the deleted rows of the change itself. `metrics` take the place of the metrics of the change.
    """

    added: tuple[AddedRows, ...]
    rows: tuple[DeletedRows, ...] = ()
    metrics: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class KeyedRows:
    """Rows that a change adds to a table with a primary key, in RowSets that are written.

    `resolve` takes the state before the slot, and by RowSet id the rows that the change deletes
    there. It says what happens to the rows whose keys are taken. It is called again for each slot
    that the change tries, and should then only read what is new. It may write RowSets, whose ids
    begin with the change's `job_id`.
    """

    table: str
    resolve: Callable[[Snapshot, Mapping[int, FrozenBitMap]], ResolvedRows]


@dataclass(frozen=True, slots=True)
class ColumnFill:
    """Values of columns that a change gives to every RowSet that a table has at its slot.

    `fill` takes the state before the slot. It returns an operation for each RowSet, and metrics. It
    writes the values of RowSets that have none yet. It is called again for each slot that the
    change tries, so it must keep its operations. The ids of all its objects begin with the
    change's `job_id`.
    """

    table: str
    fill: Callable[[Snapshot], tuple[Sequence[ReplaceColumn], Mapping[str, int]]]


@dataclass(frozen=True, slots=True)
class Change:
    """Operations and deleted rows that become one epoch, all or nothing.

    `transaction` is made once (`ids.new_transaction_id`) and reused whenever the change is sent
    again, also by another process, so that the change is committed once. `operation`, `parameters`
    and `metrics` describe the change for people.

    A change that overwrites a table's rows has a `DropRowSet` without a kind, with no ranges if the
    table was empty. That distinguishes it from an append. With `expect_epoch`, the change becomes
    the epoch after that one or fails. Epochs that only gave its job values of identity columns do
    not count.

    The ids of objects that a commit writes begin with `job_id`. `listed` are the objects that the
    operations name through segments. `all_victims` are the objects that a vacuum removes in all
    its parts: each part has the part before it as its base. `anchored` are the epochs that it
    keeps below its floor by an anchor. `carried` are batches, by table and
    application, that a replaced table had before. They do not belong to this change, and do not
    tell whether it was committed. `prepared` are batches that a later change will commit, after
    this one has prepared their table. If they have landed, this change is not needed, and is not
    committed either. A `fresh` change was never sent before: its transaction id was
    made for this commit alone. `fill` comes after the operations. Such a change must be `fresh`.
    `keyed` are of different tables, and replace the operations that add RowSets to these. With
    `reads_all`, the change has read all tables of the database and which there are. `origins` has
    an entry for each RowSet that the change adds to a table, in their order: which rows of its base
    the rows replace. These rows are in `rows`. All rows of other tables are new.
    """

    transaction: str
    operation: str
    ops: tuple[Operation, ...]
    parameters: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[DeletedRows, ...] = ()
    reads: tuple[TableRead, ...] = ()
    keys: tuple[KeyGuard, ...] = ()
    metrics: Mapping[str, int] = field(default_factory=dict)
    expect_epoch: int | None = None
    job_id: str | None = None
    listed: frozenset[str] = frozenset()
    fresh: bool = False
    all_victims: frozenset[str] = frozenset()
    anchored: frozenset[int] = frozenset()
    carried: frozenset[tuple[str, str]] = frozenset()
    prepared: tuple[Operation, ...] = ()
    fill: ColumnFill | None = None
    keyed: tuple[KeyedRows, ...] = ()
    reads_all: bool = False
    origins: Mapping[str, Sequence[RowOrigins]] = field(default_factory=dict)
