"""Checkpoints: a snapshot stored as a root and immutable segments of entries. Pure.

The root names the segments with their totals. A reader therefore loads only the segments that it
needs, and a new checkpoint keeps unchanged segments.
Spec: docs/spec/checkpoint.md
"""

from __future__ import annotations

import abc
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.codec import decode_model, decode_value, encode_model
from colonnade.manifests.model.columns.identity import IdentityCounter
from colonnade.manifests.model.constraints import CheckConstraint
from colonnade.manifests.model.entries import (
    ColumnNumber,
    Count,
    DeletionVectorEntry,
    EntrySegment,
    PartitionField,
    RowSetNumber,
    SortField,
    TableIdText,
)
from colonnade.manifests.model.epoch import TransactionIdText
from colonnade.manifests.model.lifetimes import Lifetimes
from colonnade.manifests.model.map_ref import MapRef
from colonnade.manifests.model.operations import (
    AnchorList,
    CheckpointRef,
    Lease,
    Pin,
    SetConsumer,
    SlotCount,
)
from colonnade.manifests.model.range_tombstones import RangeTombstone
from colonnade.manifests.model.schema import Model, TableSchema
from colonnade.manifests.state.amendments import LaterAmendments
from colonnade.manifests.state.features import check_reader_features
from colonnade.manifests.state.folds.statics import whole_table
from colonnade.manifests.state.snapshot import (
    BatchMap,
    EntrySegmentRef,
    ReadBatches,
    RowSets,
    Snapshot,
    TableMap,
    TableState,
)


class PagedBatches(BatchMap):
    """The batches of a table that are in the pages of a map."""

    @abc.abstractmethod
    def described(self) -> MapRef:
        """Return the place of the map of batches, for the record of the table.

        Requires: no batch was committed since the map was stored.
        """


class Hint(CheckpointRef):
    """The content of the hint: the newest checkpoint that its writer knew.

    It may be stale, missing or wrong.
    """

    format_version: Literal[1] = 1


class EntrySegmentRecord(Model):
    """One segment of a table. The fields are those of `EntrySegmentRef`."""

    segment: EntrySegment
    first_id: RowSetNumber
    last_id: RowSetNumber
    epoch: Count


class TableWriter(Model):
    """What only writers need of a table. Later versions may add keys, which readers pass over.

    A table has its `batches`, or refers to them in `stored_batches`.
    """

    model_config = ConfigDict(extra="ignore")

    next_column_id: ColumnNumber
    batches: dict[str, Count] | None = None
    stored_batches: MapRef | None = None
    constraints: tuple[CheckConstraint, ...] | None = None
    identities: tuple[IdentityCounter, ...] | None = None

    @model_validator(mode="after")
    def _check_batches(self) -> TableWriter:
        if self.batches is not None and self.stored_batches is not None:
            raise ValueError("a table has its batches, or refers to them")
        return self


class TableRecord(Model):
    """One table with its RowSets. The fields are those of `TableState` and `RowSets`.

    `sort_key` is sort order 0, and `sort_orders` has the later ones.
    """

    id: TableIdText
    name: str
    table_schema: TableSchema
    schema_id: Count
    sort_key: tuple[SortField, ...]
    properties: dict[str, str]
    comment: str | None = None
    created_epoch: Count
    changed_epoch: Count
    next_rowset_id: Annotated[int, Field(ge=0, le=2**32)]
    segments: tuple[EntrySegmentRecord, ...]
    dropped: tuple[tuple[RowSetNumber, RowSetNumber], ...]
    vectors: dict[RowSetNumber, DeletionVectorEntry]
    rowset_count: Count
    row_count: Count
    byte_count: Count
    partition_layouts: tuple[tuple[PartitionField, ...], ...] | None = None
    partition_layout_id: Count | None = None
    sort_orders: tuple[tuple[SortField, ...], ...] | None = None
    sort_order_id: Count | None = None
    primary_key: tuple[ColumnNumber, ...] | None = None
    range_tombstones: tuple[RangeTombstone, ...] | None = None
    lifetimes: Lifetimes | None = None
    partition_key: tuple[ColumnNumber, ...] | None = None
    statics_of: TableIdText | None = None
    writer: TableWriter


class StoredMaps(Model):
    """The maps of the tables that are outside a root: records by id, and ids by name."""

    records: MapRef
    names: MapRef


