"""Equal keys have equal numbers, which count keys in the order of their first rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.keys.key_numbers import key_numbers, rows_by_number

SCHEMA = TableSchema(
    fields=(SchemaField(id=1, name="a", type="long"), SchemaField(id=2, name="b", type="string"))
)


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("xyz")), max_size=20))
def test_keys_are_numbered_as_they_first_occur(rows: list[tuple[int, str]]) -> None:
    table = pa.table(
        {
            "b": pa.array([b for _, b in rows], pa.string()),
            "a": pa.array([a for a, _ in rows], pa.int64()),
        }
    )
    numbers, firsts = key_numbers(table, SCHEMA)
    distinct = list(dict.fromkeys(rows))
    assert numbers.tolist() == [distinct.index(row) for row in rows]
    assert firsts.tolist() == [rows.index(row) for row in distinct]


def test_a_key_that_is_null_is_refused_by_its_column() -> None:
    table = pa.table({"a": [1, 2], "b": ["x", None]})
    with pytest.raises(InvalidInputError, match="'b' is a key and is NULL in 1 of the rows"):
        key_numbers(table, SCHEMA)


@given(st.lists(st.integers(0, 5), max_size=30), st.permutations(range(20)))
def test_rows_are_put_into_the_order_of_their_numbers(
    repeated: list[int], distinct: list[int]
) -> None:
    for numbers in (np.unique(repeated, return_inverse=True)[1], np.array(distinct)):
        expected = np.argsort(numbers, kind="stable")
        np.testing.assert_array_equal(rows_by_number(numbers.astype(np.int64)), expected)
