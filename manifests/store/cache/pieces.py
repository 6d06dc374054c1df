"""Plan which bytes of an object a cache must ask its store for, and put pieces together. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

PIECE = 1 << 20
"""Pieces end at multiples of this many bytes, so that a small range is checked with little else."""


class Piece(NamedTuple):
    """Bytes of an object from `start` on."""

    start: int
    data: bytes | memoryview

    @property
    def end(self) -> int:
        return self.start + len(self.data)


def missing(
    ranges: Sequence[tuple[int, int]], held: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return (offset, length) ranges of the bytes that are wanted and not held, ascending.

    `ranges` are the wanted (offset, length) ranges. `held` are (start, end) of the bytes that are
    already there. Both may overlap, and may have any order.
    """
    gaps: list[tuple[int, int]] = []
    covered = sorted(held)
    for begin, end in _union((offset, offset + length) for offset, length in ranges):
        at = begin
        for start, stop in covered:
            if stop <= at:
                continue
            if start >= end:
                break
            if start > at:
                gaps.append((at, start - at))
            at = stop
        if at < end:
            gaps.append((at, end - at))
    return gaps


def divide(offset: int, data: bytes | memoryview) -> Iterator[Piece]:
    """Yield the pieces of bytes that begin at `offset`. No piece passes a multiple of `PIECE`."""
    view, at = memoryview(data), 0
    while at < len(view):
        until = min(len(view), at + PIECE - (offset + at) % PIECE)
        yield Piece(offset + at, view[at:until])
        at = until


def assemble(offset: int, length: int, pieces: Sequence[Piece]) -> bytes:
    """Return `length` bytes from `offset` on. Requires: sorted pieces that cover them."""
    parts, at, end = [], offset, offset + length
    for piece in pieces:
        if at >= end:
            break
        if piece.start <= at < piece.end:
            parts.append(memoryview(piece.data)[at - piece.start : end - piece.start])
            at = min(end, piece.end)
    if at < end:
        raise ValueError(f"No piece has byte {at}.")
    return b"".join(parts)


def _union(ranges: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if joined and begin <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif begin < end:
            joined.append((begin, end))
    return joined
