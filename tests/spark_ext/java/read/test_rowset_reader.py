"""What the Python reader makes of stored bytes, the Java reader makes of them too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from colonnade.manifests.model.deletion_vector import DeletionVector, write_deletion_vector
from colonnade.manifests.model.entries import DeletionVectorEntry, RowSetEntry
from colonnade.manifests.model.schema import TableSchema, assign_ids
from colonnade.manifests.state.replaced_columns import replacement_of
from colonnade.manifests.store import LocalStore
from colonnade.tableformat.rowset.writer import RowSetWriter, WriteOptions
from colonnade.tableformat.types.arrow_types import schema_from_arrow
from tests.examples_of import examples
from tests.spark_ext.java.read_tool import TYPES, ReadTool, expected_rows, plan_of, spark_schema
from tests.spec.test_golden_rowset import (
    FOLDERS,
    PLACES,
    SCHEMA,
    entry_of,
    golden_rows,
    golden_store,
)
from tests.strategies import batches, schemas

JOB = "0123456789abcdef"
WRITTEN = {
    **PLACES,
    "one object": {"inline_bytes": 0, "packed_bytes": 0, "one_object": True, "block_rows": 400},
}


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(str(tmp_path / "table"))


def write(
    store: LocalStore, schema: TableSchema, rows: pa.RecordBatch, **options: Any
) -> tuple[RowSetEntry, ...]:
    with RowSetWriter(store, "", JOB, schema, (), WriteOptions(**options)) as writer:
        writer.write(rows)
        return writer.close()


def table(**columns: Any) -> tuple[TableSchema, pa.RecordBatch]:
    batch = pa.record_batch(columns)
    return assign_ids(schema_from_arrow(batch.schema), 1)[0], batch


def spark_type(*fields: tuple[str, Any]) -> dict[str, Any]:
    listed = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in fields]
    return {"type": "struct", "fields": listed}


def spark_struct(*fields: tuple[str, Any]) -> str:
    return json.dumps(spark_type(*fields))


@pytest.mark.parametrize("place", WRITTEN)
@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_every_schema_comes_back_from_every_place(
    place: str, tool: ReadTool, store: LocalStore, data: st.DataObject
) -> None:
    schema = data.draw(schemas(TYPES))
    rows = data.draw(batches(schema, min_rows=1, max_rows=60))
    size = data.draw(st.sampled_from((1, 7, 65_536)))
    wide = data.draw(st.sampled_from((16, 200, 8 * 2**20)))
    options = {**WRITTEN[place], "block_rows": size, "block_bytes": wide}
    entries = write(store, schema, rows, **options)
    gone = data.draw(st.sets(st.integers(0, rows.num_rows - 1)))
    vectors = {0: write_deletion_vector(store, "", JOB, DeletionVector.of(gone))} if gone else {}
    plan = plan_of(schema, entries, vectors, whole=data.draw(st.booleans()))
    found = tool.rows(store.url, plan, spark_schema(schema))
    expected = expected_rows(rows, schema)
    assert found == [row for at, row in enumerate(expected) if at not in gone]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("folder", FOLDERS)
def test_an_earlier_rowset_is_read(folder: str, place: str, tool: ReadTool) -> None:
    plan = plan_of(SCHEMA, [entry_of(folder, place)])
    found = tool.rows(golden_store(folder).url, plan, spark_schema(SCHEMA))
    assert found == expected_rows(golden_rows(), SCHEMA)


def test_columns_that_were_added_later_are_null(tool: ReadTool, store: LocalStore) -> None:
    schema, rows = table(a=pa.array([1, 2, 3]))
    entries = write(store, schema, rows)
    listed = pa.list_(pa.field("element", pa.int64()))
    later = schema_from_arrow(
        pa.schema([("a", pa.int64()), ("s", pa.string()), ("l", listed), ("d", pa.float64())])
    )
    later = assign_ids(later, 1)[0]
    found = tool.rows(store.url, plan_of(later, entries), spark_schema(later))
    assert found == [["1", None, None, None], ["2", None, None, None], ["3", None, None, None]]


def test_metadata_columns_say_where_a_row_is_stored(tool: ReadTool, store: LocalStore) -> None:
    schema, rows = table(a=pa.array(np.arange(10)))
    entries = write(store, schema, rows, block_rows=4) + write(store, schema, rows.slice(0, 2))
    vector = write_deletion_vector(store, "", JOB, DeletionVector.of([0, 5, 8, 9]))
    wanted = spark_struct(
        *(("_row_handler", "long"), ("a", "long"), ("_rowset", "long"), ("_row", "long")),
        ("_epoch", "long"),
    )
    found = tool.rows(store.url, plan_of(schema, entries, {0: vector}), wanted)
    first = [[str(7 << 32 | i), str(i), "7", str(i), "3"] for i in (1, 2, 3, 4, 6, 7)]
    second = [[str(8 << 32 | i), str(i), "8", str(i), "4"] for i in (0, 1)]
    assert found == first + second


def test_a_scan_without_columns_counts_the_rows_left(tool: ReadTool, store: LocalStore) -> None:
    schema, rows = table(a=pa.array(np.arange(100)))
    entries = write(store, schema, rows, block_rows=30)
    gone = DeletionVector.of([*range(30, 60), 99])
    plan = plan_of(schema, entries, {0: write_deletion_vector(store, "", JOB, gone)})
    answer = tool.answer(store.url, plan, spark_struct())
    assert answer["batches"] == [30, 30, 9]  # a stretch without a row left gives no batch
    assert len(answer["rows"]) == 69


def test_ranges_are_read_alone(tool: ReadTool, store: LocalStore) -> None:
    schema, rows = table(a=pa.array(np.arange(100)))
    plan = plan_of(schema, write(store, schema, rows, block_rows=10), ranges=[(20, 40), (90, 100)])
    found = tool.rows(store.url, plan, spark_schema(schema))
    assert found == [[str(i)] for i in (*range(20, 40), *range(90, 100))]


def test_some_fields_of_nested_columns_are_read_alone(tool: ReadTool, store: LocalStore) -> None:
    inner = pa.struct([("x", pa.int32()), ("y", pa.string()), ("z", pa.list_(pa.int64()))])
    outer = pa.struct([("i", inner), ("n", pa.int64()), ("l", pa.list_(inner))])
    values = [
        {"i": {"x": 1, "y": "a", "z": [1, 2]}, "n": 5, "l": [{"x": 2, "y": "b", "z": []}]},
        None,
        {"i": None, "n": 6, "l": [None, {"x": None, "y": "c", "z": None}]},
        {"i": {"x": None, "y": None, "z": [None]}, "n": None, "l": None},
    ]
    maps = pa.array([[("k", {"x": 1})]] * 4, pa.map_(pa.string(), inner))
    schema, rows = table(s=pa.array(values, outer), m=maps)
    entries = write(store, schema, rows)
    y, x = spark_type(("Y", "string")), spark_type(("x", "integer"))
    lists = {"type": "array", "elementType": y, "containsNull": True}
    map_type = {"type": "map", "keyType": "string", "valueType": x, "valueContainsNull": True}
    wanted = spark_struct(("m", map_type), ("s", spark_type(("l", lists), ("i", y))))
    vector = write_deletion_vector(store, "", JOB, DeletionVector.of([1]))
    found = tool.rows(store.url, plan_of(schema, entries, {0: vector}), wanted)
    map_value = [["k"], [["1"]]]
    assert found == [
        [map_value, [[["b"]], ["a"]]],
        [map_value, [[None, ["c"]], None]],
        [map_value, [None, [None]]],
    ]


def test_blocks_of_different_heights_meet_in_batches_of_the_lowest(
    tool: ReadTool, store: LocalStore
) -> None:
    texts = [f"{i:05}" * (1 + i % 40) for i in range(300)]
    schema, rows = table(
        n=pa.array(np.arange(300) ** 2), t=pa.array(texts), w=pa.array(texts[::-1])
    )
    entries = write(store, schema, rows, block_rows=100, block_bytes=1500, inline_bytes=0)
    gone = DeletionVector.of(range(0, 300, 7))
    vectors = {0: write_deletion_vector(store, "", JOB, gone)}
    answer = tool.answer(store.url, plan_of(schema, entries, vectors), spark_schema(schema))
    assert len(answer["batches"]) > 30
    kept = [row for i, row in enumerate(expected_rows(rows, schema)) if i % 7]
    assert answer["rows"] == kept


@pytest.mark.parametrize("gone", [{1}, {0, 4_999}, {2_500, 2_501, 2_502}, {0, 1, 4_998, 4_999}])
def test_a_few_deleted_rows_divide_the_batches_of_columns_of_any_kind(
    tool: ReadTool, store: LocalStore, gone: set[int]
) -> None:
    count = 12_345
    numbers = np.arange(count)
    point = pa.struct([("x", pa.int32()), ("note", pa.string())])
    listed = pa.list_(pa.field("element", pa.int64()))
    schema, rows = table(
        n=pa.array(numbers * 3),
        same=pa.array(np.full(count, 7)),
        real=pa.array(numbers / 3, mask=numbers % 5 == 0),
        flag=pa.array(numbers % 3 == 0),
        text=pa.array([f"{number % 90}" for number in range(count)]),
        long=pa.array([f"row {number}" for number in range(count)]),
        wide=pa.array(numbers).cast(pa.decimal128(38, 2)),
        point=pa.array(
            [{"x": n, "note": str(n)} if n % 4 else None for n in range(count)], type=point
        ),
        listed=pa.array([[*range(n % 4)] if n % 7 else None for n in range(count)], type=listed),
    )
    entries = write(store, schema, rows, block_rows=5_000, block_bytes=40_000)
    vectors = {0: write_deletion_vector(store, "", JOB, DeletionVector.of(gone))}
    wanted = json.loads(spark_schema(schema))
    wanted["fields"] += spark_type(("_row", "long"))["fields"]
    plan = plan_of(schema, entries, vectors)
    found = tool.rows(store.url, plan, json.dumps(wanted))
    expected = expected_rows(rows, schema)
    assert found == [[*row, str(at)] for at, row in enumerate(expected) if at not in gone]


@pytest.mark.parametrize("one_object", [False, True])
def test_many_windows_and_rowsets_come_in_order(
    tool: ReadTool, store: LocalStore, one_object: bool
) -> None:
    rng = np.random.default_rng(1)
    schema, rows = table(
        a=pa.array(rng.bytes(3 * 2**20)[i : i + 2**20] for i in range(0, 3 * 2**20, 2**20)),
        n=pa.array([1, 2, 3]),
    )
    options: dict[str, Any] = {"block_rows": 1, "packed_bytes": 0, "one_object": one_object}
    entries = [e for _ in range(7) for e in write(store, schema, rows, **options)]
    assert {entry.place for entry in entries} == {"packed" if one_object else "directory"}
    found = tool.rows(store.url, plan_of(schema, entries), spark_schema(schema))
    assert found == expected_rows(rows, schema) * 7


def test_names_differ_by_case_and_types_must_agree(tool: ReadTool, store: LocalStore) -> None:
    schema, rows = table(Name=pa.array([1, 2]))
    plan = plan_of(schema, write(store, schema, rows))
    assert tool.rows(store.url, plan, spark_struct(("nAME", "long"))) == [["1"], ["2"]]
    answer = tool.answer(store.url, plan, spark_struct(("Name", "string")))
    assert "Column 'Name' of type long cannot be read as string." in answer["crash"]
    answer = tool.answer(store.url, plan, spark_struct(("other", "long")))
    assert "Column 'other' does not exist." in answer["crash"]


@pytest.mark.parametrize("place", WRITTEN)
def test_other_stores_are_read_through_hadoop(
    tool: ReadTool, store: LocalStore, place: str
) -> None:
    schema, rows = table(n=pa.array(range(1000)), s=pa.array([str(i) for i in range(1000)]))
    entries = write(store, schema, rows, **{**WRITTEN[place], "block_rows": 300})
    url = f"shelf://{store.url}"
    plan = plan_of(schema, entries)
    assert tool.rows(url, plan, spark_schema(schema)) == expected_rows(rows, schema)
    for each in store.list(""):
        path = Path(store.url, each.name)
        data = path.read_bytes()
        path.write_bytes(data[:-1])
        error = tool.answer(url, plan, spark_schema(schema))["error"]
        assert f"{url}/{each.name} is truncated: " in error
        path.unlink()
        error = tool.answer(url, plan, spark_schema(schema))["error"]
        assert f"{url}/{each.name} is missing, though the log names it." in error
        path.write_bytes(data)


def test_a_stretch_of_any_height_is_read_in_parts(tool: ReadTool, store: LocalStore) -> None:
    count = 2 * 2**20 + 5
    schema, rows = table(n=pa.nulls(count, pa.int64()), s=pa.array(["x"]).take([0] * count))
    entries = write(store, schema, rows, block_rows=count)
    gone = write_deletion_vector(store, "", JOB, DeletionVector.of([0, 2**20, count - 1]))
    wanted = spark_struct(("_row", "long"))
    plan = plan_of(schema, entries, {0: gone})
    answer = tool.answer(store.url, plan, wanted, edges=True)
    # The first two batches end at a deleted row, and at the most rows of a batch.
    assert answer["batches"] == [2**20 - 1, 2**20, 3]
    assert answer["rows"] == [
        *(["1"], [str(2**20 - 1)]),
        *([str(2**20 + 1)], [str(2**21)]),
        *([str(2**21 + 1)], [str(count - 2)]),
    ]


@pytest.mark.parametrize("place", PLACES)
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_replaced_columns_are_read_from_where_they_are(
    place: str, tool: ReadTool, store: LocalStore, data: st.DataObject
) -> None:
    schema = data.draw(schemas(TYPES))
    rows = data.draw(batches(schema, min_rows=1, max_rows=40))
    other = data.draw(batches(schema, min_rows=rows.num_rows, max_rows=rows.num_rows))
    chosen = data.draw(st.sets(st.sampled_from(schema.fields), min_size=1))
    size = data.draw(st.sampled_from((7, 65_536)))
    [entry] = write(store, schema, rows, block_rows=size)
    fields = tuple(field for field in schema.fields if field in chosen)
    part = other.select([field.name for field in fields])
    [stored] = write(
        store, TableSchema(fields=fields), part, **{**PLACES[place], "block_rows": size}
    )
    replacement = replacement_of(stored, [field.id for field in fields])
    replaced = entry.model_copy(update={"replacements": (replacement,)})
    columns = [(other if field in chosen else rows).column(field.name) for field in schema.fields]
    expected = pa.record_batch(columns, schema=rows.schema)
    found = tool.rows(store.url, plan_of(schema, [replaced]), spark_schema(schema))
    assert found == expected_rows(expected, schema)


@pytest.mark.parametrize("wanted", [["c3"], ["id", "c7", "c15"]])
def test_a_scan_of_k_columns_behind_hadoop_costs_k_reads_and_one(
    tool: ReadTool, store: LocalStore, wanted: list[str]
) -> None:
    rng = np.random.default_rng(4)
    columns = {f"c{i}": pa.array(rng.integers(0, 2**62, 20_000)) for i in range(16)}
    schema, rows = table(id=pa.array(range(20_000)), **columns)
    options: dict[str, Any] = {"one_object": True, "packed_bytes": 0, "block_rows": 5000}
    [entry] = write(store, schema, rows, **options)
    assert entry.bytes > 2 * 2**20
    plan = plan_of(schema, [entry])
    answer = tool.answer(f"shelf://{store.url}", plan, spark_schema(schema.select(wanted)))
    assert answer["rows"] == expected_rows(rows.select(wanted), schema.select(wanted))
    assert answer["opened"] <= 1 + len(wanted)


def test_a_column_of_many_bytes_behind_hadoop_is_one_read(
    tool: ReadTool, store: LocalStore
) -> None:
    rng = np.random.default_rng(5)
    schema, rows = table(wide=pa.array([rng.bytes(2**20) for _ in range(12)], pa.binary()))
    [entry] = write(store, schema, rows, one_object=True, packed_bytes=0, block_rows=1)
    plan = plan_of(schema, [entry])
    answer = tool.answer(f"shelf://{store.url}", plan, spark_schema(schema))
    assert answer["rows"] == expected_rows(rows, schema)
    assert answer["opened"] <= 2


Large = tuple[RowSetEntry, TableSchema, list[Any], DeletionVectorEntry]


@pytest.fixture
def large(store: LocalStore) -> Large:
    """A RowSet with more bytes than a window, most of them of deleted rows."""
    rng = np.random.default_rng(6)
    texts = [[rng.bytes(10 if i % 2 else 2**21) for i in range(12)] for _ in range(3)]
    columns = {name: pa.array(each, pa.binary()) for name, each in zip("bcd", texts, strict=True)}
    uneven = [rng.bytes(10), b"", None, rng.bytes(30_000), b"", b"e"]
    twice = {
        "a": pa.array([i // 2 for i in range(12)]),
        "e": pa.array([uneven[i // 2] for i in range(12)], pa.binary()),
    }
    schema, rows = table(**twice, **columns)
    [entry] = write(store, schema, rows, one_object=True, packed_bytes=0, block_rows=2)
    assert entry.bytes > 33 * 2**20, "more than one window"
    # The tool takes long to print many bytes.
    vector = write_deletion_vector(store, "", JOB, DeletionVector.of(range(0, 12, 2)))
    return entry, schema, expected_rows(rows, schema)[1::2], vector


@pytest.mark.parametrize("cached", [False, pytest.param(True, marks=pytest.mark.long)])
def test_each_column_of_a_large_rowset_behind_hadoop_is_one_read(
    tool: ReadTool, store: LocalStore, large: Large, tmp_path: Path, cached: bool
) -> None:
    entry, schema, live, vector = large
    plan = plan_of(schema, [entry], {0: vector})
    cache = {"folder": str(tmp_path / "cache"), "bytes": 1 << 30}
    for opened in (5, 0) if cached else (5,):  # the footer, and each column that has bytes
        answer = tool.answer(
            f"shelf://{store.url}", plan, spark_schema(schema), cache if cached else None
        )
        assert answer["rows"] == live
        assert answer["opened"] == opened


def test_runs_leave_half_of_the_connections_to_other_reads(
    tool: ReadTool, store: LocalStore, large: Large
) -> None:
    entry, schema, live, vector = large
    plan = plan_of(schema, [entry], {0: vector})
    for connections, in_runs in (("10", True), ("9", False)):
        conf = {"fs.s3a.connection.maximum": connections}
        answer = tool.answer(f"shelf://{store.url}", plan, spark_schema(schema), conf=conf)
        assert answer["rows"] == live
        assert (answer["opened"] == 5) is in_runs


@pytest.mark.parametrize(("stopped", "times", "millis"), [("early", 30, 0), ("killed", 3, 100)])
def test_a_reader_that_is_stopped_leaves_nothing_open(
    tool: ReadTool, store: LocalStore, large: Large, stopped: str, times: int, millis: int
) -> None:
    entry, schema, live, vector = large
    plan, url, wanted = plan_of(schema, [entry]), f"shelf://{store.url}", spark_schema(schema)
    conf = {"shelf.open.millis": str(millis)}
    assert tool.answer(url, plan, wanted, conf=conf, stopped=stopped, times=times)["open"] == 0
    answer = tool.answer(url, plan_of(schema, [entry], {0: vector}), wanted)
    assert answer["rows"] == live
    assert answer["opened"] == 5, "all requests are free again"


def test_a_small_rowset_behind_hadoop_is_one_read(tool: ReadTool, store: LocalStore) -> None:
    schema, rows = table(n=pa.array(range(3000)), s=pa.array([str(i) for i in range(3000)]))
    entries = write(store, schema, rows, inline_bytes=0, block_rows=400)
    answer = tool.answer(f"shelf://{store.url}", plan_of(schema, entries), spark_schema(schema))
    assert answer["rows"] == expected_rows(rows, schema)
    assert answer["opened"] == 1
