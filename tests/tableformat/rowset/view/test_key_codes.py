"""Keys of several columns are found by their codes, whatever their values are."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa

from colonnade.tableformat.rowset.view.key_codes import KeyCodes, comparable


def test_each_key_is_found_in_the_row_that_has_it_and_no_other_key_is_found() -> None:
    rng = random.Random(5)
    texts, numbers = ["", "a", "ß", "🦊"], [-(2**63), -1, 0, 2**63 - 1]
    every = [(t, n, f) for t in texts for n in numbers for f in (-1.5, 0.0, 1e300)]
    for _ in range(50):
        known = rng.sample(every, rng.randrange(1, len(every)))
        asked = rng.choices(every, k=200)
        codes = KeyCodes.of(columns(known))
        wanted = [known.index(each) if each in known else -1 for each in asked]
        assert codes.find(columns(asked)).tolist() == wanted


def columns(keys: list[tuple[str, int, float]]) -> list[pa.Array]:
    types = (pa.string(), pa.int64(), pa.float64())
    parts = zip(*keys, strict=True)
    return [pa.array(part, each) for part, each in zip(parts, types, strict=True)]


def test_null_is_no_key_and_negative_zero_is_zero() -> None:
    zero = comparable(pa.array([0.0, 1.0]))
    codes = KeyCodes.of([zero])
    assert codes.find([comparable(pa.array([-0.0, None, 2.0, 1.0]))]).tolist() == [0, -1, -1, 1]


def test_the_codes_of_a_hundred_thousand_keys_are_all_different() -> None:
    rows = np.arange(100_000)
    columns = [pa.array(rows % 317), pa.array(rows // 317)]
    assert KeyCodes.of(columns).find(columns).tolist() == rows.tolist()
