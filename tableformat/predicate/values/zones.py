"""Times in a time zone. Arrow knows the changes of a zone up to the year 2037."""

from __future__ import annotations

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.predicate.values.row_value import exact
from colonnade.tableformat.types.compute import pc

UTC = "UTC"

SESSION = "session"
"""The time zone of whoever evaluates an expression, which nothing states."""

_FIRST = -62_135_596_800_000_000
_LAST = {9999: 253_402_300_799_999_999, 2037: 2_145_916_799_999_999}
"""The first microsecond of the years that SQL has, and the last one of two years."""


def is_utc(zone: str) -> bool:
    """Return whether the clock of a zone shows UTC."""
    return zone == UTC


def check_zone(zone: str) -> None:
    """Raise InvalidInputError for a time zone that is not known."""
    if zone == SESSION:
        raise InvalidInputError(
            "It takes a timestamp apart in the time zone of the session, which is not stated."
        )
    try:
        pc.local_timestamp(pa.array([0], pa.timestamp("us", zone)))
    except pa.ArrowException as error:
        raise InvalidInputError(f"Time zone {zone!r} is not known.") from error


def local_times(array: pa.Array, found: str, zone: str) -> pa.Array:
    """Return dates or times of the type `found` as local times of a zone.

    Raises InvalidInputError for a year beyond 1 to 9999, or beyond 2037 in a zone whose offset
    changes.
    """
    fixed = found != "timestamp" or zone == UTC or zone[:1] in "+-"
    year = 9999 if fixed else 2037
    first, last = (pa.scalar(each, pa.timestamp("us")) for each in (_FIRST, _LAST[year]))
    plain = exact(pc.cast, array, pa.timestamp("us"))
    if pc.any(pc.or_(pc.less(plain, first), pc.greater(plain, last))).as_py():
        raise InvalidInputError(f"It reads a time outside the years 1 to {year}.")
    return (
        plain if found != "timestamp" else pc.local_timestamp(array.cast(pa.timestamp("us", zone)))
    )


def instants(dates: pa.Array) -> pa.Array:
    """Return the first moments of days. Raises InvalidInputError for a date beyond all times."""
    return exact(pc.cast, dates, pa.timestamp("us"))
