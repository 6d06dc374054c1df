"""Calls that cannot work: one sentence of our own each, and the table is as before."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, cast

import pandas
import pyarrow as pa
import pytest

import colonnade
from colonnade import InvalidInputError, SchemaField, TableSchema
from colonnade.tableformat.table.alteration import AddColumn

col: Any = colonnade.col
field: Any = SchemaField
settings: Any = colonnade.WriteSettings

POINT = pa.struct([pa.field("x", pa.int32(), nullable=False)])
SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        ("point", POINT),
        ("tags", pa.list_(pa.field("element", pa.string(), nullable=False))),
    ]
)
ROW = {"id": [1], "point": [{"x": 1}], "tags": [["a"]]}


@pytest.fixture
def table(tmp_path: Path) -> colonnade.ArrowTable:
    table = colonnade.create(tmp_path / "t", SCHEMA)
    table.append(pa.table(ROW, SCHEMA))
    return table


def refused(call: Callable[[], object], match: str) -> None:
    with pytest.raises(InvalidInputError, match=match) as caught:
        call()
    assert "\n" not in caught.value.message
    assert caught.value.message.endswith(".")


class Broken:
    """Offers the interface and fails in it."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        raise ValueError("no connection\nat line 3")


LOOSE = {
    "id": pa.array([1]),
    "point": pa.array([{"x": 1}], pa.struct([("x", pa.int32())])),
    "tags": pa.array([["a"]]),
}
"""The row above, with types that allow NULL."""


def given(**columns: Any) -> pa.Table:
    return pa.table(LOOSE | columns)


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (given(point=pa.array([{"x": None}], LOOSE["point"].type)), r"'point\.x' is NOT NULL"),
        (given(tags=[["a", None]]), r"'tags\.element' is NOT NULL"),
        (given(extra=[1]), "unknown 'extra'"),
        (given(ID=[1]), "more than once 'id'"),
        (given().drop_columns("id"), "lacks 'id'"),
        (given().select(["id", "id", "point", "tags"]), "more than once 'id'"),
        (given().drop_columns("id").slice(1), "lacks 'id'"),
        (given().drop_columns("id").schema.empty_table(), "lacks 'id'"),
        (given().select([]), "lacks 'id', 'point', 'tags'"),
        (pa.RecordBatchReader.from_batches(pa.schema([("x", pa.int8())]), ()), "unknown 'x'"),
        (given(tags=[1]), r"'tags' is array, but the data holds int64"),
        (pa.array([1]), "Int64Array .* cannot be read as a table"),
        (pa.chunked_array([[1]]), "ChunkedArray .* cannot be read as a table"),
        (pandas.DataFrame({"id": [1, "a"]}), "DataFrame .*'a' with type str.* column id"),
        (Broken(), "Broken .* cannot be read as a table: no connection"),
        ({"id": 1}, "one row is a list with one dict"),
    ],
)
def test_data_that_does_not_fit_is_refused_by_name(
    table: colonnade.ArrowTable, data: Any, match: str
) -> None:
    epoch = table.epoch
    refused(lambda: table.append(data), match)
    refused(lambda: table.overwrite(data), match)
    assert table.refresh().epoch == epoch


def test_a_missing_column_that_may_be_null_is_null_but_not_in_an_upsert(
    table: colonnade.ArrowTable,
) -> None:
    part = given(id=[2]).select(["id", "tags"])
    table.append(part)
    rows = table.scan().to_arrow().sort_by("id").to_pylist()
    assert rows[1] == {"id": 2, "point": None, "tags": ["a"]}
    refused(lambda: table.upsert(part, on="id"), "lacks 'point'")
    table.overwrite(given(id=[1]).select(["id", "point"]), where="id = 1")
    table.overwrite(given(id=[3]).select(["id"]))
    assert table.scan().to_arrow().to_pylist() == [{"id": 3, "point": None, "tags": None}]


def test_an_error_of_the_source_comes_through_and_nothing_is_kept(
    table: colonnade.ArrowTable, tmp_path: Path
) -> None:
    def source() -> Iterator[pa.RecordBatch]:
        yield from pa.table(ROW, SCHEMA).to_batches()
        raise RuntimeError("the line was cut")

    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(RuntimeError, match="the line was cut"):
        table.append(pa.RecordBatchReader.from_batches(SCHEMA, source()))
    assert sorted(tmp_path.rglob("*")) == before


