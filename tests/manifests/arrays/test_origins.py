"""Where rows come from, as few bytes: what is encoded is decoded, and nothing else is accepted."""

from __future__ import annotations

import math
import tracemalloc
import zlib
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from colonnade.manifests.arrays import origins
from colonnade.manifests.arrays.origins import (
    NEW,
    RowOrigins,
    by_rowset,
    decode_origins,
    encode_origins,
    origins_of,
    rowsets_and_rows,
)

ROWSETS = st.integers(0, 3) | st.integers(0, 2**32 - 1)
ROWS = st.integers(0, 9) | st.integers(0, 2**32 - 2)
NUMBERS = st.just(NEW) | st.builds(
    lambda rowset, row: int(origins_of(rowset, np.array([row]))[0]), ROWSETS, ROWS
)


def distinct(numbers: list[int]) -> list[int]:
    """The numbers with NEW in the place of each one that came before."""
    return [n if n not in numbers[:i] else NEW for i, n in enumerate(numbers)]


@given(
    st.lists(NUMBERS, max_size=30).map(distinct),
    st.lists(st.integers(0, 30), max_size=3),
    st.sampled_from([1, 2, 7, 2**16]),
)
def test_numbers_are_read_back_in_whatever_parts_they_were_given(
    numbers: list[int], cuts: list[int], block: int
) -> None:
    rows = np.array(numbers, np.int64)
    with patch.object(origins, "_BLOCK", block):
        data = encode_origins(np.split(rows, sorted(cuts)))
        assert encode_origins([rows]) == data
        assert decode_origins(data, len(rows)).tolist() == numbers


def test_blocks_follow_one_another() -> None:
    rows = np.random.default_rng(0).permutation(200_000)
    numbers = origins_of(rows % 3, rows)
    numbers[::7] = NEW
    data = encode_origins(np.split(numbers, [0, 1, 65_536, 65_537, 199_000]))
    assert (decode_origins(data, 200_000) == numbers).all()


def test_the_codes_are_those_of_the_specification() -> None:
    numbers = [NEW, (5 << 32) + 7, (260 << 32) + 300, (5 << 32) + 8, NEW, (5 << 32) + 2]
    rowsets, rows = [0, 5, 260, 5, 0, 5], [0, 16, 602, 2, 0, 11]
    planes = [(code >> shift) & 255 for codes in (rowsets, rows) for shift in (0, 8, 16, 24)
              for code in codes]  # fmt: skip
    assert zlib.decompress(encode_origins([np.array(numbers)])) == bytes(planes)


@pytest.mark.parametrize("parts", [[[7, NEW, 7]], [[7], [NEW], [7]]])
def test_a_number_that_is_repeated_is_never_taken_for_none(parts: list[list[int]]) -> None:
    with pytest.raises(AssertionError, match="the same number"):
        encode_origins([np.array(part, np.int64) for part in parts])


@given(ROWSETS, st.lists(ROWS, min_size=1))
def test_a_row_of_any_rowset_has_a_number_of_its_own(rowset: int, rows: list[int]) -> None:
    numbers = origins_of(rowset, np.array(rows, np.int64))
    assert (numbers != NEW).all()
    ids, found = rowsets_and_rows(numbers)
    assert (ids == rowset).all()
    assert found.tolist() == rows


@given(st.lists(NUMBERS, max_size=20).map(distinct))
def test_numbers_are_divided_by_their_rowsets(numbers: list[int]) -> None:
    rows = np.array(numbers, np.int64)
    found = [*by_rowset(rows)]
    assert [rowset for rowset, _, _ in found] == sorted(
        {n >> 32 & 0xFFFFFFFF for n in numbers if n != NEW}
    )
    assert sorted(at for _, places, _ in found for at in places.tolist()) == [
        at for at, n in enumerate(numbers) if n != NEW
    ]
    for rowset, places, named in found:
        assert places.tolist() == sorted(places.tolist())
        assert [numbers[at] for at in places] == origins_of(rowset, named).tolist()


def test_rows_in_order_and_new_rows_cost_next_to_nothing() -> None:
    in_order = origins_of(7, np.arange(1_000_000))
    assert len(encode_origins([in_order])) < 10_000
    assert len(encode_origins([np.full(1_000_000, NEW)])) < 10_000
    assert RowOrigins.of(np.full(1_000_000, NEW)) == RowOrigins(1_000_000)


def test_rows_of_rowsets_that_take_turns_cost_little_more_than_their_rowsets() -> None:
    rowsets = np.random.default_rng(0).integers(0, 16, 100_000)
    rows = np.zeros(len(rowsets), np.int64)
    for each in range(16):
        rows[rowsets == each] = np.arange((rowsets == each).sum())
    assert len(encode_origins([origins_of(rowsets, rows)])) < 100_000 * 4.5 / 8


def test_rows_without_any_order_cost_little_more_than_the_least_that_names_them() -> None:
    count = 50_000
    numbers = np.random.default_rng(0).permutation(count)
    least = math.lgamma(count + 1) / math.log(2) / 8
    assert len(encode_origins([numbers])) < 1.25 * least


@pytest.mark.parametrize(
    "data",
    [
        zlib.compress(bytes(16)),
        zlib.compress(bytes(32)),
        zlib.compress(bytes(24))[:-1],
        zlib.compress(bytes(24)) + b"x",
        b"not deflated",
        zlib.compress(bytes([0, 1, 0]) + bytes(21)),
    ],
    ids=["too few", "too many", "cut off", "followed by more", "other bytes", "without a row"],
)
def test_bytes_that_are_not_the_numbers_of_so_many_rows_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"they are not|a RowSet and no row"):
        decode_origins(data, 3)


@pytest.mark.slow
def test_bytes_that_would_inflate_without_end_are_refused_within_the_memory_of_the_rows() -> None:
    bomb = zlib.compress(bytes(2**28))
    tracemalloc.start()
    with pytest.raises(ValueError, match="they are not of 1000 rows"):
        decode_origins(bomb, 1000)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2**20


@given(st.lists(NUMBERS, max_size=20).map(distinct))
def test_many_rows_are_kept_encoded_and_few_as_they_are(numbers: list[int]) -> None:
    rows = np.array(numbers, np.int64)
    few = RowOrigins.of(rows)
    with patch.object(origins, "_FEW", -1):
        many = RowOrigins.of(rows)
    assert many.plain is False
    for each in (few, many):
        assert each.array().tolist() == numbers
        assert each.array().flags.writeable
        assert each.new_count() == numbers.count(NEW)
    assert few.replaced() == many.replaced()


def test_a_row_that_is_not_added_replaces_none() -> None:
    some = RowOrigins.of(np.array([5, NEW, 9]))
    assert some.without(BitMap([0, 1])).array().tolist() == [NEW, NEW, 9]
    assert some.without(BitMap([0, 2])) == RowOrigins(3)
    assert some.without(BitMap()) is some
    assert RowOrigins(2).without(BitMap([1])) == RowOrigins(2)


def test_many_rows_are_decoded_in_the_memory_of_their_numbers_and_codes() -> None:
    rows = 1_000_000
    data = encode_origins([origins_of(np.arange(rows) % 16, np.arange(rows))])
    tracemalloc.start()
    decode_origins(data, rows)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 24 * rows
