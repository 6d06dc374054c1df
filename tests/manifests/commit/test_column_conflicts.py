"""RowSets are right under later columns that hold all of their values."""

from __future__ import annotations

import pytest

from colonnade.manifests.commit.column_conflicts import rows_fit, same_by_name
from colonnade.manifests.model.schema import (
    ArrayType,
    DataType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
)


def column(data_type: DataType, nullable: bool = True, number: int = 1) -> SchemaField:
    return SchemaField(id=number, name=f"c{number}", type=data_type, nullable=nullable)


def struct(*fields: SchemaField) -> SchemaField:
    return column(StructType(fields=fields), number=9)


INT, LONG = column("int", number=2), column("long", nullable=False, number=3)
MAP = MapType(key=column("int", nullable=False, number=2), value=column("int", number=3))
LIST = ArrayType(element=column("int", number=2))
WIDE = column("long", number=2)
WIDER = column("decimal(20,0)", number=2)
DATE, TIME = column("date", number=2), column("timestamp_ntz", number=2)


@pytest.mark.parametrize(
    ("written", "current", "fit"),
    [
        ([column("int")], [column("int").model_copy(update={"name": "other"})], True),
        ([column("int", nullable=False)], [column("int")], True),
        ([column("int")], [column("int", nullable=False)], False),
        ([column("int")], [column("long")], True),
        ([column("int")], [column("date")], False),
        ([DATE], [TIME], False),
        ([struct(DATE)], [struct(TIME)], False),
        ([column("int"), INT], [INT], True),
        ([column("int")], [INT, column("int")], True),
        ([column("int")], [column("int"), column("int", nullable=False, number=2)], False),
        ([column("int", number=9)], [column("int", number=9), column(MAP)], True),
        ([column(LIST)], [column(MAP)], False),
        ([INT], [WIDE], True),
        ([INT], [WIDER], True),
        ([WIDE], [WIDER], True),
        ([WIDE], [WIDE.model_copy(update={"name": "other", "comment": "c"})], True),
        ([INT], [WIDE.model_copy(update={"nullable": False})], False),
        ([LONG.model_copy(update={"id": 2})], [WIDE], True),
        ([WIDE], [INT], False),
        ([WIDER], [WIDE], False),
        ([INT], [column("void", number=2)], False),
        ([column("void", number=2)], [WIDER], True),
        ([column("int")], [column("int"), WIDE], True),
        ([struct(INT, LONG)], [struct(INT, LONG)], True),
        ([struct(INT, LONG)], [struct(LONG, INT)], True),
        ([struct(INT, LONG)], [struct(INT)], True),
        ([struct(INT)], [struct(INT, LONG)], False),
        ([struct(LONG)], [struct(INT, LONG)], True),
        ([struct(INT)], [struct(WIDE)], True),
        ([struct(WIDE)], [struct(INT)], False),
        ([column(ArrayType(element=INT))], [column(ArrayType(element=WIDE))], True),
        ([column(ArrayType(element=INT))], [column(ArrayType(element=column("int")))], False),
        ([column(MAP)], [column(MapType(key=MAP.key, value=column("int", number=8)))], False),
    ],
)
def test_rows_fit_columns_by_id_and_type(
    written: list[SchemaField], current: list[SchemaField], fit: bool
) -> None:
    old, new = TableSchema(fields=tuple(written)), TableSchema(fields=tuple(current))
    assert rows_fit(old, new) is fit


def named(field: SchemaField, name: str) -> SchemaField:
    return field.model_copy(update={"name": name})


@pytest.mark.parametrize(
    ("written", "current", "same"),
    [
        ([named(INT, "a")], [named(INT, "b")], True),
        ([named(INT, "a")], [named(WIDE, "A")], True),
        ([named(INT, "a")], [named(WIDE, "b")], True),
        ([named(INT, "a")], [named(LONG, "b")], True),
        ([named(INT, "a")], [named(LONG, "A")], False),
        ([named(INT, "a"), named(LONG, "b")], [named(INT, "b"), named(LONG, "a")], False),
        ([named(INT, "a"), named(LONG, "b")], [named(LONG, "a")], False),
        ([struct(named(INT, "a"))], [struct(named(LONG, "a"))], False),
        ([struct(named(INT, "a"))], [struct(named(WIDE, "a"), named(LONG, "b"))], True),
    ],
)
def test_a_name_means_the_same_column_also_after_it_has_widened(
    written: list[SchemaField], current: list[SchemaField], same: bool
) -> None:
    old, new = TableSchema(fields=tuple(written)), TableSchema(fields=tuple(current))
    assert same_by_name(old, new) is same
