"""The state of a database after an epoch: a value, never changed in place.

Spec: docs/spec/epoch-log.md#state
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from colonnade.manifests.errors import ColonnadeError, NotFoundError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.entries import (
    DeletionVectorEntry,
    PartitionField,
    RowSetEntry,
    SegmentEntry,
    SortField,
)
from colonnade.manifests.model.operations import Anchor, Lease, Pin, ReplaceColumn
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.model.slot_blocks import SlotBlocks
from colonnade.manifests.object_names import table_prefix


@dataclass(frozen=True, slots=True)
class LiveRowSet:
    """One RowSet of a table: its id, the epoch that added it, and the rows that are gone."""

    id: int
    epoch: int
    entry: RowSetEntry
    vector: DeletionVectorEntry | None = None

    @property
    def row_count(self) -> int:
        """Rows that are not deleted."""
        return self.entry.rows - (self.vector.cardinality if self.vector else 0)


@dataclass(frozen=True, slots=True)
class SegmentRef:
    """RowSets that are described in a segment, an object that is read only when it is needed.

    Their ids lie between `first_id` and `last_id`. Where `epoch` is given, all were added by it
    and the ids are consecutive; otherwise the segment holds ids and epochs itself.
    """

    segment: SegmentEntry
    first_id: int
    last_id: int
    epoch: int | None = None

    @property
    def live_row_count(self) -> int:
        """Rows that were not deleted when the segment was written."""
        return self.segment.row_count - self.segment.deleted_count


@dataclass(frozen=True, slots=True)
class RowSets:
    """The live RowSets of a table: those in segments, then those that later epochs added.

    `dropped` (inclusive ranges of ids, ascending and apart), `vectors` and `replaced` (columns, in
    the order in which they were replaced) are what became of RowSets in segments since these were
    written. `row_count` counts rows that are not deleted, `byte_count` stored bytes; they are None
    when that takes reading segments, which is so after part of one was dropped, or a vector or
    replaced column in one was replaced, and until the next checkpoint.
    """

    segments: tuple[SegmentRef, ...] = ()
    added: tuple[LiveRowSet, ...] = ()
    dropped: tuple[tuple[int, int], ...] = ()
    vectors: Mapping[int, DeletionVectorEntry] = field(default_factory=dict)
    rowset_count: int = 0
    row_count: int | None = 0
    byte_count: int | None = 0
    replaced: Mapping[int, tuple[ReplaceColumn, ...]] = field(default_factory=dict)


class BatchMap(Mapping[str, int], abc.ABC):
    """Batches of a table that need not all be held: that of one application is found cheaply.

    Looking for one may read a page of a checkpoint. Where that cannot be read, the log tells the
    same. Raises CorruptionError where that is gone too, NotFoundError where retention has removed
    the state, StoreError.
    """

    @abc.abstractmethod
    def known(self, app: str) -> int | None:
        """The batch of an application, if it is held. Reads nothing."""

    @abc.abstractmethod
    def with_changes(self, changes: Mapping[str, int]) -> BatchMap:
        """The batches of a later epoch, once these have landed."""

    @abc.abstractmethod
    def objects(self) -> frozenset[str]:
        """The objects that hold the batches of the checkpoint."""


@dataclass(frozen=True, slots=True)
class TableState:
    """A table as of an epoch.

    `changed_epoch` is the last one with an operation on this table, `next_rowset_id` the id that
    the next RowSet gets: ids are never given twice. `batches` are the last versions that landed, by
    application. `partition_layouts` are all that there were, from layout 1 on, and
    `partition_layout_id` is the one that new RowSets get.
    """

    id: TableId
    name: str
    at_root: bool
    schema: TableSchema
    schema_id: int
    next_column_id: int
    sort_key: tuple[SortField, ...]
    properties: Mapping[str, str]
    comment: str | None
    created_epoch: int
    changed_epoch: int
    next_rowset_id: int = 0
    rowsets: RowSets = RowSets()
    batches: Mapping[str, int] = field(default_factory=dict)
    partition_layouts: tuple[tuple[PartitionField, ...], ...] = ()
    partition_layout_id: int = 0

    @property
    def partition_fields(self) -> tuple[PartitionField, ...]:
        """The fields of the layout that new RowSets get."""
        return self.partition_layout(self.partition_layout_id)

    def partition_layout(self, number: int) -> tuple[PartitionField, ...]:
        """The fields of a layout. Requires: a number up to that of the last."""
        return self.partition_layouts[number - 1] if number else ()

    @property
    def prefix(self) -> str:
        """What the names of all objects of the table begin with."""
        return table_prefix(self.id, self.at_root)

    def listing_objects(self) -> frozenset[str]:
        """The objects of checkpoints that list the table's RowSets and batches."""
        batches = self.batches.objects() if isinstance(self.batches, BatchMap) else ()
        return frozenset((*batches, *(ref.segment.object for ref in self.rowsets.segments)))


