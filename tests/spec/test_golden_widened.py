"""A log whose columns widen, as an earlier writer left it, is read and written the same again.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/types.md#widening
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from colonnade.manifests.model.entries import (
    ByteCheck,
    ColumnReplacement,
    ColumnStatistics,
    PartitionField,
    SortField,
)
from colonnade.manifests.model.operations import (
    AlterSchema,
    CreateTable,
    DropRowSet,
    DropTable,
    ReplaceColumn,
    Restore,
    SetPartitionLayout,
)
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import Snapshot
from tests.spec.golden_logs import ORDERS, GoldenLog, Writer, add, contents, rowset, states

ID = SchemaField(id=1, name="id", type="long", nullable=False)
PRICE = SchemaField(id=2, name="price", type="decimal(5,2)")
COUNT = SchemaField(id=3, name="count", type="int")
NARROW = TableSchema(fields=(ID, PRICE, COUNT))


def wider(field: SchemaField, name: str) -> SchemaField:
    return field.model_copy(update={"type": name})


LONG = wider(COUNT, "long")
ONCE = TableSchema(fields=(ID, wider(PRICE, "decimal(9,4)"), LONG))
TWICE = TableSchema(fields=(ID, ONCE.fields[1], wider(LONG, "decimal(22,3)")))


def bounds(column: int, low: int, high: int, tag: str = "i") -> dict[str, Any]:
    return {"statistics": {column: ColumnStatistics(min=f"{tag}:{low}", max=f"{tag}:{high}")}}


def write(writer: Writer) -> None:
    commit = writer.commit
    create = CreateTable(table=ORDERS, name="orders", table_schema=NARROW, next_column_id=4)
    commit("create_table", create)
    commit("append", *add(rowset(1, **bounds(2, 100, 99999, "i2")), rowset(2, **bounds(3, -7, 7))))
    once = AlterSchema(table=ORDERS, table_schema=ONCE, schema_id=1, next_column_id=4)
    commit("alter_table", once)
    commit("append", *add(rowset(3, **bounds(2, 10000, 20000, "i4"))))
    part = ColumnReplacement(
        columns=(2,),
        object=f"{20:032x}",
        place="packed",
        bytes=500,
        footer=ByteCheck(length=200, crc32c=20),
    )
    new = bounds(2, 5, 6, "i4")["statistics"]
    commit("update", ReplaceColumn(table=ORDERS, rowset=0, replacement=part, statistics=new))
    commit(
        "alter_table",
        once.model_copy(update={"table_schema": TWICE, "schema_id": 2}),
    )
    commit("append", *add(rowset(4, **bounds(3, 2**63, 2**64, "i3"))))
    live = writer.live()
    again = [*add(*(live[number].stored_entry for number in (0, 1, 2)))]
    dropped = DropRowSet(table=ORDERS, rowsets=((0, 3),))
    commit("restore", dropped, Restore(table=ORDERS, epoch=5, table_schema=ONCE), *again)
    created = create.model_copy(update={"table_schema": TWICE})
    commit("drop_table", DropTable(table=ORDERS))
    commit("restore", created, *add(rowset(4, **bounds(3, 2**63, 2**64, "i3"))))


def write_keys(writer: Writer) -> None:
    """A table sorted by `count` and `price`, and partitioned by `count`, then also by `price`."""
    commit = writer.commit
    by_count = PartitionField(transform="bucket", column=3, argument=4)
    key = (SortField(column=3, descending=True), SortField(column=2))
    placed: dict[str, Any] = {"sort_key": key, "partition_fields": (by_count,)}
    create = CreateTable(
        table=ORDERS, name="orders", table_schema=NARROW, next_column_id=4, **placed
    )
    commit("create_table", create)
    old = {"partition_layout_id": 1, "partition": ("i:3",)}
    commit("append", *add(rowset(1, **old, **bounds(3, -7, 7))))
    schema = TableSchema(fields=(ID, PRICE, LONG))
    wide = AlterSchema(table=ORDERS, table_schema=schema, schema_id=1, next_column_id=4)
    commit("alter_table", wide)
    by_price = PartitionField(transform="identity", column=2)
    by_both = (by_count, by_price)
    commit("alter_table", SetPartitionLayout(table=ORDERS, layout_id=2, fields=by_both))
    new = {"partition_layout_id": 2, "partition": ("i:3", "i2:250")}
    commit("append", *add(rowset(2, **old), rowset(3, **new, **bounds(3, 2**40, 2**41))))
    dropped = DropRowSet(table=ORDERS, rowsets=((0, 2),))
    again = add(writer.live()[0].stored_entry)
    back = Restore(table=ORDERS, epoch=2, table_schema=NARROW, partition_layout_id=1)
    commit("restore", dropped, back, *again)
    commit("append", *add(rowset(4, **old, **bounds(3, 8, 9))))


LOG = GoldenLog("log-v1-widened", write, states)


def add_layouts(snapshot: Snapshot, state: dict[str, Any]) -> None:
    for table in snapshot.tables.values():
        layouts = [[each.model_dump() for each in fields] for fields in table.partition_layouts]
        state["tables"][table.name]["partition_layouts"] = layouts


KEYS = GoldenLog("log-v1-widened-keys", write_keys, partial(states, add=add_layouts))


@pytest.mark.parametrize("log", [LOG, KEYS], ids=["columns", "keys"])
def test_every_state_of_an_earlier_log_is_read(log: GoldenLog) -> None:
    assert log.read(log.store()) == log.expected()


@pytest.mark.parametrize("log", [LOG, KEYS], ids=["columns", "keys"])
def test_the_same_changes_make_the_same_bytes(log: GoldenLog) -> None:
    assert contents(log.written()) == contents(log.store())
