"""No row with one of the keys is left out, whatever the type and the order of a block."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.arrays.bounds import Bounds
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.keys.candidates import Candidates
from colonnade.tableformat.keys.key_set import can_be_key
from colonnade.tableformat.types.arrow_types import arrow_type
from tests.strategies import PRIMITIVES, random_value

TYPES = [text for text in PRIMITIVES if can_be_key(SchemaField(name="c", type=text))]


@pytest.mark.parametrize("text", TYPES)
def test_the_rows_with_one_of_the_values_are_found_in_every_type(text: str) -> None:
    column, rng = SchemaField(name="c", type=text), random.Random(text)
    for count in (0, 1, 5, 300):
        pool = [random_value(column, rng) for _ in range(20)]
        wanted = pa.array(rng.sample(pool, rng.randrange(20)), arrow_type(column)).unique()
        rows = [rng.choice((None, *pool)) for _ in range(count)]
        block = pa.array(rows, arrow_type(column))
        plain = set(map(repr, _plain(wanted)))
        found = Candidates.of(wanted).rows(block)
        assert found.tolist() == [
            i for i, each in enumerate(_plain(block)) if each is not None and repr(each) in plain
        ]


def _plain(values: pa.Array) -> list[object]:
    if pa.types.is_temporal(values.type):
        values = values.view(pa.int32() if values.type.bit_width == 32 else pa.int64())
    return values.to_pylist()


@given(st.lists(st.integers(-50, 50), max_size=8), st.integers(0, 2**32), st.booleans())
def test_sorted_and_unsorted_blocks_have_the_same_rows(
    values: list[int], seed: int, ascending: bool
) -> None:
    rows = np.random.default_rng(seed).integers(-60, 60, 2000)
    block = np.sort(rows) if ascending else rows
    found = Candidates.of(pa.array(sorted(set(values)), pa.int64())).rows(pa.array(block))
    assert found.tolist() == np.flatnonzero(np.isin(block, values)).tolist()


@given(st.sets(st.integers(-20, 20), max_size=5), st.lists(st.integers(-20, 20), max_size=8))
def test_bounds_without_one_of_the_values_are_left_out(values: set[int], lows: list[int]) -> None:
    low = np.array(lows, np.int64)
    high, nothing = low + 3, np.zeros(len(low), np.int64)
    known = low % 5 != 0
    kept = Candidates.of(pa.array(list(values), pa.int64())).may_match(
        Bounds("i", low, high, known, nothing, nothing)
    )
    if values:
        assert kept.tolist() == [
            not k or any(a <= v <= b for v in values)
            for a, b, k in zip(low, high, known, strict=True)
        ]


def test_bounds_may_end_beyond_all_numbers_of_64_bits() -> None:
    values, nothing = Candidates.of(pa.array([3, 8], pa.int64())), np.zeros(4, np.int64)
    low = np.array([-(10**38), 4, 9, -(10**38)], object)
    high = np.array([2, 10**38, 10**38, 10**38], object)
    bounds = Bounds("i", low, high, nothing == 0, nothing, nothing)
    assert values.may_match(bounds).tolist() == [False, True, False, True]
    some = Bounds("i", np.array([4, 9, 2, 0]), high, nothing == 0, nothing, nothing)
    assert values.may_match(some).tolist() == [False, False, True, True]
