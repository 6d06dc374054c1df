"""Where rows come from: a number for each row, coded so that rows in order cost next to nothing.

A number is a RowSet * 2**32 + a row in it. It has two codes of 32 bits: the RowSet, and the
difference of the row to that of the nearest number before it with the same RowSet, or to -1. So
rows of several RowSets that take turns cost little, too. The lowest bit of a difference is its
sign, and its other bits are inverted if it is negative. Both codes of a row without a number are 0.
No two rows may have the same number.

In each block of rows, the lowest bytes of all codes are together, then the next ones. So most bytes
are like the one before them, and are deflated (zlib) quickly and well.
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

_BLOCK = 2**16
"""The number of rows whose bytes are together."""

_SHIFTS = (0, 8, 16, 24)
"""The bits of a code below each of its bytes."""

_ROW_BYTES = 2 * len(_SHIFTS)

_FEW = 2**16
"""The most rows whose origins are not encoded, because that takes longer than all other uses."""


def encode_origins(parts: Iterable[Rows]) -> bytes:
    """Encode the numbers of rows, which may come in parts; `NEW` stands for none.

    Holds one part and one block, the last row of each RowSet, and what they become.
    """
    last: dict[int, int] = {}
    # Other repetitions than of single bytes take ten times as long to find, and save little.
    deflate = zlib.compressobj(1, strategy=zlib.Z_RLE)
    data = [deflate.compress(_encoded(block, last)) for block in _blocks(parts)]
    return b"".join((*data, deflate.flush()))


def _blocks(parts: Iterable[Rows]) -> Iterator[Rows]:
    """Divide parts again. The last block may have fewer rows."""
    waiting: list[Rows] = []
    room = _BLOCK
    for part in parts:
        for piece in np.split(part, range(room, len(part), _BLOCK)):
            waiting.append(piece)
            room -= len(piece)
            if not room:
                yield np.concatenate(waiting)
                waiting, room = [], _BLOCK
    if waiting:
        yield np.concatenate(waiting)


def _encoded(numbers: Rows, last: dict[int, int]) -> bytes:
    """Encode a block. `last` has the last row of each RowSet before it, and then with it."""
    positions, rowsets, rows, firsts = _by_rowset(numbers)
    differences = np.empty_like(rows)
    np.subtract(rows[1:], rows[:-1], out=differences[1:])
    known = rowsets[firsts].tolist()
    differences[firsts] = rows[firsts] - [last.get(rowset, -1) for rowset in known]
    last.update(zip(known, rows[_ends(firsts, rows) - 1].tolist(), strict=True))
    low = differences.astype(np.int32)
    assert low.all(), "Two rows have the same number."
    codes = np.zeros((2, len(numbers)), np.uint32)
    codes[0, positions] = rowsets
    codes[1, positions] = (low << 1) ^ (low >> 31)
    planes = ((code >> shift).astype(np.uint8) for code in codes for shift in _SHIFTS)
    return b"".join(plane.tobytes() for plane in planes)


def decode_origins(data: bytes, rows: int) -> Rows:
    """Return the numbers of `rows` rows; `NEW` stands for none.

    Holds their codes besides them, one block, and the last row of each RowSet.
    Raises ValueError for bytes that are not the numbers of `rows` rows.
    """
    inflate = zlib.decompressobj()
    try:
        plain = inflate.decompress(data, _ROW_BYTES * rows + 1)
    except zlib.error as error:
        raise ValueError("they are not deflated") from error
    if len(plain) != _ROW_BYTES * rows or not inflate.eof or inflate.unused_data:
        raise ValueError(f"they are not of {rows} rows")
    codes, found = np.frombuffer(plain, np.uint8), np.full(rows, NEW, np.int64)
    last: dict[int, int] = {}
    for first in range(0, rows, _BLOCK):
        block = found[first : first + _BLOCK]
        _decode(codes[_ROW_BYTES * first :][: _ROW_BYTES * len(block)], last, block)
    return found


def _decode(planes: NDArray[np.uint8], last: dict[int, int], numbers: Rows) -> None:
    """Decode a block into `numbers`. `last` has the last row of each RowSet, as in `_encoded`."""
    positions, rowsets, coded = _codes(planes.reshape(2, len(_SHIFTS), -1))
    order, firsts = _grouped(rowsets)
    positions, rowsets, coded = positions[order], rowsets[order], coded[order]
    low = (coded >> 1).astype(np.int32) ^ -(coded & 1).astype(np.int32)
    known = rowsets[firsts].tolist()
    low[firsts] += np.array([last.get(each, -1) for each in known], np.int64).astype(np.int32)
    sums = np.cumsum(low, dtype=np.int64)
    before = np.repeat(sums[firsts] - low[firsts], np.diff(firsts, append=len(sums)))
    rows = (sums - before) & 0xFFFFFFFF
    last.update(zip(known, rows[_ends(firsts, rows) - 1].tolist(), strict=True))
    numbers[positions] = origins_of(rowsets, rows)


def _codes(planes: NDArray[np.uint8]) -> tuple[Rows, Rows, NDArray[np.uint32]]:
    """Return the positions of numbers in a block, their RowSets, and the codes of their rows."""
    codes = np.zeros((2, planes.shape[2]), np.uint32)
    for index, shift in enumerate(_SHIFTS):
        codes |= planes[:, index].astype(np.uint32) << np.uint32(shift)
    positions = np.flatnonzero(codes[1])
    if np.count_nonzero(codes[0]) > np.count_nonzero(codes[0, positions]):
        raise ValueError("one of them names a RowSet and no row")
    return positions, codes[0, positions].astype(np.int64), codes[1, positions]


@dataclass(frozen=True, slots=True)
class RowOrigins:
    """Which row each of the `rows` rows of a RowSet replaces.

    A replaced row has the number of its RowSet * 2**32 + its own number in that RowSet. The other
    rows are new. Without `data`, all rows are. `data` are encoded origins, or `plain` integers.
    """

    rows: int
    data: bytes | None = None
    plain: bool = False

    @classmethod
    def of(cls, origins: Rows) -> RowOrigins:
        """Return the value with these numbers; `NEW` stands for a new row."""
        if (origins == NEW).all():
            return cls(len(origins))
        if len(origins) <= _FEW:
            return cls(len(origins), origins.tobytes(), plain=True)
        return cls(len(origins), encode_origins([origins]))

    def array(self) -> Rows:
        """Return the number of each row; `NEW` stands for a new row. Raises ValueError."""
        if self.data is None:
            return np.full(self.rows, NEW, np.int64)
        if self.plain:
            return np.frombuffer(self.data, np.int64).copy()
        return decode_origins(self.data, self.rows)

    def new_count(self) -> int:
        """Return how many of the rows are new. Raises ValueError."""
        return self.rows if self.data is None else int((self.array() == NEW).sum())

    def replaced(self) -> dict[int, FrozenBitMap]:
        """Return the rows that are replaced, by RowSet id. Raises ValueError."""
        if self.data is None:
            return {}
        return {rowset: FrozenBitMap(rows) for rowset, _, rows in by_rowset(self.array())}

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


def by_rowset(origins: Rows) -> Iterator[tuple[int, Rows, Rows]]:
    """Yield RowSets that numbers name, ascending, the positions of the numbers, and their rows."""
    positions, rowsets, rows, firsts = _by_rowset(origins)
    bounds = zip(firsts.tolist(), [*firsts[1:].tolist(), len(rows)], strict=False)
    for rowset, (first, end) in zip(rowsets[firsts].tolist(), bounds, strict=True):
        yield rowset, positions[first:end], rows[first:end]


def _by_rowset(origins: Rows) -> tuple[Rows, Rows, Rows, Rows]:
    """Return positions, RowSets and rows of all numbers by RowSet, and where each RowSet begins."""
    positions = np.flatnonzero(origins != NEW)
    rowsets, rows = rowsets_and_rows(origins[positions])
    order, firsts = _grouped(rowsets)
    return positions[order], rowsets[order], rows[order], firsts


def _grouped(rowsets: Rows) -> tuple[Rows | slice, Rows]:
    """Return an order by RowSet that keeps the order within each, and where each begins in it."""
    order: Rows | slice = slice(None)
    if (rowsets[1:] < rowsets[:-1]).any():
        # numpy sorts 16-bit numbers by radix, which is faster.
        narrow = rowsets.astype(np.uint16) if rowsets.max() < 2**16 else rowsets
        order = np.argsort(narrow, kind="stable")
    ordered = rowsets[order]
    firsts = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    return order, np.append(0, firsts) if len(rowsets) else firsts


def _ends(firsts: Rows, rows: Rows) -> Rows:
    """Return where each RowSet ends, by where each begins."""
    return np.append(firsts[1:], len(rows))[: len(firsts)]


def origins_of(rowsets: int | Rows, rows: Rows) -> Rows:
    """Return the numbers of some rows of a RowSet, or of one RowSet for each row."""
    return np.left_shift(np.asarray(rowsets, np.uint64), np.uint64(32)).astype(np.int64) | rows
