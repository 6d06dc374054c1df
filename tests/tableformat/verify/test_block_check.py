"""A block is checked against its checksum, its rows, its statistics and its Bloom filter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.rowset.column import column_of
from colonnade.tableformat.verify.block_check import check_block, check_bytes
from tests.tableformat.rowset.encoded import encode_block

COLUMN = column_of(SchemaField(id=1, name="n", type="long"))
NUMBERS = pa.array([*range(0, 5000, 7), None], pa.int64())
NO_FILTER = memoryview(b"")


def test_a_sound_block_has_nothing_wrong() -> None:
    entry, data = encode_block(NUMBERS, COLUMN)
    assert data is not None
    assert check_bytes(data, entry) is None
    assert check_block(data, entry, COLUMN, NO_FILTER) is None


def test_a_flipped_bit_is_found_without_decoding() -> None:
    entry, data = encode_block(NUMBERS, COLUMN)
    assert data is not None
    for at in (0, len(data) // 2, len(data) - 1):
        damaged = bytearray(data)
        damaged[at] ^= 1
        assert check_bytes(pa.py_buffer(damaged), entry) == "its bytes do not match their checksum"


@pytest.mark.parametrize(
    "wrong", [{"low": 1}, {"high": 4000}, {"nulls": 0}, {"nulls": 2}, {"nans": 1}], ids=str
)
def test_statistics_that_contradict_the_values_are_named(wrong: dict[str, Any]) -> None:
    entry, data = encode_block(NUMBERS, COLUMN)
    assert data is not None
    forged = replace(entry, statistics=replace(entry.statistics, **wrong))
    assert check_block(data, forged, COLUMN, NO_FILTER) is not None


def test_a_block_without_bytes_has_no_checksum_to_compare() -> None:
    entry, data = encode_block(pa.nulls(10, pa.int64()), COLUMN)
    assert data is None or not entry.length
    assert check_bytes(pa.py_buffer(b""), entry) is None
