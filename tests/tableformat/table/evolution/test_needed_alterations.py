"""A table asks for no change where it can hold the columns already, and compares them quickly."""

from __future__ import annotations

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import (
    ArrayType,
    SchemaField,
    StructType,
    TableSchema,
    assign_ids,
)
from colonnade.tableformat.table.alteration import AddColumn, WidenColumn
from colonnade.tableformat.table.evolution.needed_alterations import (
    asked_changes,
    evolving_changes,
    merged_changes,
    missing_fields,
    unknown_columns,
    unknown_fields,
)


def struct(**types: str) -> StructType:
    return StructType(fields=tuple(field(name, kind) for name, kind in types.items()))


def field(name: str, kind: str | StructType | ArrayType) -> SchemaField:
    return SchemaField(name=name, type=kind)


def schema(**types: str | StructType | ArrayType) -> TableSchema:
    return assign_ids(TableSchema(fields=tuple(field(*each) for each in types.items())), 1)[0]


def test_many_columns_are_compared_quickly() -> None:
    names = [f"c{n}" for n in range(4000)]
    table = colonnade.TableSchema(fields=tuple(SchemaField(name=n, type="long") for n in names))
    given = pa.schema([(name, pa.int64()) for name in reversed(names)])
    assert unknown_columns(table, given) == []
    assert evolving_changes(table, given) == ()


def test_unknown_fields_are_found_in_every_physical_form() -> None:
    table = schema(k="long", l=ArrayType(element=field("element", struct(a="int"))))
    found = pa.struct([("A", pa.int32()), ("b", pa.int32())])
    for each in (pa.list_(found), pa.large_list(found), pa.list_view(found), pa.list_(found, 2)):
        given = pa.schema([("K", pa.int64()), ("L", each), ("x", pa.int64())])
        assert unknown_fields(table, given) == ["l.element.b", "x"]


def test_fields_that_rows_lack_are_found_by_name_and_by_position() -> None:
    inside = ArrayType(element=field("element", struct(a="int", b="string")))
    table = schema(l=inside, s=struct(x="int"), k="long")
    given = [field("L", ArrayType(element=field("element", struct(B="string", c="int"))))]
    assert missing_fields(table, given, by_name=True) == ["L.element.a"]
    assert missing_fields(table, given, by_name=False) == []
    short = [field("q", ArrayType(element=field("element", struct(q="int"))))]
    assert missing_fields(table, short, by_name=False) == ["l.element.b"]
    assert missing_fields(table, short, by_name=True) == []


def test_a_struct_that_a_concurrent_writer_has_added_gets_only_what_it_lacks() -> None:
    table = schema(s=struct(a="int", b="string"))
    asked = [AddColumn(field("S", struct(A="long", c="int")))]
    assert asked_changes(table, asked, exact=True) == (
        WidenColumn(("s", "a"), "long"),
        AddColumn(field("c", "int"), parent=("s",)),
    )
    assert asked_changes(table, [AddColumn(field("s", struct(a="int")))], exact=True) == ()
    for kind in ("int", ArrayType(element=field("element", "int"))):
        with pytest.raises(InvalidInputError, match="Column 's' is struct<.*cannot become"):
            asked_changes(table, [AddColumn(field("s", kind))], exact=False)


def test_fields_are_matched_by_position_at_any_depth() -> None:
    table = schema(l=ArrayType(element=field("element", struct(a="int", b="int"))))
    given = field("x", ArrayType(element=field("element", struct(b="long", c="int", d="int"))))
    assert merged_changes(table, [given], by_name=False) == (
        WidenColumn(("l", "element", "a"), "long"),
        AddColumn(field("d", "int"), parent=("l", "element")),
    )
