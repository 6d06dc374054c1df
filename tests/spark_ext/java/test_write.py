"""Rows written by the JVM are what Python reads, in the same encodings and with the same bounds."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manifests.entries import RowSetEntry, SortField
from manifests.errors import InvalidInputError, StoreError
from manifests.schema import SchemaField, StructType, TableSchema, assign_ids
from manifests.statistics import encode_bound
from manifests.store import LocalStore, open_store
from tableformat.arrow_types import arrow_schema, schema_from_arrow
from tableformat.block import BlockEntry
from tableformat.column import column_of
from tableformat.conform import conform
from tableformat.conversion import match_fields
from tableformat.encodings import lengths
from tableformat.rowset_reader import RowSetReader
from tableformat.rowset_writer import RowSetWriter
from tableformat.write_job import write_options
from tableformat.write_settings import WriteSettings
from tests.spark_ext.java.read_tool import ReadTool, expected_rows, plan_of, spark_schema
from tests.spark_ext.java.write_tool import JOB, PREFIX, WriteTool, read
from tests.strategies import PRIMITIVES, batches, identical, make_batch, schemas

PLACES = {
    "inline": {"inline_bytes": 2**20},
    "packed": {"inline_bytes": 0},
    "directory": {"inline_bytes": 0, "packed_bytes": 0},
}


@pytest.fixture(scope="module")
def writer(class_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WriteTool]:
    with WriteTool(class_path, tmp_path_factory.mktemp("writer")) as running:
        yield running


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A new folder each time."""
    return (tmp_path_factory.mktemp("db") for _ in iter(int, 1))


def by_python(
    url: Path, schema: TableSchema, *rows: pa.RecordBatch, **options: Any
) -> tuple[RowSetEntry, ...]:
    """The same rows written by the Python writer."""
    chosen = replace(write_options(schema, (), WriteSettings()), **options)
    with RowSetWriter(LocalStore(url), PREFIX, JOB, schema, (), chosen) as writer:
        for batch in rows:
            writer.write(batch)
        return writer.close()


def blocks(url: Path, schema: TableSchema, entry: RowSetEntry) -> list[list[BlockEntry]]:
    """For each column what the index knows about its blocks, but for how many bytes they take.

    Arrow counts the bits of a slice in whole bytes of where it comes from, so that even the decoded
    size depends on it.
    """
    reader = RowSetReader(LocalStore(url), PREFIX, entry)
    found = []
    for field in schema.fields:
        opened = reader._open(column_of(field))
        assert opened is not None
        found.append(
            [replace(each, length=0, crc32c=0, decoded=0) for each in opened.index.entries]
        )
    return found


def one_column(array: pa.Array) -> tuple[TableSchema, pa.RecordBatch]:
    batch = pa.record_batch([array], ["a"])
    return assign_ids(schema_from_arrow(batch.schema), 1)[0], batch


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("unsafe", [True, False])
@pytest.mark.parametrize("text", PRIMITIVES)
def test_every_type_is_written_like_python_does(
    writer: WriteTool, folders: Iterator[Path], text: str, unsafe: bool, place: str
) -> None:
    fields = [SchemaField(name=f"c{i}", type=text, nullable=i > 0) for i in range(3)]
    schema = assign_ids(TableSchema(fields=tuple(fields)), 1)[0]
    rows = make_batch(schema, 301, sum(map(ord, text)))
    options = {"block_rows": 100, "block_bytes": 2000, **PLACES[place]}
    url, other = next(folders), next(folders)
    (entry,) = writer.write(url, schema, rows, unsafe=unsafe, options=options)
    (expected,) = by_python(other, schema, rows, **options)
    assert identical(read(url, schema, (entry,)), rows)
    assert blocks(url, schema, entry) == blocks(other, schema, expected)
    assert entry.statistics == expected.statistics
    assert (entry.place, entry.rows, entry.cuts) == (place, 301, expected.cuts)


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_every_schema_comes_back(
    writer: WriteTool, tool: ReadTool, folders: Iterator[Path], data: st.DataObject
) -> None:
    schema = data.draw(schemas())
    rows = data.draw(batches(schema, min_rows=1, max_rows=60))
    options = {
        "block_rows": data.draw(st.sampled_from((1, 7, 65_536))),
        "block_bytes": data.draw(st.sampled_from((16, 200, 8 * 2**20))),
        **PLACES[data.draw(st.sampled_from(tuple(PLACES)))],
    }
    url, other = next(folders), next(folders)
    unsafe = data.draw(st.booleans())
    (entry,) = writer.write(url, schema, rows, options=options, unsafe=unsafe)
    (expected,) = by_python(other, schema, rows, **options)
    assert identical(read(url, schema, (entry,)), rows)
    if options["block_bytes"] > 200:
        assert blocks(url, schema, entry) == blocks(other, schema, expected)
    assert entry.statistics == expected.statistics
    plan = plan_of(schema, (entry,), prefix=PREFIX)
    found = tool.rows(str(url), plan, spark_schema(schema))
    assert found == expected_rows(rows, schema)


