"""Functions of text, whether their arguments are literals or columns."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade import InvalidInputError
from colonnade.tableformat.predicate.literals import make_literal
from colonnade.tableformat.predicate.values.row_value import RowValue, constant
from colonnade.tableformat.predicate.values.texts import (
    found_in,
    like,
    replaced,
    require_text,
    substring,
)

S = RowValue("string", frozenset((1,)), lambda batch: batch.column(0))
T = RowValue("string", frozenset((2,)), lambda batch: batch.column(1))
N = RowValue("int", frozenset((3,)), lambda batch: batch.column(2))
TEXTS = st.text("abß語", max_size=5)


@given(TEXTS, TEXTS, st.integers(-7, 7), st.integers(-2, 7))
def test_a_literal_argument_means_the_same_as_a_column(
    text: str, part: str, start: int, count: int
) -> None:
    batch = pa.record_batch({"s": [text], "t": [part], "n": pa.array([start], pa.int32())})
    literal, begin, length = (constant(make_literal(each)) for each in (part, start, count))
    for name in ("startswith", "endswith", "contains"):
        both = [found_in(name, S, each).compute(batch).to_pylist() for each in (literal, T)]
        assert both[0] == both[1]
    both = [replaced((S, each, S)).compute(batch).to_pylist() for each in (literal, T)]
    assert both[0] == both[1]
    plain = replaced((S, literal)).compute(batch).to_pylist()
    assert plain == replaced((S, T)).compute(batch).to_pylist()
    both = [substring((S, each, length)).compute(batch).to_pylist() for each in (begin, N)]
    assert both[0] == both[1]


def test_a_pattern_covers_the_whole_text() -> None:
    batch = pa.record_batch({"s": ["abc", "abcd", None]})
    assert like(S, "a_c", "\\").compute(batch).to_pylist() == [True, False, None]


def test_other_values_are_not_text() -> None:
    with pytest.raises(InvalidInputError, match="upper of int"):
        require_text("upper", [S, N])