class RootWriter(Model):
    """What only writers need of a database. Later versions may add keys, as to `TableWriter`."""

    model_config = ConfigDict(extra="ignore")

    features: tuple[str, ...] = ()
    pins: tuple[Pin, ...] | None = None
    leases: tuple[Lease, ...] | None = None
    consumers: tuple[SetConsumer, ...] | None = None


class Root(Model):
    """The root of a checkpoint: a snapshot whose RowSets are all in segments.

    It contains its `tables`, or refers to them in `stored_tables`. `earlier` names older
    checkpoints, fewer of them the older they are, so that a reader reaches an old epoch without
    reading the log from its beginning.
    """

    format_version: Literal[1] = 1
    checkpoint: Count
    transaction: TransactionIdText
    time_ms: Count
    clock_ms: Count | None = None
    floor: Count
    anchors: tuple[CheckpointRef, ...]
    anchor_list: AnchorList | None = None
    database: TableIdText
    lone_table: bool
    slot_block: SlotCount
    reader_features: tuple[str, ...]
    tables: tuple[TableRecord, ...] = ()
    stored_tables: StoredMaps | None = None
    tags: dict[str, Count] | None = None
    writer: RootWriter
    earlier: tuple[CheckpointRef, ...] = ()


def encode_root(
    snapshot: Snapshot, earlier: Sequence[CheckpointRef], stored: StoredMaps | None = None
) -> bytes:
    """Write the root of a snapshot. Its tables are in `stored`, or become a part of the root.

    Requires: no table has RowSets outside segments.
    """
    tables = () if stored else tuple(snapshot.tables.values())
    return encode_model(
        Root(
            checkpoint=snapshot.epoch,
            transaction=snapshot.transaction,
            time_ms=snapshot.time_ms,
            clock_ms=snapshot.clock_ms,
            floor=snapshot.floor,
            anchors=snapshot.anchors,
            anchor_list=snapshot.anchor_list,
            database=snapshot.database,
            lone_table=snapshot.lone_table,
            slot_block=snapshot.slot_block,
            reader_features=tuple(sorted(snapshot.reader_features)),
            tables=tuple(_table_record(table) for table in tables),
            stored_tables=stored,
            tags=dict(snapshot.tags) or None,
            writer=RootWriter(
                features=tuple(sorted(snapshot.writer_features)),
                pins=tuple(snapshot.pins.values()) or None,
                leases=tuple(snapshot.leases.values()) or None,
                consumers=tuple(snapshot.consumers.values()) or None,
            ),
            earlier=tuple(earlier),
        )
    )


def decode_root(data: bytes, epoch: int, name: str) -> Root:
    """Read the root of the checkpoint of an epoch.

    Raises CorruptionError; UnsupportedFormatError if a newer version wrote it.
    """
    return _checked(decode_model(Root, data, name), epoch, name)


def decode_root_value(value: Any, epoch: int, name: str) -> Root:
    """Read a root from parsed JSON whose checksum was compared. Raises as `decode_root`."""
    return _checked(decode_value(Root, value, name), epoch, name)


def _checked(root: Root, epoch: int, name: str) -> Root:
    if root.checkpoint != epoch:
        raise CorruptionError(f"{name} is the checkpoint of another epoch than {epoch}.")
    if root.stored_tables is not None and root.tables:
        raise CorruptionError(f"{name} is malformed: it has tables, and also refers to them.")
    return root


def encode_table_record(table: TableState) -> dict[str, Any]:
    """Return a table as JSON. Requires: all its RowSets are in segments."""
    return _table_record(table).model_dump(mode="json", exclude_none=True)


def decode_table_record(value: Any, name: str, read_batches: ReadBatches) -> TableState:
    """Read a table from JSON. Raises CorruptionError and UnsupportedFormatError naming `name`."""
    return _table_state(decode_value(TableRecord, value, name), read_batches)


def root_snapshot(
    root: Root, read_batches: ReadBatches, stored: TableMap | None = None
) -> Snapshot:
    """Return the state that a root stores. `stored` has the tables that are outside the root.

    Raises UnsupportedFormatError for unknown reader features.
    """
    check_reader_features(root.reader_features)
    alone = {TableId(t.id): _table_state(t, read_batches) for t in root.tables}
    tables = {key: whole_table(table, alone.get) for key, table in alone.items()}
    return Snapshot(
        database=TableId(root.database),
        lone_table=root.lone_table,
        slot_block=root.slot_block,
        epoch=root.checkpoint,
        transaction=root.transaction,
        time_ms=root.time_ms,
        clock_ms=root.clock_ms,
        floor=root.floor,
        anchors=root.anchors,
        anchor_list=root.anchor_list,
        reader_features=frozenset(root.reader_features),
        writer_features=frozenset(root.writer.features),
        tables=tables if stored is None else stored,
        tags=root.tags or {},
        pins={pin.name: pin for pin in root.writer.pins or ()},
        leases={lease.job: lease for lease in root.writer.leases or ()},
        consumers={each.name: each for each in root.writer.consumers or ()},
    )


