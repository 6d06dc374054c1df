"""Integers as distances from a base: what comes back, and that no width is wider than needed."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.tableformat.rowset.encodings import narrowed
from colonnade.tableformat.rowset.encodings.integers import (
    as_integers,
    bounds_of,
    integer_type,
    is_stored_as_integer,
)
from tests.examples_of import examples

TYPES = (
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC"), pa.duration("us")),
    *(pa.decimal128(1, 0), pa.decimal128(9, 2), pa.decimal128(18, 6)),
)


def limits_of(data_type: pa.DataType) -> tuple[int, int]:
    if pa.types.is_decimal(data_type):
        return 1 - 10**data_type.precision, 10**data_type.precision - 1
    bits = data_type.bit_width
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def array_of(values: list[int | None], data_type: pa.DataType) -> pa.Array:
    if pa.types.is_decimal(data_type):
        found = [None if v is None else Decimal(v).scaleb(-data_type.scale) for v in values]
        return pa.array(found, data_type)
    return pa.array(values, integer_type(data_type)).view(data_type)


@st.composite
def arrays(draw: st.DrawFn) -> pa.Array:
    """Rows near one value of any type, often NULL, in a slice that begins anywhere."""
    data_type = draw(st.sampled_from(TYPES))
    low, high = limits_of(data_type)
    base = draw(st.integers(low, high) | st.sampled_from((low, 0, high)))
    spread = draw(st.sampled_from((0, 254, 255, 256, 2**16 - 1, 2**16, 2**32 - 1, 2**32, high)))
    value = st.integers(max(low, base - spread), base)
    values = draw(st.lists(st.none() | value, min_size=1, max_size=30))
    start = draw(st.integers(0, len(values) - 1))
    return array_of([base, *values], data_type).slice(draw(st.integers(0, 1)) * start)


@pytest.mark.slow
@settings(max_examples=examples(300), deadline=None)
@given(arrays())
def test_integers_of_every_type_come_back_in_the_fewest_bytes(array: pa.Array) -> None:
    if array.null_count == len(array):
        return
    integers = as_integers(array)
    low, high = bounds_of(integers)
    encoded = narrowed.encode(integers, low, high, array.type)
    fitting = [bits for bits in (8, 16, 32) if high - low < 2**bits]
    narrower = [bits for bits in fitting if bits < integers.type.bit_width]
    if encoded is None:
        assert not narrower
        assert not pa.types.is_decimal(array.type)
        return
    assert encoded.stream is not None
    assert encoded.base is not None
    assert encoded.stream.type in narrowed.stream_types(array.type)
    assert encoded.stream.type.bit_width == min(narrower, default=64)
    found = narrowed.decode(encoded.stream, encoded.base, array.type)
    found.validate(full=True)
    assert found.equals(array)


@pytest.mark.parametrize("data_type", [pa.int64(), pa.date32(), pa.decimal128(18, 6)], ids=str)
@pytest.mark.parametrize("low", [-500, 0])
def test_decoded_values_are_in_memory_of_arrows_pool(data_type: pa.DataType, low: int) -> None:
    integers = pa.array(range(low, low + 1000), integer_type(data_type))
    encoded = narrowed.encode(integers, low, low + 999, data_type)
    assert encoded is not None
    assert encoded.stream is not None
    assert encoded.base is not None
    before = pa.total_allocated_bytes()
    found = narrowed.decode(encoded.stream, encoded.base, data_type)
    assert pa.total_allocated_bytes() - before >= found.nbytes >= 4000


def test_a_value_under_a_null_is_not_stored() -> None:
    secret = pa.array([5, 77, 9], pa.int32())
    array = pa.Array.from_buffers(
        pa.int32(), 3, [pa.py_buffer(bytes([0b101])), secret.buffers()[1]]
    )
    encoded = narrowed.encode(array, 5, 9, pa.int32())
    assert encoded is not None
    assert encoded.stream is not None
    assert encoded.stream.buffers()[1].to_pybytes()[:3] == bytes([0, 0, 4])


@pytest.mark.parametrize(
    "data_type",
    [pa.bool_(), pa.float64(), pa.string(), pa.decimal128(19, 0), pa.month_day_nano_interval()],
)
def test_other_types_are_not_narrowed(data_type: pa.DataType) -> None:
    assert not is_stored_as_integer(data_type)
    assert narrowed.stream_types(data_type) == ()
