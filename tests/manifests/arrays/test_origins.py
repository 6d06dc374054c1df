"""Where rows come from, as few bytes: what is encoded is decoded, and nothing else is accepted."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from colonnade.manifests.arrays.origins import (
    NEW,
    RowOrigins,
    by_rowset,
    decode_origins,
    encode_origins,
    origins_of,
    rowsets_and_rows,
)

NUMBERS = st.one_of(
    st.just(NEW), st.integers(0, 50), st.integers(-(2**63), 2**63 - 1).filter(lambda n: n != NEW)
)


def distinct(numbers: list[int]) -> list[int]:
    """The numbers with NEW in the place of each one that came before."""
    return [n if n not in numbers[:i] else NEW for i, n in enumerate(numbers)]


@given(st.lists(NUMBERS, max_size=30).map(distinct), st.lists(st.integers(0, 30), max_size=3))
def test_numbers_are_read_back_in_whatever_parts_they_were_given(
    numbers: list[int], cuts: list[int]
) -> None:
    rows = np.array(numbers, np.int64)
    data = encode_origins(np.split(rows, sorted(cuts)))
    assert decode_origins(data, len(rows)).tolist() == numbers
    codes = np.frombuffer(zlib.decompress(data), "<i8")
    assert (codes == 0).tolist() == [n == NEW for n in numbers]


@pytest.mark.parametrize("parts", [[[7, NEW, 7]], [[7], [NEW], [7]]])
def test_a_number_that_is_repeated_is_never_taken_for_none(parts: list[list[int]]) -> None:
    with pytest.raises(AssertionError, match="the same number"):
        encode_origins([np.array(part, np.int64) for part in parts])


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 2**32 - 2), min_size=1))
def test_a_row_of_any_rowset_has_a_number_of_its_own(rowset: int, rows: list[int]) -> None:
    origins = origins_of(rowset, np.array(rows, np.int64))
    assert (origins != NEW).all()
    ids, found = rowsets_and_rows(origins)
    assert (ids == rowset).all()
    assert found.tolist() == rows


@given(st.lists(NUMBERS, max_size=20).map(distinct))
def test_numbers_are_divided_by_their_rowsets(numbers: list[int]) -> None:
    rows = np.array(numbers, np.int64)
    found = dict(by_rowset(rows))
    assert [*found] == sorted({n >> 32 & 0xFFFFFFFF for n in numbers if n != NEW})
    assert sorted(at for places in found.values() for at in places.tolist()) == [
        at for at, n in enumerate(numbers) if n != NEW
    ]
    for rowset, places in found.items():
        assert places.tolist() == sorted(places.tolist())
        assert {numbers[at] >> 32 & 0xFFFFFFFF for at in places} == {rowset}


def test_rows_in_order_and_new_rows_cost_next_to_nothing() -> None:
    in_order = origins_of(7, np.arange(1_000_000))
    assert len(encode_origins([in_order])) < 50_000
    assert len(encode_origins([np.full(1_000_000, NEW)])) < 50_000
    assert RowOrigins.of(np.full(1_000_000, NEW)) == RowOrigins(1_000_000)


@pytest.mark.parametrize(
    "data",
    [
        zlib.compress(bytes(16)),
        zlib.compress(bytes(32)),
        zlib.compress(bytes(24))[:-1],
        zlib.compress(bytes(24)) + b"x",
        b"not deflated",
    ],
    ids=["too few", "too many", "cut off", "followed by more", "other bytes"],
)
def test_bytes_that_are_not_the_numbers_of_so_many_rows_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="they are not"):
        decode_origins(data, 3)


def test_a_row_that_is_not_added_replaces_none() -> None:
    origins = RowOrigins.of(np.array([5, NEW, 9]))
    assert origins.without(BitMap([0, 1])).array().tolist() == [NEW, NEW, 9]
    assert origins.without(BitMap([0, 2])) == RowOrigins(3)
    assert origins.without(BitMap()) is origins
    assert RowOrigins(2).without(BitMap([1])) == RowOrigins(2)
