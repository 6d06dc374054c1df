"""Which sort keys a table may get, how the log stores them, and what old RowSets are sorted by."""

from __future__ import annotations

from dataclasses import replace

import pytest

from colonnade.manifests.errors import (
    ConflictError,
    CorruptionError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.entries import RowSetEntry, SortField
from colonnade.manifests.model.operations import (
    AlterSchema,
    Operation,
    Restore,
    SetSortOrder,
)
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.state.sort_order import (
    check_order,
    check_sort_key,
    common_order,
    following_orders,
    order_of,
)
from tests.log_samples import (
    ORDERS,
    SCHEMA,
    append,
    change,
    check_refused,
    contents,
    database,
    entry,
    make_log,
    replay,
    table,
    table_state,
)

A, B, C = (SortField(column=n) for n in (1, 2, 3))
ABC = TableSchema(
    fields=tuple(SchemaField(id=n, name=name, type="int") for n, name in enumerate("abc", 1))
)


def by(number: int, *fields: SortField) -> SetSortOrder:
    return SetSortOrder(table=ORDERS, order_id=number, fields=fields)


def of(number: int) -> RowSetEntry:
    return entry().model_copy(update={"sort_order_id": number})


def without(column: int) -> AlterSchema:
    left = tuple(field for field in SCHEMA.fields if field.id != column)
    return AlterSchema(
        table=ORDERS, table_schema=TableSchema(fields=left), schema_id=1, next_column_id=3
    )


def begun(log: Log) -> Snapshot:
    """A table that was sorted by column 1, and is sorted by column 2 now."""
    created = log.commit(change(table(sorted_by=1)), database(log.store))
    return log.commit(change(by(1, B)), created)


def sorted_by(
    *orders: tuple[SortField, ...], now: int = -1, schema: TableSchema = ABC
) -> TableState:
    number = range(len(orders))[now]
    return replace(table_state(schema), sort_orders=orders, sort_order_id=number)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (append(of(2)).ops, "sort order 2 does not exist"),
        ((by(3, A, B),), "a sort order 3 of other columns"),
        ((by(0, B),), "a sort order 0 of other columns"),
        ((by(2, B),), "a sort order 2 of other columns"),
        ((by(2, C),), "invalid sort key"),
        ((by(2, A, A),), "in the sort key twice"),
        ((Restore(table=ORDERS, epoch=1, sort_order_id=2),), "restores sort order 2"),
        ((without(2),), "sorted or partitioned by"),
        ((without(1), by(0, A)), "invalid sort key"),
    ],
)
def test_an_operation_that_contradicts_the_orders_is_not_committed(
    wrong: tuple[Operation, ...], text: str
) -> None:
    log = make_log()
    check_refused(log, begun(log), wrong, text)


def test_a_checkpoint_keeps_all_orders_and_those_of_rowsets() -> None:
    log = make_log(interval=1)
    head = log.commit(append(of(0), of(1)), begun(log))
    head = log.commit(change(by(2)), head)
    read = log.reader.read_head()
    assert read.table("orders").sort_orders == ((A,), (B,), ())
    assert read.table("orders").sort_order_id == 2
    assert contents(log, read) == contents(log, head)
    assert [each.entry.sort_order_id for each in log.rowsets.read(read.table("orders"))] == [0, 1]
    assert replay(log.store).table("orders").sort_orders == read.table("orders").sort_orders


def test_an_append_that_was_planned_on_an_earlier_key_keeps_its_order() -> None:
    log = make_log()
    base = log.commit(change(table(sorted_by=1)), database(log.store))
    log.commit(change(by(1, B)), base)
    head = log.commit(append(of(0)), base)
    assert [each.entry.sort_order_id for each in log.rowsets.read(head.table("orders"))] == [0]
    assert head.table("orders").sort_order_id == 1


@pytest.mark.parametrize("first", [by(1, B), without(2), Restore(table=ORDERS, epoch=1)])
@pytest.mark.parametrize("then", [by(1, B), by(1, B, A), without(2)])
def test_two_changes_of_key_or_columns_at_once_conflict(first: Operation, then: Operation) -> None:
    log = make_log()
    base = log.commit(change(table(sorted_by=1)), database(log.store))
    base = log.commit(append(), base)
    log.commit(change(first), base)
    if isinstance(first, Restore) or not (first == then == without(2)):
        with pytest.raises(ConflictError, match="'orders' was changed by epoch 3"):
            log.commit(change(then), base)


def test_old_rows_are_sorted_up_to_a_column_that_was_dropped() -> None:
    state = sorted_by((A, B, C), (A,), schema=TableSchema(fields=(ABC.fields[0], ABC.fields[2])))
    assert order_of(state, 0) == (A,)
    assert following_orders(state) == {0, 1}
    assert following_orders(replace(state, sort_orders=((B, A), (A,)))) == {1}


def test_a_widened_column_keeps_the_order_of_old_rows() -> None:
    wide = SchemaField(id=1, name="a", type="long")
    state = sorted_by((A, B), (A,), schema=TableSchema(fields=(wide, *ABC.fields[1:])))
    assert order_of(state, 0) == (A, B)
    assert following_orders(state) == {0, 1}


def test_rows_follow_a_key_that_their_order_begins_with() -> None:
    down = SortField(column=1, descending=True)
    orders = ((), (A,), (A, B), (down,), (B, A))
    assert [following_orders(sorted_by(*orders, now=n)) for n in range(5)] == [
        {0, 1, 2, 3, 4},
        {1, 2},
        {2},
        {3},
        {4},
    ]


def test_rows_of_several_orders_have_their_common_beginning() -> None:
    state = sorted_by((A, B), (A, C), (A,), (B,))
    assert common_order(state, [0]) == (A, B)
    assert common_order(state, [1, 0, 0]) == (A,)
    assert common_order(state, [0, 1, 2]) == (A,)
    assert common_order(state, [0, 3]) == common_order(state, []) == ()


def test_a_number_that_the_table_does_not_have_is_damage() -> None:
    for state, number in ((sorted_by((A,)), 1), (sorted_by((A,), (B,)), 2)):
        for refuses in (check_order, order_of):
            with pytest.raises(CorruptionError, match=f"sort order {number} does not exist"):
                refuses(state, number)


@pytest.mark.parametrize("wrong", ["variant", "string collate UNICODE_CI"])
def test_a_column_without_an_order_is_no_sort_key(wrong: str) -> None:
    schema = TableSchema(fields=(SchemaField(id=1, name="v", type=wrong),))
    with pytest.raises(InvalidInputError, match="Column 'v' of type .* has no order to sort by"):
        check_sort_key([A], schema)
    with pytest.raises(NotFoundError):
        check_sort_key([B], schema)
