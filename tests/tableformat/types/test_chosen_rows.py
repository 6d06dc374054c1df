"""Rows are chosen from an array as by `take`, and those that follow each other without a copy."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa

from colonnade.tableformat.types.chosen_rows import chosen_rows


def test_any_rows_are_those_that_take_returns() -> None:
    chance = random.Random(1)
    values = pa.array([None, "a", "", "long " * 9, "é", "b"]).slice(1)
    for _ in range(300):
        rows = np.array(chance.choices(range(5), k=chance.randrange(6)), np.int64)
        assert chosen_rows(values, rows).equals(values.take(pa.array(rows)))


def test_rows_that_follow_each_other_are_not_copied() -> None:
    values = pa.array(["x" * 1_000] * 4)
    for rows in ([0, 1, 2, 3], [1, 2], [3]):
        for kind in (np.int64, np.uint64):
            found = chosen_rows(values, np.array(rows, kind))
            assert found.buffers()[2].address == values.buffers()[2].address
