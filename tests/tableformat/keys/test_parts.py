"""Equal keys are in one part, whatever array they are in, and parts are about equal."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.tableformat.keys import parts as module
from colonnade.tableformat.keys.parts import part_count, part_of
from tests.examples_of import examples

VALUES: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int8(): st.integers(-128, 127),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.bool_(): st.booleans(),
    pa.string(): st.text("aéb", max_size=9),
    pa.binary(): st.binary(max_size=9),
    pa.date32(): st.dates(),
    pa.decimal128(38, 2): st.integers(-(10**37), 10**37).map(lambda n: Decimal(n).scaleb(-2)),
    pa.float64(): st.floats(allow_nan=False),
    pa.float32(): st.floats(allow_nan=False, width=32),
    pa.duration("us"): st.integers(-(2**40), 2**40).map(lambda n: dt.timedelta(microseconds=n)),
}


@pytest.mark.slow
@settings(max_examples=examples(150), deadline=None)
@given(st.data())
def test_equal_keys_are_in_one_part(data: st.DataObject) -> None:
    types = data.draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=3))
    row = st.tuples(*(VALUES[each] for each in types))
    rows = data.draw(st.lists(row, min_size=1, max_size=20))
    before = data.draw(st.lists(row, max_size=3))

    def batch(of: list[Any]) -> pa.RecordBatch:
        columns = [pa.array([r[i] for r in of], each) for i, each in enumerate(types)]
        return pa.RecordBatch.from_arrays(columns, [str(i) for i in range(len(types))])

    found = part_of(batch(rows), 7)
    assert ((found >= 0) & (found < 7)).all()
    again = part_of(batch([*before, *rows[::-1], *before]).slice(len(before), len(rows)), 7)
    assert again[::-1].tolist() == found.tolist()
    place: dict[Any, int] = {}
    for each, part in zip(rows, found.tolist(), strict=True):
        assert place.setdefault(each, part) == part


@pytest.mark.parametrize(
    "column",
    [
        pa.array(np.arange(50_000)),
        pa.array(np.arange(50_000) * 1024),
        pa.array([f"user-{n:07}-of-this-table" for n in range(50_000)]),
        pa.array(np.arange(50_000) / 8),
    ],
    ids=["numbers", "multiples", "texts", "fractions"],
)
def test_parts_are_about_equal(column: pa.Array) -> None:
    counts = np.bincount(part_of(pa.RecordBatch.from_arrays([column], ["k"]), 10), minlength=10)
    assert counts.min() > 4_000
    assert counts.max() < 6_000


def test_zeros_of_both_signs_are_one_key_and_no_rows_have_no_parts() -> None:
    zeros = pa.RecordBatch.from_arrays([pa.array([0.0, -0.0])], ["k"])
    assert len(set(part_of(zeros, 1000).tolist())) == 1
    for kind in (pa.string(), pa.int32()):
        empty = pa.RecordBatch.from_arrays([pa.array([], kind)], ["k"])
        assert part_of(empty, 3).tolist() == []


def test_a_part_has_a_bounded_number_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PART_ROWS", 10)
    assert [part_count(n) for n in (0, 1, 10, 11, 100, 101)] == [1, 1, 1, 2, 10, 11]
