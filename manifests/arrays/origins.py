"""Where rows come from: a number for each row, coded so that rows in order cost next to nothing.

The code of a number is its difference to the number of the nearest row before it that has one, and
to -1 for the first. 0 is the code of a row without a number. Each code is a 64-bit little-endian
integer, and all of them together are deflated (zlib). No two rows may have the same number.
Spec: docs/spec/operations.md#origins
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pyroaring import AbstractBitMap, FrozenBitMap

Rows = NDArray[np.int64]

NEW = -1
"""Stands in an array for a row without a number: it comes from nowhere."""

_LEVEL = 1
"""Higher levels take ten times as long, and save a tenth."""


def encode_origins(parts: Iterable[Rows]) -> bytes:
    """Encode the numbers of rows, which may come in parts; `NEW` stands for none.

    Holds one part, and what it becomes.
    """
    deflate, last, data = zlib.compressobj(_LEVEL), np.int64(NEW), []
    for part in parts:
        numbered = part != NEW
        if numbered.all():
            numbers, codes = part, _differences(part, last)
        else:
            numbers, codes = part[numbered], np.zeros(len(part), "<i8")
            codes[numbered] = _differences(numbers, last)
        last = numbers[-1] if len(numbers) else last
        data.append(deflate.compress(codes.tobytes()))
    return b"".join((*data, deflate.flush()))


def _differences(numbers: Rows, last: np.int64) -> Rows:
    """Return the differences of numbers to the ones before them; `last` is before the first."""
    found = np.empty(len(numbers), "<i8")
    if len(numbers):
        found[0] = np.subtract(numbers[:1], last)[0]
        np.subtract(numbers[1:], numbers[:-1], out=found[1:])
    assert found.all(), "Two rows have the same number."
    return found


def decode_origins(data: bytes, rows: int) -> Rows:
    """Return the numbers of `rows` rows; `NEW` stands for none.

    Raises ValueError for bytes that are not the numbers of so many rows.
    """
    inflate = zlib.decompressobj()
    try:
        plain = inflate.decompress(data, 8 * rows + 1)
    except zlib.error as error:
        raise ValueError("they are not deflated") from error
    if len(plain) != 8 * rows or not inflate.eof or inflate.unused_data:
        raise ValueError(f"they are not of {rows} rows")
    codes = np.frombuffer(plain, "<i8")
    found = np.cumsum(codes, dtype=np.int64) + NEW
    found[codes == 0] = NEW
    return found


@dataclass(frozen=True, slots=True)
class RowOrigins:
    """Which row each of the `rows` rows of a RowSet replaces, deflated.

    A replaced row has the number of its RowSet * 2**32 + its own number in that RowSet. The other
    rows are new. Without `data`, all rows are.
    """

    rows: int
    data: bytes | None = None

    @classmethod
    def of(cls, origins: Rows) -> RowOrigins:
        """Return the value with these numbers; `NEW` stands for a new row."""
        if (origins == NEW).all():
            return cls(len(origins))
        return cls(len(origins), encode_origins([origins]))

    def array(self) -> Rows:
        """Return the number of each row; `NEW` stands for a new row. Raises ValueError."""
        if self.data is None:
            return np.full(self.rows, NEW, np.int64)
        return decode_origins(self.data, self.rows)

    def new_count(self) -> int:
        """Return how many of the rows are new. Raises ValueError."""
        return self.rows if self.data is None else int((self.array() == NEW).sum())

    def replaced(self) -> dict[int, FrozenBitMap]:
        """Return the rows that are replaced, by RowSet id. Raises ValueError."""
        if self.data is None:
            return {}
        origins = self.array()
        _, rows = rowsets_and_rows(origins)
        return {rowset: FrozenBitMap(rows[at]) for rowset, at in by_rowset(origins)}

    def without(self, rows: AbstractBitMap) -> RowOrigins:
        """Return the value in which some rows replace none, because they are not added."""
        if self.data is None or not rows:
            return self
        origins = self.array()
        origins[rows.to_array()] = NEW
        return RowOrigins.of(origins)


def rowsets_and_rows(origins: Rows) -> tuple[Rows, Rows]:
    """Return the RowSet of each number, and the row in it. For `NEW` they mean nothing."""
    return (origins >> 32) & 0xFFFFFFFF, origins & 0xFFFFFFFF


def by_rowset(origins: Rows) -> Iterator[tuple[int, Rows]]:
    """Yield each RowSet that numbers name, ascending, with the places of its numbers."""
    places = np.flatnonzero(origins != NEW)
    rowsets, _ = rowsets_and_rows(origins[places])
    if (rowsets[1:] < rowsets[:-1]).any():
        order = np.argsort(rowsets, kind="stable")
        places, rowsets = places[order], rowsets[order]
    ends = np.flatnonzero(rowsets[1:] != rowsets[:-1]) + 1
    known = rowsets[np.append(0, ends)].tolist() if len(rowsets) else []
    yield from zip(known, np.split(places, ends), strict=False)


def origins_of(rowsets: int | Rows, rows: Rows) -> Rows:
    """Return the numbers of some rows of a RowSet, or of one RowSet for each row."""
    return np.left_shift(np.asarray(rowsets, np.uint64), np.uint64(32)).astype(np.int64) | rows
