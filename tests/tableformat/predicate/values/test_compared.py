"""Computed values compare as columns do."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade import InvalidInputError
from colonnade.tableformat.predicate.expressions import Operator
from colonnade.tableformat.predicate.literals import NULL, make_literal
from colonnade.tableformat.predicate.values.compared import compared, is_one_of
from colonnade.tableformat.predicate.values.row_value import RowValue, arrow_of, constant

BATCH = pa.record_batch({"i": pa.array([1, None, 3], pa.int32()), "d": [1.0, 2.0, None]})
I = RowValue("int", frozenset((1,)), lambda batch: batch.column(0))  # noqa: E741
D = RowValue("double", frozenset((2,)), lambda batch: batch.column(1))


def test_a_comparison_with_null_is_null_unless_null_equals_null() -> None:
    assert compared(Operator.EQUAL, I, D).compute(BATCH).to_pylist() == [True, None, None]
    assert compared(Operator.NULL_SAFE_EQUAL, I, D).compute(BATCH).to_pylist() == [
        True,
        False,
        False,
    ]
    null = constant(NULL)
    assert compared(Operator.LESS, I, null).compute(BATCH).to_pylist() == [None] * 3
    assert compared(Operator.NULL_SAFE_EQUAL, I, null).compute(BATCH).to_pylist() == [
        False,
        True,
        False,
    ]


def test_one_of_several_values_may_be_null() -> None:
    literals = [make_literal(1), make_literal(7.5)]
    assert is_one_of(I, literals).compute(BATCH).to_pylist() == [True, None, False]
    assert is_one_of(I, [*literals, NULL]).compute(BATCH).to_pylist() == [True, None, None]
    assert is_one_of(I, []).compute(BATCH).to_pylist() == [False] * 3


def test_values_of_other_kinds_are_not_compared() -> None:
    text = RowValue("string", frozenset(), lambda batch: pa.nulls(3, arrow_of("string")))
    with pytest.raises(InvalidInputError, match="int cannot be compared with one of type string"):
        compared(Operator.EQUAL, I, text)
    with pytest.raises(InvalidInputError, match="comparison of variant"):
        compared(Operator.EQUAL, RowValue("variant", frozenset(), I.compute), I)
