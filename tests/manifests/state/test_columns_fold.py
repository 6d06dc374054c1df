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
)
from colonnade.manifests.model.schema import ArrayType, EarlierColumn, SchemaField, StructType
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


def widened(earlier: tuple[tuple[int, str], ...], **changed: object) -> SchemaField:
    """Column `x` after it widened; it was `double` under the id 2."""
    steps = tuple(EarlierColumn(id=number, type=name) for number, name in earlier)
    return X.model_copy(update={"id": 3, "earlier": steps, **changed})


@pytest.mark.parametrize(
    "wrong",
    [
        (widened(((2, "double"),), type="long"),),
        (widened(((2, "int"),), type="long"),),
        (widened(((9, "int"),), type="long"),),
        (widened(((1, "long"), (2, "int")), type="decimal(38,0)"),),
        (X.model_copy(update={"earlier": (EarlierColumn(id=9, type="int"),)}),),
        (X, widened(((2, "double"),), name="y")),
    ],
)
def test_a_column_that_widens_wrongly_is_refused(wrong: tuple[SchemaField, ...]) -> None:
    store = MemoryStore()
    log = make_log(store)
    base = with_orders(store, log)
    with pytest.raises(InvalidInputError, match=r"widens column|a second column"):
        log.commit(change(alter(ID, *wrong)), base)
    assert log.read_head() == base


def test_a_column_that_has_widened_keeps_its_earlier_types() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = with_orders(store, log)
    narrow = X.model_copy(update={"id": 3, "name": "n", "type": "int"})
    base = log.commit(change(alter(ID, narrow)), base)
    wide = widened(((3, "int"),), id=4, name="n", type="long")
    base = log.commit(change(alter(ID, wide, schema_id=2, next_id=5)), base)
    for forgotten in (wide.model_copy(update={"earlier": None}), narrow):
        with pytest.raises(InvalidInputError, match=r"widens column|a second column"):
            log.commit(change(alter(ID, forgotten, schema_id=3, next_id=5)), base)


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
    assert log.read_head() == base
