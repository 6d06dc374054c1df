"""The JVM's writer refuses what the Python writer refuses, with the same sentences."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.entries import SortField
from colonnade.manifests.model.schema import SchemaField, StructType, TableSchema, assign_ids
from colonnade.tableformat.types.arrow_types import arrow_schema, schema_from_arrow
from colonnade.tableformat.types.conform import conform
from colonnade.tableformat.types.conversion import match_fields
from tests.spark_ext.java.read_tool import spark_schema
from tests.spark_ext.java.write_tool import (
    WriteTool,
    one_column,
    read,
)
from tests.strategies import identical


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
    expected = str(refused.value).replace("of the input", "of the task's input")
    assert sentence == f"[{refused.value.code}] {expected}"
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
        "[COLONNADE_INVALID_INPUT] Column 's.x' is NOT NULL, but the data has 1 NULL; give a"
        " value in each row."
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
