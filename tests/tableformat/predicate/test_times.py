"""Dates and times are read as Spark reads them, or refused in one sentence."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.predicate.times import (
    DAY_US,
    parse_date,
    parse_time,
    parse_timestamp,
)


def test_a_date_may_lack_its_day_and_month() -> None:
    assert parse_date("1970-01-02") == 1
    assert parse_date(" 1970-2 ") == 31
    assert parse_date("1971") == 365
    assert parse_date("0001-01-01") == -719162


def test_a_time_has_up_to_nine_digits_of_a_second() -> None:
    assert parse_time("00:01") == 60 * 10**9
    assert parse_time("23:59:59.999999999") == 86_400 * 10**9 - 1


def test_a_timestamp_says_whether_it_named_a_zone() -> None:
    assert parse_timestamp("1970-01-02") == (DAY_US, False)
    assert parse_timestamp("1970-01-01T00:00:00.0000019") == (1, False)
    assert parse_timestamp("1970-01-01 00:00:00Z") == (0, True)
    assert parse_timestamp("1970-01-01 02:00:00 +02") == (0, True)
    assert parse_timestamp("1970-01-01 00:00:00-0130") == (5_400_000_000, True)
    assert parse_timestamp("2024-07-01 02:00:00 Europe/Berlin") == (
        parse_timestamp("2024-07-01")[0],
        True,
    )


@pytest.mark.parametrize(
    ("read", "text", "named"),
    [
        (parse_date, "2024-02-30", "does not exist"),
        (parse_date, "0000-01-01", "does not exist"),
        (parse_date, "24-01-01", "write it as '2024-01-31'"),
        (parse_date, "٢٠٢٤-01-01", "write it as"),
        (parse_time, "24:00", "does not exist"),
        (parse_time, "1:2:3.0000000001", "write it as"),
        (parse_timestamp, "2024-01-01 00:60", "does not exist"),
        (parse_timestamp, "2024-01-01 00:00:00+19:00", "beyond 18 hours"),
        (parse_timestamp, "2024-01-01 00:00:00 Mars/Base", "unknown time zone"),
        (parse_timestamp, "9" * 5000, "is not a timestamp"),
    ],
)
def test_a_text_that_is_not_a_time_is_refused(
    read: Callable[[str], object], text: str, named: str
) -> None:
    with pytest.raises(InvalidInputError, match=named):
        read(text)
