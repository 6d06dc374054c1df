"""From a column as a RowSet stores it to the column as the table has it now. Pure.

A RowSet has the columns that the table had when the RowSet was written. If the table got a column
later, each row of the RowSet has the same value in it: the initial value of the column, or NULL. If
the type of a column has widened since, its values become values of the wider type. Fields inside a
column follow these rules at any depth, but have no initial values. Fields that were dropped since
are left out. This module is the only place in Python that says so; its counterpart in Java is
`colonnade.read.vector.Adapt`.
Spec: docs/spec/types.md#defaults, docs/spec/types.md#widening,
docs/spec/types.md#fields-inside-a-column
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from colonnade.manifests.model.schema import ArrayType, MapType, SchemaField, StructType
from colonnade.manifests.model.statistics import Bound, in_prefix
from colonnade.tableformat.rowset.block_statistics import INDEX_BOUND_LENGTH, Statistics, shorten
from colonnade.tableformat.rowset.column import Order, StoredColumn, column_of
from colonnade.tableformat.rowset.nested_forms import places_in
from colonnade.tableformat.types.arrow_types import storage_type
from colonnade.tableformat.types.sound_arrays import validity
from colonnade.tableformat.types.stored_value import repeated


def adapt(
    parts: Sequence[pa.Array], column: StoredColumn, rows: int, stored: StoredColumn | None = None
) -> pa.Array:
    """Return `rows` rows of a column of the table, from its decoded blocks in row order.

    No blocks mean that the RowSet does not have the column. `stored` is the column as the RowSet
    has it; None means that it is the same. Copies only several blocks, and values of another type.
    """
    if not parts:
        return absent_values(column, rows)
    if column.nested is not None:
        # Compaction may have put blocks of several forms side by side.
        parts = [_adapt_nested(part, column.nested) for part in parts]
    array = parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
    if stored is None or stored.type == column.type:
        return array
    # Only deleted rows have a date that no timestamp can hold. Their value does not matter.
    return array.cast(column.type, safe=stored.type != pa.date32())


def _adapt_nested(array: pa.Array, field: SchemaField) -> pa.Array:
    """Return the values of a form of a column, or of a field inside it, in its storage type.

    Copies only values of another type.
    """
    target = storage_type(field)
    if array.type == target:
        return array
    match field.type:
        case StructType(fields=fields):
            places = places_in(array.type, fields)
            children = [
                absent_values(column_of(each), len(array))
                if at is None
                else _adapt_nested(array.field(at), each)
                for at, each in zip(places, fields, strict=True)
            ]
            own, offset = [validity(array)], 0  # `StructArray.field` has applied the offset
        case ArrayType(element=element):
            children = [_adapt_nested(array.values, element)]
            own, offset = array.buffers()[:2], array.offset
        case MapType(key=key, value=value):
            pairs = [_adapt_nested(array.keys, key), _adapt_nested(array.items, value)]
            ends = [target.key_field, target.item_field]
            children = [pa.StructArray.from_arrays(pairs, fields=ends)]
            own, offset = array.buffers()[:2], array.offset
        case _:
            # Under a NULL parent, a decimal may have more digits than its type.
            return array.cast(target, safe=False)
    return pa.Array.from_buffers(
        target, len(array), own, array.null_count, offset, children=children
    )


def adapt_statistics(
    statistics: Statistics, stored: StoredColumn, column: StoredColumn
) -> Statistics:
    """Return the statistics of a column of the table, from those of the column as stored."""
    if stored.bound_prefix == column.bound_prefix:
        return statistics

    def wider(bound: Bound | None) -> Bound | None:
        return None if bound is None else in_prefix(bound, stored.bound_prefix, column.bound_prefix)

    return replace(statistics, low=wider(statistics.low), high=wider(statistics.high))


def shares_filters(stored: StoredColumn, column: StoredColumn) -> bool:
    """Return whether the Bloom filters of a column as stored answer for the column of the table."""
    return stored.bound_prefix == column.bound_prefix


def absent_values(column: StoredColumn, rows: int) -> pa.Array:
    """Return the values of a column in rows of a RowSet that does not have the column."""
    if column.initial is None:
        return pa.nulls(rows, column.type)
    return repeated(column.initial, column.type, rows)


def absent_statistics(column: StoredColumn, rows: int) -> Statistics:
    """Return the statistics of a column in rows of a RowSet that does not have the column."""
    value = column.initial
    if column.order is Order.NONE:
        return Statistics(nulls=rows if value is None else 0, exact=value is None)
    if value is None:
        return Statistics(nulls=rows)
    if value != value:
        return Statistics(nulls=0, nans=rows)
    return shorten(Statistics(0, 0, value, value), INDEX_BOUND_LENGTH)
