"""Which things may have rows in regions, by their bounds: RowSets, and the stretches of one. Pure.

Many regions are compared with many things as arrays, because a table may have thousands of both.
Spec: docs/spec/operations.md#regions
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from colonnade.manifests.arrays.bounds import Bounds, BoundsTable, bound_array
from colonnade.manifests.model.regions import Region
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.model.statistics import Bound

Flags = NDArray[np.bool_]


def meets(region: Region, bounds: BoundsTable) -> tuple[Flags, Flags]:
    """Return which things may have rows in a region, and which have no other rows."""
    some, every = meets_each((region,), bounds)
    return some[0], every[0]


def meets_each(regions: Sequence[Region], bounds: BoundsTable) -> tuple[Flags, Flags]:
    """Return `meets` of many regions: a row for each region, and a column for each thing.

    Regions of the same columns are compared together, as arrays.
    """
    some = np.ones((len(regions), len(bounds.rows)), np.bool_)
    every = some.copy()
    alike: dict[tuple[int, ...], list[int]] = {}
    for at, region in enumerate(regions):
        alike.setdefault(tuple(each.id for each in region.columns), []).append(at)
    for places in alike.values():
        for position, column in enumerate(regions[places[0]].columns):
            part, whole = _meet_each([regions[at] for at in places], position, column, bounds)
            some[places] &= part
            every[places] &= whole
    return some, every & some


def may_meet(ends: Sequence[tuple[Bound | None, Bound | None]], bounds: Bounds) -> Flags:
    """Return for each interval and each RowSet whether bounds of the RowSet allow that they meet.

    `ends` are the ends of the intervals.
    """
    near = _Ends.of(ends, bounds)
    pairs = (near.high >= near.begins) | ~near.begun
    pairs &= (near.low <= near.stops) | ~near.stopped
    return np.asarray(pairs | ~bounds.known[np.newaxis, :], np.bool_)


def _meet_each(
    regions: Sequence[Region], position: int, column: SchemaField, bounds: BoundsTable
) -> tuple[Flags, Flags]:
    earlier = [(each.id, str(each.type)) for each in column.earlier or ()]
    known = bounds.in_type(column.id, str(column.type), earlier)
    shape = (len(regions), len(bounds.rows))
    if known is None:
        return np.ones(shape, np.bool_), np.zeros(shape, np.bool_)
    possible = ~(known.stated & (known.nulls + known.nans == bounds.rows))
    if not known.known.any():
        return np.broadcast_to(possible, shape), np.zeros(shape, np.bool_)
    ends = _Ends.of([each.ends[position] for each in regions], known)
    intervals = (each.intervals[position] for each in regions)
    opens = np.array([(each.low_open, each.high_open) for each in intervals], np.bool_)
    after_low, before_high = opens[:, :1], opens[:, 1:]
    above = (ends.high > ends.begins) | (~after_low & (ends.high == ends.begins)) | ~ends.begun
    below = (ends.low < ends.stops) | (~before_high & (ends.low == ends.stops)) | ~ends.stopped
    all_above = (ends.low > ends.begins) | (~after_low & (ends.low == ends.begins)) | ~ends.begun
    all_below = (ends.high < ends.stops) | (~before_high & (ends.high == ends.stops))
    all_below |= ~ends.stopped
    whole = known.known & (known.nulls == 0) & (known.nans == 0)
    return (~known.known | (above & below)) & possible, whole & all_above & all_below


@dataclass(frozen=True, slots=True)
class _Ends:
    """The ends of intervals as a column, and the bounds of things as a row, to be compared.

    Where `begun` or `stopped` is false, an interval has no such end, and `begins` or `stops` holds
    any value.
    """

    low: NDArray[Any]
    high: NDArray[Any]
    begins: NDArray[Any]
    stops: NDArray[Any]
    begun: Flags
    stopped: Flags

    @classmethod
    def of(cls, ends: Sequence[tuple[Bound | None, Bound | None]], bounds: Bounds) -> _Ends:
        begun = np.array([begin is not None for begin, _ in ends])
        stopped = np.array([end is not None for _, end in ends])
        low, high, begins, stops = _comparable(
            bounds.low,
            bounds.high,
            bound_array([begin for begin, _ in ends]) if begun.any() else bounds.low[:1],
            bound_array([end for _, end in ends]) if stopped.any() else bounds.high[:1],
        )
        return cls(
            *(low[np.newaxis, :], high[np.newaxis, :]),
            *(begins[:, np.newaxis], stops[:, np.newaxis]),
            *(begun[:, np.newaxis], stopped[:, np.newaxis]),
        )


def _comparable(*arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """Return numbers in the order of the values, because numpy compares objects one by one."""
    if all(each.dtype.kind != "O" for each in arrays):
        return list(arrays)
    objects = np.concatenate([each.astype(object) for each in arrays])
    _, ranks = np.unique(objects, return_inverse=True)
    return np.split(ranks, np.cumsum([len(each) for each in arrays])[:-1])
