"""An epoch that would lose a column, or give its id again, is refused."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import (
    AlterSchema,
    Operation,
    RenameTable,
    Restore,
)
from colonnade.manifests.model.schema import ArrayType, SchemaField, StructType, TableSchema
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from tests.log_samples import (
    ORDERS,
    SCHEMA,
    TRIPS,
    change,
    check_refused,
    make_log,
    table,
    with_orders,
)
from tests.manifests.state.alterations import ID, NOTE, X, alter


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (alter(ID, X, schema_id=2), "backwards"),
        (alter(ID, X, schema_id=0), "backwards"),
        (alter(ID, X, next_id=2), "backwards"),
        (alter(ID, X, NOTE, next_id=3), "a second column"),
        (alter(ID, ID.model_copy(update={"name": "again"})), "a second column"),
        (alter(ID, NOTE.model_copy(update={"id": 0})), "a second column"),
        (alter(X), "one that it is sorted or"),
        (alter(), "drops all columns"),
        (RenameTable(table=ORDERS, name="orders"), "a second table the name 'orders'"),
    ],
)
def test_an_operation_that_would_lose_a_column_is_refused(wrong: Operation, text: str) -> None:
    store = MemoryStore()
    log = make_log(store)
    base = log.commit(change(table(TRIPS, "trips")), with_orders(store, log))
    base = log.commit(change(table("00000000000000aa", "sorted", sorted_by=1)), base)
    if isinstance(wrong, AlterSchema):
        wrong = wrong.model_copy(update={"table": "00000000000000aa"})
    check_refused(log, base, [wrong], text)


def test_the_id_of_a_dropped_column_is_not_given_again() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = log.commit(change(alter(ID, next_id=3)), with_orders(store, log))
    with pytest.raises(InvalidInputError, match="a second column"):
        log.commit(change(alter(ID, X, schema_id=2)), base)


def test_a_schema_needs_its_id() -> None:
    with pytest.raises(ValidationError, match="schema_id"):
        AlterSchema.model_validate({"table": ORDERS, "table_schema": SCHEMA, "next_column_id": 3})


COUNT = SchemaField(id=3, name="n", type="int", initial="i:5")
WIDE = COUNT.model_copy(update={"type": "decimal(12,2)", "initial": "i2:500"})


@pytest.mark.parametrize(
    "wrong",
    [
        COUNT.model_copy(update={"type": "short"}),
        COUNT.model_copy(update={"type": "date", "initial": "d:5"}),
        COUNT.model_copy(update={"type": "decimal(9,0)"}),
        WIDE.model_copy(update={"initial": "i2:600"}),
        WIDE.model_copy(update={"initial": None}),
    ],
)
def test_a_column_that_widens_wrongly_is_refused(wrong: SchemaField) -> None:
    store = MemoryStore()
    log = make_log(store)
    base = log.commit(change(alter(ID, COUNT)), with_orders(store, log))
    with pytest.raises(InvalidInputError, match=r"changes column|which has another type or place"):
        log.commit(change(alter(ID, wrong, schema_id=2)), base)
    assert log.reader.read_head() == base


def test_a_column_widens_under_its_id_and_is_never_narrow_again() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = log.commit(change(alter(ID, COUNT)), with_orders(store, log))
    base = log.commit(change(alter(ID, WIDE, schema_id=2)), base)
    assert base.table("orders").schema.fields == (ID, WIDE)
    with pytest.raises(InvalidInputError, match="which has another type or place"):
        log.commit(change(alter(ID, COUNT, schema_id=3)), base)
    restored = Restore(table=ORDERS, epoch=2, table_schema=TableSchema(fields=(ID, COUNT)))
    assert log.commit(change(restored), base).table("orders").schema.fields == (ID, COUNT)


def struct(*fields: SchemaField) -> SchemaField:
    return SchemaField(id=3, name="s", type=StructType(fields=fields))


FIRST, SECOND, NEW = (SchemaField(id=n, name=f"f{n}", type="int") for n in (4, 5, 6))


def with_struct(log: Log, store: MemoryStore) -> Snapshot:
    """Return a table whose column `s` has the fields FIRST and SECOND."""
    operation = alter(ID, struct(FIRST, SECOND), next_id=6)
    return log.commit(change(operation), with_orders(store, log))


@pytest.mark.parametrize(
    "wrong",
    [
        (struct(FIRST.model_copy(update={"type": "date"}), SECOND),),
        (struct(FIRST), SECOND),
        (SchemaField(id=3, name="s", type=ArrayType(element=FIRST)),),
        (SchemaField(id=3, name="s", type="int"),),
    ],
)
def test_an_id_inside_a_column_stands_for_one_field_for_ever(
    wrong: tuple[SchemaField, ...],
) -> None:
    store = MemoryStore()
    log = make_log(store)
    base = with_struct(log, store)
    with pytest.raises(InvalidInputError, match="which has another type or place"):
        log.commit(change(alter(ID, *wrong, schema_id=2, next_id=6)), base)
    assert log.reader.read_head() == base
