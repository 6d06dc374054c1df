"""The transforms of partition layouts: what the log, the table and people must know of each.

A transform is a row of `TRANSFORMS`, from which its page of the specification is made. Its values
are computed by `tableformat/partition/transforms.py` and by `PartitionTransform` in the jar.
Spec: docs/spec/partitions.md#transforms
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from types import MappingProxyType

from colonnade.manifests.model.schema import INTEGERS, SchemaField
from colonnade.manifests.model.statistics import BINARY, REAL, TEXT, bound_prefix

_START = date(1970, 1, 1)
_MOST_DAYS = 700_000
"""More days around 1970 than this are not all dates of Python."""

_TIMESTAMPS = ("timestamp", "timestamp_ntz")


@dataclass(frozen=True, slots=True)
class PartitionTransform:
    """A function of the values of one column, by which rows are divided.

    `takes` tells whether a column may have the transform. `rules` say so on the page: types, and
    the value for them. `other_names` are names in other formats. `example` shows how a field is
    written whose transform has an argument; None: it has none.

    Values are of the column's type if `of_column`, and else whole numbers, which `text` shows; it
    may return None for the number itself. `of_days` says that a value depends on the day alone, so
    that a date has it as a timestamp, too. `scatters` says that the values do not ascend with those
    of the column, so that bounds of the column rule none out.
    """

    name: str
    takes: Callable[[SchemaField], bool]
    rules: tuple[tuple[str, str], ...]
    other_names: tuple[str, ...] = ()
    example: str | None = None
    of_column: bool = False
    of_days: bool = False
    scatters: bool = False
    text: Callable[[int], str | None] = str


def _is_instant(column: SchemaField) -> bool:
    return column.type in _TIMESTAMPS


def _is_time(column: SchemaField) -> bool:
    return column.type == "date" or _is_instant(column)


def _is_plain(column: SchemaField) -> bool:
    return bound_prefix(column.type) not in ("", REAL)


def _is_hashed(column: SchemaField) -> bool:
    name = str(column.type)
    whole = name in INTEGERS or name.startswith(("decimal", "time("))
    return whole or _is_time(column) or _is_text(column)


def _is_truncated(column: SchemaField) -> bool:
    name = str(column.type)
    return name in INTEGERS or name.startswith("decimal") or _is_text(column)


def _is_text(column: SchemaField) -> bool:
    return bound_prefix(column.type) in (TEXT, BINARY)


def _day_text(days: int) -> str | None:
    return (_START + timedelta(days)).isoformat() if abs(days) <= _MOST_DAYS else None


def _hour_text(hours: int) -> str | None:
    day = _day_text(hours // 24)
    return None if day is None else f"{day} {hours % 24:02}"


_ALL = (
    PartitionTransform(
        "identity",
        _is_plain,
        (("all types that have bounds, except `float` and `double`", "the value"),),
        of_column=True,
    ),
    PartitionTransform(
        "years",
        _is_time,
        (("`date`, `timestamp`, `timestamp_ntz`", "`i:` whole years since 1970, rounded down"),),
        ("year",),
        of_days=True,
        text=lambda years: f"{1970 + years:04}",
    ),
    PartitionTransform(
        "months",
        _is_time,
        (("the same", "`i:` whole months since 1970-01, rounded down"),),
        ("month",),
        of_days=True,
        text=lambda months: f"{1970 + months // 12:04}-{1 + months % 12:02}",
    ),
    PartitionTransform(
        "days",
        _is_time,
        (("the same", "`i:` days since 1970-01-01, rounded down"),),
        ("day", "date"),
        of_days=True,
        text=_day_text,
    ),
    PartitionTransform(
        "hours",
        _is_instant,
        (("`timestamp`, `timestamp_ntz`", "`i:` hours since 1970-01-01T00, rounded down"),),
        ("hour", "date_hour"),
        text=_hour_text,
    ),
    PartitionTransform(
        "bucket",
        _is_hashed,
        (
            (
                "integers, `decimal`, `date`, timestamps, `time`, text, `binary`",
                "`i:` as [below](#bucket)",
            ),
        ),
        example="bucket(16, id)",
        scatters=True,
    ),
    PartitionTransform(
        "truncate",
        _is_truncated,
        (
            (
                "integers, `decimal`",
                "v − (v mod width) with the prefix of the column, where mod is never"  # noqa: RUF001
                " negative;"
                " decimals unscaled; an integer not below −2⁶³",  # noqa: RUF001
            ),
            ("text", "`s:` the first *width* code points"),
            ("`binary`", "`b:` the first *width* bytes"),
        ),
        example="truncate(10, name)",
        of_column=True,
    ),
)

TRANSFORMS: Mapping[str, PartitionTransform] = MappingProxyType({each.name: each for each in _ALL})
"""Every transform by its name in the log."""

BY_ANY_NAME: Mapping[str, PartitionTransform] = MappingProxyType(
    {name: each for each in _ALL for name in (each.name, *each.other_names)}
)
"""Every transform by its names here and in other formats."""
