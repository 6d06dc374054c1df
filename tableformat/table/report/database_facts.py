"""Facts about a database and its tables, read from the log alone; no data file is opened.

The report shows them. Their fields are the JSON that the commands print:
docs/command-line.md#json
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from colonnade.manifests.clock import moment
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot, TableState
from colonnade.tableformat.partition.text import partition_text
from colonnade.tableformat.table.design.description import partitioning_of, sort_key_of
from colonnade.tableformat.table.design.properties import stated_properties
from colonnade.tableformat.table.epochs.tags_and_pins import PinnedEpoch, pinned
from colonnade.tableformat.types.arrow_types import type_name
from colonnade.tableformat.types.bound_text import bounds_text


@dataclass(frozen=True, slots=True)
class TableFacts:
    """One table; `rows` counts live rows, `bytes` the stored size of its RowSets."""

    name: str
    path: str
    id: str
    epoch: int
    rows: int
    deleted_rows: int
    rowsets: int
    bytes: int
    columns: int
    sort_key: list[str]
    partitioning: list[str]
    properties: Mapping[str, str]
    comment: str | None
    created_epoch: int
    changed_epoch: int


@dataclass(frozen=True, slots=True)
class DatabaseFacts:
    """A database; `floor` is its oldest readable epoch, `time` the commit time of the newest.

    `tags` maps names to epochs. `pins` maps names to epochs that are kept until a time.
    """

    path: str
    id: str
    epoch: int
    time: datetime
    floor: int
    lone_table: bool
    tables: int
    rows: int
    rowsets: int
    bytes: int
    tags: Mapping[str, int]
    pins: Mapping[str, PinnedEpoch]
    reader_features: list[str]
    writer_features: list[str]


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """One column; data files know it by its `id`."""

    id: int
    name: str
    type: str
    nullable: bool
    comment: str | None
    static: bool


@dataclass(frozen=True, slots=True)
class RowSetFacts:
    """One RowSet; `low` and `high` are the bounds of `bounded_by`, its leading column."""

    id: int
    epoch: int
    rows: int
    deleted_rows: int
    bytes: int
    place: str
    object: str
    partition: str | None
    bounded_by: str
    low: str | None
    high: str | None


@dataclass(frozen=True, slots=True)
class EpochFacts:
    """One epoch of a database and the tables that it changed."""

    epoch: int
    timestamp: datetime
    operation: str
    tables: list[str]
    parameters: Mapping[str, str]
    engine: str
    transaction: str
    metrics: Mapping[str, int]


def table_facts(log: Log, head: Snapshot, state: TableState) -> TableFacts:
    """Count the RowSets of a table of `head`; reads the checkpoint segments that describe them."""
    entries = log.rowsets.read_entries(state, which="all")
    root = log.store.url.rstrip("/")
    deleted = int(entries.deleted.sum())
    return TableFacts(
        name=state.name,
        path=root if head.lone_table else f"{root}/{state.name}",
        id=state.id,
        epoch=head.epoch,
        rows=int(entries.rows.sum()) - deleted,
        deleted_rows=deleted,
        rowsets=len(entries),
        bytes=int(entries.byte_counts.sum()),
        columns=len(state.schema.fields),
        sort_key=sort_key_of(state),
        partitioning=list(partitioning_of(state)),
        properties=stated_properties(state),
        comment=state.comment,
        created_epoch=state.created_epoch,
        changed_epoch=state.changed_epoch,
    )


def tables_facts(log: Log, head: Snapshot) -> list[TableFacts]:
    """Return the facts of all tables of a database, sorted by name."""
    return [table_facts(log, head, state) for state in sorted_tables(head)]


def sorted_tables(head: Snapshot) -> list[TableState]:
    """Return the tables of a database, sorted by name."""
    return sorted(head.tables.values(), key=lambda state: state.name)


def database_facts(log: Log, head: Snapshot, tables: Sequence[TableFacts]) -> DatabaseFacts:
    """Return the facts of a database from the head of its log, with sums over some tables."""
    return DatabaseFacts(
        path=log.store.url,
        id=head.database,
        epoch=head.epoch,
        time=moment(head.time_ms),
        floor=head.floor,
        lone_table=head.lone_table,
        tables=len(tables),
        rows=sum(table.rows for table in tables),
        rowsets=sum(table.rowsets for table in tables),
        bytes=sum(table.bytes for table in tables),
        tags=dict(head.tags),
        pins=pinned(head),
        reader_features=sorted(head.reader_features),
        writer_features=sorted(head.writer_features),
    )


def column_facts(state: TableState) -> list[ColumnFacts]:
    """Return the columns of a table, in order."""
    return [
        ColumnFacts(
            id=field.id,
            name=field.name,
            type=type_name(field.type),
            nullable=field.nullable,
            comment=field.comment,
            static=bool(field.static),
        )
        for field in state.schema.fields
    ]


def leading_column(state: TableState) -> SchemaField:
    """Return the first column of the sort key, or of the table if it has no sort key."""
    if state.sort_key:
        return state.schema.by_id(state.sort_key[0].column)
    return state.schema.fields[0]


def rowset_facts(state: TableState, rowset: LiveRowSet) -> RowSetFacts:
    """Return what the log knows of one RowSet."""
    column = leading_column(state)
    low, high = bounds_text(column, rowset.entry.statistics.get(column.id))
    return RowSetFacts(
        id=rowset.id,
        epoch=rowset.epoch,
        rows=rowset.row_count,
        deleted_rows=rowset.entry.rows - rowset.row_count,
        bytes=rowset.byte_count,
        place=rowset.entry.place,
        object=rowset.entry.object,
        partition=partition_text(state, rowset.entry),
        bounded_by=column.name,
        low=low,
        high=high,
    )


def epoch_facts(epoch: Epoch, head: Snapshot) -> EpochFacts:
    """Return the facts of one epoch; a table that has been dropped is named by its id."""
    changed = dict.fromkeys(getattr(op, "table", None) for op in epoch.ops)
    names = head.table_names()
    return EpochFacts(
        epoch=epoch.epoch,
        timestamp=moment(epoch.time_ms),
        operation=epoch.operation,
        tables=[names.get(table, str(table)) for table in changed if table is not None],
        parameters=dict(epoch.parameters),
        engine=epoch.engine,
        transaction=epoch.transaction,
        metrics=dict(epoch.metrics or {}),
    )
