"""The order of the rows of a scan: the sort key of the table. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.entries import RowSetNumber, SortField
from colonnade.manifests.model.schema import Model, SchemaField
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.sort_order import following_orders, order_of
from colonnade.tableformat.rowset.adapt import adapt_statistics
from colonnade.tableformat.rowset.block_statistics import from_log
from colonnade.tableformat.rowset.column import column_of
from colonnade.tableformat.types.stored_value import repeated

Order = Literal["key"]
"""The orders that a user can ask for: that of the table's sort key."""


class RowOrder(Model):
    """An order of rows. The rows of the RowSets `unsorted` do not have it, and those of others do.

    Fields name columns by the ids that they have in the table.
    """

    fields: tuple[SortField, ...]
    unsorted: tuple[RowSetNumber, ...] = ()


def check_order(order: Order | None) -> None:
    """Refuse an order that a user gave. Raises InvalidInputError."""
    if order not in (None, "key"):
        raise InvalidInputError(
            f"The order of a scan is 'key', which is that of the table's sort key, not {order!r}."
        )


def key_order(table: TableState, rowsets: Sequence[LiveRowSet]) -> RowOrder:
    """Return the order of the table's sort key for a scan of some RowSets.

    Raises InvalidInputError if the table has no sort key, or lacks a column of it. The latter
    happens if the columns are those of another epoch.
    """
    fields = order_of(table, table.sort_order_id)
    if not table.sort_key:
        raise InvalidInputError(
            f"Table {table.name!r} has no sort key, so its rows have no order to read them in; set"
            " one with SetSortKey, or sort the rows after reading them."
        )
    if len(fields) < len(table.sort_key):
        raise InvalidInputError(
            f"Table {table.name!r} has a column in its sort key that the columns of the schema"
            " epoch do not have; leave out the order or the schema epoch."
        )
    if len(table.sort_orders) == 1:
        return RowOrder(fields=fields)
    following = following_orders(table)
    other = (each.id for each in rowsets if each.entry.sort_order_id not in following)
    return RowOrder(fields=fields, unsorted=tuple(other))


def first_key(rowset: LiveRowSet, column: SchemaField, *, descending: bool) -> pa.Array | None:
    """Return a value of the first key column that no row of a RowSet sorts before.

    It is an array of one value in the storage type. None means that the log does not know one.
    Raises CorruptionError for a bound that does not fit the column.
    """
    wanted, stated = column_of(column), rowset.entry.statistics
    form = next((each for each in (wanted, *wanted.earlier) if each.id in stated), None)
    if form is None:
        return None
    found = adapt_statistics(from_log(stated[form.id], form.bound_kinds), form, wanted)
    values = rowset.entry.rows - found.nulls
    if values == 0 or (found.nulls and not descending):
        return pa.nulls(1, wanted.type)
    if found.nans == values or (found.nans and descending):
        return pa.array([float("nan")], wanted.type)
    bound = found.high if descending else found.low
    return None if bound is None else repeated(bound, wanted.type, 1)
