"""Partitions as text for people: `region=EU, days(ts)=2026-11-21, bucket(16, id)=3`."""

from __future__ import annotations

from colonnade.manifests.arrays.partitions import PartitionKey, partition_of
from colonnade.manifests.model.entries import PartitionField, RowSetEntry
from colonnade.manifests.model.partition_transforms import TRANSFORMS
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.model.statistics import decode_bound
from colonnade.manifests.state.partition_layout import field_text, value_tag
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.types.bound_text import value_text


def partition_text(table: TableState, entry: RowSetEntry) -> str | None:
    """Return the partition of a RowSet as text; None when it has none.

    Raises CorruptionError for a value that its field cannot have.
    """
    return key_text(table, partition_of(entry))


def key_text(table: TableState, key: PartitionKey) -> str | None:
    """Return the partition of a key as text; None for the key of unpartitioned RowSets.

    Raises CorruptionError.
    """
    layout, values = key
    if not layout:
        return None
    columns = {column.id: column for column in table.schema.fields}
    return ", ".join(
        f"{field_text(field, table.schema)}={_text(field, columns.get(field.column), value)}"
        for field, value in zip(table.partition_layout(layout), values, strict=True)
    )


def _text(field: PartitionField, column: SchemaField | None, value: str | None) -> str:
    if value is None:
        return "null"
    if column is None:  # the column was dropped, so its type is not known any more
        return value
    bound = decode_bound(value, value_tag(field, column))
    transform = TRANSFORMS[field.transform]
    if transform.of_column:
        return value_text(column, bound)
    return transform.text(int(bound)) or str(bound)
