"""A block is checked against its checksum, its rows, its statistics and its Bloom filter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.rowset.column import column_of
from colonnade.tableformat.verify.block_check import check_block
from tests.tableformat.rowset.encoded import encode_block

COLUMN = column_of(SchemaField(id=1, name="n", type="long"))
NUMBERS = pa.array([*range(0, 5000, 7), None], pa.int64())
NO_FILTER = memoryview(b"")


def test_a_sound_block_has_nothing_wrong() -> None:
    entry, data = encode_block(NUMBERS, COLUMN)
    assert data is not None
    assert check_block(data, entry, COLUMN, NO_FILTER) is None


@pytest.mark.parametrize(
    "wrong", [{"low": 1}, {"high": 4000}, {"nulls": 0}, {"nulls": 2}, {"nans": 1}], ids=str
)
def test_statistics_that_contradict_the_values_are_named(wrong: dict[str, Any]) -> None:
    entry, data = encode_block(NUMBERS, COLUMN)
    assert data is not None
    forged = replace(entry, statistics=replace(entry.statistics, **wrong))
    assert check_block(data, forged, COLUMN, NO_FILTER) is not None
