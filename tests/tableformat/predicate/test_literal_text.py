"""A predicate is the same after it was written as SQL."""

from __future__ import annotations

import datetime as dt
import random
import re
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from colonnade import col
from colonnade.tableformat.predicate import Predicate, parse_predicate
from tests.tableformat.predicate import oracle

NO_YEAR = re.compile(r"(DATE|TIMESTAMP|NTZ) '(0000|-)")
"""A time before the year 1, which SQL has no text for."""

TYPES = {f"c{number}": name for number, name in enumerate(oracle.TYPES)}


@given(st.integers(0, 2**32))
def test_every_predicate_is_read_again_from_its_text(seed: int) -> None:
    predicate = oracle.random_predicate(random.Random(seed), TYPES)
    text = str(predicate)
    assume(not NO_YEAR.search(text))
    assert str(parse_predicate(text)) == text


@pytest.mark.parametrize(
    ("predicate", "text"),
    [
        (col("id") < 5, "id < 5"),
        (col("a b").isin(["it's", "\\"]), "`a b` IN ('it\\'s', '\\\\')"),
        ((col("a") == 1) & ~(col("b") > Decimal("1.5")), "(a = 1) AND (NOT (b > 1.5BD))"),
        (col("d") >= dt.date(2026, 1, 30), "d >= DATE '2026-01-30'"),
        (
            col("t") == dt.datetime(2026, 1, 30, 12, tzinfo=dt.timezone.utc),
            "t = TIMESTAMP '2026-01-30 12:00:00Z'",
        ),
        (col("x") == float("inf"), "x = CAST('inf' AS DOUBLE)"),
        (col("s").startswith("p"), "startswith(s, 'p')"),
    ],
)
def test_people_read_what_they_would_write(predicate: Predicate, text: str) -> None:
    assert str(predicate) == text
    assert parse_predicate(text) == predicate