def test_blocks_are_divided_and_statistics_cut_as_in_python(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    rng = np.random.default_rng(7)
    count = 20_000
    names = np.array([f"name {i} " + "é" * (i % 90) for i in range(300)])
    rows = pa.record_batch(
        {
            "wide": pa.array([chr(0xD7FF) * 70 + str(i) for i in range(count)]),
            "few": pa.array(names[rng.integers(0, 300, count)]),
            "raw": pa.array([bytes([255]) * 80] * count, pa.binary()),
            "id": pa.array(rng.permutation(count) + 2**40),
            "near": pa.array(rng.integers(0, 60_000, count)),
            "few_longs": pa.array(rng.choice([2**62, -(2**62), 5], count)),
            "random": pa.array(rng.integers(-(2**62), 2**62, count)),
            "price": pa.array(rng.integers(0, 10**9, count)).cast(pa.decimal128(19, 0)),
            "few_prices": pa.array(rng.integers(0, 9, count) * 10**12).cast(pa.decimal128(38, 0)),
            "ratio": pa.array(rng.random(count)),
            "steps": pa.array(rng.integers(0, 11, count) / 10),
            "zeros": pa.array(np.where(rng.random(count) < 0.5, 0.0, -0.0)),
            "notes": pa.array([str(i) for i in range(count)], mask=rng.random(count) < 0.2),
            "letters": pa.array([f"{i}" + "é" * (i % 200) for i in range(count)]),
            "files": pa.array([b"\0" * (i == 7) * 70_000 + b"%d" % i for i in range(count)]),
            "holes": pa.array(rng.random(count), mask=rng.random(count) < 0.3),
        }
    )
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    url, other = next(folders), next(folders)
    (entry,) = writer.write(url, schema, rows)
    parts = [rows.slice(at, 500) for at in range(0, count, 500)]
    (expected,) = by_python(other, schema, *parts)
    assert identical(read(url, schema, (entry,)), rows)
    found = blocks(url, schema, entry)
    assert found == blocks(other, schema, expected)
    texts = [each.encoding for column in found[12:15] for each in column]
    assert texts == [lengths.NAME] * 3
    assert entry.statistics == expected.statistics
    assert entry.bytes < 1.02 * expected.bytes


@pytest.mark.parametrize("place", PLACES)
def test_entry_bytes_are_what_the_store_holds(
    writer: WriteTool, folders: Iterator[Path], place: str
) -> None:
    schema, rows = one_column(pa.array([str(i) for i in range(5000)]))
    url = next(folders)
    options = {"block_rows": 999, **PLACES[place]}
    (entry,) = writer.write(url, schema, rows, options=options)
    objects = [path for path in url.rglob("*") if path.is_file()]
    assert entry.place == place
    assert not [path for path in objects if path.name.startswith(".")]
    if place == "inline":
        assert not objects
    else:
        assert sum(path.stat().st_size for path in objects) == entry.bytes
    assert entry.object.startswith(JOB)


def test_no_rows_make_no_rowset(writer: WriteTool, folders: Iterator[Path]) -> None:
    schema, rows = one_column(pa.array([1, 2]))
    url = next(folders)
    assert writer.write(url, schema, rows.slice(0, 0)) == ()
    assert not list(url.iterdir())


def test_rowsets_end_by_rows_and_by_bytes(writer: WriteTool, folders: Iterator[Path]) -> None:
    schema, rows = one_column(pa.array(np.random.default_rng(0).integers(0, 2**62, 10_000)))
    options = {"block_rows": 1024}
    limited = WriteSettings(max_records=3000)
    by_rows = writer.write(next(folders), schema, rows, settings=limited, options=options)
    assert [entry.rows for entry in by_rows] == [3000, 3000, 3000, 1000]
    assert all(entry.cuts == 1024 for entry in by_rows)
    small = WriteSettings(target_bytes=20_000)
    by_bytes = writer.write(next(folders), schema, rows, settings=small, options=options)
    assert [entry.rows for entry in by_bytes] == [3072, 3072, 3072, 784]


def test_wide_rows_are_cut_before_they_are_many(writer: WriteTool, folders: Iterator[Path]) -> None:
    schema, rows = one_column(pa.array([[f"{i}" * 50] * 40 for i in range(600)]))
    url = next(folders)
    (entry,) = writer.write(url, schema, rows, options={"cut_bytes": 300_000})
    assert not isinstance(entry.cuts, int)
    assert len(entry.cuts) > 2
    assert identical(read(url, schema, (entry,)), rows)


def test_a_row_larger_than_the_buffer_is_written(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    schema, rows = one_column(pa.array(["a", "b" * 300_000, None, "c" * 100_000, "d" * 100_000]))
    url = next(folders)
    assert identical(read(url, schema, writer.write(url, schema, rows)), rows)


def test_more_columns_than_open_files_are_written(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    rows = pa.record_batch({f"c{i}": pa.array(range(i, i + 20)) for i in range(300)})
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    url = next(folders)
    entries = writer.write(url, schema, rows, options=PLACES["directory"])
    assert entries[0].place == "directory"
    assert identical(read(url, schema, entries), rows)


@pytest.mark.parametrize("place", PLACES)
def test_an_entry_says_that_its_objects_were_not_synced(
    writer: WriteTool, folders: Iterator[Path], place: str
) -> None:
    schema, rows = one_column(pa.array(range(5)))
    loose = WriteSettings(sync=False)
    options = PLACES[place]
    (entry,) = writer.write(next(folders), schema, rows, options=options, settings=loose)
    assert entry.unsynced == (place != "inline")
    (entry,) = writer.write(next(folders), schema, rows, options=options)
    assert not entry.unsynced


def test_columns_are_found_by_name_in_any_order_and_case(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    inner = pa.struct([("x", pa.int32()), ("y", pa.string())])
    rows = pa.record_batch(
        {"a": pa.array([1, 2]), "s": pa.array([{"x": 3, "y": "t"}, None], inner)}
    )
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    other = pa.struct([("Y", pa.string()), ("X", pa.int32())])
    given_rows = pa.record_batch(
        {"S": pa.array([{"Y": "t", "X": 3}, None], other), "A": pa.array([1, 2])}
    )
    url = next(folders)
    shown = spark_schema(schema_from_arrow(given_rows.schema))
    entries = writer.write(url, schema, given_rows, row_schema=shown)
    assert identical(read(url, schema, entries), rows)


def field(text: str, nullable: bool = True) -> TableSchema:
    return assign_ids(
        TableSchema(fields=(SchemaField(name="a", type=text, nullable=nullable),)), 1
    )[0]


def broken_text() -> pa.Array:
    raw = pa.array([b"fine", b"\xff\xfe"], pa.binary())
    return pa.Array.from_buffers(pa.string(), 2, raw.buffers())


REFUSED = {
    "not null": (field("long", False), pa.array([1, None, None])),
    "varchar": (field("varchar(3)"), pa.array(["abc", "日本語四五", "abcd"])),
    "char": (field("char(2)"), pa.array(["abc"])),
    "interval year": (field("interval year"), pa.array([12, 13], pa.int32())),
    "interval day": (field("interval day"), pa.array([86_400_000_000, 7], pa.duration("us"))),
    "time": (field("time(3)"), pa.array([1_000_000, 999], pa.time64("ns"))),
    "text": (field("string"), broken_text()),
}


@pytest.mark.parametrize("unsafe", [True, False])
@pytest.mark.parametrize("case", REFUSED)
def test_values_are_refused_with_the_sentence_of_python(
    writer: WriteTool, folders: Iterator[Path], case: str, unsafe: bool
) -> None:
    schema, array = REFUSED[case]
    kind = arrow_schema(schema)
    loose = pa.record_batch([array], ["a"])
    with pytest.raises(InvalidInputError) as refused:
        conform(pa.RecordBatch.from_arrays([array], schema=kind), schema)
    url = next(folders)
    sentence = writer.error(url, schema, loose, unsafe=unsafe)
    assert sentence == f"[{refused.value.code}] {refused.value}"
    assert not list(url.rglob("*"))


@pytest.mark.parametrize("text", ["decimal(9,2)", "decimal(18,0)", "decimal(20,2)"])
@pytest.mark.parametrize("sign", [1, -1])
def test_decimals_of_too_many_digits_are_refused(
    writer: WriteTool, folders: Iterator[Path], text: str, sign: int
) -> None:
    schema, kind = field(text), pa.decimal128(*map(int, text[8:-1].split(",")))
    most = 10**kind.precision
    for size in (most - 1, most):
        value = sign * size
        words = pa.array([Decimal(value)], pa.decimal128(38, 0)).buffers()
        decimal = pa.Array.from_buffers(kind, 1, words)
        # Unsafe rows hold decimals as a long or as the bytes of a BigInteger.
        plain = pa.array(
            [value] if kind.precision <= 18 else [value.to_bytes(16, "big", signed=True)]
        )
        layout = spark_schema(schema_from_arrow(pa.schema([("a", plain.type)])))
        given_rows = pa.record_batch([plain], ["a"])
        if size < most:
            url = next(folders)
            entries = writer.write(url, schema, given_rows, layout=layout)
            assert read(url, schema, entries).column(0).equals(decimal)
            continue
        with pytest.raises(InvalidInputError) as refused:
            conform(pa.RecordBatch.from_arrays([decimal], schema=arrow_schema(schema)), schema)
        sentence = writer.error(next(folders), schema, given_rows, layout=layout)
        assert sentence == f"[{refused.value.code}] {refused.value}"


def test_null_below_a_null_parent_breaks_no_promise(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    inner = SchemaField(name="x", type="int", nullable=False)
    shape = StructType(fields=(inner,))
    schema = assign_ids(TableSchema(fields=(SchemaField(name="s", type=shape),)), 1)[0]
    kind = arrow_schema(schema)
    rows = pa.record_batch([pa.array([{"x": 1}, None], kind[0].type)], schema=kind)
    url = next(folders)
    assert identical(read(url, schema, writer.write(url, schema, rows)), rows)
    loose = pa.struct([("x", pa.int32())])
    wrong = pa.record_batch([pa.array([{"x": 1}, None, {"x": None}], loose)], ["s"])
    shown = spark_schema(schema_from_arrow(wrong.schema))
    assert writer.error(next(folders), schema, wrong, row_schema=shown) == (
        "[COLONNADE_INVALID_INPUT] Column 's.x' is NOT NULL, but the data has 1 NULL."
    )


def test_rows_of_other_columns_or_types_are_refused(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    schema, rows = one_column(pa.array([1, 2]))
    others = {
        "long, but the data holds int": field("int"),
        "long, but the data holds decimal(18,0)": field("decimal(18,0)"),
    }
    for sentence, other in others.items():
        error = writer.error(next(folders), schema, rows, row_schema=spark_schema(other))
        assert sentence in error
    unknown = TableSchema(fields=(SchemaField(name="it's", type="long"),))
    with pytest.raises(InvalidInputError) as refused:
        match_fields(["it's"], ["a"], "The data")
    error = writer.error(next(folders), schema, rows, row_schema=spark_schema(unknown))
    assert error == f"[{refused.value.code}] {refused.value}"


def test_a_store_that_is_no_local_disk_is_refused(writer: WriteTool) -> None:
    schema, rows = one_column(pa.array([1, 2]))
    with pytest.raises(InvalidInputError) as refused:
        open_store("memory://db").require_writable()
    error = writer.error("memory://db", schema, rows)
    assert error == f"[{refused.value.code}] {refused.value}"


@pytest.mark.parametrize("place", ["packed", "directory"])
def test_an_aborted_task_leaves_nothing(
    writer: WriteTool, folders: Iterator[Path], place: str
) -> None:
    schema, rows = one_column(pa.array(np.random.default_rng(0).integers(0, 2**62, 10_000)))
    url = next(folders)
    options = {"block_rows": 1000, **PLACES[place]}
    limited = WriteSettings(max_records=3000)
    writer.answer(url, schema, rows, abort=True, options=options, settings=limited)
    assert not [path for path in url.rglob("*") if path.is_file()]
    assert not list(url.glob(f"{PREFIX}*"))


@pytest.mark.skipif(
    subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode != 0,
    reason="needs a mount namespace of its own",
)
def test_a_disk_that_is_full_is_said_and_left_as_it_was(
    class_path: str, tmp_path: Path, folders: Iterator[Path]
) -> None:
    schema, rows = one_column(pa.array(np.random.default_rng(0).integers(0, 2**62, 50_000)))
    url = next(folders)
    small_disk = 'mount -t tmpfs -o size=100k tmpfs "$0" && exec "$@"'
    before = ["unshare", "-rm", "sh", "-c", small_disk, str(url)]
    with WriteTool(class_path, tmp_path, before) as limited:
        for place in ("packed", "directory"):
            error = limited.error(url, schema, rows, options=PLACES[place])
            assert error.startswith(f"[COLONNADE_STORE] {url}/{PREFIX}{JOB}")
            assert error.endswith(
                " could not be written: the disk is full; free some space and run this again."
            )
            inside = Path(f"/proc/{limited.pid}/root{url}")
            assert [path.name for path in inside.rglob("*")] == ["t"]


def test_a_folder_that_is_a_link_is_not_written_through(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    schema, rows = one_column(pa.array([1, 2]))
    url, elsewhere = next(folders), next(folders)
    (url / "t").symlink_to(elsewhere)
    error = writer.error(url, schema, rows, options=PLACES["packed"])
    with pytest.raises(StoreError) as refused:
        LocalStore(url).create("t/x", sync=False)
    reason = str(refused.value).partition("could not be written")[2]
    assert error.startswith("[COLONNADE_STORE] ")
    assert error.endswith(reason)
    assert not list(elsewhere.iterdir())


def test_a_sort_key_is_verified_row_by_row(writer: WriteTool, folders: Iterator[Path]) -> None:
    rows = pa.record_batch(
        {
            "f": pa.array([None, -1.0, -0.0, 0.0, float("nan"), float("nan")]),
            "s": pa.array(["z", "y", "é", None, "b", "a"]),
        }
    )
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    key = [SortField(column=1), SortField(column=2, descending=True)]
    url = next(folders)
    options = {"block_rows": 2}
    assert identical(read(url, schema, writer.write(url, schema, rows, key=key)), rows)
    writer.write(url, schema, rows, key=key, options=options)
    for order in ([1, 0, 2, 3, 4, 5], [0, 1, 3, 2, 4, 5], [0, 1, 2, 3, 5, 4], [0, 1, 2, 4, 3, 5]):
        error = writer.error(url, schema, rows.take(pa.array(order)), key=key, options=options)
        assert "order of the table's sort key" in error


def test_bounds_of_floats_are_what_python_writes(
    writer: WriteTool, folders: Iterator[Path]
) -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(0, 2**64, 300, np.uint64).view(np.float64)
    powers = 2.0 ** np.arange(-1074, 1024, 23)
    tens = 10.0 ** np.arange(-20, 25)
    plain = np.array([0.1, 1e16, 123456789012345680.0, 9007199254740993.0, 5e-324, -1e-5, 1e22])
    found = np.concatenate([values, powers, tens, plain, -tens])
    finite = found[np.isfinite(found)]
    columns = {f"c{i}": pa.array([value]) for i, value in enumerate(finite)}
    rows = pa.record_batch(columns)
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    url = next(folders)
    (entry,) = writer.write(url, schema, rows)
    footer = RowSetReader(LocalStore(url), PREFIX, entry)._segments
    texts = [footer[each.id].statistics.min for each in schema.fields]
    assert texts == [encode_bound(float(value)) for value in finite]