class TableMap(Mapping[TableId, TableState], abc.ABC):
    """Tables of a state that need not all be held: names and one table are found cheaply.

    Looking for one may read a part of a checkpoint. Where that part cannot be read, the log tells
    the same. Every method raises CorruptionError where that is gone too, StoreError.
    """

    @abc.abstractmethod
    def find(self, name: str) -> TableState | None:
        """The table with this exact name, if there is one."""

    @abc.abstractmethod
    def names(self) -> Mapping[TableId, str]:
        """The names of all tables, by id."""

    @abc.abstractmethod
    def held(self) -> Mapping[TableId, TableState | None]:
        """The tables that changed since they were stored; None for those that were dropped."""

    @abc.abstractmethod
    def stored_objects(self) -> frozenset[str]:
        """The objects that hold tables which have not changed since."""

    @abc.abstractmethod
    def with_changes(self, changes: Mapping[TableId, TableState | None], epoch: int) -> TableMap:
        """The tables of a later epoch, at which these are new, changed or dropped (None)."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A database as of an epoch.

    `floor` is the oldest readable epoch that this state knows of; a stub in the log has the last
    word. Features are names that a reader, or a writer, must know. `tags` are epochs by the names
    that they were given; `pins`, by name, keep epochs readable until a time, `leases`, by job, what
    jobs write. `stale`: vacuum removed segments that hold RowSets of this state, which other ones
    hold too: read the state anew. `dropped`: the log has ended, and no epoch follows. `slot_block`
    is the number of slots that are freed together.
    """

    database: TableId
    lone_table: bool
    epoch: int
    transaction: str
    time_ms: int
    floor: int
    anchors: tuple[Anchor, ...]
    reader_features: frozenset[str]
    writer_features: frozenset[str]
    tables: Mapping[TableId, TableState]
    tags: Mapping[str, int] = field(default_factory=dict)
    pins: Mapping[str, Pin] = field(default_factory=dict)
    leases: Mapping[str, Lease] = field(default_factory=dict)
    stale: bool = False
    dropped: bool = False
    slot_block: int | None = None

    @property
    def blocks(self) -> SlotBlocks | None:
        """The blocks in which slots of the log are freed; None where they stay taken."""
        return None if self.slot_block is None else SlotBlocks(self.database, self.slot_block)

    def anchor(self, epoch: int) -> Anchor | None:
        """What stores the state of an epoch that the log is to forget, or has forgotten."""
        return next((anchor for anchor in self.anchors if anchor.epoch == epoch), None)

    def keeps(self, epoch: int) -> bool:
        """Whether an epoch up to this one can be read, as far as this state knows."""
        return self.floor <= epoch <= self.epoch or self.anchor(epoch) is not None

    def find_table(self, name: str) -> TableState | None:
        """The table with this exact name, if there is one."""
        if isinstance(self.tables, TableMap):
            return self.tables.find(name)
        return next((table for table in self.tables.values() if table.name == name), None)

    def table_names(self) -> Mapping[TableId, str]:
        """The names of all tables, by id; cheaper than the tables."""
        if isinstance(self.tables, TableMap):
            return self.tables.names()
        return {key: table.name for key, table in self.tables.items()}

    def held_tables(self) -> Mapping[TableId, TableState | None]:
        """The tables that no checkpoint needs to be read for; None for dropped ones."""
        return self.tables.held() if isinstance(self.tables, TableMap) else self.tables

    def stored_objects(self) -> frozenset[str]:
        """The objects that hold tables of this state which need not be held."""
        return self.tables.stored_objects() if isinstance(self.tables, TableMap) else frozenset()

    def table(self, name: str) -> TableState:
        """Find a table by its exact name. Raises NotFoundError that lists the tables there are."""
        table = self.find_table(name)
        if table is not None:
            return table
        known = ", ".join(sorted(self.table_names().values())) or "none yet"
        raise NotFoundError(
            f"Table {name!r} does not exist at epoch {self.epoch}; the tables are: {known}."
        )


Replay: TypeAlias = Callable[[ColonnadeError, int], Snapshot]
"""Reads the state at an epoch in the log alone, or at the floor where that is later.

It raises the error that made it necessary where the log does not help.
"""
