"""Changes of the fields inside a column are found by their ids."""

from __future__ import annotations

import pytest

from colonnade.manifests.model.columns.nested import misplaced
from colonnade.manifests.model.schema import (
    ArrayType,
    DataType,
    SchemaField,
    StructType,
)


def field(number: int, data_type: DataType = "int", **more: object) -> SchemaField:
    return SchemaField(id=number, name=f"c{number}", type=data_type, **more)  # type: ignore[arg-type]


def struct(number: int, *fields: SchemaField) -> SchemaField:
    return field(number, StructType(fields=fields))


def array(number: int, element: SchemaField) -> SchemaField:
    return field(number, ArrayType(element=element))


X, Y = field(3), field(4, "string")
WIDE = field(3, "long")
BEFORE = [field(1), struct(2, X, Y), array(5, struct(6, field(7)))]


@pytest.mark.parametrize(
    "after",
    [
        BEFORE,
        BEFORE[::-1],
        [*BEFORE, struct(8, field(9))],
        BEFORE[:1],
        [BEFORE[1].model_copy(update={"name": "other", "nullable": False})],
        [struct(2, X.model_copy(update={"name": "z", "comment": "c"}), Y)],
        [struct(2, Y, X)],
        [struct(2, X)],
        [struct(2)],
        [struct(2, X, Y, field(8))],
        [struct(2, WIDE, Y)],
        [array(5, struct(6))],
        [field(1, "long")],
    ],
)
def test_fields_may_come_go_move_and_widen(after: list[SchemaField]) -> None:
    assert misplaced(BEFORE, after) is None


@pytest.mark.parametrize(
    ("after", "wrong"),
    [
        ([field(1, "date")], 1),
        ([struct(1)], 1),
        ([field(2)], 2),
        ([X], 3),
        ([struct(2, struct(8, X))], 3),
        ([array(5, struct(6, X))], 3),
        ([struct(2, field(3, "date"))], 3),
    ],
)
def test_an_id_that_is_reused_for_another_field_is_misplaced(
    after: list[SchemaField], wrong: int
) -> None:
    found = misplaced(BEFORE, after)
    assert found is not None
    assert found.id == wrong
