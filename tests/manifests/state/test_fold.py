"""Operations that alter a table: what the fold makes of them, and what it refuses."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from colonnade.manifests.commit.conflicts import rows_fit
from colonnade.manifests.errors import AlreadyExistsError, ConflictError, InvalidInputError
from colonnade.manifests.model.operations import (
    AlterSchema,
    Operation,
    RenameTable,
    SetComment,
    SetProperties,
)
from colonnade.manifests.model.schema import (
    ArrayType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
)
from colonnade.manifests.store import MemoryStore
from tests.log_samples import (
    ORDERS,
    SCHEMA,
    TRIPS,
    append,
    change,
    contents,
    entry,
    make_log,
    replay,
    table,
    with_orders,
)

ID, X = SCHEMA.fields
NOTE = SchemaField(id=3, name="note", type="string")


def alter(*fields: SchemaField, schema_id: int = 1, next_id: int = 4) -> AlterSchema:
    return AlterSchema(
        table=ORDERS,
        table_schema=TableSchema(fields=fields),
        schema_id=schema_id,
        next_column_id=next_id,
    )


def test_several_alterations_and_rows_share_an_epoch() -> None:
    store = MemoryStore()
    log = make_log(store, interval=2)
    base = with_orders(store, log)
    operations: tuple[Operation, ...] = (
        alter(ID, X, NOTE),
        alter(ID, NOTE, schema_id=2, next_id=4),
        SetProperties(table=ORDERS, set={"a": "1", "b": "2"}),
        SetProperties(table=ORDERS, set={"c": "3"}, remove=("a", "none")),
        SetComment(table=ORDERS, comment="new"),
        RenameTable(table=ORDERS, name="sales"),
        *append().ops,
    )
    state = log.commit(change(*operations), base).table("sales")
    assert state.schema.names == ("id", "note")
    assert (state.schema_id, state.next_column_id, state.comment) == (2, 4, "new")
    assert dict(state.properties) == {"b": "2", "c": "3"}
    assert state.rowsets.rowset_count == 1
    head = log.commit(append(), log.read_head())
    assert contents(log, head) == contents(log, replay(store))
    assert log.read_at(base.epoch).table("orders").schema == SCHEMA


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
def test_what_would_lose_a_column_is_refused(wrong: Operation, text: str) -> None:
    store = MemoryStore()
    log = make_log(store)
    base = log.commit(change(table(TRIPS, "trips")), with_orders(store, log))
    base = log.commit(change(table("00000000000000aa", "sorted", sorted_by=1)), base)
    if isinstance(wrong, AlterSchema):
        wrong = wrong.model_copy(update={"table": "00000000000000aa"})
    with pytest.raises(InvalidInputError, match=text):
        log.commit(change(wrong), base)
    assert log.read_head() == base


def test_the_id_of_a_dropped_column_is_not_given_again() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = log.commit(change(alter(ID, next_id=3)), with_orders(store, log))
    with pytest.raises(InvalidInputError, match="a second column"):
        log.commit(change(alter(ID, X, schema_id=2)), base)


def test_a_name_taken_meanwhile_is_not_given_by_renaming() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = with_orders(store, log)
    log.commit(change(table(TRIPS, "trips")), base)
    with pytest.raises(AlreadyExistsError, match="'trips' exists already"):
        log.commit(change(RenameTable(table=ORDERS, name="trips")), base)


def test_an_append_conflicts_with_columns_that_its_rows_do_not_fit() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = with_orders(store, log)
    head = log.commit(change(alter(ID, X.model_copy(update={"type": "float"}))), base)
    with pytest.raises(ConflictError, match="columns of table 'orders' changed after epoch 1"):
        log.commit(append(entry()), base)
    assert log.commit(append(entry()), head).epoch == 3


def test_a_schema_needs_its_id() -> None:
    with pytest.raises(ValidationError, match="schema_id"):
        AlterSchema.model_validate({"table": ORDERS, "table_schema": SCHEMA, "next_column_id": 3})


def column(data_type: object, nullable: bool = True, number: int = 1) -> SchemaField:
    return SchemaField(id=number, name=f"c{number}", type=data_type, nullable=nullable)  # type: ignore[arg-type]


PAIR = StructType(fields=(column("int", number=2), column("long", nullable=False, number=3)))
MAP = MapType(key=column("int", nullable=False, number=2), value=column("int", number=3))


@pytest.mark.parametrize(
    ("written", "current", "fit"),
    [
        ([column("int")], [column("int").model_copy(update={"name": "other"})], True),
        ([column("int", nullable=False)], [column("int")], True),
        ([column("int")], [column("int", nullable=False)], False),
        ([column("int")], [column("long")], False),
        ([column("int"), column("int", number=2)], [column("int", number=2)], True),
        ([column("int")], [column("int", number=2), column("int")], True),
        ([column("int")], [column("int"), column("int", nullable=False, number=2)], False),
        ([column("int", number=9)], [column("int", number=9), column(MAP)], True),
        ([column(PAIR)], [column(PAIR)], True),
        ([column(PAIR)], [column(StructType(fields=PAIR.fields[:1]))], False),
        ([column(StructType(fields=PAIR.fields[:1]))], [column(PAIR)], False),
        ([column(PAIR)], [column(StructType(fields=PAIR.fields[::-1]))], False),
        ([column(ArrayType(element=column("int", number=2)))], [column(MAP)], False),
    ],
)
def test_rows_fit_columns_by_id_and_type(
    written: list[SchemaField], current: list[SchemaField], fit: bool
) -> None:
    old, new = TableSchema(fields=tuple(written)), TableSchema(fields=tuple(current))
    assert rows_fit(old, new) is fit
