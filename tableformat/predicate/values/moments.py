"""Dates, times and intervals: their parts, and what is added to them or lies between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import INTEGERS
from colonnade.tableformat.predicate.times import DAY_US
from colonnade.tableformat.predicate.values.casts import cast
from colonnade.tableformat.predicate.values.row_value import (
    RowValue,
    arrow_of,
    computed,
    exact,
    unsupported,
    valid_mask,
)
from colonnade.tableformat.predicate.values.types import (
    TIMES,
    counts_months,
    is_interval,
)
from colonnade.tableformat.predicate.values.zones import check_zone, is_utc, local_times
from colonnade.tableformat.types.compute import pc

PARTS = ("year", "quarter", "month", "day", "hour", "minute", "second")
"""The parts of a time, by the names of SQL and of the functions of Arrow."""

DAYS = {"dayofweek": (1, 7), "weekday": (0, 1), "dayofyear": (0, 0)}
"""The numbers of a day: what is added to Arrow's number of it, and where its week starts."""

_TIME_PARTS = ("hour", "minute", "second")


def part_of(part: str, value: RowValue, time_zone: str) -> RowValue:
    """Return a part of a date or time, one of `PARTS`, in a time zone.

    Raises InvalidInputError for other types, and for the hours of a date.
    """
    apply = getattr(pc, part)
    return _of_local(part, value, time_zone, apply, part in _TIME_PARTS)


def day_of(name: str, value: RowValue, time_zone: str) -> RowValue:
    """Return the number of a day in its week or year. Raises InvalidInputError."""
    if name == "dayofyear":
        return _of_local(name, value, time_zone, pc.day_of_year, False)
    # Spark counts the days of a week from Sunday = 1, or from Monday = 0.
    first = 7 if name == "dayofweek" else 1

    def apply(array: pa.Array) -> pa.Array:
        return pc.day_of_week(array, count_from_zero=name == "weekday", week_start=first)

    return _of_local(name, value, time_zone, apply, False)


def _of_local(
    name: str, value: RowValue, time_zone: str, apply: object, needs_time: bool
) -> RowValue:
    found = value.text
    if found not in (TIMES if needs_time else ("date", *TIMES)):
        raise unsupported(f"{name} of {found}")
    if found == "timestamp":
        check_zone(time_zone)
    assert callable(apply)
    return computed(
        "int",
        (value,),
        lambda array: apply(local_times(array, found, time_zone)).cast(pa.int32(), safe=False),
        may_fail=True,
    )


def last_day(value: RowValue) -> RowValue:
    """Return the last day of the month of a date."""
    if value.text != "date":
        raise unsupported(f"last_day of {value.text}")

    def apply(array: pa.Array) -> pa.Array:
        months = array.to_numpy(zero_copy_only=False).astype("datetime64[M]") + 1
        return pa.array(months.astype("datetime64[D]") - 1, pa.date32(), mask=~valid_mask(array))

    return computed("date", (value,), apply)


def date_plus(name: str, values: Sequence[RowValue]) -> RowValue:
    """Return a date some days later, or earlier for `date_sub`; `add_months` counts months."""
    date, count = values
    if date.text != "date" or count.text not in INTEGERS[:3]:
        raise unsupported(f"{name} of {date.text} and {count.text}")
    months = name == "add_months"
    sign = -1 if name == "date_sub" else 1

    def apply(dates: pa.Array, counts: pa.Array) -> pa.Array:
        steps = _numbers(counts) * sign
        return _months_later(dates, steps, counts) if months else _days_later(dates, steps, counts)

    return computed("date", (date, count), apply, may_fail=True)


def _numbers(array: pa.Array) -> NDArray[np.int64]:
    whole = array.cast(pa.int64()) if pa.types.is_integer(array.type) else array.view(pa.int64())
    return np.asarray(whole.fill_null(0).to_numpy(zero_copy_only=False))


def _days_later(dates: pa.Array, steps: NDArray[np.int64], other: pa.Array) -> pa.Array:
    days = _numbers(dates.view(pa.int32())) + steps
    array = exact(pa.array(days, mask=~valid_mask(dates, other)).cast, pa.int32())
    return array.view(pa.date32())


