"""Sort orders: the columns that the rows of a RowSet are sorted by. Pure.

The sort key of a table can change, and then RowSets of several orders are live. Each entry names
the order that its rows have.
Spec: docs/spec/operations.md#sort-orders
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import takewhile

from colonnade.manifests.errors import CorruptionError, InvalidInputError, NotFoundError
from colonnade.manifests.model.entries import SortField
from colonnade.manifests.model.operations import Restore, SetSortOrder
from colonnade.manifests.model.primary_key import has_order
from colonnade.manifests.model.schema import TableSchema, type_text
from colonnade.manifests.state.folds.refusal import refuse
from colonnade.manifests.state.snapshot import TableState

SortKey = tuple[SortField, ...]


def check_sort_key(fields: Sequence[SortField], schema: TableSchema) -> SortKey:
    """Refuse a sort key that a table with these columns cannot have. Returns the fields.

    Raises NotFoundError for an unknown column. Raises InvalidInputError for a column without an
    order, and for one that is named twice.
    """
    named: set[int] = set()
    for field in fields:
        column = schema.by_id(field.column)
        if not has_order(column):
            raise InvalidInputError(
                f"Column {column.name!r} of type {type_text(column.type)} has no order to sort by;"
                " choose other columns."
            )
        if field.column in named:
            raise InvalidInputError(
                f"Column {column.name!r} is in the sort key twice; name it once."
            )
        named.add(field.column)
    return tuple(fields)


def order_of(table: TableState, number: int) -> SortKey:
    """Return the order that the rows of RowSets of a sort order have, by the present columns.

    Rows that were also sorted by a dropped column are sorted by the columns before it. Raises
    CorruptionError if the table has no such sort order.
    """
    check_order(table, number)
    present = {field.id for field in table.schema.fields}
    return tuple(takewhile(lambda each: each.column in present, table.sort_orders[number]))


def orders_of(table: TableState) -> tuple[SortKey, ...]:
    """Return what `order_of` returns for each sort order of the table."""
    return tuple(order_of(table, number) for number in range(len(table.sort_orders)))


def following_orders(table: TableState) -> frozenset[int]:
    """Return the sort orders whose rows are in the order of the table's present sort key.

    Rows in the order of a longer key are among them.
    """
    key = order_of(table, table.sort_order_id)
    orders = enumerate(orders_of(table))
    return frozenset(number for number, order in orders if order[: len(key)] == key)


def common_order(table: TableState, numbers: Collection[int]) -> SortKey:
    """Return the longest order that all rows of these sort orders have."""
    found = [order_of(table, number) for number in sorted(set(numbers))]
    common: list[SortField] = []
    for fields in zip(*found, strict=False):
        if len(set(fields)) > 1:
            break
        common.append(fields[0])
    return tuple(common)


def check_order(table: TableState, number: int) -> None:
    """Refuse a sort order that the table does not have. Raises CorruptionError."""
    if number >= len(table.sort_orders):
        raise CorruptionError(f"sort order {number} does not exist.")


def next_order(orders: Sequence[SortKey], fields: SortKey) -> int:
    """Return the number of a sort key that follows `orders`: that of an equal one, or the next."""
    return orders.index(fields) if fields in orders else len(orders)


def with_order(epoch: int, state: TableState, operation: SetSortOrder) -> TableState:
    """Return a table with another current sort key. Raises CorruptionError."""
    number, fields = operation.order_id, operation.fields
    check_fits(epoch, state, fields)
    if number != next_order(state.sort_orders, fields):
        refuse(epoch, f"gives table {state.name!r} a sort order {number} of other columns")
    orders = state.sort_orders
    if number == len(orders):
        orders = (*orders, fields)
    return replace(state, sort_orders=orders, sort_order_id=number)


def with_restored_order(epoch: int, state: TableState, operation: Restore) -> TableState:
    """Return a table with the sort key of an earlier state. Raises CorruptionError.

    `check_fits` compares the key with the restored columns.
    """
    number = operation.sort_order_id
    if number is None:
        return state
    if number >= len(state.sort_orders):
        refuse(epoch, f"restores sort order {number} of table {state.name!r}")
    return replace(state, sort_order_id=number)


def check_fits(epoch: int, state: TableState, fields: SortKey) -> None:
    """Refuse a sort key that the columns of a table do not allow. Raises CorruptionError."""
    try:
        check_sort_key(fields, state.schema)
    except (InvalidInputError, NotFoundError) as error:
        refuse(epoch, f"gives table {state.name!r} an invalid sort key: {error}")