def _table_record(table: TableState) -> TableRecord:
    rowsets = table.rowsets
    assert not rowsets.added
    assert not any(each.replaced for each in rowsets.amended.values())
    assert rowsets.row_count is not None
    assert rowsets.byte_count is not None
    batches = table.batches
    return TableRecord(
        id=table.id,
        name=table.name,
        table_schema=table.schema,
        schema_id=table.schema_id,
        sort_key=table.sort_orders[0],
        properties=dict(table.stored_properties),
        comment=table.comment,
        created_epoch=table.created_epoch,
        changed_epoch=table.changed_epoch,
        next_rowset_id=table.next_rowset_id,
        segments=tuple(
            EntrySegmentRecord(
                segment=s.segment, first_id=s.first_id, last_id=s.last_id, epoch=s.epoch
            )
            for s in rowsets.segments
        ),
        dropped=rowsets.dropped,
        vectors={k: each.vector for k, each in rowsets.amended.items() if each.vector},
        rowset_count=rowsets.rowset_count,
        row_count=rowsets.row_count,
        byte_count=rowsets.byte_count,
        partition_layouts=table.partition_layouts or None,
        partition_layout_id=table.partition_layout_id or None,
        sort_orders=table.sort_orders[1:] or None,
        sort_order_id=table.sort_order_id or None,
        primary_key=table.primary_key or None,
        range_tombstones=table.range_tombstones or None,
        lifetimes=table.lifetimes,
        partition_key=table.partition_key or None,
        statics_of=table.statics_of,
        writer=TableWriter(
            next_column_id=table.next_column_id,
            batches=None if isinstance(batches, PagedBatches) else dict(batches) or None,
            stored_batches=batches.described() if isinstance(batches, PagedBatches) else None,
            constraints=table.constraints or None,
            identities=table.identities or None,
        ),
    )


def _table_state(record: TableRecord, read_batches: ReadBatches) -> TableState:
    table, writer = TableId(record.id), record.writer
    batches: Mapping[str, int] = writer.batches or {}
    if writer.stored_batches is not None:
        batches = read_batches(table, record.created_epoch, writer.stored_batches)
    rowsets = RowSets(
        segments=tuple(
            EntrySegmentRef(s.segment, s.first_id, s.last_id, s.epoch) for s in record.segments
        ),
        dropped=record.dropped,
        amended={k: LaterAmendments(vector) for k, vector in record.vectors.items()},
        rowset_count=record.rowset_count,
        row_count=record.row_count,
        byte_count=record.byte_count,
    )
    return TableState(
        id=table,
        name=record.name,
        schema=record.table_schema,
        schema_id=record.schema_id,
        next_column_id=writer.next_column_id,
        sort_orders=(record.sort_key, *(record.sort_orders or ())),
        stored_properties=record.properties,
        comment=record.comment,
        created_epoch=record.created_epoch,
        changed_epoch=record.changed_epoch,
        next_rowset_id=record.next_rowset_id,
        rowsets=rowsets,
        batches=batches,
        partition_layouts=record.partition_layouts or (),
        partition_layout_id=record.partition_layout_id or 0,
        constraints=writer.constraints or (),
        identities=writer.identities or (),
        sort_order_id=record.sort_order_id or 0,
        primary_key=record.primary_key or (),
        range_tombstones=record.range_tombstones or (),
        lifetimes=record.lifetimes,
        partition_key=record.partition_key or (),
        statics_of=None if record.statics_of is None else TableId(record.statics_of),
    )


def plan_earlier(refs: Iterable[CheckpointRef], epoch: int) -> tuple[CheckpointRef, ...]:
    """Choose the older checkpoints that the checkpoint of `epoch` names, newest first.

    At distance d, only epochs stay that are multiples of the largest power of two up to d / 4. That
    is about four for each doubling of the distance. Each named checkpoint itself names checkpoints
    near it.
    """
    kept = {
        ref.epoch: ref
        for ref in refs
        if ref.epoch < epoch
        and ref.epoch % (1 << max(0, (epoch - ref.epoch).bit_length() - 3)) == 0
    }
    return tuple(kept[e] for e in sorted(kept, reverse=True))
