"""Random regions of rows, and a model that says which rows are inside them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pyarrow as pa

from colonnade.manifests.model.primary_key import has_order
from colonnade.manifests.model.regions import Interval, Mask, Region
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.model.statistics import Bound, bound_prefix, encode_bound
from colonnade.tableformat.types.decimals import unscaled


def region(*intervals: tuple[SchemaField, Interval]) -> Region:
    """Return the region of some intervals and their columns."""
    return Region(
        intervals=tuple(each for _, each in intervals), columns=tuple(each for each, _ in intervals)
    )


def between(
    column: SchemaField, low: Bound | None = None, high: Bound | None = None, **opens: bool
) -> Region:
    """Return the region of one interval. A bound is closed unless `opens` says otherwise."""
    return region((column, interval_of(column, low, high, **opens)))


def interval_of(
    column: SchemaField, low: Bound | None, high: Bound | None, **opens: bool
) -> Interval:
    """Return an interval between values in the form of bounds."""
    tag = bound_prefix(column.type)
    return Interval(
        column=column.id,
        low=None if low is None else encode_bound(low, tag),
        high=None if high is None else encode_bound(high, tag),
        **opens,
    )


def stored_values(array: pa.Array) -> list[Bound | None]:
    """Return the values of a column with an order as bounds; None for NULL and NaN."""
    kind = array.type
    if pa.types.is_temporal(kind):
        array = array.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    values: list[Any] = array.to_pylist()
    if pa.types.is_decimal(kind):
        return [None if each is None else unscaled(each, kind.scale) for each in values]
    if pa.types.is_boolean(kind):
        return [None if each is None else int(each) for each in values]
    return [None if each != each else each for each in values]


def inside(regions: Iterable[Region], rows: pa.RecordBatch) -> list[bool]:
    """Say of each row whether it is inside any of the regions, whose columns `rows` has."""
    found = [False] * rows.num_rows
    known: dict[str, list[Bound | None]] = {}
    for each in regions:
        left = list(range(rows.num_rows))
        for interval, column in zip(each.intervals, each.columns, strict=True):
            if column.name not in known:
                known[column.name] = stored_values(rows[column.name])
            values, holds = known[column.name], _holder(interval, column)
            left = [row for row in left if holds(values[row])]
        for row in left:
            found[row] = True
    return found


def _holder(interval: Interval, column: SchemaField) -> Callable[[Any], bool]:
    low, high = interval.bounds(column)
    at_low, at_high = not interval.low_open, not interval.high_open

    def holds(value: Any) -> bool:
        if value is None:
            return False
        above = low is None or value > low or (value == low and at_low)
        return above and (high is None or value < high or (value == high and at_high))

    return holds


def masked(masks: Iterable[Mask], schema: TableSchema, rows: pa.RecordBatch) -> pa.RecordBatch:
    """Return the rows of a schema with NULL for each value that one of the masks hides."""
    arrays = []
    for field, array in zip(schema.fields, rows.columns, strict=True):
        gone = inside([each.region for each in masks if each.column == field.id], rows)
        places = [None if hides else at for at, hides in enumerate(gone)]
        arrays.append(array.take(pa.array(places, pa.int64())))
    return pa.RecordBatch.from_arrays(arrays, schema=rows.schema)


def random_regions(
    schema: TableSchema, rows: pa.RecordBatch, rng: random.Random, most: int = 4
) -> tuple[Region, ...]:
    """Return regions between values of the rows. The schema has a column with an order."""
    columns = [field for field in schema.fields if has_order(field)]
    values = {each.name: _sorted(stored_values(rows[each.name])) for each in columns}
    found = []
    for _ in range(rng.randint(1, most)):
        chosen = rng.sample(columns, min(len(columns), rng.choice((1, 1, 2, 3))))
        found.append(
            region(*((each, _random_interval(each, values[each.name], rng)) for each in chosen))
        )
    return tuple(found)


def _sorted(values: Sequence[Any]) -> list[Any]:
    return sorted(each for each in values if each is not None)


def _random_interval(column: SchemaField, values: list[Any], rng: random.Random) -> Interval:
    if not values:
        return interval_of(column, None, None)
    low, high = sorted((rng.randrange(len(values)), rng.randrange(len(values))))
    if rng.random() < 0.3:
        high = low
    return interval_of(
        column,
        None if rng.random() < 0.2 else values[low],
        None if rng.random() < 0.2 else values[high],
        low_open=rng.random() < 0.4,
        high_open=rng.random() < 0.4,
    )
