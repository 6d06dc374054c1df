"""Schemas that no table may have are refused by column; the largest valid ones are read again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.check import METADATA_LIMIT, NESTING_LIMIT, check_schema
from colonnade.manifests.model.operations import CreateTable
from colonnade.manifests.model.schema import (
    ArrayType,
    DataType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
)
from colonnade.manifests.store import MemoryStore
from tests.log_samples import ORDERS, change, database, make_log, replay

KEY = SchemaField(id=1, name="key", type="int", nullable=False)
WRAPPERS: dict[str, Callable[[SchemaField], DataType]] = {
    "array": lambda inner: ArrayType(element=inner),
    "map": lambda inner: MapType(key=KEY, value=inner),
    "struct": lambda inner: StructType(fields=(inner,)),
}


def nested(kind: str, depth: int) -> TableSchema:
    field = SchemaField(id=1, name="x", type="int")
    for _ in range(depth):
        field = SchemaField(id=1, name="x", type=WRAPPERS[kind](field))
    return TableSchema(fields=(field,))


@pytest.mark.parametrize("kind", WRAPPERS)
def test_a_type_as_deep_as_allowed_is_read_again_from_log_and_checkpoint(kind: str) -> None:
    schema = nested(kind, NESTING_LIMIT - 1)
    check_schema(schema)
    store = MemoryStore()
    log = make_log(store, interval=1)
    table = CreateTable(table=ORDERS, name="deep", table_schema=schema, next_column_id=2)
    log.commit(change(table), database(store))
    assert log.reader.read_head().table("deep").schema == schema
    assert replay(store).table("deep").schema == schema


@pytest.mark.parametrize("kind", WRAPPERS)
@pytest.mark.parametrize("depth", [NESTING_LIMIT, 100])
def test_a_type_too_deep_to_be_read_again_is_refused_by_column(kind: str, depth: int) -> None:
    with pytest.raises(InvalidInputError, match="column 'x' is nested more than 50 deep"):
        check_schema(nested(kind, depth))


def test_metadata_is_bounded_for_all_columns_and_the_fields_inside_together() -> None:
    def schema(size: int) -> TableSchema:
        text = '{"é":"' + "a" * (size // 2 - 9) + '"}'
        inner = SchemaField(id=3, name="x", type="int", metadata=text)
        outer = SchemaField(id=2, name="large", type=ArrayType(element=inner), metadata=text)
        return TableSchema(fields=(KEY, outer))

    check_schema(schema(METADATA_LIMIT))
    with pytest.raises(InvalidInputError, match=f"column 'large' has {METADATA_LIMIT + 2} of them"):
        check_schema(schema(METADATA_LIMIT + 2))


@pytest.mark.parametrize(
    "name",
    [
        "_row_handler",
        "_Row_Handler",
        "__row_operation",
        "__row_from_source",
        "__ROW_from_target",
        "__row_id",
        "__original_row_id_day",
    ],
)
def test_a_column_may_not_have_a_name_that_statements_give_their_own_columns(name: str) -> None:
    def fields(column: str) -> tuple[SchemaField, ...]:
        inner = StructType(fields=(SchemaField(id=3, name=name, type="int"),))
        return (KEY, SchemaField(id=2, name=column, type=inner))

    check_schema(TableSchema(fields=fields("s")))
    with pytest.raises(InvalidInputError, match=f"'{name}' is reserved"):
        check_schema(TableSchema(fields=fields(name)))
