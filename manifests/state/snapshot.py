"""The state of a database after an epoch: a value, never changed in place.

Spec: docs/spec/checkpoint.md#root
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from colonnade.manifests.errors import ColonnadeError, NotFoundError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.columns.identity import IdentityCounter
from colonnade.manifests.model.columns.properties import by_name
from colonnade.manifests.model.columns.statics import SUFFIX, statics_id
from colonnade.manifests.model.constraints import CheckConstraint
from colonnade.manifests.model.entries import (
    ColumnReplacement,
    DeletionVectorEntry,
    EntrySegment,
    PartitionField,
    RowSetEntry,
    SortField,
)
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.lifetimes import Lifetimes
from colonnade.manifests.model.map_ref import MapRef
from colonnade.manifests.model.operations import (
    AnchorList,
    CheckpointRef,
    Lease,
    Pin,
    SetConsumer,
)
from colonnade.manifests.model.primary_key import PrimaryKey
from colonnade.manifests.model.range_tombstones import RangeTombstone, region_of
from colonnade.manifests.model.regions import Region
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.model.slot_blocks import SlotBlocks
from colonnade.manifests.object_names import table_prefix
from colonnade.manifests.once import once
from colonnade.manifests.state.amendments import LaterAmendments


@dataclass(frozen=True, slots=True)
class LiveRowSet:
    """One live RowSet of a table, as the log says it: a value that is equal to its like.

    It has its id, the epoch that added it, and what came to it since. `entry` describes the RowSet
    as its writer wrote it, without `replacements`. Only its statistics are those of the current
    values. The log stores the deletion `vector` beside the entry, and the `replacements` inside it;
    no column is in two of these. Readers read a replaced column from its replacement.
    """

    id: int
    epoch: int
    entry: RowSetEntry
    vector: DeletionVectorEntry | None = None
    replacements: tuple[ColumnReplacement, ...] = ()

    def __post_init__(self) -> None:
        assert self.entry.replacements is None, "LiveRowSet.of takes an entry with replacements."

    def __hash__(self) -> int:
        # Objects are written once, so their ids decide the rest.
        return hash((self.id, self.epoch, *self.objects()))

    @classmethod
    def of(
        cls, number: int, epoch: int, stored: RowSetEntry, vector: DeletionVectorEntry | None
    ) -> LiveRowSet:
        """Return the RowSet of an entry and a deletion vector that the log stores side by side."""
        if stored.replacements is None:
            return cls(number, epoch, stored, vector)
        entry = stored.model_copy(update={"replacements": None})
        return cls(number, epoch, entry, vector, stored.replacements)

    @property
    def stored_entry(self) -> RowSetEntry:
        """The entry as the log stores it: with the replaced columns, without the vector."""
        if not self.replacements:
            return self.entry
        return self.entry.model_copy(update={"replacements": self.replacements})

    @property
    def row_count(self) -> int:
        """The number of rows that are not deleted. A view may hide some of them."""
        return self.entry.rows - self.deleted_count

    @property
    def deleted_count(self) -> int:
        """The number of deleted rows."""
        return self.vector.cardinality if self.vector else 0

    @property
    def has_tombstones(self) -> bool:
        """Whether no row is live, so that its rows say which keys were deleted."""
        return self.deleted_count == self.entry.rows

    @property
    def clean_epoch(self) -> int:
        """The last epoch whose range tombstone the rows have met."""
        stated = self.entry.clean_epoch
        return self.epoch if stated is None else stated

    @property
    def byte_count(self) -> int:
        """The stored bytes, including those of replaced columns."""
        return self.entry.bytes + sum(each.bytes for each in self.replacements)

    def with_vector(self, vector: DeletionVectorEntry) -> LiveRowSet:
        """Return the RowSet with another deletion vector."""
        return replace(self, vector=vector)

    def objects(self) -> Iterator[str]:
        """Yield the ids of all objects that store the RowSet and what changed in it since."""
        yield self.entry.object
        yield from (each.object for each in self.replacements)
        if self.vector is not None:
            yield self.vector.object

    def holders(self, columns: Collection[int]) -> tuple[str, ...]:
        """Return the objects of the replacements that hold any of these columns."""
        return tuple(
            each.object for each in self.replacements if not set(columns).isdisjoint(each.columns)
        )


def as_written(entry: RowSetEntry, number: int = 0) -> LiveRowSet:
    """Return a RowSet that was just written, and that no epoch has added yet.

    `number` is used as its id. Requires an entry without replacements.
    """
    return LiveRowSet(number, 0, entry)


@dataclass(frozen=True, slots=True)
class EntrySegmentRef:
    """A reference to RowSets whose entries are in a segment, an object that is read when needed.

    `first_id` is the least of their ids, and `last_id` the greatest. `epoch` is the first of the
    epochs that added them. The segment states ids and epochs as differences from these.
    """

    segment: EntrySegment
    first_id: int
    last_id: int
    epoch: int

    @property
    def live_row_count(self) -> int:
        """The number of rows that were live when the segment was written."""
        return self.segment.row_count - self.segment.deleted_count

    def holds(self, rowset: int) -> bool:
        """Return whether an id is between the first and the last id of the segment."""
        return self.first_id <= rowset <= self.last_id


@dataclass(frozen=True, slots=True)
class RowSets:
    """The live RowSets of a table: RowSets in segments, then RowSets that later epochs added.

    Two fields record changes to RowSets in segments since the segments were written. `dropped` has
    inclusive ranges of ids, which ascend and are not adjacent. `amended` has amendments by RowSet
    id.

    `row_count` counts live rows, `byte_count` stored bytes. They are None if counting would require
    reading segments. That happens when part of a segment was dropped, or a vector or replaced
    column in a segment was replaced. The next checkpoint counts again.
    """

    segments: tuple[EntrySegmentRef, ...] = ()
    added: tuple[LiveRowSet, ...] = ()
    dropped: tuple[tuple[int, int], ...] = ()
    amended: Mapping[int, LaterAmendments] = field(default_factory=dict)
    rowset_count: int = 0
    row_count: int | None = 0
    byte_count: int | None = 0

    def __hash__(self) -> int:
        return hash((self.segments, self.added, self.dropped))


class BatchMap(Mapping[str, int], abc.ABC):
    """The batches of a table, loaded on demand. Finding the batch of one application is cheap.

    A look-up may read a page of a checkpoint. If the page cannot be read, the log gives the same
    answer. Raises CorruptionError if the log is damaged too; NotFoundError if retention has removed
    the state; StoreError.
    """

    @abc.abstractmethod
    def known(self, app: str) -> int | None:
        """Return the batch of an application if it is loaded, else None. Reads nothing."""

    @abc.abstractmethod
    def with_changes(self, changes: Mapping[str, int]) -> BatchMap:
        """Return the batches of a later epoch that commits these batches."""

    @abc.abstractmethod
    def taken_over(self, table: TableId, created_epoch: int) -> BatchMap:
        """Return the same batches for a new table, which takes the place of the present one."""

    @abc.abstractmethod
    def objects(self) -> frozenset[str]:
        """Return the objects of the checkpoint that store the batches."""


ReadBatches: TypeAlias = Callable[[TableId, int, MapRef], BatchMap]
"""Makes the batches of a table from its id, the epoch that created it, and the map of them.

