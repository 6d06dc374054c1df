"""A value that a column cannot keep exactly is refused, and every other value is kept."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from colonnade.tableformat.types.conform import conform
from tests.tableformat.types.arrays import batch_of, refusal_of, schema_of


@pytest.mark.parametrize(
    ("array", "text", "part"),
    [
        (pa.array([2**63], pa.uint64()), "long", "9223372036854775808"),
        (pa.array([1_001], pa.timestamp("ns", "Asia/Tokyo")), "timestamp", "1001"),
        (pa.array([-1], pa.timestamp("ns")), "timestamp_ntz", "-1"),
        (pa.array([2**62], pa.timestamp("s")), "timestamp_ntz", "out of bounds"),
        (pa.array([1], pa.duration("ns")), "interval day to second", "would lose data: 1"),
        (pa.array([Decimal("1.25")]), "decimal(10,1)", "data loss"),
        (pa.array([Decimal("1234.5")]), "decimal(4,1)", "does not fit in precision 4"),
        (pa.array([-1], pa.int64()).view(pa.date64()), "date", "would lose data: -1"),
        (pa.array([1], pa.time64("us")), "time(3)", "cannot hold 1000 nanoseconds"),
        (pa.array([-1], pa.time64("ns")), "time(9)", "cannot hold -1 nanoseconds"),
        (pa.array([86_400 * 10**9], pa.time64("ns")), "time(9)", "cannot hold 86400"),
        (pa.array([13], pa.int32()), "interval year", "cannot hold 13 months"),
        (pa.array([90], pa.duration("s")), "interval minute", "cannot hold 90000000 microsec"),
        (pa.array(["abc", "日本語x"]), "varchar(3)", "a value of 4 characters"),
        (pa.array(["ab", "abcd"]).dictionary_encode(), "char(3)", "a value of 4 characters"),
    ],
    ids=str,
)
def test_a_value_that_cannot_be_kept_is_refused(array: pa.Array, text: str, part: str) -> None:
    message = refusal_of(array, schema_of(text))
    assert message.startswith("Column 'a' ")
    assert text in message
    assert part in message


@pytest.mark.parametrize(
    ("array", "text", "expected"),
    [
        (pa.array([1.25]).cast(pa.decimal128(10, 4)), "decimal(5,2)", Decimal("1.25")),
        (pa.array([2**64 - 1], pa.uint64()), "decimal(20,0)", Decimal(2**64 - 1)),
        (pa.array([5], pa.uint64()), "long", 5),
        (pa.array([86_400_000], pa.date64()), "date", datetime.date(1970, 1, 2)),
        (pa.array(["日本語"]), "varchar(3)", "日本語"),
        (pa.array([14], pa.uint16()), "interval month", 14),
        (pa.array([b"0123456789abcdef"], pa.uuid()), "binary", b"0123456789abcdef"),
        (pa.array(['{"x": 1}'], pa.json_()), "string", '{"x": 1}'),
    ],
    ids=str,
)
def test_a_value_that_fits_is_kept(array: pa.Array, text: str, expected: Any) -> None:
    assert conform(batch_of(array), schema_of(text))["a"][0].as_py() == expected


def test_a_decimal_of_more_digits_than_its_type_is_refused() -> None:
    raw = pa.array([10**6]).cast(pa.decimal128(19, 0))
    array = pa.Array.from_buffers(pa.decimal128(3, 0), 1, raw.buffers())
    assert "'a' has an invalid decimal(3,0)" in refusal_of(array, schema_of("decimal(3,0)"))
