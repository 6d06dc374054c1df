"""Every encoding gives back what it got, and its index never promises too little."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.codec import crc32c
from colonnade.manifests.model.schema import SchemaField, StructType
from colonnade.tableformat.rowset import ipc_stream
from colonnade.tableformat.rowset.block import MANY_ROWS_LIMIT, decode_block
from colonnade.tableformat.rowset.block_statistics import Statistics
from colonnade.tableformat.rowset.column import StoredColumn, column_of
from colonnade.tableformat.rowset.encodings.encoding import BlockEntry
from colonnade.tableformat.types.storage_form import from_storage, to_storage
from tests.examples_of import examples
from tests.strategies import batches, identical, schemas
from tests.tableformat.rowset.encoded import column, encode_block, round_trip

COUNT = 20_000


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(st.data())
def test_a_block_of_any_type_gives_back_its_rows(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    batch = data.draw(batches(schema, min_rows=1, max_rows=40))
    for start in (0, batch.num_rows // 3):
        rows = batch.slice(start)
        decoded = []
        for array, field in zip(to_storage(rows, schema), schema.fields, strict=True):
            entry, data_bytes = encode_block(array, column_of(field))
            decoded.append(decode_block(data_bytes, entry, column_of(field)))
        assert identical(from_storage(decoded, schema), rows)


def few(values: list[Any]) -> Callable[[random.Random], Any]:
    return lambda rng: rng.choice(values)


@pytest.mark.parametrize(
    ("text", "value", "encoding"),
    [
        ("long", lambda rng: rng.randint(-(2**63), 2**63 - 1), "plain"),
        ("long", lambda rng: rng.randint(2**62, 2**62 + 255), "narrowed"),
        ("long", lambda rng: -(2**63) + rng.randint(0, 65_535), "narrowed"),
        ("long", lambda rng: rng.randint(-(2**31), 2**31 - 1), "narrowed"),
        ("long", few([-(2**63), 2**63 - 1, 0]), "dictionary"),
        ("int", few([-(2**31), 2**31 - 1, 5]), "dictionary"),
        ("short", lambda rng: rng.randint(1000, 1200), "narrowed"),
        ("byte", lambda rng: rng.randint(-128, 127), "plain"),
        ("date", lambda rng: rng.randint(8000, 11_000), "narrowed"),
        ("timestamp", lambda rng: rng.randint(-(2**52), 2**52), "plain"),
        ("time(6)", lambda rng: 1000 * rng.randint(0, 4_000_000), "narrowed"),
        ("interval day to second", lambda rng: rng.randint(-300, 300), "narrowed"),
        ("decimal(12,2)", lambda rng: Decimal(rng.randint(-99, 10**6)).scaleb(-2), "narrowed"),
        ("decimal(18,0)", lambda rng: Decimal(rng.randint(1 - 10**18, 10**18 - 1)), "narrowed"),
        ("decimal(12,2)", lambda rng: Decimal(100 * rng.randint(1, 50)).scaleb(-2), "dictionary"),
        ("decimal(38,4)", few([Decimal("1e30"), Decimal("-1e33")]), "dictionary"),
        ("double", lambda rng: rng.random(), "plain"),
        ("double", few([0.0, -0.0, float("nan"), 1.5]), "dictionary"),
        ("float", few([0.0, -0.0, float("nan"), 1.5]), "dictionary"),
        ("string", few(["", "é", "Frankfurt"]), "dictionary"),
        ("string", lambda rng: f"{rng.random()}", "lengths"),
        ("varchar(9)", lambda rng: "é" * rng.randint(0, 3) + f"{rng.random():.6}", "lengths"),
        ("string collate UNICODE_CI", lambda rng: f"{rng.random()}", "lengths"),
        ("string collate UNICODE_CI", few(["a", "A"]), "dictionary"),
        ("binary", lambda rng: rng.randbytes(6), "lengths"),
        ("boolean", lambda rng: rng.random() < 0.5, "plain"),
    ],
)
@pytest.mark.parametrize("null_share", [0.0, 0.4])
def test_the_encoding_fits_the_values(
    text: str, value: Callable[[random.Random], Any], encoding: str, null_share: float
) -> None:
    rng = random.Random(3)
    values = [None if rng.random() < null_share else value(rng) for _ in range(COUNT)]
    if text == "timestamp" or "interval" in text:
        array = pa.array(values, pa.int64()).view(column(text).type)
    else:
        array = pa.array(values, column(text).type)
    entry = round_trip(array, column(text))
    assert entry.encoding == encoding
    assert entry.length < array.nbytes + 1000
    round_trip(array.slice(13, 9001), column(text))


def test_noise_is_not_compressed_and_repetition_is() -> None:
    noise = pa.array(np.random.default_rng(1).integers(-(2**63), 2**63 - 1, COUNT))
    assert noise.nbytes < round_trip(noise, column("long")).length < noise.nbytes + 1000
    words = pa.array([f"the same words {i}" for i in range(COUNT)])
    assert round_trip(words, column("string")).length < words.nbytes / 4


def bomb(rows: int) -> tuple[BlockEntry, pa.Buffer, StoredColumn]:
    of = column("long")
    zeros = pa.RecordBatch.from_arrays([pa.array(np.zeros(rows, np.int64))], ["7"])
    data = ipc_stream.encode_batch(zeros, zeros.nbytes)
    entry = BlockEntry(rows, data.size, 800, 0, "plain", None, Statistics(0))
    return replace(entry, crc32c=crc32c(bytes(data))), data, of


def test_a_small_stream_that_becomes_huge_is_refused_before_memory_is_taken() -> None:
    entry, data, of = bomb(2_000_000)
    before = pa.total_allocated_bytes()
    with pytest.raises(ValueError, match="16000000 bytes decoded, but its index states 800"):
        decode_block(data, entry, of)
    assert pa.total_allocated_bytes() == before


def test_many_buffers_of_the_stated_size_are_refused_before_memory_is_taken() -> None:
    rows, fields = 65_536, 200
    zeros = pa.array(np.zeros(rows, np.int64))
    wide = SchemaField(
        id=7,
        name="c",
        type=StructType(
            fields=tuple(SchemaField(id=8 + i, name=f"f{i}", type="long") for i in range(fields))
        ),
    )
    of = column_of(wide)
    struct = pa.StructArray.from_arrays([zeros] * fields, fields=list(of.type))
    data = ipc_stream.encode_batch(pa.RecordBatch.from_arrays([struct], ["7"]), struct.nbytes)
    entry = BlockEntry(rows, data.size, zeros.nbytes, 0, "plain", None, Statistics(0))
    entry = replace(entry, crc32c=crc32c(bytes(data)))
    del struct
    before = pa.total_allocated_bytes()
    with pytest.raises(ValueError, match=f"its index states {zeros.nbytes} bytes"):
        decode_block(data, entry, of)
    assert pa.total_allocated_bytes() == before


@pytest.mark.slow
def test_a_block_that_no_reader_would_take_is_not_written() -> None:
    rows = pa.nulls(1, pa.int64()).take(pa.array([0] * 9_000_000))
    values = pa.concat_arrays([pa.array([1, 2]), rows])
    with pytest.raises(InvalidInputError, match=r"'c' cannot be written: .* are allowed"):
        encode_block(values, column("long"))


def test_a_stated_size_beyond_any_block_is_refused() -> None:
    entry, data, of = bomb(100)
    with pytest.raises(ValueError, match="at most .* are allowed"):
        decode_block(data, replace(entry, decoded=MANY_ROWS_LIMIT + 1), of)


def test_a_dictionary_that_repeats_a_long_value_too_often_is_refused() -> None:
    of = column("string")
    stream = pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int8()), ["x" * 10_000])
    batch = pa.RecordBatch.from_arrays([stream], ["7"])
    data = ipc_stream.encode_batch(batch, 0)
    entry = BlockEntry(
        1000, data.size, 20_000, crc32c(bytes(data)), "dictionary", None, Statistics(0)
    )
    with pytest.raises(ValueError, match="larger than the index says"):
        decode_block(data, entry, of)


@pytest.mark.parametrize("index", [-1, 2, 100])
def test_an_index_outside_its_dictionary_is_refused(index: int) -> None:
    stream = pa.DictionaryArray.from_arrays(pa.array([index], pa.int8()), ["a", "b"], safe=False)
    data = ipc_stream.encode_batch(pa.RecordBatch.from_arrays([stream], ["7"]), 0)
    entry = BlockEntry(1, data.size, 64, crc32c(bytes(data)), "dictionary", None, Statistics(0))
    with pytest.raises(ValueError, match="outside the dictionary"):
        decode_block(data, entry, column("string"))


@pytest.mark.parametrize(
    "batch",
    [
        pa.record_batch([pa.array([1, 2], pa.int32())], ["7"]),
        pa.record_batch([pa.array([1, 2])], ["8"]),
        pa.record_batch([pa.array([1, 2]), pa.array([1, 2])], ["7", "8"]),
        pa.record_batch([pa.array([1])], ["7"]),
        pa.record_batch([pa.array(["a", "b"]).cast(pa.string_view())], ["7"]),
    ],
)
def test_a_stream_of_another_shape_is_refused(batch: pa.RecordBatch) -> None:
    data = ipc_stream.encode_batch(batch, 0)
    entry = BlockEntry(2, data.size, 1000, crc32c(bytes(data)), "plain", None, Statistics(0))
    with pytest.raises(ValueError, match="its stream holds"):
        decode_block(data, entry, column("long"))


def test_no_flipped_bit_in_the_size_walk_escapes_as_another_error() -> None:
    """The walk sees bytes whose checksum is right but whose writer may be malicious."""
    data = bytearray(bomb(100)[1])
    for at in range(len(data) * 8):
        data[at // 8] ^= 1 << at % 8
        with suppress(ValueError):
            assert ipc_stream.measure(pa.py_buffer(data)) >= 0
        data[at // 8] ^= 1 << at % 8
