"""Numbers for keys of several columns, to find the keys of other rows. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.tableformat.types.compute import pc


@dataclass(frozen=True)
class KeyCodes:
    """The keys of some rows. Equal keys have equal codes.

    `values` has the distinct values of each column. A row's code is the positions of its values
    among them, folded into one number column by column. `codes` has the distinct codes of the
    columns up to each one, and for the last column the code of each row.
    """

    values: tuple[pa.Array, ...]
    codes: tuple[pa.Array, ...]

    @classmethod
    def of(cls, columns: Sequence[pa.Array]) -> KeyCodes:
        """Return the codes of keys. Requires: no value is NULL, and equal values are equal bytes.

        `comparable` makes equal values so.
        """
        values = tuple(pc.unique(column) for column in columns)
        codes: list[pa.Array] = []
        for column, distinct in zip(columns, values, strict=True):
            codes.append(_fold(codes, distinct, _places(column, distinct)))
        return cls(values, (*(pc.unique(code) for code in codes[:-1]), codes[-1]))

    def find(self, columns: Sequence[pa.Array]) -> NDArray[np.int64]:
        """Return for each row of other columns the number of the row here of its key, or -1."""
        code: pa.Array | None = None
        for column, distinct, known in zip(columns, self.values, self.codes, strict=True):
            # NULL, and a value that no key has, stays NULL from here on.
            place = pc.index_in(column, distinct, skip_nulls=True).cast(pa.int64())
            full = place if code is None else _combine(code, distinct, place)
            code = pc.index_in(full, known, skip_nulls=True).cast(pa.int64())
        assert code is not None
        return np.asarray(code.fill_null(-1).to_numpy(zero_copy_only=False), np.int64)


def comparable(column: pa.Array) -> pa.Array:
    """Return the values of a key column so that equal values have equal bytes: -0.0 as 0.0.

    Requires that none is NaN.
    """
    if not pa.types.is_floating(column.type):
        return column
    return pc.add(column, pa.scalar(0.0, column.type))


def _combine(code: pa.Array, distinct: pa.Array, place: pa.Array) -> pa.Array:
    return pc.add(pc.multiply(code, max(1, len(distinct))), place)


def _places(column: pa.Array, distinct: pa.Array) -> pa.Array:
    """Return the places of values among the distinct ones, which are in order of occurrence."""
    if len(distinct) == len(column):
        return pa.array(np.arange(len(column)))
    return pc.index_in(column, distinct).cast(pa.int64())


def _fold(codes: list[pa.Array], distinct: pa.Array, place: pa.Array) -> pa.Array:
    """Fold the columns so far into one number; it is small, because it counts distinct keys."""
    if not codes:
        return place
    before = pc.index_in(codes[-1], pc.unique(codes[-1])).cast(pa.int64())
    return _combine(before, distinct, place)
