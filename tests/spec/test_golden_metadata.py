"""A log of columns with metadata, as an earlier writer left it, is read and written the same.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/types.md#schema
"""

from __future__ import annotations

from colonnade.manifests.model.operations import (
    AlterSchema,
    CreateTable,
    DropRowSet,
    Restore,
    SetComment,
)
from colonnade.manifests.model.schema import ArrayType, SchemaField, StructType, TableSchema
from tests.spec.golden_logs import ORDERS, TRIPS, GoldenLog, Writer, add, contents, rowset

UNIT = SchemaField(id=3, name="unit", type="string", metadata='{"keys":[1,2.5,{"of":null}]}')
PRICED = TableSchema(
    fields=(
        SchemaField(
            id=1, name="id", type="long", comment="key", metadata='{"owner":"«né»","pii":true}'
        ),
        SchemaField(id=2, name="price", type=StructType(fields=(UNIT,)), metadata='{"p":1}'),
        SchemaField(
            id=4,
            name="parts",
            type=ArrayType(
                element=SchemaField(
                    id=5,
                    name="element",
                    type=StructType(
                        fields=(SchemaField(id=6, name="n", type="int", metadata='{"deep":""}'),)
                    ),
                )
            ),
        ),
    )
)
PLAIN = TableSchema(fields=(SchemaField(id=1, name="id", type="long"),))
CHANGED = TableSchema(
    fields=(
        PRICED.fields[0].model_copy(update={"name": "key", "metadata": None}),
        PRICED.fields[1].model_copy(update={"metadata": '{"p":2}'}),
        PRICED.fields[2],
    )
)


def write(writer: Writer) -> None:
    """Write the log as today's writer does; epochs 4 and 8 are checkpoints."""
    orders = CreateTable(table=ORDERS, name="orders", table_schema=PRICED, next_column_id=7)
    trips = CreateTable(table=TRIPS, name="trips", table_schema=PLAIN, next_column_id=2)
    writer.commit("create_table", orders)
    writer.commit("append", *add(rowset(1)))
    writer.commit("create_table", trips)
    writer.commit("comment", SetComment(table=ORDERS, comment="of columns with metadata"))
    alter = AlterSchema(table=ORDERS, table_schema=CHANGED, schema_id=1, next_column_id=7)
    writer.commit("alter_table", alter)
    dropped = DropRowSet(table=ORDERS, rowsets=((0, 0),))
    restored = Restore(table=ORDERS, epoch=3, table_schema=PRICED)
    writer.commit("restore", dropped, restored, *add(rowset(1)))
    writer.commit("append", *add(rowset(2)))
    writer.commit("append", *add(rowset(3)))


LOG = GoldenLog("log-v1-metadata", write)


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())
