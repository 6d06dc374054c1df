"""Transforms of many values equal those of single values, and keep the order that they promise."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.entries import PartitionField
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.partition_layout import VALUE_LIMIT
from colonnade.tableformat.partition.transforms import transform, transformed_bounds


def column(text: str) -> SchemaField:
    return SchemaField(id=1, name="c", type=text)


def field(name: str, argument: int | None = None) -> PartitionField:
    return PartitionField.model_validate({"transform": name, "column": 1, "argument": argument})


def values_of(found: pa.Array | list[int]) -> list[Any]:
    return found if isinstance(found, list) else found.to_pylist()


EPOCH = dt.datetime(1970, 1, 1)
DATES = st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31))


@given(st.lists(DATES, min_size=1))
def test_times_are_divided_as_the_calendar_does_also_before_1970(times: list[dt.datetime]) -> None:
    array = pa.array(times, pa.timestamp("us"))
    expected = {
        "years": [each.year - 1970 for each in times],
        "months": [12 * (each.year - 1970) + each.month - 1 for each in times],
        "days": [(each - EPOCH).days for each in times],
        "hours": [(each - EPOCH) // dt.timedelta(hours=1) for each in times],
    }
    for name, found in expected.items():
        assert values_of(transform(field(name), column("timestamp_ntz"), array)) == found


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1), st.integers(1, 2**31 - 1))
def test_a_truncated_number_is_the_multiple_below_it(numbers: list[int], width: int) -> None:
    array = pa.array(numbers, pa.int64())
    found = values_of(transform(field("truncate", width), column("long"), array))
    assert found == [max(each - each % width, -(2**63)) for each in numbers]


def test_a_truncated_text_counts_code_points_and_a_binary_bytes() -> None:
    texts = pa.array(["", "a", "äöü", "😀😀😀"])
    assert values_of(transform(field("truncate", 2), column("string"), texts)) == [
        *("", "a"),
        *("äö", "😀😀"),
    ]
    data = pa.array([b"", b"abc"])
    assert values_of(transform(field("truncate", 2), column("binary"), data)) == [b"", b"ab"]


@given(st.lists(st.decimals("-1e15", "1e15", places=2, allow_nan=False), min_size=1))
def test_decimals_are_transformed_by_their_unscaled_values(numbers: list[Decimal]) -> None:
    array = pa.array(numbers, pa.decimal128(38, 2))
    whole = [int(each.scaleb(2)) for each in numbers]
    kind = column("decimal(38,2)")
    assert values_of(transform(field("identity"), kind, array)) == whole
    truncated = values_of(transform(field("truncate", 50), kind, array))
    assert truncated == [each - each % 50 for each in whole]
    buckets = values_of(transform(field("bucket", 7), kind, array))
    assert buckets == transformed_bounds(field("bucket", 7), kind, whole)


@given(st.lists(st.text(), min_size=1), st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_values_of_a_predicate_are_in_the_transformed_bounds_equal_rows(
    texts: list[str], numbers: list[int]
) -> None:
    bucket = field("bucket", 16)
    for kind, array, values in (
        ("string", pa.array(texts), texts),
        ("long", pa.array(numbers, pa.int64()), numbers),
    ):
        rows = values_of(transform(bucket, column(kind), array))
        assert rows == transformed_bounds(bucket, column(kind), values)
        assert all(0 <= each < 16 for each in rows)


def test_a_value_that_is_too_long_for_the_log_is_refused() -> None:
    long = pa.array(["x" * VALUE_LIMIT, "ä" * VALUE_LIMIT])
    with pytest.raises(InvalidInputError, match=f"'c'.*{2 * VALUE_LIMIT} bytes.*use truncate"):
        transform(field("identity"), column("string"), long)
    assert len(transform(field("truncate", 4), column("string"), long)) == 2
