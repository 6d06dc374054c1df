"""Operations that alter a table: what the fold makes of them, and what it refuses."""

from __future__ import annotations

import pytest

from colonnade.manifests.commit.conflicts import rows_fit
from colonnade.manifests.errors import AlreadyExistsError, ConflictError
from colonnade.manifests.model.operations import (
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
from tests.manifests.state.alterations import ID, NOTE, X, alter


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
