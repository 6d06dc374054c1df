"""Repeated values as a dictionary: what comes back, and what no stream can make readers believe."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.tableformat.rowset.encodings import dictionary
from tests.examples_of import examples

NO_LIMIT = 2**62
NANS = [struct.unpack("<d", struct.pack("<Q", bits))[0] for bits in (0x7FF8 << 48, 0x7FF9 << 48)]
VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.string(): st.text(max_size=3),
    pa.binary(): st.binary(max_size=3),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float64(): st.sampled_from((0.0, -0.0, 1.5, *NANS)),
    pa.float32(): st.sampled_from((0.0, -0.0, 1.5)),
}


def encode(array: pa.Array) -> pa.DictionaryArray:
    """Return the stream of an array that takes much more space in any other form."""
    encoded = dictionary.encode(array, 1.0, NO_LIMIT)
    assert encoded is not None
    return encoded.stream


def same_bits(one: pa.Array, other: pa.Array) -> bool:
    """Return whether arrays are equal, and have the same bits where floats compare otherwise."""
    bits = {pa.float32(): pa.int32(), pa.float64(): pa.int64()}.get(one.type)
    return bool(one.equals(other) if bits is None else one.view(bits).equals(other.view(bits)))


def distinct(array: pa.Array) -> int:
    """Return the number of values that differ in a bit, without NULL."""
    bits = {pa.float32(): pa.int32(), pa.float64(): pa.int64()}.get(array.type)
    return len((array if bits is None else array.view(bits)).drop_null().unique())


@pytest.mark.slow
@settings(max_examples=examples(200), deadline=None)
@given(st.data())
def test_values_of_every_type_come_back_bit_by_bit(data: st.DataObject) -> None:
    data_type = data.draw(st.sampled_from(list(VALUES)))
    some = data.draw(st.lists(st.none() | VALUES[data_type], min_size=1, max_size=5))
    rows = data.draw(st.lists(st.sampled_from(some), min_size=1, max_size=40))
    array = pa.array(rows, data_type).slice(data.draw(st.integers(0, len(rows) - 1)))
    stream = encode(array)
    assert stream.type in dictionary.stream_types(data_type)
    assert len(stream.dictionary) == distinct(array)
    found = dictionary.decode(stream, NO_LIMIT)
    found.validate(full=True)
    assert same_bits(found, array)


@pytest.mark.parametrize(("count", "bits"), [(128, 8), (129, 16), (32_768, 16), (32_769, 32)])
def test_an_index_takes_the_fewest_bytes(count: int, bits: int) -> None:
    array = pa.array([f"{i:08}" for i in range(count)])
    stream = encode(array)
    assert stream.type.index_type.bit_width == bits
    assert dictionary.decode(stream, NO_LIMIT).equals(array)


def test_a_column_that_gains_nothing_is_not_encoded() -> None:
    rows = 3 * dictionary.SAMPLE_ROWS
    distinct_rows = pa.array(range(rows))
    assert dictionary.encode(distinct_rows, 1.0, distinct_rows.nbytes) is None
    assert dictionary.encode(distinct_rows, 0.5, NO_LIMIT) is None
    assert dictionary.encode(pa.array([1, 1]), 1.0, 16) is None
    repeated = pa.array([i % 7 for i in range(rows)])
    assert dictionary.encode(repeated, 0.5, repeated.nbytes) is not None


@pytest.mark.parametrize("index", [-1, 2, 127])
@pytest.mark.parametrize("nulls", [False, True])
def test_an_index_outside_of_the_dictionary_is_refused(index: int, nulls: bool) -> None:
    indexes = pa.array([0, None if nulls else 1, index], pa.int8())
    forged = pa.DictionaryArray.from_arrays(indexes, pa.array(["a", "b"]), safe=False)
    with pytest.raises(ValueError, match="points outside"):
        dictionary.decode(forged, NO_LIMIT)


def test_an_index_under_a_null_is_never_followed() -> None:
    wild = pa.Array.from_buffers(
        pa.int8(), 2, [pa.py_buffer(bytes([0b01])), pa.py_buffer(np.array([0, 99], np.int8))]
    )
    stream = pa.DictionaryArray.from_arrays(wild, pa.array(["a", "b"]), safe=False)
    assert dictionary.decode(stream, NO_LIMIT).to_pylist() == ["a", None]


def test_few_bytes_that_decode_to_many_are_refused_before_memory_is_taken() -> None:
    rows = 1000
    repeated = pa.array(["x" * 1000] * rows)
    stream = encode(repeated)
    assert dictionary.decode(stream, 1000 * rows).equals(repeated)
    with pytest.raises(ValueError, match="larger than the index says"):
        dictionary.decode(stream, 1000 * rows - 1)
    # A long value in few rows does not make the decoded size larger than allowed.
    mixed = pa.array(["x" * 1000, *["y"] * rows])
    assert dictionary.decode(encode(mixed), 1000 + rows).equals(mixed)