def _months_later(dates: pa.Array, steps: NDArray[np.int64], other: pa.Array) -> pa.Array:
    """Return dates some months later; a day that the month does not have is its last day."""
    days = _numbers(dates.view(pa.int32())).astype("datetime64[D]")
    months = days.astype("datetime64[M]")
    day = (days - months.astype("datetime64[D]")).astype(np.int64)
    later = months + steps
    last = ((later + 1).astype("datetime64[D]") - 1).astype(np.int64)
    found = np.minimum(later.astype("datetime64[D]").astype(np.int64) + day, last)
    array = exact(pa.array(found, mask=~valid_mask(dates, other)).cast, pa.int32())
    return array.view(pa.date32())


def date_difference(values: Sequence[RowValue]) -> RowValue:
    """Return how many days the first date is after the second one."""
    for each in values:
        if each.text != "date":
            raise unsupported(f"datediff of {each.text}")
    return computed("int", values, _days_between, may_fail=True)


def _days_between(one: pa.Array, other: pa.Array) -> pa.Array:
    wide = [each.view(pa.int32()).cast(pa.int64()) for each in (one, other)]
    return exact(pc.subtract(*wide).cast, pa.int32())


def has_times(left: RowValue, right: RowValue) -> bool:
    """Return whether a sum or difference is one of dates, times or intervals."""
    kinds = ("date", *TIMES)
    return any(each.text in kinds or is_interval(each.text) for each in (left, right))


def sum_of_times(operator: str, left: RowValue, right: RowValue, time_zone: str) -> RowValue:
    """Return a date or time with an interval added or subtracted, or what lies between two dates.

    A date and whole days, or months, are a date; a date and hours are a timestamp. Raises
    InvalidInputError for other values.
    """
    if operator == "+" and is_interval(left.text) and not is_interval(right.text):
        left, right = right, left
    refused = unsupported(f"{operator} on {left.text} and {right.text}")
    if left.text == "date" and right.text in INTEGERS[:3] and operator in "+-":
        return date_plus("date_add" if operator == "+" else "date_sub", (left, right))
    if operator == "-" and left.text == right.text == "date":
        return computed("interval day", (left, right), _as_days, may_fail=True)
    if not is_interval(right.text) or operator not in ("+", "-"):
        raise refused
    sign = 1 if operator == "+" else -1
    if is_interval(left.text):
        return _sum_of_intervals(left, right, sign, refused)
    if left.text == "date" and (counts_months(right.text) or right.text == "interval day"):
        return _date_and_interval(left, right, sign)
    if counts_months(right.text):
        raise refused
    if left.text == "date":
        left = cast(left, "timestamp", time_zone)
    if left.text not in TIMES or (left.text == "timestamp" and not is_utc(time_zone)):
        raise refused
    function = pc.add_checked if sign > 0 else pc.subtract_checked
    target = arrow_of(left.text)

    def apply(times: pa.Array, spans: pa.Array) -> pa.Array:
        both = (times.view(pa.int64()), spans.view(pa.int64()))
        return exact(function, *both).view(target)

    return computed(left.text, (left, right), apply, may_fail=True)


def _date_and_interval(date: RowValue, span: RowValue, sign: int) -> RowValue:
    months = counts_months(span.text)

    def apply(dates: pa.Array, spans: pa.Array) -> pa.Array:
        if months:
            return _months_later(dates, _numbers(spans) * sign, spans)
        return _days_later(dates, _numbers(spans) // DAY_US * sign, spans)

    return computed("date", (date, span), apply, may_fail=True)


def _as_days(one: pa.Array, other: pa.Array) -> pa.Array:
    days = _days_between(one, other).cast(pa.int64())
    return exact(pc.multiply_checked, days, DAY_US).view(pa.duration("us"))


def _sum_of_intervals(
    left: RowValue, right: RowValue, sign: int, refused: InvalidInputError
) -> RowValue:
    if counts_months(left.text) != counts_months(right.text):
        raise refused
    kind = left.text
    if left.text != right.text:
        kind = "interval year to month" if counts_months(left.text) else "interval day to second"
    function = pc.add_checked if sign > 0 else pc.subtract_checked
    target, whole = arrow_of(kind), pa.int32() if counts_months(kind) else pa.int64()
    return computed(
        kind,
        (left, right),
        lambda one, other: exact(function, one.view(whole), other.view(whole)).view(target),
        may_fail=True,
    )
