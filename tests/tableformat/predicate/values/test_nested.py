"""Elements of lists and fields of structs, at any offset of their arrays."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade import ArrayType, InvalidInputError, SchemaField, StructType
from colonnade.tableformat.predicate.literals import make_literal
from colonnade.tableformat.predicate.values.nested import (
    as_boolean,
    contains,
    element,
    field_of,
    size,
)
from colonnade.tableformat.predicate.values.row_value import RowValue, constant

LISTS = pa.array([[9], None, [], [1, None, 3], [3]], pa.list_(pa.int32()))
BATCH = pa.RecordBatch.from_arrays([LISTS], names=["a"]).slice(1)
A = RowValue(
    ArrayType(element=SchemaField(name="element", type="int")),
    frozenset((1,)),
    lambda batch: batch.column(0),
)
STRUCT = RowValue(
    StructType(fields=(SchemaField(name="x", type="int"), SchemaField(name="X", type="long"))),
    frozenset((1,)),
    lambda batch: pa.array([None, {"x": 1, "X": 2}]),
)


def test_a_list_has_its_size_and_its_elements() -> None:
    assert size("size", A).compute(BATCH).to_pylist() == [None, 0, 3, 1]
    whole = BATCH.slice(2)
    assert element(A, constant(make_literal(0)), from_one=False).compute(whole).to_pylist() == [
        1,
        3,
    ]
    last = element(A, constant(make_literal(-1)), from_one=True)
    assert last.compute(whole).to_pylist() == [3, 3]
    with pytest.raises(InvalidInputError, match="A list of 0 elements has none with the number -1"):
        last.compute(BATCH)


def test_a_list_without_a_value_may_have_it_in_the_place_of_null() -> None:
    found = contains(A, constant(make_literal(3)))
    assert found.compute(BATCH).to_pylist() == [None, False, True, True]
    other = contains(A, constant(make_literal(7)))
    assert other.compute(BATCH).to_pylist() == [None, False, None, False]


def test_a_field_is_found_exactly_or_else_without_case() -> None:
    assert field_of(STRUCT, "X").compute(BATCH).to_pylist() == [None, 2]
    assert field_of(STRUCT, "x").type == "int"
    with pytest.raises(InvalidInputError, match="has no field 'y'"):
        field_of(STRUCT, "y")
    with pytest.raises(InvalidInputError, match="must be boolean"):
        as_boolean(field_of(STRUCT, "x"))


def test_the_elements_of_a_list_that_is_null_do_not_count() -> None:
    whole = pa.array([[3], [3, 1], [1]], pa.list_(pa.int32()))
    hidden = pa.array([False, True, False])
    lists = pa.ListArray.from_arrays(whole.offsets, whole.values, type=whole.type, mask=hidden)
    batch = pa.RecordBatch.from_arrays([lists], names=["a"])
    found = contains(A, constant(make_literal(3)))
    assert found.compute(batch).to_pylist() == [True, None, False]
