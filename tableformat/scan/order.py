"""The order of the rows of a scan: the sort key of the table. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.entries import RowSetNumber, SortField
from colonnade.manifests.model.schema import Model, SchemaField, TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.sort_order import following_orders, order_of
from colonnade.tableformat.rowset.block_statistics import from_log
from colonnade.tableformat.rowset.column import column_of
from colonnade.tableformat.rowset.write.sort import sort_indices
from colonnade.tableformat.types.stored_value import repeated

Order = Literal["key"]
"""The orders that a user can ask for: `key` is the order of the table's sort key."""


class RowOrder(Model):
    """An order of rows. Every RowSet stores its rows in this order, except the ones in `unsorted`.

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

    Raises InvalidInputError if the table has no sort key, or lacks a column of it. It can
    lack one if the scan has the columns of another epoch.
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
    return RowOrder(fields=fields, unsorted=unsorted_rowsets(table, rowsets))


def unsorted_rowsets(table: TableState, rowsets: Sequence[LiveRowSet]) -> tuple[int, ...]:
    """Return the ids of the RowSets whose rows are not in the order of the table's sort key."""
    if len(table.sort_orders) == 1:
        return ()
    following = following_orders(table)
    return tuple(each.id for each in rowsets if each.entry.sort_order_id not in following)


def first_key(rowset: LiveRowSet, column: SchemaField, *, descending: bool) -> pa.Array | None:
    """Return a value of the first key column that no row of a RowSet sorts before.

    It is an array of one value in the storage type. None means that the log does not know one.
    Raises CorruptionError for a bound that does not fit the column.
    """
    wanted, stated = column_of(column), rowset.entry.statistics.get(column.id)
    if stated is None:
        return None
    found = from_log(stated, wanted.bound_prefix)
    values = rowset.entry.rows - found.nulls
    if values == 0 or (found.nulls and not descending):
        return pa.nulls(1, wanted.type)
    if found.nans == values or (found.nans and descending):
        return pa.array([float("nan")], wanted.type)
    bound = found.high if descending else found.low
    return None if bound is None else repeated(bound, wanted.type, 1)


def overlapping(
    rowsets: Sequence[LiveRowSet], order: RowOrder, schema: TableSchema
) -> list[list[int]]:
    """Divide RowSets into groups that follow one another in an order; those of a group overlap.

    Returns their positions. A group has the order of `rowsets`. The bounds of the first key column
    decide, and RowSets of which one has no known bounds are one group. Raises CorruptionError.
    """
    field = order.fields[0]
    column = schema.by_id(field.column)
    ends = [
        first_key(rowset, column, descending=descending)
        for descending in (field.descending, not field.descending)
        for rowset in rowsets
    ]
    known = [each for each in ends if each is not None]
    if not known or len(known) < len(ends):
        return [[*range(len(rowsets))]]
    # A RowSet that begins with the last key of another one overlaps it, because the sort is stable.
    sorted_ends = sort_indices({field.column: pa.concat_arrays(known)}, [field])
    ranks = np.argsort(np.asarray(sorted_ends))
    starts, lasts = ranks[: len(rowsets)], ranks[len(rowsets) :]
    by_start = np.argsort(starts)
    reached = np.maximum.accumulate(lasts[by_start])
    cuts = np.flatnonzero(starts[by_start][1:] > reached[:-1]) + 1
    return [sorted(group.tolist()) for group in np.split(by_start, cuts)]
