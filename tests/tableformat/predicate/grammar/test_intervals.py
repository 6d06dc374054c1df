"""Intervals become months or microseconds exactly, or are refused in one sentence."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.predicate.grammar.intervals import (
    add_intervals,
    parse_interval,
    parse_interval_pairs,
    parse_interval_span,
)
from colonnade.tableformat.predicate.literals import Kind, Literal

HOUR = 3_600_000_000


@pytest.mark.parametrize(
    ("text", "unit", "kind", "value"),
    [
        ("3", "DAY", Kind.DURATION, 72 * HOUR),
        ("3", "days", Kind.DURATION, 72 * HOUR),
        (" - 2 ", "HOUR", Kind.DURATION, -2 * HOUR),
        ("1.5", "SECOND", Kind.DURATION, 1_500_000),
        ("7", "MICROSECOND", Kind.DURATION, 7),
        ("2", "YEAR", Kind.MONTHS, 24),
        ("-1", "MONTHS", Kind.MONTHS, -1),
    ],
)
def test_an_interval_of_one_unit_is_read(text: str, unit: str, kind: Kind, value: int) -> None:
    assert parse_interval(text, unit) == Literal(kind, value)


def test_an_interval_of_several_units_is_read() -> None:
    assert parse_interval_span("1 02:30", "DAY", "MINUTE").value == 26 * HOUR + HOUR // 2
    assert parse_interval_span("-100:00", "hour", "minute").value == -100 * HOUR
    assert parse_interval_span("-1-2", "YEAR", "MONTH") == Literal(Kind.MONTHS, -14)
    assert parse_interval_pairs("1 day -2 hours").value == 22 * HOUR


@pytest.mark.parametrize(
    "call",
    [
        lambda: parse_interval("1.5", "DAY"),
        lambda: parse_interval("0.0000001", "SECOND"),
        lambda: parse_interval("x", "DAY"),
        lambda: parse_interval("1", "FORTNIGHT"),
        lambda: parse_interval_span("1-12", "YEAR", "MONTH"),
        lambda: parse_interval_span("1 24:00", "DAY", "MINUTE"),
        lambda: parse_interval_span("1 2", "HOUR", "DAY"),
        lambda: parse_interval_pairs("1 day and 2 hours"),
    ],
)
def test_a_text_that_is_not_an_interval_is_refused(call: Callable[[], Literal]) -> None:
    with pytest.raises(InvalidInputError, match="cannot be read: write it as INTERVAL '3' DAY"):
        call()


def test_months_and_days_have_no_sum() -> None:
    with pytest.raises(InvalidInputError, match="cannot add years or months to days"):
        add_intervals(parse_interval("1", "MONTH"), parse_interval("1", "DAY"))


@pytest.mark.parametrize(
    "call",
    [
        lambda digits: parse_interval(digits, "DAY"),
        lambda digits: parse_interval_span(f"{digits}-1", "YEAR", "MONTH"),
        lambda digits: parse_interval_span(f"{digits} 01:00", "DAY", "MINUTE"),
        lambda digits: parse_interval_span(f"{digits}.5", "SECOND", "SECOND"),
        lambda digits: parse_interval_pairs(f"{digits} days"),
    ],
)
@pytest.mark.parametrize("count", [38, 39, 5000])
def test_more_digits_than_python_reads_are_refused(
    call: Callable[[str], Literal], count: int
) -> None:
    with pytest.raises(InvalidInputError):
        call("9" * count)
