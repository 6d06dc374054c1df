"""Strings and binary as lengths: what comes back, and what no stream can make readers believe."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.model.codec import crc32c
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.rowset import ipc_stream
from colonnade.tableformat.rowset.block import decode_block
from colonnade.tableformat.rowset.block_statistics import Statistics
from colonnade.tableformat.rowset.column import StoredColumn, column_of
from colonnade.tableformat.rowset.encodings import lengths
from colonnade.tableformat.rowset.encodings.encoding import BlockEntry
from tests.examples_of import examples
from tests.tableformat.rowset.encoded import encode_block

ROWS = lengths.FROM_ROWS


def column(text: str) -> StoredColumn:
    return column_of(SchemaField(id=7, name="c", type=text))


def round_trip(array: pa.Array, of: StoredColumn) -> str:
    """Return the encoding of an array that must be decoded to the same array."""
    entry, data = encode_block(array, of)
    found = decode_block(data, entry, of)
    found.validate(full=True)
    assert found.equals(array)
    return entry.encoding


@pytest.mark.parametrize("text", ["string", "binary"])
@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize(("longest", "bits"), [(255, 8), (256, 16), (65_535, 16), (65_536, 32)])
def test_lengths_take_the_fewest_bytes(text: str, nulls: bool, longest: int, bits: int) -> None:
    of = column(text)
    values = [None if nulls and i % 3 == 0 else b"%07d" % i for i in range(ROWS)]
    values[100] = b"x" * longest
    array = pa.array(values, pa.binary()).cast(of.type)
    encoded = lengths.encode(array)
    assert encoded is not None
    assert encoded.stream is not None
    assert encoded.stream.type.field("lengths").type.value_type.bit_width == bits
    assert round_trip(array, of) == "lengths"
    assert round_trip(pa.concat_arrays([array, array]).slice(101, ROWS + 13), of) == "lengths"


def test_few_rows_stay_plain() -> None:
    array = pa.array([f"{i}" for i in range(ROWS)])
    assert round_trip(array.slice(1), column("string")) == "plain"
    assert round_trip(array, column("string")) == "lengths"


def test_empty_values_need_no_bytes() -> None:
    array = pa.array([None if i % 7 == 0 else "" for i in range(ROWS)])
    encoded = lengths.encode(array)
    assert encoded is not None
    assert lengths.decode(encoded.stream, ROWS, array.nbytes).equals(array)


def test_bytes_under_a_null_are_left_out() -> None:
    values = pa.array([f"{i:03}" for i in range(2 * ROWS)])
    validity = pa.py_buffer(bytes([0b11101101]) * (ROWS // 4))
    array = pa.Array.from_buffers(values.type, 2 * ROWS, [validity, *values.buffers()[1:]])
    assert round_trip(array, column("string")) == "lengths"
    assert round_trip(array.slice(5, ROWS), column("string")) == "lengths"


def test_lengths_take_less_space_than_offsets() -> None:
    rng = random.Random(5)
    words = pa.array([rng.randbytes(rng.randint(10, 43)).hex() for _ in range(20_000)])
    entry, _ = encode_block(words, column("string"))
    batch = pa.RecordBatch.from_arrays([words], ["7"])
    assert entry.length < 0.95 * ipc_stream.encode_batch(batch, words.nbytes).size


def lengths_stream(
    sizes: Sequence[int | None] | pa.Array | None,
    text: bytes | None,
    element: pa.DataType = pa.uint8(),  # noqa: B008
) -> pa.StructArray:
    """A stream of exactly these lengths and bytes."""
    elements = sizes if isinstance(sizes, pa.Array) else pa.array(sizes or (), element)
    lists = pa.ListArray.from_arrays(pa.array([0, len(elements)], pa.int32()), elements)
    if sizes is None:
        lists = pa.array([None], lists.type)
    fields = [
        pa.field("lengths", lists.type, nullable=False),
        pa.field("values", pa.string(), nullable=False),
    ]
    values = pa.array([text], pa.binary()).view(pa.string())
    return pa.StructArray.from_arrays([lists, values], fields=fields)


def _null_struct() -> pa.StructArray:
    good = lengths_stream([1, 0, 2], b"abc")
    kept = [good.field(0), good.field(1)]
    return pa.StructArray.from_arrays(kept, fields=list(good.type), mask=pa.array([True]))


def _renamed(name: str, nullable: bool = False) -> pa.StructArray:
    good = lengths_stream([1, 0, 2], b"abc")
    fields = [good.type.field(0), pa.field(name, pa.string(), nullable)]
    return pa.StructArray.from_arrays([good.field(0), good.field(1)], fields=fields)


def _under_null() -> pa.StructArray:
    values = pa.py_buffer(bytes([1, 1, 2]))
    hidden = pa.Array.from_buffers(pa.uint8(), 3, [pa.py_buffer(b"\x05"), values])
    return lengths_stream(hidden, b"abcd")


DIFFERENT = "its stream holds"
UNEVEN = "its lengths do not add up to its bytes"
MISSING = "its lengths or its values are NULL"

FORGED: dict[str, tuple[pa.Array, str]] = {
    "too short": (lengths_stream([1, 0, 1], b"abc"), UNEVEN),
    "too long": (lengths_stream([1, 2, 3], b"abc"), UNEVEN),
    "no bytes": (lengths_stream([0, 0, 255], b""), UNEVEN),
    "wrapped": (lengths_stream([2**31, 2**31, 3], b"abc", pa.uint32()), UNEVEN),
    "under a NULL": (_under_null(), "it has bytes under a NULL"),
    "fewer rows": (lengths_stream([1, 2], b"abc"), "it holds 2 lengths where"),
    "more rows": (lengths_stream([1, 1, 1, 0], b"abc"), "it holds 4 lengths where"),
    "no lengths": (lengths_stream([], b""), "it holds 0 lengths where"),
    "NULL list": (lengths_stream(None, b"abc"), MISSING),
    "NULL values": (lengths_stream([0, 0, 0], None), MISSING),
    "NULL struct": (_null_struct(), MISSING),
    "large": (lengths_stream([1, 0, 255], b"a" * 256), "it would take 275 bytes decoded"),
    "signed": (lengths_stream([1, 0, 2], b"abc", pa.int8()), DIFFERENT),
    "wide": (lengths_stream([1, 0, 2], b"abc", pa.uint64()), DIFFERENT),
    "another name": (_renamed("value"), DIFFERENT),
    "nullable": (_renamed("values", nullable=True), DIFFERENT),
    "two of them": (pa.concat_arrays([lengths_stream([1, 0, 2], b"abc")] * 2), DIFFERENT),
    "no struct": (pa.array(["a", "", "bc"]), DIFFERENT),
}
"""Streams that state something else than three strings in at most `FORGED_BYTES`, by what it is,
and what both readers say to them."""

FORGED_BYTES = 12 + 255


def block_of(stream: pa.Array, rows: int, decoded: int) -> tuple[pa.Buffer, BlockEntry]:
    batch = pa.RecordBatch.from_arrays([stream], ["7"])
    return sealed(ipc_stream.encode_batch(batch, 0), rows, decoded)


def sealed(data: pa.Buffer, rows: int, decoded: int) -> tuple[pa.Buffer, BlockEntry]:
    crc = crc32c(bytes(data))
    return data, BlockEntry(rows, data.size, decoded, crc, "lengths", None, Statistics(0))


@pytest.mark.parametrize("what", FORGED)
def test_a_forged_stream_is_refused(what: str) -> None:
    stream, message = FORGED[what]
    with pytest.raises(ValueError, match=message):
        decode_block(*block_of(stream, 3, FORGED_BYTES), column("string"))


def moved_offsets() -> dict[str, bytes]:
    """Streams whose offsets of the list or the text do not begin at 0."""
    whole = bytes(block_of(lengths_stream([1, 0] * 9 + [20], b"a" * 29), 19, 200)[0])
    found = {}
    for what, end in (("list", 19), ("text", 29)):
        at = whole.rindex(struct.pack("<2i", 0, end))
        for start in (1, -1, 7):
            forged = whole[:at] + struct.pack("<i", start) + whole[at + 4 :]
            found[f"{what} from {start}"] = forged
    return found


@pytest.mark.parametrize("what", moved_offsets())
def test_offsets_begin_at_zero(what: str) -> None:
    data = pa.py_buffer(moved_offsets()[what])
    with pytest.raises(ValueError, match="do not begin at the first|cannot be read"):
        decode_block(*sealed(data, 19, 200), column("string"))


def test_lengths_of_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match=DIFFERENT):
        decode_block(*block_of(lengths_stream([1], b"a"), 1, 100), column("long"))


@settings(max_examples=examples(150), deadline=None)
@given(
    st.lists(st.none() | st.integers(0, 4), min_size=1, max_size=6),
    st.integers(0, 9).map(lambda n: bytes(range(97, 97 + n))),
    st.sampled_from([pa.uint8(), pa.uint16(), pa.uint32()]),
)
def test_lengths_are_read_as_the_stream_states_them(
    sizes: list[int | None], data: bytes, element: pa.DataType
) -> None:
    expected: list[Any] = []
    rest = data.decode()
    for size in sizes:
        expected.append(None if size is None else rest[:size])
        rest = rest[size or 0 :]
    block = block_of(lengths_stream(sizes, data, element), len(sizes), 100)
    if sum(size or 0 for size in sizes) == len(data):
        found = decode_block(*block, column("string"))
        found.validate(full=True)
        assert found.to_pylist() == expected
    else:
        with pytest.raises(ValueError, match=UNEVEN):
            decode_block(*block, column("string"))


def test_every_flipped_bit_and_every_truncation_is_found() -> None:
    array = pa.array([f"{i}" for i in range(ROWS)])
    entry, data = encode_block(array, column("string"))
    assert data is not None
    for bit in range(0, 8 * data.size, 5):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ValueError, match="do not match their checksum"):
            decode_block(pa.py_buffer(bytes(changed)), entry, column("string"))
        with pytest.raises(ValueError, match="do not match their checksum"):
            decode_block(data.slice(0, bit // 8), entry, column("string"))


def test_a_huge_stream_is_refused_before_memory_is_taken() -> None:
    zeros = pa.array(np.zeros(30_000_000, np.uint8))
    batch = pa.RecordBatch.from_arrays([lengths_stream(zeros, b"")], ["7"])
    data = ipc_stream.encode_batch(batch, batch.nbytes)
    assert data.size < 10_000
    del zeros, batch
    before = pa.total_allocated_bytes()
    with pytest.raises(ValueError, match="bytes decoded, but its index states 800"):
        decode_block(*sealed(data, 30_000_000, 800), column("string"))
    with pytest.raises(ValueError, match="larger than the index says"):
        decode_block(*sealed(data, 30_000_000, 40_000_000), column("string"))
    assert pa.total_allocated_bytes() == before


def test_decoded_offsets_are_in_memory_of_arrows_pool() -> None:
    encoded = lengths.encode(pa.array([str(number) for number in range(1000)]))
    assert encoded is not None
    before = pa.total_allocated_bytes()
    found = lengths.decode(encoded.stream, 1000, 10_000)
    assert pa.total_allocated_bytes() - before >= found.buffers()[1].size == 4004
