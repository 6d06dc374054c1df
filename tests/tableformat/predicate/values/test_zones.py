"""Times are taken apart in a stated time zone, or not at all."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade import InvalidInputError
from colonnade.tableformat.predicate.values.zones import (
    SESSION,
    UTC,
    check_zone,
    instants,
    is_utc,
    local_times,
)


def test_a_zone_is_known_or_refused() -> None:
    check_zone(UTC)
    check_zone("+05:30")
    with pytest.raises(InvalidInputError, match="'Mars/Base' is not known"):
        check_zone("Mars/Base")
    with pytest.raises(InvalidInputError, match="time zone of the session"):
        check_zone(SESSION)
    assert is_utc(UTC)
    assert not is_utc("+00:00")


def test_local_times_are_those_of_the_zone() -> None:
    noon = pa.array([43_200_000_000], pa.timestamp("us", "UTC"))
    assert str(local_times(noon, "timestamp", "+05:30")[0]) == "1970-01-01 17:30:00"
    assert str(local_times(noon, "timestamp", UTC)[0]) == "1970-01-01 12:00:00"


def test_a_date_without_a_first_moment_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="does not fit"):
        instants(pa.array([2**31 - 1], pa.int32()).view(pa.date32()))
