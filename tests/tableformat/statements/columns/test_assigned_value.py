"""Computed values become those of the column that they are assigned to, or are refused."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pytest

from colonnade import InvalidInputError, SchemaField
from colonnade.tableformat.predicate.values.row_value import RowValue
from colonnade.tableformat.statements.columns.assigned_value import (
    assignable,
    by_function,
    function_values,
)

PRICE = SchemaField(id=1, name="price", type="decimal(5,2)")
BATCH = pa.record_batch({"price": pa.array([Decimal("1.20")], pa.decimal128(5, 2)), "n": [2]})


def test_a_number_is_rounded_to_the_digits_of_its_column() -> None:
    exact = pa.array([Decimal("1.2350")], pa.decimal128(9, 4))
    value = RowValue("decimal(9,4)", frozenset(), lambda batch: exact)
    assert assignable(value, PRICE).compute(BATCH).to_pylist() == [Decimal("1.24")]
    text = SchemaField(id=2, name="note", type="string")
    assert assignable(value, text) is value


def test_a_function_gets_the_columns_in_order_and_returns_one_value_for_each_row() -> None:
    seen = []

    def double(batch: pa.RecordBatch) -> pa.Array:
        seen.append(batch.schema.names)
        return pa.array([Decimal("2.4")])

    reads = (PRICE, SchemaField(id=2, name="n", type="long"))
    value = by_function(double, PRICE, reads)
    assert value.columns == {1, 2}
    assert value.compute(BATCH).to_pylist() == [Decimal("2.40")]
    assert seen == [["price", "n"]]


def test_another_result_of_a_function_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="must return a pyarrow Array"):
        function_values([1], 1, PRICE)
    with pytest.raises(InvalidInputError, match="returned 2 values for 1 rows"):
        function_values(pa.array([1, 2]), 1, PRICE)
    assert function_values(pa.scalar(Decimal("3.00")), 2, PRICE).num_rows == 2
