"""Which things may have rows in a region, by their bounds: RowSets, and the stretches of one. Pure.

Spec: docs/spec/operations.md#regions
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.manifests.arrays.bounds import Bounds, BoundsTable, bound_array
from colonnade.manifests.model.regions import Interval, Region
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.model.statistics import bound_prefix

Flags = NDArray[np.bool_]


def meets(region: Region, bounds: BoundsTable) -> tuple[Flags, Flags]:
    """Return which things may have rows in a region, and which have no other rows."""
    some, every = meets_each((region,), bounds)
    return some[0], every[0]


def meets_each(regions: Sequence[Region], bounds: BoundsTable) -> tuple[Flags, Flags]:
    """Return `meets` of several regions: a row for each region, and a column for each thing.

    Regions that differ in the values of their ends alone are compared as one array.
    """
    some = np.ones((len(regions), len(bounds.rows)), np.bool_)
    every = some.copy()
    alike: dict[object, list[int]] = {}
    for at, region in enumerate(regions):
        alike.setdefault(region.shape, []).append(at)
    for places in alike.values():
        first = regions[places[0]]
        for side, (interval, column) in enumerate(zip(first.intervals, first.columns, strict=True)):
            begins, stops = zip(*(regions[at].ends[side] for at in places), strict=True)
            part, whole = _meet(
                interval,
                None if interval.low is None else bound_array(begins)[:, np.newaxis],
                None if interval.high is None else bound_array(stops)[:, np.newaxis],
                _known(column, bounds),
                bounds.rows,
            )
            some[places] &= part
            every[places] &= whole
    return some, every & some


def _known(column: SchemaField, bounds: BoundsTable) -> Bounds | None:
    """Return the bounds of a column, in its present type."""
    return bounds.of(column.id, bound_prefix(column.type))


def _meet(
    interval: Interval,
    begins: NDArray[Any] | None,
    stops: NDArray[Any] | None,
    known: Bounds | None,
    rows: NDArray[np.int64],
) -> tuple[Flags, Flags]:
    """Return for each interval and thing whether values may be inside, and whether all are.

    `begins` and `stops` have a row for each of some intervals, which are like `interval`.
    """
    nothing = np.zeros(len(rows), np.bool_)
    if known is None:
        return ~nothing, nothing
    possible = ~(known.stated & (known.nulls + known.nans == rows))
    if not known.known.any():
        return possible, nothing
    met, whole = known.known, known.known & (known.nulls == 0) & (known.nans == 0)
    if begins is not None:
        above = np.greater if interval.low_open else np.greater_equal
        met = met & above(known.high, begins)
        whole = whole & above(known.low, begins)
    if stops is not None:
        below = np.less if interval.high_open else np.less_equal
        met = met & below(known.low, stops)
        whole = whole & below(known.high, stops)
    return (~known.known | met) & possible, whole
