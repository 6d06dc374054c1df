"""One value for all rows takes no bytes, if a bound states it exactly."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tests.tableformat.rowset.encoded import column, round_trip


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("boolean", True),
        ("byte", -128),
        ("long", 2**63 - 1),
        ("date", -5),
        ("decimal(9,2)", Decimal("-1.25")),
        ("decimal(38,10)", Decimal(f"-{'9' * 28}.{'9' * 10}")),
        ("float", 0.5),
        ("double", -0.0),
        ("string", "é" * 64),
        ("binary", b"\xff" * 64),
    ],
)
def test_one_value_for_all_rows_takes_no_bytes(text: str, value: Any) -> None:
    entry = round_trip(pa.array([value] * 300, column(text).type), column(text))
    assert (entry.encoding, entry.length) == ("constant", 0)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("double", [float("nan")] * 9),
        ("double", [0.0, -0.0]),
        ("long", [1, None]),
        ("string", ["x" * 65] * 2),
        ("string collate UNICODE_CI", ["a", "a"]),
    ],
)
def test_a_value_that_a_bound_cannot_state_exactly_is_not_constant(
    text: str, values: list[Any]
) -> None:
    assert round_trip(pa.array(values, column(text).type), column(text)).encoding != "constant"


def test_the_payload_of_nan_survives() -> None:
    bits = [0x7FF8000000000001, 0xFFF8000000000002, 0x7FF0000000000001]
    few_bits = np.array(bits * 4000, np.uint64).view(np.float64)
    assert round_trip(pa.array(few_bits), column("double")).statistics.nans == 12_000
