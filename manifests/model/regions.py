"""Regions: rows whose values are between bounds. Pure.

By a region, the log and a plan say which rows are deleted or expired, without their numbers. A
range tombstone deletes the rows of a region. Rows that have expired are those of another region.
Spec: docs/spec/operations.md#regions
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, field_serializer, model_validator

from colonnade.manifests.model.entries import ColumnNumber
from colonnade.manifests.model.primary_key import has_order
from colonnade.manifests.model.schema import Model, SchemaField
from colonnade.manifests.model.statistics import Bound, bound_kinds, decode_bound


class Interval(Model):
    """The values of a column between two bounds, which are tagged strings; None: no bound there.

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
        kinds = bound_kinds(column)
        return (
            None if self.low is None else decode_bound(self.low, kinds),
            None if self.high is None else decode_bound(self.high, kinds),
        )


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

    @field_serializer("columns")
    def _whole_columns(self, columns: tuple[SchemaField, ...]) -> list[dict[str, Any]]:
        # A plan leaves defaults out, and the jar reads all keys of a column.
        return [column.model_dump(mode="json") for column in columns]


class Mask(Model):
    """A column whose values count as NULL in the rows of a region."""

    column: ColumnNumber
    region: Region
