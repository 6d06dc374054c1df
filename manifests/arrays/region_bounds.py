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
from colonnade.manifests.model.regions import Interval, Region
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.model.statistics import Bound

Flags = NDArray[np.bool_]


def meets(region: Region, bounds: BoundsTable) -> tuple[Flags, Flags]:
    """Return which things may have rows in a region, and which have no other rows."""
    some, every = meets_each((region,), bounds)
    return some[0], every[0]


def meets_each(regions: Sequence[Region], bounds: BoundsTable) -> tuple[Flags, Flags]:
    """Return `meets` of many regions: a row for each region, and a column for each thing."""
    some = np.ones((len(regions), len(bounds.rows)), np.bool_)
    every = some.copy()
    alike: dict[tuple[int, ...], list[int]] = {}
    for at, region in enumerate(regions):
        alike.setdefault(tuple(each.id for each in region.columns), []).append(at)
    for places in alike.values():
        those = [regions[at] for at in places]
        made = RegionArrays.of(
            those[0].columns, [each.intervals for each in those], [each.ends for each in those]
        )
        some[places], every[places] = made.meet(bounds)
    return some, every


@dataclass(frozen=True, slots=True)
class _Side:
    """The intervals of many regions on one column: each array has one row for each region.

    Where `begun` or `stopped` is false, an interval has no such end, and `begins` or `stops` holds
    any value. It is None if no interval has that end. `after` and `before` say where an end is
    open.
    """

    column: SchemaField
    begins: NDArray[Any] | None
    stops: NDArray[Any] | None
    begun: Flags
    stopped: Flags
    after: Flags
    before: Flags

    @classmethod
    def of(
        cls,
        column: SchemaField,
        intervals: Sequence[Interval],
        ends: Sequence[tuple[Bound | None, Bound | None]],
    ) -> _Side:
        begins, stops = [begin for begin, _ in ends], [end for _, end in ends]
        begun = np.array([each is not None for each in begins], np.bool_)
        stopped = np.array([each is not None for each in stops], np.bool_)
        return cls(
            column,
            bound_array(begins)[:, np.newaxis] if begun.any() else None,
            bound_array(stops)[:, np.newaxis] if stopped.any() else None,
            begun[:, np.newaxis],
            stopped[:, np.newaxis],
            np.array([each.low_open for each in intervals], np.bool_)[:, np.newaxis],
            np.array([each.high_open for each in intervals], np.bool_)[:, np.newaxis],
        )

    def take(self, places: NDArray[np.int64]) -> _Side:
        return _Side(
            self.column,
            None if self.begins is None else self.begins[places],
            None if self.stops is None else self.stops[places],
            *(self.begun[places], self.stopped[places], self.after[places], self.before[places]),
        )

    def known(self, bounds: BoundsTable) -> Bounds | None:
        """Return the bounds of the column, in its present type."""
        earlier = [(each.id, str(each.type)) for each in self.column.earlier or ()]
        return bounds.in_type(self.column.id, str(self.column.type), earlier)

    def meet(self, known: Bounds | None, rows: NDArray[np.int64]) -> tuple[Flags, Flags]:
        """Return for each interval and thing whether values may be inside, and whether all are.

        `rows` has the numbers of rows of the things.
        """
        shape = (len(self.begun), len(rows))
        if known is None:
            return np.ones(shape, np.bool_), np.zeros(shape, np.bool_)
        possible = ~(known.stated & (known.nulls + known.nans == rows))
        if not known.known.any():
            return np.broadcast_to(possible, shape), np.zeros(shape, np.bool_)
        low, high, begins, stops = _comparable(
            known.low[np.newaxis, :],
            known.high[np.newaxis, :],
            known.low[np.newaxis, :1] if self.begins is None else self.begins,
            known.high[np.newaxis, :1] if self.stops is None else self.stops,
        )
        above = (high > begins) | (~self.after & (high == begins)) | ~self.begun
        below = (low < stops) | (~self.before & (low == stops)) | ~self.stopped
        all_above = (low > begins) | (~self.after & (low == begins)) | ~self.begun
        all_below = (high < stops) | (~self.before & (high == stops)) | ~self.stopped
        whole = known.known & (known.nulls == 0) & (known.nans == 0)
        return (~known.known | (above & below)) & possible, whole & all_above & all_below


@dataclass(frozen=True, slots=True)
class RegionArrays:
    """Many regions of the same columns as arrays, which are made once for many comparisons."""

    _sides: tuple[_Side, ...]

    @classmethod
    def of(
        cls,
        columns: Sequence[SchemaField],
        intervals: Sequence[Sequence[Interval]],
        ends: Sequence[Sequence[tuple[Bound | None, Bound | None]]],
    ) -> RegionArrays:
        """Arrange regions. Each has one interval for each column, and `ends` has their bounds."""
        return cls(
            tuple(
                _Side.of(column, [each[at] for each in intervals], [each[at] for each in ends])
                for at, column in enumerate(columns)
            )
        )

    def take(self, places: NDArray[np.int64]) -> RegionArrays:
        """Return some of the regions."""
        return RegionArrays(tuple(side.take(places) for side in self._sides))

    def first_may_meet(self, bounds: BoundsTable) -> Flags:
        """Return for each region and thing whether bounds of the first column allow both to meet.

        It costs less than `meet`.
        """
        side = self._sides[0]
        return side.meet(side.known(bounds), bounds.rows)[0]

    def meet(self, bounds: BoundsTable) -> tuple[Flags, Flags]:
        """Return `meets` of each region: a row for each region, and a column for each thing."""
        some = np.ones((len(self._sides[0].begun), len(bounds.rows)), np.bool_)
        every = some.copy()
        for side in self._sides:
            part, whole = side.meet(side.known(bounds), bounds.rows)
            some &= part
            every &= whole
        return some, every & some


def _comparable(*arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """Return numbers in the order of the values, because numpy compares objects one by one."""
    if all(each.dtype.kind != "O" for each in arrays):
        return list(arrays)
    objects = np.concatenate([each.astype(object).ravel() for each in arrays])
    _, ranks = np.unique(objects, return_inverse=True)
    parts = np.split(ranks, np.cumsum([each.size for each in arrays])[:-1])
    return [part.reshape(each.shape) for part, each in zip(parts, arrays, strict=True)]
