"""Rows that a writer encodes answer each question once, whichever encodings ask it."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade.tableformat.rowset.block_statistics import measure
from colonnade.tableformat.rowset.encodings.rows import Rows
from tests.tableformat.rowset.encoded import column


def test_each_answer_is_computed_once() -> None:
    array = pa.array(["a", "b"] * 1000)
    rows = Rows(array, column("string"), array.nbytes)
    assert rows.indexed is not None
    assert rows.indexed is rows.indexed
    assert rows.statistics is rows.statistics


@pytest.mark.parametrize(
    ("text", "array"),
    [
        ("string", pa.array(["b", "a", None] * 1000)),
        ("double", pa.array([2.0, -1.0, None, float("nan")] * 1000)),
        ("boolean", pa.array([True, False, None])),
    ],
)
def test_the_statistics_of_a_dictionary_are_those_of_its_rows(text: str, array: pa.Array) -> None:
    of = column(text)
    rows = Rows(array, of, array.nbytes)
    assert rows.statistics == measure(array, of.order, array.null_count)


def test_only_integers_are_narrowed() -> None:
    assert Rows(pa.array([1, 300]), column("long"), 16).narrowed is not None
    assert Rows(pa.array([0, 2**62]), column("long"), 16).narrowed is None
    assert Rows(pa.array(["a", "b"]), column("string"), 10).narrowed is None