Reads nothing yet.
"""


@dataclass(frozen=True)
class TableState:
    """A table as of an epoch.

    `changed_epoch` is the last epoch with an operation on this table. `next_rowset_id` is the id of
    the next RowSet; ids are never used twice. `batches` has the last committed version of each
    application. `partition_layouts` has all layouts so far, beginning with layout 1.
    `partition_layout_id` is the layout of new RowSets. `identities` are the last values of identity
    columns, also of columns that were dropped. `stored_properties` are the properties as the log
    states them, with ids of columns. `sort_orders` has all sort keys so far, beginning with that of
    the creation, which has the number 0. `sort_order_id` is the number of the present one.
    `primary_key` is empty for a table without one. `tombstones` are the range tombstones whose rows
    may still be stored, by ascending epochs. `lifetimes` is None if nothing expires.

    `partition_key` has the columns that static values belong to, each by its id; it is empty
    if the table never had a static column. Then `statics` is the table of static values at the same
    epoch. In that table, `statics_of` is the id of the table that it belongs to.

    `previews` are epochs that are not in the log, such as those of a transaction. The table is as
    they leave it, one after another, right after the state of the log before the first of them.
    """

    id: TableId
    name: str
    schema: TableSchema
    schema_id: int
    next_column_id: int
    sort_orders: tuple[tuple[SortField, ...], ...]
    stored_properties: Mapping[str, str]
    comment: str | None
    created_epoch: int
    changed_epoch: int
    next_rowset_id: int = 0
    rowsets: RowSets = RowSets()
    batches: Mapping[str, int] = field(default_factory=dict)
    partition_layouts: tuple[tuple[PartitionField, ...], ...] = ()
    partition_layout_id: int = 0
    constraints: tuple[CheckConstraint, ...] = ()
    identities: tuple[IdentityCounter, ...] = ()
    sort_order_id: int = 0
    primary_key: PrimaryKey = ()
    range_tombstones: tuple[RangeTombstone, ...] = ()
    lifetimes: Lifetimes | None = None
    partition_key: PrimaryKey = ()
    statics: TableState | None = None
    statics_of: TableId | None = None
    previews: tuple[Epoch, ...] = field(default=(), compare=False, repr=False)

    def __hash__(self) -> int:
        # At an epoch, a table has one state; a preview may have another one.
        return hash((self.id, self.changed_epoch))

    @property
    def properties(self) -> Mapping[str, str]:
        """The properties with the present names of the columns that they name."""
        return by_name(self.stored_properties, self.schema)

    @property
    def version(self) -> tuple[int, RowSets]:
        """What two states of the table share if nothing has changed between them.

        The number of an epoch is not enough: a preview has one that another change may take.
        """
        return self.changed_epoch, self.rowsets

    def has_batch(self, app: str, version: int) -> bool:
        """Return whether this batch of an application, or a later one, was committed."""
        return version <= self.batches.get(app, -1)

    @property
    def sort_key(self) -> tuple[SortField, ...]:
        """The columns that the rows of new RowSets are sorted by."""
        return self.sort_orders[self.sort_order_id]

    @property
    def partition_fields(self) -> tuple[PartitionField, ...]:
        """The fields of the layout of new RowSets."""
        return self.partition_layout(self.partition_layout_id)

    def partition_layout(self, number: int) -> tuple[PartitionField, ...]:
        """Return the fields of a layout. Requires: `number` is at most the number of layouts."""
        return self.partition_layouts[number - 1] if number else ()

    @property
    def prefix(self) -> str:
        """The prefix of the names of all objects of the table."""
        return table_prefix(self.id)

    @once
    def deleted_regions(self) -> tuple[Region, ...]:
        """The regions of all range tombstones, one after another, with their present columns."""
        # Each scan compares all of them, so they are made once.
        every = (each for one in self.range_tombstones for each in one.regions)
        return tuple(region_of(each, self.schema) for each in every)

    @property
    def hides_rows(self) -> bool:
        """Whether rows may be hidden that no deletion vector names, so that counts need a look."""
        return bool(self.range_tombstones) or self.lifetimes is not None

    def listing_objects(self) -> frozenset[str]:
        """Return the checkpoint objects that list the table's RowSets and batches."""
        batches = self.batches.objects() if isinstance(self.batches, BatchMap) else ()
        return frozenset((*batches, *(ref.segment.object for ref in self.rowsets.segments)))


