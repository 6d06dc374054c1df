"""Range tombstones: regions of a table whose rows were deleted without being read. Pure.

Spec: docs/spec/operations.md#range-tombstones
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.entries import Count
from colonnade.manifests.model.primary_key import has_order
from colonnade.manifests.model.regions import Interval, Intervals, Region
from colonnade.manifests.model.schema import Model, SchemaField, TableSchema, type_text

MOST_REGIONS = 128
"""The most regions of one tombstone, and of a table before `clean` names their rows."""

Regions = Annotated[tuple[Intervals, ...], Field(min_length=1, max_length=MOST_REGIONS)]


class RangeTombstone(Model):
    """Regions whose rows an epoch deleted: the rows that earlier epochs had added."""

    epoch: Count
    regions: Regions


def region_of(intervals: tuple[Interval, ...], schema: TableSchema) -> Region:
    """Return a region with its columns. Requires that `problem_of` finds nothing."""
    known = {field.id: field for field in schema.fields}
    columns = tuple(known[each.column] for each in intervals)
    present = tuple(each.of_type(c) for each, c in zip(intervals, columns, strict=True))
    # A scan makes each of them, and the fold has checked them before.
    return Region.model_construct(intervals=present, columns=columns)


def problem_of(intervals: tuple[Interval, ...], schema: TableSchema) -> str | None:
    """Return why a table with these columns cannot have a tombstone of a region, or None."""
    columns = {field.id: field for field in schema.fields}
    numbers = [each.column for each in intervals]
    if len(set(numbers)) < len(numbers):
        return "a range tombstone has two intervals of one column"
    for each in intervals:
        column = columns.get(each.column)
        if column is None:
            return f"a range tombstone names column {each.column}, which the table does not have"
        if (problem := _problem_of(each, column)) is not None:
            return problem
    return None


def _problem_of(interval: Interval, column: SchemaField) -> str | None:
    if not has_order(column):
        return (
            f"column {column.name!r} of type {type_text(column.type)} has no order and cannot have"
            " a range tombstone"
        )
    if column.nullable:
        return f"column {column.name!r} of a range tombstone is nullable"
    try:
        low, high = interval.bounds(column)
    except CorruptionError as error:
        return f"the range of column {column.name!r} is damaged: {error.message}"
    if low is not None and high is not None and low > high:  # type: ignore[operator]
        return f"the range of column {column.name!r} ends before it begins"
    return None
