"""Rows count from the oldest to the newest; the row of the table arrived first."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from colonnade.tableformat.keys.sequence import Arrivals

AGES = st.one_of(st.none(), st.integers(-2, 2))


@given(st.lists(st.tuples(st.integers(0, 3), AGES), min_size=1, max_size=20), st.data())
def test_rows_count_by_sequence_with_null_as_the_oldest_and_then_by_arrival(
    rows: list[tuple[int, int | None]], data: st.DataObject
) -> None:
    names = {key: number for number, key in enumerate(dict.fromkeys(key for key, _ in rows))}
    keys = [names[key] for key, _ in rows]
    stored = data.draw(st.integers(0, next((i for i, k in enumerate(keys) if k in keys[:i]), 1)))
    arrivals = Arrivals(np.array(keys, np.int64), stored)
    ages = [age for _, age in rows]
    sequence = pa.array(ages, pa.int64())

    def age(row: int) -> tuple[bool, int]:
        known = ages[row]
        return (known is not None, known or 0)

    everything = range(len(rows))
    assert arrivals.oldest_first(sequence).tolist() == sorted(
        everything, key=lambda row: (keys[row], age(row), row)
    )
    assert arrivals.stored_first(sequence).tolist() == sorted(
        everything, key=lambda row: (keys[row], row >= stored, age(row), row)
    )
    by_arrival = sorted(everything, key=lambda row: (keys[row], row))
    assert arrivals.oldest_first(None).tolist() == by_arrival
    assert arrivals.stored_first(None).tolist() == by_arrival
    sorted_keys = [keys[row] for row in by_arrival]
    assert arrivals.starts().tolist() == [sorted_keys.index(key) for key in range(len(names))]