def test_a_damaged_table_is_named_where_its_scan_is_the_source(tmp_path: Path) -> None:
    schema = pa.schema([("n", pa.binary())])
    source = colonnade.create(tmp_path / "source", schema)
    source.append(pa.table({"n": [random.Random(1).randbytes(30_000)]}, schema))
    (file,) = (tmp_path / "source").glob("*/*.rowset")
    file.write_bytes(file.read_bytes()[:-1])
    for scan in (source.scan(), source.scan().to_reader()):
        with pytest.raises(colonnade.CorruptionError, match=file.name):
            colonnade.create(tmp_path / f"to{id(scan)}", schema).append(scan)
    with pytest.raises(colonnade.CorruptionError, match=file.name):
        colonnade.create(tmp_path / "keyed", schema).upsert(source.scan(), "n")


@pytest.mark.parametrize(
    ("ask", "match"),
    [
        ({"epoch": True}, "whole number, not True"),
        ({"epoch": 1.0}, r"whole number, not 1\.0"),
        ({"epoch": "1"}, "whole number, not '1'"),
        ({"timestamp": 5}, "datetime or ISO 8601 text, not 5"),
        ({"timestamp": date(2030, 1, 1)}, "datetime or ISO 8601 text"),
        ({"timestamp": pandas.NaT}, "datetime or ISO 8601 text, not NaT"),
        ({"epoch": 0, "timestamp": "2030-01-01"}, "exactly one of"),
        ({"columns": "id"}, "columns must be a list of column names, not 'id'"),
        ({"columns": [1]}, "columns must be a list of column names"),
        ({"columns": 5}, "columns must be a list of column names, not 5"),
        ({"where": 5}, "where must be SQL text"),
    ],
)
def test_an_impossible_scan_is_refused(
    table: colonnade.ArrowTable, ask: dict[str, Any], match: str
) -> None:
    refused(lambda: table.scan(**ask), match)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"sort_key": "id"}, "sort_key must be a list of column names, not 'id'"),
        ({"sort_key": [1]}, "sort_key must be a list"),
        ({"sort_key": ["tags"]}, "'tags' of type array<string> has no order"),
        ({"properties": {"a": 1}}, "Property 'a' must have text"),
        ({"properties": {"a\ud800": "1"}}, "has half of a surrogate pair in its name or value"),
        ({"properties": {"a": "\udfff"}}, "has half of a surrogate pair in its name or value"),
        ({"properties": ["a"]}, "Properties must be a dict"),
        ({"properties": {"sortKey": "id"}}, "'sortKey' is not a property"),
        ({"comment": 5}, "comment of a table must be text, not 5"),
        ({"schema": 5}, r"pyarrow\.Schema, a colonnade\.TableSchema"),
        ({"path": 5}, "5 is not a path"),
    ],
)
def test_an_impossible_table_is_not_created(
    tmp_path: Path, arguments: dict[str, Any], match: str
) -> None:
    refused(
        lambda: colonnade.create(**{"path": tmp_path / "t", "schema": SCHEMA} | arguments), match
    )
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "a\\b", "_a", "a\nb", "a\x00", "x" * 256, 5]
)
def test_a_table_name_that_no_path_could_end_with_is_refused(tmp_path: Path, name: Any) -> None:
    database = colonnade.create_database(tmp_path / "db")
    refused(lambda: database.create_table(name, SCHEMA), "Table name")
    assert database.tables() == []


@pytest.mark.parametrize("name", ["a", "amount"])
def test_two_columns_of_the_same_name_are_refused(tmp_path: Path, name: str) -> None:
    schema = TableSchema(
        fields=(SchemaField(name=name, type="int"), SchemaField(name=name, type="long"))
    )
    refused(lambda: colonnade.create(tmp_path / "t", schema), "the same name")


@pytest.mark.parametrize("form", [pa.RecordBatch, pa.Table])
@pytest.mark.parametrize("nested", [False, True])
def test_a_column_name_that_is_not_valid_text_is_refused(
    tmp_path: Path, table: colonnade.ArrowTable, form: Any, nested: bool
) -> None:
    inner = pa.field(b"\xff", pa.int32())
    schema = pa.schema([("a", pa.list_(pa.struct([inner])))] if nested else [inner])
    given = form.from_arrays([pa.nulls(1, schema.field(0).type)], schema=schema)
    refused(lambda: table.append(given), "a name that is not valid UTF-8")
    refused(lambda: colonnade.create(tmp_path / "u", schema), "a name that is not valid UTF-8")


