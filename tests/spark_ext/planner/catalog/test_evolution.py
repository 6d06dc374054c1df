"""Spark's schema evolution is answered by columns and types that a table can have, or by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField, StructType, TableSchema, type_text
from colonnade.spark_ext.planner.catalog.evolution import columns_for_rows, may_widen
from colonnade.spark_ext.planner.read.load import load
from colonnade.spark_ext.planner.write.writes import commit_write, plan_write
from tests.tableformat.table.constrained import only_spark

VOIDS = {"type": "array", "elementType": "void", "containsNull": True}


def added(name: str, kind: Any) -> dict[str, Any]:
    place = {"after": None, "first": False, "comment": None, "nullable": True}
    return {"kind": "add_column", "column": [name], "type": json.dumps(kind), **place}


def widened(name: str, kind: str) -> dict[str, Any]:
    return {"kind": "widen_column", "column": [name], "type": f'"{kind}"'}


@pytest.fixture
def path(tmp_path: Path) -> str:
    colonnade.create(tmp_path / "t", pa.schema({"id": pa.int64(), "v": pa.int32()}))
    return str(tmp_path / "t")


def types(path: str) -> dict[str, str]:
    fields = colonnade.open(path)._state.schema.fields
    return {field.name: type_text(field.type) for field in fields}


def merged(path: str, columns: dict[str, Any], by_name: bool = True) -> dict[str, Any]:
    fields = [
        {"name": name, "type": kind, "nullable": True, "metadata": {}}
        for name, kind in columns.items()
    ]
    return brought(path, {"type": "struct", "fields": fields}, by_name)


def brought(path: str, columns: dict[str, Any], by_name: bool = True) -> dict[str, Any]:
    return written(path, {"columns": json.dumps(columns), "by_name": by_name})


def asked(path: str, changes: list[dict[str, Any]], exact: bool = False) -> dict[str, Any]:
    return written(path, {"changes": changes, "exact": exact})


def written(path: str, rows: dict[str, Any]) -> dict[str, Any]:
    """Commit a write without rows that brings what `rows` need, as the jar does."""
    args = {"path": path, "options": {}}
    before = load(args)
    seen = before["view"]
    columns = columns_for_rows({**args, "rows": rows, "view": seen})["columns"]
    seen["evolving"] = None if columns == before["columns"] else rows
    planned = plan_write({**args, "columns": columns, "view": seen})
    assert load(args)["columns"] == before["columns"]
    names = {name: planned[name] for name in ("job", "database")}
    done = commit_write({**names, "messages": []})
    assert load(args)["columns"] == columns
    return {"epoch": done["epoch"]}


def test_columns_that_the_table_has_are_left_out_so_a_request_may_be_repeated(path: str) -> None:
    changes = [widened("V", "decimal(9,2)"), added("n", "integer"), added("ID", "integer")]
    assert asked(path, changes) == asked(path, changes) == {"epoch": 2}
    assert types(path) == {"id": "long", "v": "decimal(12,2)", "n": "int"}
    assert colonnade.open(path).history(1)[0].parameters == {
        "mode": "Append",
        "changes": "widen column v to decimal(12,2); add column n",
    }


def test_a_new_field_may_have_the_name_of_a_column(tmp_path: Path) -> None:
    struct = pa.struct([("a", pa.int32())])
    columns = {"v": pa.string(), "s": struct, "l": pa.list_(struct)}
    colonnade.create(tmp_path / "t", pa.schema(columns))
    path = str(tmp_path / "t")
    changes = [
        {**added("", "integer"), "column": [*parent, "V"]} for parent in (["s"], ["l", "element"])
    ]
    changes.append({**widened("", "long"), "column": ["s", "a"]})
    assert asked(path, changes, exact=True) == asked(path, changes, exact=True) == {"epoch": 2}
    fields = colonnade.open(path)._state.schema.fields
    kinds = {each.name: type_text(each.type) for each in fields}
    wider = "struct<a:long,V:int>"
    assert kinds == {"v": "string", "s": wider, "l": "array<struct<a:int,V:int>>"}
    refused = [{**widened("", "string"), "column": ["s", "a"]}]
    with pytest.raises(InvalidInputError, match="Column 's.a' is long and cannot become string"):
        asked(path, refused)


@pytest.mark.parametrize(
    ("change", "exact", "said"),
    [
        (widened("v", "string"), False, "Column 'v' is int and cannot become string; cast"),
        (added("v", "boolean"), False, "Column 'v' is int and cannot become boolean"),
        (widened("id", "integer"), True, "Column 'id' is long and cannot become int"),
        (widened("v", "decimal(9,2)"), True, r"cannot become decimal\(9,2\)"),
        (added("x", VOIDS), False, "'x.element' is void"),
    ],
)
def test_an_impossible_evolution_is_refused_by_name_before_anything_changes(
    path: str, change: dict[str, Any], exact: bool, said: str
) -> None:
    with pytest.raises(InvalidInputError, match=said):
        asked(path, [added("n", "integer"), change], exact=exact)
    assert types(path) == {"id": "long", "v": "int"}


@pytest.mark.parametrize(
    ("own", "value_type", "may"),
    [
        ("integer", "long", True),
        ("long", "integer", False),
        ("integer", "decimal(9,2)", True),
        ("integer", "string", False),
        ("varchar(3)", "string", False),
        ("varchar(3)", "varchar(9)", True),
    ],
)
def test_a_column_may_widen_only_to_a_type_with_the_values_of_both(
    own: str, value_type: str, may: bool
) -> None:
    assert may_widen({"own": f'"{own}"', "value_type": f'"{value_type}"'}) == {"yes": may}


def test_the_columns_of_rows_are_added_and_widen_and_a_type_to_cast_stays(path: str) -> None:
    columns = {"V": "long", "n": "string", "ID": "integer"}
    assert merged(path, columns) == merged(path, columns) == {"epoch": 2}
    assert types(path) == {"id": "long", "v": "long", "n": "string"}
    # Spark casts or refuses any other type, and NULL for a column of the table needs no wider type.
    assert merged(path, {"v": "string", "n": "void"}) == {"epoch": 2}


def test_rows_of_null_bring_a_void_column_and_later_rows_its_type(path: str) -> None:
    assert merged(path, {"x": "void", "y": "void"}) == {"epoch": 2}
    assert merged(path, {"x": "void"}) == {"epoch": 2}
    assert types(path) == {"id": "long", "v": "int", "x": "void", "y": "void"}
    array = {"type": "array", "elementType": "long", "containsNull": True}
    assert merged(path, {"x": "date", "y": array}) == {"epoch": 3}
    assert types(path) == {"id": "long", "v": "int", "x": "date", "y": "array<long>"}
    with pytest.raises(InvalidInputError, match="'z.element' is void"):
        merged(path, {"z": VOIDS})


def test_a_void_column_keeps_the_place_of_the_columns_after_it(path: str) -> None:
    merged(path, {"NULL": "void", "b": "long", "c": "date"}, by_name=False)
    assert types(path) == {"id": "long", "v": "long", "c": "date"}


def test_void_inside_a_column_has_the_type_that_the_table_has_there(tmp_path: Path) -> None:
    inside = pa.struct([("a", pa.int32()), ("l", pa.list_(pa.int32()))])
    colonnade.create(tmp_path / "t", pa.schema({"s": inside, "m": pa.map_(pa.int32(), inside)}))

    def struct(*fields: tuple[str, Any]) -> dict[str, Any]:
        plain = {"nullable": True, "metadata": {}}
        return {"type": "struct", "fields": [{"name": n, "type": t, **plain} for n, t in fields]}

    def given(name: str, *late: tuple[str, str]) -> dict[str, Any]:
        part = struct(("A", "void"), ("l", VOIDS), (name, "long"), *late)
        ends = {"keyType": "void", "valueType": part, "valueContainsNull": True}
        return struct(("s", part), ("m", {"type": "map", **ends}))

    path = str(tmp_path / "t")
    assert brought(path, given("new")) == {"epoch": 2}
    fields = colonnade.open(tmp_path / "t")._state.schema.fields
    wider = "struct<a:int,l:array<int>,new:long>"
    assert [type_text(each.type) for each in fields] == [wider, f"map<int,{wider}>"]
    with pytest.raises(InvalidInputError, match="'s.late' is void, and only whole columns"):
        brought(path, given("new", ("late", "void")))


@pytest.mark.parametrize("by_name", [True, False])
def test_rows_that_lack_a_field_of_a_struct_are_refused_before_the_table_changes(
    tmp_path: Path, by_name: bool
) -> None:
    struct = pa.struct([("a", pa.int32()), ("b", pa.int32())])
    colonnade.create(tmp_path / "t", pa.schema({"l": pa.list_(struct)}))

    def columns(*names: str) -> dict[str, Any]:
        plain = {"nullable": True, "metadata": {}}
        fields = [{"name": name, "type": "integer", **plain} for name in names]
        part = {"type": "struct", "fields": fields}
        array = {"type": "array", "elementType": part, "containsNull": True}
        new = {"name": "new", "type": "integer", **plain}
        return {"type": "struct", "fields": [{"name": "l", "type": array, **plain}, new]}

    with pytest.raises(InvalidInputError, match="no field 'l.element.b', which table 't' has"):
        brought(str(tmp_path / "t"), columns("a"), by_name)
    assert colonnade.open(tmp_path / "t").epoch == 1


def test_columns_are_matched_by_position_where_the_write_does_so(path: str) -> None:
    merged(path, {"x": "integer", "y": "long", "z": "date"}, by_name=False)
    assert types(path) == {"id": "long", "v": "long", "z": "date"}


def test_columns_that_break_a_rule_of_the_table_are_refused_before_spark_analyzes_rows(
    tmp_path: Path,
) -> None:
    """Spark ends in an internal error where a condition does not fit the columns."""
    x = SchemaField(name="x", type="int")
    s = SchemaField(name="s", type=StructType(fields=(x,)))
    table = colonnade.create(tmp_path / "t", TableSchema(fields=(s,)))
    only_spark(table, "s <> named_struct('x', 1)", 1)
    names = ("x", "y")
    fields: list[dict[str, Any]] = [
        {"name": each, "type": "integer", "nullable": True, "metadata": {}} for each in names
    ]
    kind = {"type": "struct", "fields": fields}
    seen = load({"path": table.path, "options": {}})["view"]
    columns = {"type": "struct", "fields": [{**fields[0], "name": "s", "type": kind}]}
    rows = {"columns": json.dumps(columns), "by_name": True}
    args = {"path": table.path, "options": {}, "view": seen, "rows": rows}
    with pytest.raises(InvalidInputError, match="'s' cannot be changed inside: .* 'spark'"):
        columns_for_rows(args)
