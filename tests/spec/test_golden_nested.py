"""A log with other fields inside a column, as an earlier writer left it, is read and written again.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/types.md#fields-inside-a-column
"""

from __future__ import annotations

from colonnade.manifests.model.operations import (
    AlterSchema,
    CreateTable,
    DropRowSet,
    DropTable,
    Restore,
)
from colonnade.manifests.model.schema import (
    ArrayType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
)
from tests.spec.golden_logs import ORDERS, GoldenLog, Writer, add, contents, rowset, states

ID = SchemaField(id=1, name="id", type="long", nullable=False)
X, Y = SchemaField(id=3, name="x", type="int"), SchemaField(id=4, name="y", type="string")
ELEMENT = SchemaField(id=6, name="element", type="date")
WIDE = SchemaField(id=3, name="x", type="long")
NEW = SchemaField(id=13, name="new", type="decimal(9,2)", comment="later")
AGAIN = SchemaField(id=16, name="y", type="string")


def schema(*fields: SchemaField, name: str = "place") -> TableSchema:
    """Return columns with these fields in the struct, and in the values of a map in a list."""
    struct = SchemaField(id=2, name=name, type=StructType(fields=fields))
    key = SchemaField(id=11, name="key", type="int", nullable=False)
    inner = StructType(fields=(ELEMENT,) if name == "place" else ())
    pairs = MapType(key=key, value=SchemaField(id=12, name="value", type=inner))
    element = SchemaField(id=10, name="element", type=pairs)
    return TableSchema(
        fields=(ID, struct, SchemaField(id=5, name="list", type=ArrayType(element=element)))
    )


STEPS = (
    schema(NEW, X, Y),
    schema(Y, WIDE, NEW),
    schema(),
    schema(AGAIN, name="where"),
)


def write(writer: Writer) -> None:
    commit = writer.commit
    create = CreateTable(table=ORDERS, name="orders", table_schema=schema(X, Y), next_column_id=13)
    commit("create_table", create)
    commit("append", *add(rowset(1)))
    for number, step in enumerate(STEPS, 1):
        altered = AlterSchema(
            table=ORDERS, table_schema=step, schema_id=number, next_column_id=13 + number
        )
        commit("alter_table", altered)
        commit("append", *add(rowset(number + 1)))
    live = writer.live()
    dropped = DropRowSet(table=ORDERS, rowsets=((0, 4),))
    restored = Restore(table=ORDERS, epoch=5, table_schema=STEPS[0])
    commit("restore", dropped, restored, *add(live[0].stored_entry, live[1].stored_entry))
    again = create.model_copy(update={"table_schema": STEPS[1], "next_column_id": 17})
    commit("drop_table", DropTable(table=ORDERS))
    commit("restore", again, *add(rowset(9)))


LOG = GoldenLog("log-v1-nested", write, states)


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())
