"""A literal of a predicate is read with its type."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.predicate import expressions as ex
from colonnade.tableformat.predicate import (
    parse_predicate,
)
from colonnade.tableformat.predicate.literals import Literal, make_literal


def value_of(literal: str) -> Any:
    """The kind and value of the literal in `x = <literal>`."""
    predicate = parse_predicate(f"x = {literal}")
    assert isinstance(predicate, ex.Compare)
    assert isinstance(predicate.right, Literal)
    return predicate.right.kind.value, predicate.right.value


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("10", "integer", 10),
        ("-10", "integer", -10),
        ("-9223372036854775808L", "integer", -(2**63)),
        ("- (-3)", "integer", 3),
        ("1.50", "decimal", Decimal("1.50")),
        ("1.5BD", "decimal", Decimal("1.5")),
        ("-1.5BD", "decimal", Decimal("-1.5")),
        ("- (-7e-1BD)", "decimal", Decimal("0.7")),
        ("1e3", "double", 1000.0),
        ("-1.5D", "double", -1.5),
        ("0.1F", "double", 0.10000000149011612),
        ("'it''s'", "string", "it's"),
        (r"'it\'s'", "string", "it's"),
        (r"'''it''s\n'''", "string", "'it's\n'"),
        ("''", "string", ""),
        ('"double"', "string", "double"),
        (r"r'a\nb'", "string", "a\\nb"),
        ("X'00fF'", "binary", b"\x00\xff"),
        ("TRUE", "boolean", True),
        ("NULL", "null", None),
        ("DATE '1969-12-31'", "date", -1),
        ("DATE '2024-2-3'", "date", 19756),
        ("TIMESTAMP '1969-12-31 23:59:59.999999'", "timestamp", -1),
        ("TIMESTAMP '1970-01-01 02:00:00+02:00'", "timestamp", 0),
        ("TIMESTAMP '1970-01-01T01:00:00 Europe/Berlin'", "timestamp", 0),
        ("TIMESTAMP_NTZ '1970-01-01 00:00:01'", "timestamp_ntz", 1_000_000),
        ("TIME '00:00:01.5'", "time", 1_500_000_000),
        ("INTERVAL '3' DAY", "duration", 3 * 86_400_000_000),
        ("INTERVAL 1 DAY 2 HOURS", "duration", 26 * 3_600_000_000),
        ("INTERVAL '1 day 2 hours'", "duration", 26 * 3_600_000_000),
        ("INTERVAL '-1 02:03:04.5' DAY TO SECOND", "duration", -93_784_500_000),
        ("INTERVAL '90:30' MINUTE TO SECOND", "duration", 5_430_000_000),
        ("INTERVAL '1-2' YEAR TO MONTH", "months", 14),
        ("-INTERVAL '2' YEARS", "months", -24),
        ("CAST('2024-01-01' AS DATE)", "date", 19723),
        ("CAST('-inf' AS DOUBLE)", "double", -math.inf),
        ("CAST(1.005 AS DECIMAL(10,2))", "decimal", Decimal("1.01")),
        ("CAST('7' AS INT)", "integer", 7),
        ("-CAST('7' AS INT)", "integer", -7),
        ("-CAST('-1.5' AS DECIMAL(2,1))", "decimal", Decimal("1.5")),
        ("CAST(DATE '1970-01-02' AS TIMESTAMP)", "timestamp", 86_400_000_000),
    ],
)
def test_a_literal_is_read_with_its_type(text: str, kind: str, value: object) -> None:
    assert value_of(text) == (kind, value)


@pytest.mark.parametrize(
    "scalar",
    [
        pa.scalar(2932897, pa.date32()),
        pa.scalar(-(2**31), pa.date32()),
        pa.scalar(2**63 - 1, pa.timestamp("us")),
        pa.scalar(2**63 - 1, pa.timestamp("us", "UTC")),
    ],
    ids=lambda scalar: str(scalar.type),
)
def test_a_scalar_of_arrow_that_python_cannot_hold_is_refused(scalar: Any) -> None:
    with pytest.raises(InvalidInputError, match="is one that Python cannot hold"):
        make_literal(scalar)


def test_a_missing_time_of_pandas_is_said_to_be_none() -> None:
    with pytest.raises(InvalidInputError, match="NaT of pandas is no time; use None for NULL"):
        make_literal(pd.NaT)