def test_a_column_name_that_another_reader_would_cut_off_is_refused(
    tmp_path: Path, table: colonnade.ArrowTable
) -> None:
    schema = pa.schema([("p", pa.struct([("x\0y", pa.int32()), ("x\0z", pa.int32())]))])
    refused(lambda: colonnade.create(tmp_path / "u", schema), r"'p\.x\\x00y' holds a NUL")
    refused(lambda: table.alter(AddColumn(field(name="x\0y", type="int"))), "holds a NUL")


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: field(name="q", type="geography"), "'q' .* 'geography' is not a type"),
        (lambda: field(name="q", type="big int"), "'big int' is not .* written like long"),
        (lambda: field(name="q", type="decimal(39,2)"), "'q' .* 1 to 38 digits"),
        (lambda: field(name=5, type="int"), "name: Input should be a valid string"),
        (lambda: TableSchema(fields=cast(Any, 5)), "fields: Input should be a valid tuple"),
        (
            lambda: field(name="a", type=cast(Any, pa.int64())),
            r"its type must be text such as 'long' or .*, not DataType\(int64\)\.$",
        ),
        (lambda: settings(max_records=0), "max_records: .* greater than"),
        (lambda: settings(rows=1), "rows: Extra inputs"),
        (lambda: col(5), "column name must be text, not 5"),
        (lambda: col("a").isin("ab"), "list of values, not 'ab'"),
        (lambda: col("a").isin(5), "list of values, not 5"),
        (lambda: col("a").startswith(5), "startswith.* not 5"),
        (lambda: col("a").like(5), "like.* not 5"),
    ],
)
def test_a_value_that_cannot_be_made_says_why(call: Callable[[], object], match: str) -> None:
    refused(call, match)


def test_settings_of_another_type_are_refused(table: colonnade.ArrowTable) -> None:
    refused(
        lambda: table.append(pa.table(ROW, SCHEMA), settings=cast(Any, {"max_records": 5})),
        r"settings must be colonnade\.WriteSettings",
    )


@pytest.mark.parametrize("depth", [50, 300, 600])
def test_types_that_are_nested_without_end_are_refused_where_they_come_from(
    table: colonnade.ArrowTable, tmp_path: Path, depth: int
) -> None:
    endless = pa.array(["a"])
    for _ in range(depth):
        endless = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), endless)
    deep = given(tags=endless)
    words = "column 'tags' is nested more than 50 deep"
    refused(lambda: table.append(deep), words)
    refused(lambda: table.upsert(deep, ["id"]), words)
    refused(lambda: table.overwrite(deep), words)
    refused(lambda: colonnade.create(tmp_path / "deep", deep.schema), words)
    more = pa.field("tags", endless.type)
    refused(lambda: table.alter(colonnade.AddColumn(more)), words)


def test_a_value_of_any_depth_and_length_has_a_short_refusal(table: colonnade.ArrowTable) -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    for value in (deep, [deep], [["x"] * 10**6]):
        with pytest.raises(InvalidInputError, match="Column 'tags' is .* cannot be set to") as told:
            table.update({"tags": value})
        assert len(told.value.message) < 500


@pytest.mark.parametrize("rowsets", ["1", 1, [None], [1.0]])
def test_rowsets_to_repair_that_are_no_ids_are_refused(
    table: colonnade.ArrowTable, tmp_path: Path, rowsets: Any
) -> None:
    refused(lambda: table.repair(rowsets, rescue=tmp_path / "rescue"), "a list of ids")


@pytest.mark.parametrize("change", [5, None, "DROP COLUMN id", colonnade.DropColumn])
def test_a_change_that_is_no_alteration_is_refused(
    table: colonnade.ArrowTable, change: Any
) -> None:
    refused(lambda: table.alter(colonnade.CommentTable("new"), change), "one of the alterations of")
    assert table.refresh().epoch == 2


@pytest.mark.parametrize("epoch", ["2", 1.0, None])
def test_the_time_of_an_epoch_that_does_not_exist_is_refused(
    table: colonnade.ArrowTable, epoch: Any
) -> None:
    refused(lambda: table.time_of(epoch), "must be a whole number")
    with pytest.raises(colonnade.NotFoundError, match=r"Epoch -1 of .* does not exist"):
        table.time_of(-1)
