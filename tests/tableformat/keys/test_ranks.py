"""Ranks compare as values do, and equal values have one code."""

from __future__ import annotations

import math
import random

import numpy as np
import pyarrow as pa
import pytest

from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.keys.modes import is_ordered
from colonnade.tableformat.keys.ranks import distinct_codes, ranks
from colonnade.tableformat.types.arrow_types import arrow_type
from tests.strategies import PRIMITIVES, random_value


@pytest.mark.parametrize(
    "text", [t for t in PRIMITIVES if is_ordered(SchemaField(name="c", type=t))]
)
def test_ranks_and_codes_follow_the_values_of_every_ordered_type(text: str) -> None:
    column, rng = SchemaField(name="c", type=text), random.Random(5)
    values = [random_value(column, rng) for _ in range(40)]
    array = pa.array([*values, None], arrow_type(column))
    order, codes = ranks(array), distinct_codes(array)
    for i, left in enumerate(values):
        for j, right in enumerate(values):
            nan = [isinstance(each, float) and math.isnan(each) for each in (left, right)]
            before = (nan[0], 0 if nan[0] else left) < (nan[1], 0 if nan[1] else right)
            assert (order[i] < order[j]) == before
            assert (codes[i] == codes[j]) == (order[i] == order[j])
    assert codes[-1] not in codes[:-1]


def test_nan_of_any_bits_and_both_zeros_are_one_value_each() -> None:
    bits = np.array([0x7FF8000000000001, 0xFFF8000000000000, 0x8000000000000000, 0], np.uint64)
    values = pa.array(bits.view(np.float64))
    assert distinct_codes(values).tolist() == [0, 0, 1, 1]
    assert ranks(values).tolist() == [2, 2, 1, 1]
