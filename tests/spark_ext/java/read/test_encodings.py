"""Every type in every encoding that the specification allows, also those no writer here chooses."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from google_crc32c import value as crc32c

from colonnade.manifests.model.codec import byte_check, encode_model
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import LocalStore
from colonnade.tableformat.rowset import ipc_stream
from colonnade.tableformat.rowset.block_statistics import Statistics, to_log
from colonnade.tableformat.rowset.column import column_of
from colonnade.tableformat.rowset.encodings import lengths
from colonnade.tableformat.rowset.encodings.encoding import BlockEntry
from colonnade.tableformat.rowset.encodings.integers import is_stored_as_integer
from colonnade.tableformat.rowset.footer import ColumnSegment, Footer, block_of
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.types.arrow_types import storage_type
from tests.spark_ext.java.read_tool import TYPES, ReadTool, expected_rows, plan_of, spark_schema
from tests.strategies import make_batch
from tests.tableformat.rowset.encoded import encode_block

ROWS = 50
WIDTHS = (pa.uint8(), pa.uint16(), pa.uint32(), pa.int64())


def storage(text: str) -> pa.DataType:
    return storage_type(SchemaField(id=3, name="a", type=text))


NARROWED = [
    pytest.param(text, width, id=f"{text} as {width}")
    for text in TYPES
    for width in WIDTHS
    if is_stored_as_integer(storage(text))
    and (width != pa.int64() or pa.types.is_decimal(storage(text)))
]


def lone_rowset(field: SchemaField, block: BlockEntry, data: bytes) -> RowSetEntry:
    """An inline RowSet of one block, whatever is in it."""
    column = column_of(field)
    segment = ColumnSegment(
        type=column.type_name,
        offset=0,
        length=len(data),
        decoded=block.decoded,
        block=block_of(block),
        statistics=to_log(block.statistics, column.bound_prefix),
    )
    footer = encode_model(Footer(rows=block.rows, cuts=65_536, columns={field.id: segment}))
    return RowSetEntry(
        object="0" * 32,
        place="inline",
        rows=block.rows,
        bytes=len(data) + len(footer),
        cuts=65_536,
        footer=byte_check(footer),
        data=base64.b64encode(data + footer).decode(),
    )


def stream_entry(
    field: SchemaField,
    stream: pa.Array,
    encoding: str,
    decoded: int,
    base: int | None = None,
    rows: int | None = None,
) -> RowSetEntry:
    """A RowSet of one block with exactly this stream, of as many rows unless told otherwise."""
    batch = pa.RecordBatch.from_arrays([stream], [str(field.id)])
    data = ipc_stream.encode_batch(batch, stream.nbytes).to_pybytes()
    statistics = Statistics(0, exact=False)
    count = len(stream) if rows is None else rows
    block = BlockEntry(count, len(data), decoded, crc32c(data), encoding, base, statistics)
    return lone_rowset(field, block, data)


def both_read(tool: ReadTool, tmp_path: Path, field: SchemaField, entry: RowSetEntry) -> list[Any]:
    """The rows that both readers see."""
    schema = TableSchema(fields=(field,))
    store = LocalStore(str(tmp_path))
    ((_, batch),) = RowSetReader(store, View.written(""), as_written(entry)).read(schema.fields)
    expected = expected_rows(batch, schema)
    assert tool.rows(store.url, plan_of(schema, [entry]), spark_schema(schema)) == expected
    return expected


def values_of(text: str, seed: int, nullable: bool = True) -> tuple[SchemaField, pa.Array]:
    field = SchemaField(id=3, name="a", type=text, nullable=nullable)
    rows = make_batch(TableSchema(fields=(field,)), ROWS, seed)
    return field, rows.column(0).view(storage_type(field)) if text != "variant" else rows.column(0)


def dictionary_of(array: pa.Array, index: pa.DataType) -> pa.DictionaryArray:
    """The different values of an array, floats by their bits, and where each row has its own."""
    kind = array.type
    ways: dict[Any, Any] = {
        pa.bool_(): pa.int8(),
        pa.float32(): pa.int32(),
        pa.float64(): pa.int64(),
    }
    other = ways.get(kind, kind)
    whole = array.cast(other) if kind == pa.bool_() else array.view(other)
    encoded = whole.dictionary_encode()
    values = encoded.dictionary
    values = values.cast(kind) if kind == pa.bool_() else values.view(kind)
    return pa.DictionaryArray.from_arrays(encoded.indices.cast(index), values)


@pytest.mark.parametrize("text", [each for each in TYPES if each != "variant"])
def test_a_dictionary_has_indexes_of_every_width(tool: ReadTool, tmp_path: Path, text: str) -> None:
    for index in (pa.int8(), pa.int16(), pa.int32()):
        for seed in range(3):
            field, array = values_of(text, seed)
            stream = dictionary_of(array, index)
            entry = stream_entry(field, stream, "dictionary", 2**20)
            rows = both_read(tool, tmp_path, field, entry)
            assert [each for (each,) in rows].count(None) == array.null_count


@pytest.mark.parametrize(("text", "width"), NARROWED)
def test_narrowed_integers_have_every_width_and_sign(
    tool: ReadTool, tmp_path: Path, text: str, width: pa.DataType
) -> None:
    field = SchemaField(id=3, name="a", type=text)
    arrow = storage_type(field)
    decimal = pa.types.is_decimal(arrow)
    high = np.iinfo(width.to_pandas_dtype()).max
    small = 9 if text == "decimal(1,0)" else 100
    for base in (0, 5, -3) if decimal else (0, 5, -100):
        large = small if arrow.bit_width < 64 or decimal else high
        numbers = [0, 1, small - 5, None, min(large, 2**31 if arrow.bit_width < 64 else 2**40)]
        stream = pa.array([each if each is None else min(each, high) for each in numbers], width)
        entry = stream_entry(field, stream, "narrowed", 2**20, base)
        rows = both_read(tool, tmp_path, field, entry)
        assert rows[0] == [str(base)]
        assert rows[3] == [None]


@pytest.mark.parametrize("text", ["string", "binary", "varchar(5)", "string collate UNICODE_CI"])
def test_lengths_have_every_width(tool: ReadTool, tmp_path: Path, text: str) -> None:
    field = SchemaField(id=3, name="a", type=text)
    for nulls in (False, True):
        parts = [b"", b"\xc3\xa9", b"\x00", b"abcde"]
        values = [
            None if nulls and i % 5 == 0 else parts[i % 4] for i in range(2 * lengths.FROM_ROWS)
        ]
        array = pa.array(values, pa.binary()).cast(storage(text))
        encoded = lengths.encode(array)
        assert encoded is not None
        assert encoded.stream is not None
        lists, text_array = encoded.stream.field(0), encoded.stream.field(1)
        for stream_type in lengths.stream_types(array.type):
            wider = lists.cast(stream_type.field("lengths").type)
            fields = list(stream_type)
            stream = pa.StructArray.from_arrays([wider, text_array], fields=fields)
            entry = stream_entry(field, stream, "lengths", 2**20, rows=len(array))
            rows = both_read(tool, tmp_path, field, entry)
            assert len(rows) == len(array)
            assert [each for (each,) in rows].count(None) == array.null_count


@pytest.mark.parametrize("text", TYPES)
def test_each_type_is_constant_null_and_plain(tool: ReadTool, tmp_path: Path, text: str) -> None:
    field, array = values_of(text, 1, nullable=False)
    column = column_of(field)
    # The bounds of long texts are cut, so that no row has them as values.
    texts = pa.types.is_string(array.type) or pa.types.is_binary(array.type)
    short = min(range(ROWS), key=lambda i: len(array[i].as_py())) if texts else 1
    patterns: Sequence[pa.Array] = (
        array,
        pa.nulls(ROWS, array.type),
        pa.concat_arrays([array.slice(short, 1)] * ROWS),
        pa.concat_arrays([array.slice(2, 1), pa.nulls(1, array.type)] * 30),
    )
    seen = set()
    for pattern in patterns:
        pattern = pattern.view(column.type) if text != "variant" else pattern
        entry, data = encode_block(pattern, column)
        seen.add(entry.encoding)
        stored = b"" if data is None else data.to_pybytes()
        both_read(tool, tmp_path, field, lone_rowset(field, entry, stored))
        plain = replace(entry, decoded=2**20)
        both_read(tool, tmp_path, field, lone_rowset(field, plain, stored))
        both_read(tool, tmp_path, field, stream_entry(field, pattern, "plain", 2**20))
    assert "null" in seen
    assert "constant" in seen or text in ("variant", "string collate UNICODE_CI")


def test_values_beneath_a_null_never_count(tool: ReadTool, tmp_path: Path) -> None:
    text = SchemaField(id=3, name="a", type="string")
    validity = pa.py_buffer(bytes([0b101]))
    indexes = pa.Array.from_buffers(pa.int8(), 3, [validity, pa.py_buffer(bytes([1, 99, 0]))])
    stream = pa.DictionaryArray.from_arrays(indexes, pa.array(["x", "y"]), safe=False)
    entry = stream_entry(text, stream, "dictionary", 2**20)
    assert both_read(tool, tmp_path, text, entry) == [["y"], [None], ["x"]]


def test_a_dictionary_of_nothing_is_null(tool: ReadTool, tmp_path: Path) -> None:
    for text in ("string", "long", "double", "decimal(38,3)"):
        field = SchemaField(id=3, name="a", type=text)
        none = pa.DictionaryArray.from_arrays(
            pa.nulls(3, pa.int16()), pa.array([], storage_type(field))
        )
        entry = stream_entry(field, none, "dictionary", 2**20)
        assert both_read(tool, tmp_path, field, entry) == [[None]] * 3
