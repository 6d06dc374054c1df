"""Tables about a table: `t.history`, `t.rowsets`, `t.partitions`, `t.columns`, `t.properties`.

Each of them has a Spark schema in DDL, and rows of Spark's internal values: a timestamp is the
microseconds since 1970 UTC. They show the newest state of the table when they are read. Rows that
have expired count as rows until they are purged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from colonnade.manifests.arrays.partitions import PartitionKey, partition_of
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.schema import SchemaField, type_text
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from colonnade.spark_ext.history_rows import HISTORY_SCHEMA, history_row
from colonnade.spark_ext.planner.messages.base import Names, operation
from colonnade.spark_ext.planner.messages.queries import Metadata, MetadataNames, MetadataRows
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import place
from colonnade.spark_ext.planner.state.transactions import is_state
from colonnade.tableformat.location import locate_existing
from colonnade.tableformat.partition.text import partition_text
from colonnade.tableformat.table.design.properties import stated_properties
from colonnade.tableformat.table.table import ArrowTable

Row = Sequence[Any]

ROWSETS_SCHEMA = (
    "rowset long, object string, place string, epoch long, rows long, deleted_rows long,"
    " bytes long, unsynced boolean, partition string, layout int"
)
PARTITIONS_SCHEMA = (
    "partition string, layout int, rowsets long, rows long, deleted_rows long, bytes long"
)
COLUMNS_SCHEMA = (
    "id int, name string, type string, nullable boolean, comment string, sort_position int,"
    " null_count long"
)
PROPERTIES_SCHEMA = "key string, value string"

CHANGES = "changes"
"""The metadata table of changes. Conditions on its columns state the range, and tasks read it."""

STATICS = "statics"
"""The metadata table of static values. Its columns are those of the table, and tasks read it."""

_START = datetime(1970, 1, 1, tzinfo=timezone.utc)


@operation
def metadata(request: Metadata) -> MetadataRows:
    """Raise NotFoundError if there is no table at the path."""
    columns, rows = TABLES[request.name]
    return MetadataRows(columns=columns, rows=plain_rows(rows(_table(request.path))))


def _table(path: str) -> ArrowTable:
    """Open the newest state of the table at a path, or the state in the session's transaction."""
    location, state = SNAPSHOTS.head(place(path))
    if is_state(state.epoch):
        return ArrowTable(location, Log(location.store), state)
    return ArrowTable.open(place(path))


@operation
def metadata_names(_: MetadataNames) -> Names:
    """Name also those of static values and of changes, which `load.py` and `feed.py` describe."""
    return Names(names=(*TABLES, STATICS, CHANGES))


def plain_rows(rows: Iterable[Row]) -> list[list[Any]]:
    """Convert rows to JSON values."""
    return [[_plain(value) for value in row] for row in rows]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return (value - _START) // timedelta(microseconds=1)
    return value


def _history(table: ArrowTable) -> Iterator[Row]:
    # A transaction has no history of its own, so this is the history of the committed table.
    return map(history_row, ArrowTable.open(table._location.address).history())


def present_view(table: ArrowTable) -> View:
    """Return what a query sees now of the state that `table` has read."""
    log = Log(locate_existing(table._location.address).store)
    return log.rowsets.view(table._state, None, log.reader.query_ms(table._snapshot))


def _read_rowsets(table: ArrowTable) -> list[LiveRowSet]:
    """Return all RowSets of the state that `table` has read: also tombstones."""
    log = Log(locate_existing(table._location.address).store)
    return log.rowsets.read(table._state, which="all")


def _rowsets(table: ArrowTable) -> Iterator[Row]:
    for rowset in _read_rowsets(table):
        entry = rowset.entry
        yield (
            rowset.id,
            entry.object,
            entry.place,
            rowset.epoch,
            entry.rows,
            entry.rows - rowset.row_count,
            rowset.byte_count,
            entry.unsynced,
            partition_text(table._state, entry),
            entry.partition_layout_id,
        )


def _partitions(table: ArrowTable) -> Iterator[Row]:
    parts: dict[PartitionKey, list[LiveRowSet]] = {}
    for rowset in _read_rowsets(table):
        parts.setdefault(partition_of(rowset.entry), []).append(rowset)
    for (layout, _), rowsets in parts.items():
        rows = sum(rowset.entry.rows for rowset in rowsets)
        yield (
            partition_text(table._state, rowsets[0].entry),
            layout,
            len(rowsets),
            rows,
            rows - sum(rowset.row_count for rowset in rowsets),
            sum(rowset.byte_count for rowset in rowsets),
        )


def _columns(table: ArrowTable) -> Iterator[Row]:
    positions = {key.column: at for at, key in enumerate(table._state.sort_key, start=1)}
    view = present_view(table)
    for column in table._state.schema.fields:
        nulls = _null_count(column, view)
        for path, field in _walk(column, ()):
            position, known = (positions.get(field.id), nulls) if field is column else (None, None)
            yield (
                field.id,
                ".".join(path),
                type_text(field.type),
                field.nullable,
                field.comment,
                position,
                known,
            )


def _walk(
    field: SchemaField, above: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], SchemaField]]:
    path = (*above, field.name)
    yield path, field
    for child in field.children():
        yield from _walk(child, path)


def _null_count(column: SchemaField, view: View) -> int | None:
    """Return the number of NULLs of a column, or None if the log does not know it."""
    total = 0
    for rowset in view.rowsets:
        statistics = rowset.entry.statistics.get(column.id)
        lacks = rowset.deleted_count or not view.is_counted(rowset)
        if statistics is None or view.is_masked(rowset, column) or (lacks and statistics.nulls):
            return None
        total += statistics.nulls
    return total


def _properties(table: ArrowTable) -> Iterator[Row]:
    return iter(sorted(stated_properties(table._state).items()))


TABLES: dict[str, tuple[str, Callable[[ArrowTable], Iterator[Row]]]] = {
    "history": (HISTORY_SCHEMA, _history),
    "rowsets": (ROWSETS_SCHEMA, _rowsets),
    "partitions": (PARTITIONS_SCHEMA, _partitions),
    "columns": (COLUMNS_SCHEMA, _columns),
    "properties": (PROPERTIES_SCHEMA, _properties),
}
