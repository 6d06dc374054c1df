"""A log that alters tables, as an earlier writer left it, is read and written the same again.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/operations.md#altering-tables
"""

from __future__ import annotations

from colonnade.manifests.model.operations import (
    AlterSchema,
    CreateTable,
    DropTable,
    Operation,
    RenameTable,
    SetComment,
    SetProperties,
)
from colonnade.manifests.model.schema import SchemaField, TableSchema
from tests.spec.golden_logs import ORDERS, SCHEMA, TRIPS, GoldenLog, Writer, add, contents, rowset

ALTERED = TableSchema(
    fields=(
        SchemaField(id=12, name="note", type="string", comment="«new»"),
        SCHEMA.fields[0].model_copy(update={"name": "key", "nullable": True}),
        *SCHEMA.fields[3:],
    )
)


def changes() -> tuple[tuple[str, tuple[Operation, ...]], ...]:
    """One change an epoch, from epoch 1 on."""
    orders = CreateTable(
        table=ORDERS,
        name="orders",
        table_schema=SCHEMA,
        next_column_id=12,
        properties={"owner": "me", "unit": "km"},
        comment="old",
    )
    trips = CreateTable(
        table=TRIPS, name="orders", table_schema=ALTERED, next_column_id=13, comment="as it was"
    )
    alter = AlterSchema(table=ORDERS, table_schema=ALTERED, schema_id=1, next_column_id=13)
    return (
        ("create_table", (orders,)),
        ("append", add(rowset(1), rowset(2))),
        (
            "alter_table",
            (
                alter,
                SetProperties(table=ORDERS, set={"unit": "«mi»"}, remove=("owner",)),
                SetComment(table=ORDERS, comment="new"),
            ),
        ),
        ("append", add(rowset(3))),
        ("rename_table", (RenameTable(table=ORDERS, name="sales «né»"),)),
        ("create_table", (trips,)),
        ("alter_table", (SetComment(table=TRIPS),)),
        ("replace_table", (DropTable(table=TRIPS), trips.model_copy(update={"table": "1" * 16}))),
    )


def write(writer: Writer) -> None:
    for name, operations in changes():
        writer.commit(name, *operations)


LOG = GoldenLog("log-v1-alter", write)


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())
