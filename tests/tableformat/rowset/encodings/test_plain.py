"""A plain block is its own array, bit by bit."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from colonnade.tableformat.rowset.encodings import plain
from colonnade.tableformat.rowset.encodings.encoding import Encoded


@pytest.mark.parametrize(
    "array",
    [
        pa.array([None, 1, -(2**63)], pa.int64()),
        pa.array(np.array([0x7FF8000000000001, 0x8000000000000000], np.uint64).view(np.float64)),
        pa.array([b"", None, b"\xff"], pa.binary()),
        pa.array([[1, None], [], None], pa.list_(pa.int32())),
    ],
)
def test_an_array_survives_with_every_bit(array: pa.Array) -> None:
    encoded = plain.encode(array)
    assert isinstance(encoded, Encoded)
    assert (encoded.encoding, encoded.base) == (plain.NAME, None)
    stream = encoded.stream
    assert stream is not None
    assert stream.type in plain.stream_types(array.type)
    assert stream is array, "a plain block must be stored as it is"
    decoded = plain.decode(stream)
    assert [each and each.to_pybytes() for each in decoded.buffers()] == [
        each and each.to_pybytes() for each in array.buffers()
    ]
