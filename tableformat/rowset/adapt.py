"""From a column as a RowSet stores it to the column as the table has it now. Pure.

A RowSet has the columns that the table had when the RowSet was written. If the table got a column
later, each row of the RowSet has the same value in it: the initial value of the column, or NULL. If
the type of a column has widened since, its values become values of the wider type. This module is
the only place in Python that says so; its counterpart in Java is `colonnade.read.Adapt`.
Spec: docs/spec/types.md#defaults, docs/spec/types.md#widening
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from colonnade.manifests.model.statistics import Bound
from colonnade.manifests.model.widening import keeps_bounds, widened_bound
from colonnade.tableformat.rowset.block_statistics import INDEX_BOUND_LENGTH, Statistics, shorten
from colonnade.tableformat.rowset.column import Order, StoredColumn
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
    array = parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
    return array if stored is None or stored.type == column.type else array.cast(column.type)


def adapt_statistics(
    statistics: Statistics, stored: StoredColumn, column: StoredColumn
) -> Statistics:
    """Return the statistics of a column of the table, from those of the column as stored."""
    if stored.id == column.id or keeps_bounds(stored.type_name, column.type_name):
        return statistics

    def wider(bound: Bound | None) -> Bound | None:
        if bound is None:
            return None
        return widened_bound(bound, stored.type_name, column.type_name)

    return replace(statistics, low=wider(statistics.low), high=wider(statistics.high))


def shares_filters(stored: StoredColumn, column: StoredColumn) -> bool:
    """Return whether the Bloom filters of a column as stored answer for the column of the table."""
    return stored.id == column.id or keeps_bounds(stored.type_name, column.type_name)


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
