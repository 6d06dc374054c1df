"""A log of a partitioned table, as an earlier writer left it, is read and written the same again.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/partitions.md
"""

from __future__ import annotations

from functools import partial
from typing import Any

from colonnade.manifests.model.entries import PartitionField, RowSetEntry
from colonnade.manifests.model.operations import (
    CreateTable,
    DropRowSet,
    Operation,
    Restore,
    SetPartitionLayout,
)
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

BY_BUCKET = PartitionField(transform="bucket", column=1, argument=16)
BY_TEXT = (PartitionField(transform="truncate", column=3, argument=2), BY_BUCKET)
BY_VALUE = (PartitionField(transform="identity", column=4),)


def of(number: int, layout: int, *values: str | None) -> RowSetEntry:
    return rowset(number, partition_layout_id=layout, partition=values)


def layout(number: int, *fields: PartitionField, table: str = ORDERS) -> SetPartitionLayout:
    return SetPartitionLayout(table=table, layout_id=number, fields=fields)


def changes() -> tuple[tuple[str, tuple[Operation, ...]], ...]:
    """One change an epoch, from epoch 1 on; epochs 4 and 8 are checkpoints."""
    orders = CreateTable(
        table=ORDERS,
        name="orders",
        table_schema=SCHEMA,
        next_column_id=12,
        partition_fields=BY_TEXT,
    )
    trips = CreateTable(table=TRIPS, name="trips", table_schema=SCHEMA, next_column_id=12)
    again = (of(2, 1, "s:né", None), of(1, 1, "s:", "i:3"))
    return (
        ("create_table", (trips,)),
        ("create_table", (orders,)),
        ("append", add(again[1], again[0])),
        ("append", add(*(of(n, 1, None, "i:15") for n in range(3, 9)))),
        ("alter_table", (layout(2, *BY_VALUE), layout(1, BY_BUCKET, table=TRIPS))),
        ("append", add(of(9, 2, "b:/w=="), of(10, 2, None), of(11, 1, None, "i:15"))),
        ("alter_table", (layout(0),)),
        ("append", add(rowset(12))),
        (
            "restore",
            (
                DropRowSet(table=ORDERS, rowsets=((0, 11),)),
                Restore(table=ORDERS, epoch=3, partition_layout_id=1),
                *add(again[1], again[0]),
            ),
        ),
    )


def write(writer: Writer) -> None:
    for name, operations in changes():
        writer.commit(name, *operations)


def add_layouts(snapshot: Snapshot, state: dict[str, Any]) -> None:
    for table in snapshot.tables.values():
        state["tables"][table.name]["layouts"] = [
            [field.model_dump(exclude_none=True) for field in fields]
            for fields in table.partition_layouts
        ]
        state["tables"][table.name]["layout"] = table.partition_layout_id


LOG = GoldenLog("log-v1-partitions", write, partial(states, add=add_layouts))


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())
