"""A void column is a plain whole column beside others, and gets any type but its own."""

from __future__ import annotations

import pytest

from colonnade.manifests.model.columns.void import problem_of, stored_columns
from colonnade.manifests.model.columns.widening import (
    common_type,
    evolved_type,
    widens,
    wider_types,
)
from colonnade.manifests.model.schema import (
    ArrayType,
    DataType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
)
from tests.strategies import PRIMITIVES

ID = SchemaField(name="id", type="long")
VOID = SchemaField(name="b", type="void")
LIST = ArrayType(element=SchemaField(name="element", type="int"))


def test_rowsets_have_all_columns_but_void_ones() -> None:
    schema = TableSchema(fields=(VOID, ID, VOID.model_copy(update={"name": "c"}), ID))
    assert problem_of(schema) is None
    assert stored_columns(schema) == (1, 3)


@pytest.mark.parametrize(
    ("kind", "path"),
    [
        (ArrayType(element=VOID), "s.b"),
        (MapType(key=ID, value=VOID), "s.b"),
        (StructType(fields=(ID, SchemaField(name="in", type=ArrayType(element=VOID)))), "s.in.b"),
    ],
)
def test_a_void_field_inside_a_column_is_named(kind: DataType, path: str) -> None:
    problem = problem_of(TableSchema(fields=(ID, SchemaField(name="s", type=kind))))
    assert problem is not None
    assert problem.startswith(f"Field {path!r} is void")


@pytest.mark.parametrize("kind", [*PRIMITIVES, LIST], ids=str)
def test_a_void_column_gets_any_type_and_no_column_becomes_void(kind: DataType) -> None:
    assert widens("void", kind)
    assert not widens(kind, "void")
    assert evolved_type("void", kind) == kind
    assert evolved_type(kind, "void") is None
    if isinstance(kind, str):
        assert common_type(kind, "void") == common_type("void", kind) == kind


def test_a_void_column_that_is_void_already_stays() -> None:
    assert not widens("void", "void")
    assert evolved_type("void", "void") is None
    assert wider_types("void") == "any other type"
