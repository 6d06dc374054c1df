"""Statistics in a segment read back as they were written, or are refused."""

from __future__ import annotations

import pytest
from hypothesis import given

from colonnade.manifests.arrays.json_arrays import FloatArray, TextArray
from colonnade.manifests.arrays.segment_statistics import (
    StatisticsArrays,
    decode_statistics,
    encode_statistics,
)
from colonnade.manifests.arrays.statistics_block import StatisticsBlock
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.map_ref import IntegerArray
from colonnade.manifests.model.schema import SchemaField
from tests.manifests.arrays.test_statistics_block import Lists, as_list, lists
from tests.tagged import tagged


@given(lists().filter(bool))
def test_statistics_read_back_as_they_were_written(statistics: Lists) -> None:
    arrays = encode_statistics(StatisticsBlock.of(statistics))
    stored = StatisticsArrays.model_validate_json(arrays.model_dump_json())
    assert as_list(decode_statistics(stored, len(statistics), None, "seg")) == statistics


def encoded(low: object, high: object) -> StatisticsArrays:
    """The arrays of a RowSet that has both bounds."""
    bounds = ColumnStatistics(min=tagged(low), max=tagged(high), nulls=0)  # type: ignore[arg-type]
    return encode_statistics(StatisticsBlock.of([bounds]))


@pytest.mark.parametrize(("low", "high"), [(1, 2), (1.0, 2.0), ("a", "b"), (b"a", b"b")])
@pytest.mark.parametrize("name", ["long", "date", "decimal(9,2)", "double", "string", "binary"])
def test_bounds_of_a_type_that_does_not_widen_to_that_of_the_column_are_refused(
    low: object, high: object, name: str
) -> None:
    arrays, column = encoded(low, high), SchemaField(id=1, name="c", type=name)
    right = {int: ("long", "decimal(9,2)", "double"), float: ("double",), str: ("string",)}
    if name in right.get(type(low), ("binary",)):
        decode_statistics(arrays, 1, column, "seg")
        return
    with pytest.raises(CorruptionError, match="seg is malformed"):
        decode_statistics(arrays, 1, column, "seg")


@pytest.mark.parametrize(
    "changes",
    [
        {"flags": IntegerArray(type="const", base="16")},
        {"flags": IntegerArray(type="const", base="1"), "min": TextArray(values=("i:1",))},
        {"min": TextArray(values=(None,))},
        {"min": TextArray(values=("i:1", "i:1"))},
        {"max": FloatArray(data="")},
        {"nulls": IntegerArray(type="const", base="-1")},
        {"nans": IntegerArray(type="const", base=str(2**53))},
    ],
)
def test_vectors_that_contradict_each_other_are_refused(changes: dict[str, object]) -> None:
    arrays = encoded(1, 2).model_copy(update=changes)
    with pytest.raises(CorruptionError, match="seg is malformed"):
        decode_statistics(arrays, 1, None, "seg")
