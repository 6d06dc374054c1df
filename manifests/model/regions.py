"""Regions: rows whose values are between bounds. Pure.

By a region, the log and a plan say which rows are deleted or expired, without their numbers. A
range tombstone deletes the rows of a region. Rows that have expired are those of another region.
Spec: docs/spec/operations.md#regions
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from math import inf, nextafter
from operator import attrgetter
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    Field,
    PlainSerializer,
    field_serializer,
    field_validator,
    model_validator,
)

from colonnade.manifests.model.entries import ColumnNumber
from colonnade.manifests.model.primary_key import has_order
from colonnade.manifests.model.schema import Model, SchemaField
from colonnade.manifests.model.statistics import Bound, bound_prefix, decode_bound, encode_bound
from colonnade.manifests.once import once


class Interval(Model):
    """The values of a column between two bounds, texts with a prefix; None: no bound there.

    An open bound is itself outside. NULL and NaN are never inside.
    """

    column: ColumnNumber
    low: str | None = None
    high: str | None = None
    low_open: bool = False
    high_open: bool = False

    @property
    def value(self) -> str | None:
        """The only value inside, or None if there may be more."""
        closed = not (self.low_open or self.high_open)
        return self.low if closed and self.low == self.high else None

    def bounds(self, column: SchemaField) -> tuple[Bound | None, Bound | None]:
        """Return both bounds as values of a column. Raises CorruptionError if they do not fit."""
        prefix = bound_prefix(column.type)
        return (
            None if self.low is None else decode_bound(self.low, prefix),
            None if self.high is None else decode_bound(self.high, prefix),
        )

    def of_type(self, column: SchemaField) -> Interval:
        """Return the same interval, with bounds as the present type of the column writes them."""
        prefix = bound_prefix(column.type)
        if all(each is None or each.startswith(f"{prefix}:") for each in (self.low, self.high)):
            return self
        low, high = (None if e is None else encode_bound(e, prefix) for e in self.bounds(column))
        return self.model_copy(update={"low": low, "high": high})

    def extent(self, column: SchemaField) -> tuple[Bound, Bound] | None:
        """Return a least and a greatest value between which all values inside are, ends included.

        An open end of a text counts as inside. Returns None for texts without an upper end, because
        no text is the greatest.
        """
        low, high = self.bounds(column)
        if isinstance(low, int) or isinstance(high, int):
            least = -_BEYOND if low is None else int(low) + self.low_open
            return least, _BEYOND if high is None else int(high) - self.high_open
        if isinstance(low, float) or isinstance(high, float):
            first = -inf if low is None else float(low)
            last = inf if high is None else float(high)
            return (
                nextafter(first, inf) if low is not None and self.low_open else first,
                nextafter(last, -inf) if high is not None and self.high_open else last,
            )
        if high is None:
            return None
        return type(high)() if low is None else low, high


_BEYOND = 10**38
"""A number above each value that is stored as a whole number, the unscaled decimals included."""

Intervals = Annotated[tuple[Interval, ...], Field(min_length=1)]
"""A region as the log states it: a row is inside if each column is inside its interval."""


class Region(Model):
    """Rows whose value lies inside every interval. `columns` has the column of each interval.

    The columns are stated, because a plan shows other columns than the table may have.
    """

    intervals: Intervals
    columns: tuple[SchemaField, ...]

    @model_validator(mode="after")
    def _check_columns(self) -> Region:
        if [each.column for each in self.intervals] != [each.id for each in self.columns]:
            raise ValueError("a region has one column for each interval")
        if not all(map(has_order, self.columns)):
            raise ValueError("a column of a region has an order")
        return self

    @once
    def ends(self) -> tuple[tuple[Bound | None, Bound | None], ...]:
        """Both bounds of each interval, as values of its column. Raises CorruptionError."""
        # Each scan of a table compares all of its regions, so they are decoded once.
        return tuple(
            each.bounds(column) for each, column in zip(self.intervals, self.columns, strict=True)
        )

    @once
    def shape(self) -> tuple[tuple[int, bool, bool, bool, bool], ...]:
        """All that decides how rows are compared with the region, except the values of its ends.

        Of each interval: its column, whether it has no low and no high end, and which are open.
        """
        return tuple(
            (each.column, each.low is None, each.high is None, each.low_open, each.high_open)
            for each in self.intervals
        )


def _stated(regions: tuple[Region, ...]) -> list[dict[str, Any]]:
    """Return regions for a plan: their columns once, and three texts for each interval."""
    return [
        {
            "columns": [column.model_dump(mode="json") for column in columns],
            "regions": [
                [part for side in each.intervals for part in _parts(side)] for each in alike
            ],
        }
        for columns, alike in groupby(regions, attrgetter("columns"))
    ]


def _parts(side: Interval) -> tuple[str | None, str | None, str]:
    return side.low, side.high, _ENDS[side.low_open, side.high_open]


def _read(stated: Any) -> Any:
    if not isinstance(stated, list):
        return stated
    return tuple(region for group in stated for region in _regions(group))


def _regions(group: Mapping[str, Any]) -> Iterator[Region]:
    # JSON has lists, and models take tuples.
    columns = tuple(SchemaField.model_validate(each, strict=False) for each in group["columns"])
    for parts in group["regions"]:
        sides = zip(columns, parts[0::3], parts[1::3], parts[2::3], strict=True)
        intervals = (
            Interval(column=column.id, low=low, high=high, **_OPEN[ends])
            for column, low, high, ends in sides
        )
        yield Region(intervals=tuple(intervals), columns=columns)


_ENDS = {(False, False): "[]", (False, True): "[)", (True, False): "(]", (True, True): "()"}
_OPEN = {ends: {"low_open": low, "high_open": high} for (low, high), ends in _ENDS.items()}

PlannedRegions = Annotated[
    tuple[Region, ...], PlainSerializer(_stated, when_used="json"), BeforeValidator(_read)
]
"""Regions of a table. A plan has them for each task, and states them shortly."""


class Mask(Model):
    """A column whose values count as NULL in the rows of a region."""

    column: ColumnNumber
    region: Region

    @field_serializer("region", when_used="json")
    def _stated_region(self, region: Region) -> list[dict[str, Any]]:
        return _stated((region,))

    @field_validator("region", mode="before")
    @classmethod
    def _read_region(cls, stated: Any) -> Any:
        return _read(stated)[0] if isinstance(stated, list) else stated
