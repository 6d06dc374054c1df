"""A log with void columns, as an earlier writer left it, is read and written the same again.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/types.md#void
"""

from __future__ import annotations

from typing import Any

import pytest

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.model.entries import PartitionField, SortField
from colonnade.manifests.model.operations import (
    AlterSchema,
    CreateTable,
    DropRowSet,
    Operation,
    Restore,
)
from colonnade.manifests.model.schema import (
    ArrayType,
    ColumnDefault,
    SchemaField,
    StructType,
    TableSchema,
)
from colonnade.manifests.store import MemoryStore
from tests.spec.golden_logs import (
    LIMITS,
    ORDERS,
    GoldenLog,
    Writer,
    add,
    contents,
    counted_ids,
    rowset,
    states,
)

ID = SchemaField(id=1, name="id", type="long", nullable=False)
VOID = SchemaField(id=2, name="b", type="void", comment="not known yet")
NEW = SchemaField(id=3, name="c", type="void")
CREATED = TableSchema(fields=(ID, VOID))
MORE = TableSchema(fields=(ID, VOID, NEW))


def typed(field: SchemaField, kind: Any) -> SchemaField:
    return field.model_copy(update={"type": kind})


LIST = ArrayType(element=SchemaField(id=4, name="element", type="int"))
TYPED = TableSchema(fields=(ID, typed(VOID, "decimal(9,2)"), typed(NEW, LIST)))
AGAIN = TableSchema(fields=(ID, typed(VOID, "string"), NEW))
CREATE = CreateTable(table=ORDERS, name="orders", table_schema=CREATED, next_column_id=3)


def altered(schema: TableSchema, number: int, next_id: int) -> AlterSchema:
    return AlterSchema(table=ORDERS, table_schema=schema, schema_id=number, next_column_id=next_id)


def write(writer: Writer) -> None:
    commit = writer.commit
    commit("create_table", CREATE)
    commit("append", *add(rowset(1)))
    commit("alter_table", altered(MORE, 1, 4))
    commit("append", *add(rowset(2)))
    commit("alter_table", altered(TYPED, 2, 5))
    commit("append", *add(rowset(3)))
    dropped = DropRowSet(table=ORDERS, rowsets=((0, 2),))
    again = [*add(*(writer.live()[number].stored_entry for number in (0, 1)))]
    commit("restore", dropped, Restore(table=ORDERS, epoch=4, table_schema=MORE), *again)
    commit("alter_table", altered(AGAIN, 4, 5))
    commit("append", *add(rowset(4)))


LOG = GoldenLog("log-v1-void", write, states)


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())


def created(*fields: SchemaField, **more: Any) -> CreateTable:
    return CREATE.model_copy(
        update={"table_schema": TableSchema(fields=fields), "next_column_id": 9, **more}
    )


INSIDE = StructType(fields=(SchemaField(id=3, name="x", type="void"),))
NARROWER = ID.model_copy(update={"type": "void", "nullable": True})
OTHER = SchemaField(id=4, name="n", type="int")
BY_IT = PartitionField(transform="identity", column=2)
WRONG = [
    (created(VOID), "All columns of the table are void"),
    (created(ID, SchemaField(id=2, name="s", type=INSIDE)), "Field 's.x' is void"),
    (created(ID, VOID.model_copy(update={"nullable": False})), "leave out NOT NULL"),
    (
        created(ID, VOID.model_copy(update={"default": ColumnDefault(sql="f()")})),
        "'b' is void, so it cannot have a default",
    ),
    (created(ID, VOID, sort_key=(SortField(column=2),)), "'b' of type void has no order"),
    (created(ID, VOID, partition_fields=(BY_IT,)), "'b' of type void cannot be partitioned"),
    (altered(TableSchema(fields=(NARROWER, VOID, OTHER)), 1, 5), "another type or place"),
]


@pytest.mark.parametrize(("wrong", "says"), WRONG, ids=[says for _, says in WRONG])
def test_an_epoch_with_a_void_column_that_no_table_has_is_refused(
    wrong: Operation, says: str
) -> None:
    with counted_ids():
        writer = Writer(MemoryStore(), LIMITS)
        if isinstance(wrong, AlterSchema):
            writer.commit("create_table", CREATE)
        change = Change(new_transaction_id(), "wrong", (wrong,))
        with pytest.raises(InvalidInputError, match=says):
            writer.log.preview(change, writer.state)
