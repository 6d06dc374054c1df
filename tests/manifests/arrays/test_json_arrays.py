"""Arrays of numbers come back from the text that a segment stores them as."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.arrays.json_arrays import (
    decode_floats,
    decode_integers,
    encode_floats,
    encode_integers,
)

INT64 = st.integers(-(2**63), 2**63 - 1)


@given(st.lists(INT64, min_size=1, max_size=50))
def test_integers_come_back_from_an_array(values: list[int]) -> None:
    array = encode_integers(np.array(values, np.int64))
    assert decode_integers(array, len(values), "x").tolist() == values


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=50))
def test_doubles_come_back_bit_by_bit(values: list[float]) -> None:
    array = np.array(values, np.float64)
    assert decode_floats(encode_floats(array), len(values), "x").tobytes() == array.tobytes()
