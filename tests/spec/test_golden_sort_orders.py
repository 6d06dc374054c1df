"""A log of tables whose sort key changes is read and written as an earlier writer left it.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/operations.md#sort-orders
"""

from __future__ import annotations

from functools import partial
from typing import Any

from colonnade.manifests.model.entries import SortField
from colonnade.manifests.model.operations import (
    AlterSchema,
    CreateTable,
    DropRowSet,
    Operation,
    Restore,
    SetSortOrder,
)
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import Snapshot
from tests.spec.golden_logs import (
    ORDERS,
    SCHEMA,
    TRIPS,
    GoldenLog,
    Writer,
    add,
    contents,
    rowset,
    states,
)

BY_ID = SortField(column=1)
BY_X = SortField(column=2, descending=True)
BY_PRICE = SortField(column=5)


def order(number: int, *fields: SortField, table: str = ORDERS) -> SetSortOrder:
    return SetSortOrder(table=table, order_id=number, fields=fields)


def changes() -> tuple[tuple[str, tuple[Operation, ...]], ...]:
    """One change an epoch, from epoch 1 on; epochs 4 and 8 are checkpoints."""
    orders = CreateTable(
        table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=12, sort_key=(BY_ID,)
    )
    trips = CreateTable(table=TRIPS, name="trips", table_schema=SCHEMA, next_column_id=12)
    without_x = AlterSchema(
        table=ORDERS,
        table_schema=TableSchema(fields=(SCHEMA.fields[0], *SCHEMA.fields[2:])),
        schema_id=1,
        next_column_id=12,
    )
    return (
        ("create_table", (trips, orders)),
        ("append", add(rowset(1), rowset(2))),
        ("alter_table", (order(1, BY_X, BY_ID), order(1, BY_PRICE, table=TRIPS))),
        ("append", add(rowset(3, sort_order_id=1), rowset(4), rowset(5, sort_order_id=1))),
        ("alter_table", (order(2), order(0, table=TRIPS))),
        ("append", add(*(rowset(n, sort_order_id=n % 3) for n in range(6, 12)))),
        ("alter_table", (without_x, order(0, BY_ID))),
        ("append", add(rowset(12))),
        (
            "restore",
            (
                DropRowSet(table=ORDERS, rowsets=((0, 11),)),
                Restore(table=ORDERS, epoch=4, table_schema=SCHEMA, sort_order_id=1),
                *add(rowset(3, sort_order_id=1), rowset(4)),
            ),
        ),
    )


def write(writer: Writer) -> None:
    for name, operations in changes():
        writer.commit(name, *operations)


def add_orders(snapshot: Snapshot, state: dict[str, Any]) -> None:
    for table in snapshot.tables.values():
        state["tables"][table.name]["orders"] = [
            [field.model_dump() for field in fields] for fields in table.sort_orders
        ]
        state["tables"][table.name]["order"] = table.sort_order_id


LOG = GoldenLog("log-v1-sort-orders", write, partial(states, add=add_orders))


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())