class TableMap(Mapping[TableId, TableState], abc.ABC):
    """The tables of a state, loaded on demand. Finding names or one table is cheap.

    A look-up may read a part of a checkpoint. If that part cannot be read, the log gives the same
    answer. Every method raises CorruptionError if the log is damaged too; StoreError.
    """

    @abc.abstractmethod
    def find(self, name: str) -> TableState | None:
        """Return the table with this exact name, or None."""

    @abc.abstractmethod
    def names(self) -> Mapping[TableId, str]:
        """Return the names of all tables, by id."""

    @abc.abstractmethod
    def held(self) -> Mapping[TableId, TableState | None]:
        """Return the tables that changed since the checkpoint; None for a dropped table."""

    @abc.abstractmethod
    def stored_objects(self) -> frozenset[str]:
        """Return the checkpoint objects that store the tables which have not changed since."""

    @abc.abstractmethod
    def with_changes(self, changes: Mapping[TableId, TableState | None], epoch: int) -> TableMap:
        """Return the tables of a later epoch; `changes` has None for a dropped table."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A database as of an epoch.

    `floor` is the oldest readable epoch that this state knows; a later epoch may raise it.
    `reader_features` and `writer_features` are the features that a reader or writer must know.
    `tags` has epochs by tag. `pins`, by name, keep epochs readable until a time. `leases`, by job,
    protect what a running job writes. `consumers`, by name, say how far a change feed was read.

    `stale` means that vacuum removed segments of this state, after newer segments took over their
    RowSets: read the state again. `dropped` means that the log has ended, and no epoch follows.
    `slot_block` is the number of slots that vacuum frees together.

    `anchors` has the anchor of the floor last. With an `anchor_list`, that object has the anchors
    below the floor, and `anchors` does not (`checkpoint/anchor_list.py` reads both).
    """

    database: TableId
    lone_table: bool
    slot_block: int
    epoch: int
    transaction: str
    time_ms: int
    clock_ms: int | None
    floor: int
    anchors: tuple[CheckpointRef, ...]
    reader_features: frozenset[str]
    writer_features: frozenset[str]
    tables: Mapping[TableId, TableState]
    tags: Mapping[str, int] = field(default_factory=dict)
    pins: Mapping[str, Pin] = field(default_factory=dict)
    leases: Mapping[str, Lease] = field(default_factory=dict)
    consumers: Mapping[str, SetConsumer] = field(default_factory=dict)
    stale: bool = False
    dropped: bool = False
    anchor_list: AnchorList | None = None

    @property
    def committed_ms(self) -> int:
        """When the epoch was committed, by its writer's clock if that contradicts the date.

        In ms since 1970 UTC. A query of an earlier state sees it at this time.
        """
        return self.time_ms if self.clock_ms is None else self.clock_ms

    @property
    def blocks(self) -> SlotBlocks:
        """The blocks of slots that vacuum frees."""
        return SlotBlocks(self.database, self.slot_block)

    def anchor(self, epoch: int) -> CheckpointRef | None:
        """Return the anchor of an epoch, or None. An anchor in the anchor list is not found."""
        return next((anchor for anchor in self.anchors if anchor.epoch == epoch), None)

    def find_table(self, name: str) -> TableState | None:
        """Return the table with this exact name, or None."""
        if isinstance(self.tables, TableMap):
            return self.tables.find(name)
        return next((table for table in self.tables.values() if table.name == name), None)

    def table_names(self) -> Mapping[TableId, str]:
        """Return the names of all tables, by id. Cheaper than loading the tables."""
        if isinstance(self.tables, TableMap):
            return self.tables.names()
        return {key: table.name for key, table in self.tables.items()}

    def own_names(self) -> Mapping[TableId, str]:
        """Return the names of the tables that users have made: no tables of static values."""
        names = self.table_names()
        if not any(name.endswith(SUFFIX) for name in names.values()):
            return names
        statics = set(map(statics_id, names))
        return {key: name for key, name in names.items() if key not in statics}

    def held_tables(self) -> Mapping[TableId, TableState | None]:
        """Return the tables that need no read of a checkpoint; None for a dropped table."""
        return self.tables.held() if isinstance(self.tables, TableMap) else self.tables

    def stored_objects(self) -> frozenset[str]:
        """Return the checkpoint objects that store tables of this state."""
        return self.tables.stored_objects() if isinstance(self.tables, TableMap) else frozenset()

    def table(self, name: str) -> TableState:
        """Return the table with this exact name. Raises NotFoundError, which lists the tables."""
        table = self.find_table(name)
        if table is not None:
            return table
        known = ", ".join(sorted(self.own_names().values())) or "none yet"
        raise NotFoundError(
            f"Table {name!r} does not exist at epoch {self.epoch}; the tables are: {known}."
        )


Replay: TypeAlias = Callable[[ColonnadeError, int], Snapshot]
"""Reads the state at an epoch from the log alone, or at the floor if that is later.

It takes the error that made the replay necessary, and raises this error if the log does not help.
"""
