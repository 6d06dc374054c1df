"""A cache asks its store for exactly what it lacks, and returns the right bytes."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.store.cache.pieces import PIECE, Piece, assemble, divide, missing

OBJECT = random.Random(7).randbytes(400)
RANGES = st.lists(
    st.tuples(st.integers(0, 399), st.integers(0, 100)).map(lambda r: (r[0], min(r[1], 400 - r[0])))
)


@given(RANGES, RANGES)
def test_held_and_missing_bytes_make_every_wanted_range(
    wanted: list[tuple[int, int]], kept: list[tuple[int, int]]
) -> None:
    pieces = [Piece(offset, OBJECT[offset : offset + length]) for offset, length in kept if length]
    gaps = missing(wanted, [(piece.start, piece.end) for piece in pieces])
    pieces += [Piece(offset, OBJECT[offset : offset + length]) for offset, length in gaps]
    pieces.sort(key=lambda piece: piece.start)
    for offset, length in wanted:
        assert assemble(offset, length, pieces) == OBJECT[offset : offset + length]


@given(RANGES, RANGES)
def test_only_wanted_bytes_that_are_not_held_are_missing(
    wanted: list[tuple[int, int]], kept: list[tuple[int, int]]
) -> None:
    def bytes_of(ranges: list[tuple[int, int]]) -> list[int]:
        return [at for offset, length in ranges for at in range(offset, offset + length)]

    gaps = missing(wanted, [(offset, offset + length) for offset, length in kept])
    assert sorted(bytes_of(gaps)) == sorted({*bytes_of(wanted)} - {*bytes_of(kept)})
    assert gaps == sorted(gaps)


@given(st.integers(0, 3 * PIECE), st.integers(0, 2 * PIECE + 5))
def test_pieces_end_at_multiples_of_a_mebibyte(offset: int, length: int) -> None:
    pieces = [*divide(offset, bytes(length))]
    ends = [piece.end for piece in pieces]
    assert [piece.start for piece in pieces] == ([offset, *ends[:-1]] if length else [])
    assert all(each % PIECE == 0 for each in ends[:-1])
    assert sum(len(piece.data) for piece in pieces) == length
    assert all(0 < len(piece.data) <= PIECE for piece in pieces)


def test_bytes_that_no_piece_has_are_an_error() -> None:
    with pytest.raises(ValueError, match="byte 3"):
        assemble(0, 9, [Piece(0, b"abc"), Piece(4, b"efghi")])
