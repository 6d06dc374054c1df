"""A log of columns with defaults, as an earlier writer left it, is read and written the same again.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/types.md#defaults
"""

from __future__ import annotations

from typing import Any

from colonnade.manifests.model.operations import AlterSchema, CreateTable, DropRowSet, Restore
from colonnade.manifests.model.schema import (
    ColumnDefault,
    SchemaField,
    TableSchema,
)
from tests.spec.golden_logs import ORDERS, GoldenLog, Writer, add, contents, rowset, states

ID = SchemaField(id=1, name="id", type="long", nullable=False)
COUNT = SchemaField(
    id=2,
    name="count",
    type="int",
    nullable=False,
    initial="i:5",
    default=ColumnDefault(sql="2 + 3"),
)
RATE = SchemaField(
    id=3,
    name="rate",
    type="float",
    initial="f:nan",
    default=ColumnDefault(sql="CAST('nan' AS FLOAT)", value="f:nan"),
)
NOTE = SchemaField(
    id=4,
    name="note",
    type="string collate UNICODE_CI",
    initial="s:it's",
    default=ColumnDefault(sql=r"'it\'s'", value="s:it's"),
)
DAY = SchemaField(
    id=5, name="day", type="date", initial="d:20000", default=ColumnDefault(sql="current_date()")
)
FIRST = (ID, COUNT, RATE, NOTE, DAY)


def changed(field: SchemaField, **update: Any) -> SchemaField:
    return field.model_copy(update=update)


WIDE = changed(
    COUNT,
    type="decimal(12,2)",
    initial="i2:500",
)
SECOND = (
    ID,
    WIDE,
    changed(RATE, default=None),
    changed(NOTE, default=ColumnDefault(sql="'new'", value="s:new")),
)


def alter(fields: tuple[SchemaField, ...], number: int, next_id: int) -> AlterSchema:
    schema = TableSchema(fields=fields)
    return AlterSchema(table=ORDERS, table_schema=schema, schema_id=number, next_column_id=next_id)


def write(writer: Writer) -> None:
    commit = writer.commit
    create = CreateTable(
        table=ORDERS, name="orders", table_schema=TableSchema(fields=(ID,)), next_column_id=2
    )
    commit("create_table", create)
    commit("append", *add(rowset(1)))
    commit("alter_table", alter(FIRST, 1, 6))
    commit("append", *add(rowset(2)))
    commit("alter_table", alter(SECOND, 2, 7))
    commit("append", *add(rowset(3)))
    live = writer.live()
    restored = Restore(table=ORDERS, epoch=4, table_schema=TableSchema(fields=FIRST))
    dropped = DropRowSet(table=ORDERS, rowsets=((0, 2),))
    commit("restore", dropped, restored, *add(*(live[each].stored_entry for each in (0, 1))))


LOG = GoldenLog("log-v1-defaults", write, states)


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())
