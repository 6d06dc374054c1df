"""Bounds of many things as arrays, for pruning.

A thing is an entry segment, a RowSet or a block. One table describes all three, so that one
vectorised evaluation of a predicate prunes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from colonnade.manifests.arrays.partitions import Partitions
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.model.statistics import (
    Bound,
    bound_prefix,
    decode_bound,
    in_prefix,
    prefix_widens,
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """One column of a `BoundsTable`. Every array has one element for each row of the table.

    `prefix` says what the numbers mean (`statistics.py`). `low` and `high` are int64 or float64
    arrays, or object arrays of int, str or bytes. Where `known` is false, they hold arbitrary
    values. Bounds never cover NULL or NaN. `nulls` and `nans` are -1 where the number is unknown.
    """

    prefix: str
    low: NDArray[np.generic]
    high: NDArray[np.generic]
    known: NDArray[np.bool_]
    nulls: NDArray[np.int64]
    nans: NDArray[np.int64]

    @property
    def stated(self) -> NDArray[np.bool_]:
        """Which things have statistics of the column."""
        return np.asarray(self.nulls >= 0)

    def take(self, indexes: NDArray[np.int64]) -> Bounds:
        """Return the bounds of the things at these indexes."""
        return Bounds(
            self.prefix,
            self.low[indexes],
            self.high[indexes],
            self.known[indexes],
            self.nulls[indexes],
            self.nans[indexes],
        )

    def in_prefix(self, prefix: str) -> Bounds | None:
        """Return the bounds in the prefix of a wider type; None if the type is not wider."""
        if self.prefix == prefix or not self.known.any():
            return self if self.prefix == prefix else replace(self, prefix=prefix)
        if not prefix_widens(self.prefix, prefix):
            return None
        low = prefixed_array(self.low, self.known, self.prefix, prefix)
        high = prefixed_array(self.high, self.known, self.prefix, prefix)
        return replace(self, prefix=prefix, low=low, high=high)


Members = Callable[[NDArray[np.int64], Sequence[Bound]], NDArray[np.bool_]]
"""Takes indexes of things and some values. Returns for each thing whether it may hold a value."""


@dataclass(frozen=True, slots=True)
class BoundsTable:
    """Row counts and column bounds of `len(rows)` things.

    Nothing is known about a column that is absent from `columns`, or about partitions if
    `partitions` is None. Only RowSets have partitions. Columns in `members` can also be asked for
    single values. Only blocks have members.
    """

    rows: NDArray[np.int64]
    columns: Mapping[int, Bounds]
    partitions: Partitions | None = None
    members: Mapping[int, Members] = field(default_factory=dict)

    def take(self, indexes: NDArray[np.int64]) -> BoundsTable:
        """Return the bounds of the blocks at these indexes, without members."""
        columns = {column: bounds.take(indexes) for column, bounds in self.columns.items()}
        return BoundsTable(self.rows[indexes], columns)

    def of(self, column: int, prefix: str) -> Bounds | None:
        """Return the bounds of a column in a prefix, or None if nothing is known in it.

        RowSets may have been written before the type of the column widened. The bounds of a wider
        type than that of the prefix say nothing.
        """
        found = self.columns.get(column)
        return None if found is None else found.in_prefix(prefix)

    def with_open_nulls(self, ids: Iterable[int]) -> BoundsTable:
        """Return the bounds with an unknown number of NULLs in some columns."""
        opened = {
            column: replace(bounds, nulls=np.full(len(self.rows), -1, np.int64))
            for column in ids
            if (bounds := self.columns.get(column)) is not None
        }
        return replace(self, columns={**self.columns, **opened})


BoundsFilter = Callable[[BoundsTable], NDArray[np.bool_]]
"""Takes a `BoundsTable`. Returns for each thing whether it may have rows that a query needs."""


def bounds_table(
    statistics: Sequence[Mapping[int, ColumnStatistics]],
    rows: Sequence[int],
    schema: TableSchema,
    name: Callable[[int], str],
    partitions: Partitions | None = None,
) -> BoundsTable:
    """Arrange statistics by column. Bounds are unknown where a thing has no statistics.

    Columns that are not in the schema are left out. Raises CorruptionError for a bound that does
    not fit its column; `name` returns the name of the thing at an index, for the message.
    """
    known = {column for each in statistics for column in each}
    return BoundsTable(
        np.asarray(rows, dtype=np.int64),
        {
            column.id: _column_bounds([each.get(column.id) for each in statistics], column, name)
            for column in schema.fields
            if column.id in known
        },
        partitions,
    )


def _column_bounds(
    statistics: Sequence[ColumnStatistics | None], column: SchemaField, name: Callable[[int], str]
) -> Bounds:
    prefix = bound_prefix(column.type)
    low: list[Bound | None] = [None] * len(statistics)
    high = low.copy()
    for index, each in enumerate(statistics):
        if each is None or each.min is None or each.max is None:
            continue
        try:
            low[index], high[index] = decode_bound(each.min, prefix), decode_bound(each.max, prefix)
        except CorruptionError as error:
            raise CorruptionError(
                f"The statistics of column {column.name!r} of {name(index)} are damaged:"
                f" {error.message}"
            ) from error
    known = np.array([bound is not None for bound in low])
    # Without statistics the number of NULLs is unknown too, which -1 says.
    nulls = np.array([-1 if s is None else s.nulls for s in statistics], dtype=np.int64)
    nans = np.array([-1 if s is None else s.nans for s in statistics], dtype=np.int64)
    return Bounds(prefix, bound_array(low), bound_array(high), known, nulls, nans)


def prefixed_array(
    values: NDArray[np.generic], known: NDArray[np.bool_], prefix: str, wanted: str
) -> NDArray[np.generic]:
    """Return bounds in another prefix. Requires: the one prefix widens to the other."""
    if prefix == wanted:
        return values
    pairs = zip(values.tolist(), known.tolist(), strict=True)
    return bound_array(
        [in_prefix(value, prefix, wanted) if there else None for value, there in pairs]
    )


def concat_bounds(parts: Sequence[Bounds | None], lengths: Sequence[int], prefix: str) -> Bounds:
    """Concatenate the bounds of one column from several tables. None: the column is unknown there.

    `lengths` are the numbers of rows of the tables, and `prefix` is that of all bounds.
    """
    unknown = [np.full(length, -1, np.int64) for length in lengths]
    none = np.zeros(0, np.int64)
    values: dict[str, list[Bound | None]] = {"low": [], "high": []}
    for part, length in zip(parts, lengths, strict=True):
        for side, found in values.items():
            if part is None:
                found += [None] * length
                continue
            pairs = zip(getattr(part, side).tolist(), part.known.tolist(), strict=True)
            found += [value if known else None for value, known in pairs]
    low, high = values["low"], values["high"]
    return Bounds(
        prefix,
        bound_array(low),
        bound_array(high),
        np.array([bound is not None for bound in low], np.bool_),
        np.concatenate([none, *(p.nulls if p else u for p, u in zip(parts, unknown, strict=True))]),
        np.concatenate([none, *(p.nans if p else u for p, u in zip(parts, unknown, strict=True))]),
    )


def bound_array(values: Sequence[Bound | None]) -> NDArray[np.generic]:
    """Pack bounds into the narrowest array that holds them exactly; None becomes any value.

    Raises CorruptionError for bounds of types that cannot be compared.
    """
    present = [v for v in values if v is not None]
    if all(isinstance(v, int) and -(2**63) <= v < 2**63 for v in present):
        return np.array([0 if v is None else v for v in values], dtype=np.int64)
    if all(isinstance(v, float) for v in present):
        return np.array([0.0 if v is None else v for v in values], dtype=np.float64)
    filler = present[0]
    kind = (int, float) if isinstance(filler, int | float) else type(filler)
    if not all(isinstance(v, kind) for v in present):
        raise CorruptionError("A column of the log has bounds of types that cannot be compared.")
    packed = np.empty(len(values), dtype=object)
    packed[:] = [filler if v is None else v for v in values]
    return packed
