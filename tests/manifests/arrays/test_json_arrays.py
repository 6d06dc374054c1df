"""Arrays of numbers come back from the text that a segment stores them as."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.arrays.json_arrays import (
    decode_floats,
    decode_integers,
    encode_floats,
    encode_integers,
)
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.map_ref import IntegerArray

INT64 = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(INT64, min_size=1, max_size=50))
def test_integers_come_back_from_an_array(values: list[int]) -> None:
    array = encode_integers(np.array(values, np.int64))
    assert decode_integers(array, len(values), "x").tolist() == values


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=50))
def test_doubles_come_back_bit_by_bit(values: list[float]) -> None:
    array = np.array(values, np.float64)
    assert decode_floats(encode_floats(array), len(values), "x").tobytes() == array.tobytes()


@pytest.mark.parametrize(
    ("array", "problem"),
    [
        (IntegerArray(type="const", base=str(2**63)), "is not a valid base"),
        (IntegerArray(type="i64", base="1", data="AAAAAAAAAAA="), "is not a valid base"),
        (IntegerArray(type="u8", base=str(2**63 - 1), data="AQ=="), "of more than 64 bits"),
        (IntegerArray(type="u8", base="0", data="AQE="), "an array of 1 has 2 bytes"),
        (IntegerArray(type="u8", base="0", data="A"), "is not in base64"),
    ],
)
def test_an_array_that_no_writer_makes_is_damage(array: IntegerArray, problem: str) -> None:
    with pytest.raises(CorruptionError, match=problem):
        decode_integers(array, 1, "x")


def test_the_largest_numbers_behind_a_base_are_read() -> None:
    array = IntegerArray(type="u8", base=str(2**63 - 2), data="AQ==")
    assert decode_integers(array, 1, "x").tolist() == [2**63 - 1]


def test_a_bound_that_is_not_a_number_is_damage() -> None:
    with pytest.raises(CorruptionError, match="a bound is not a number"):
        decode_floats(encode_floats(np.array([1.0, np.nan])), 2, "x")
