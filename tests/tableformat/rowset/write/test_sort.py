"""A sort key orders rows as Spark does."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.model.entries import SortField
from colonnade.manifests.model.schema import assign_ids
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.rowset.write.sort import sort_indices
from colonnade.tableformat.types.arrow_types import schema_from_arrow
from tests.examples_of import examples
from tests.tableformat.rowset.written import read, write


def rank(value: Any) -> Any:
    if value is None:
        return (0,)
    if isinstance(value, float):
        return (1, math.isnan(value), 0.0 if math.isnan(value) else value)
    return (1, value.encode() if isinstance(value, str) else value)


@pytest.mark.slow
@settings(max_examples=examples(80), deadline=None)
@given(st.data())
def test_a_sort_key_orders_rows_as_spark_does(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 30))
    pools: dict[str, list[Any]] = {
        "f": [None, float("nan"), 0.0, -0.0, math.inf, -math.inf, -1.5, 2.0],
        "s": [None, "", "a", "Z", "é", "\uffff", "\U0001f600"],
        "b": [None, True, False],
        "i": [None, -(2**63), 2**63 - 1, 0, 5],
    }
    names = data.draw(st.permutations(list(pools)))[: data.draw(st.integers(1, 4))]
    columns = {
        n: data.draw(st.lists(st.sampled_from(pools[n]), min_size=count, max_size=count))
        for n in names
    }
    rows = pa.record_batch(
        {
            **{
                n: pa.array(v) if any(x is not None for x in v) else pa.nulls(count, pa.float64())
                for n, v in columns.items()
            },
            "row": pa.array(range(count)),
        }
    )
    schema = assign_ids(schema_from_arrow(rows.schema), 1)[0]
    key = tuple(
        SortField(column=schema.field(n).id, descending=data.draw(st.booleans())) for n in names
    )
    store = MemoryStore()
    entries = write(store, schema, rows, key=key)
    expected = list(range(count))
    for field, name in reversed(list(zip(key, names, strict=True))):
        ranks = [rank(value) for value in columns[name]]
        expected.sort(key=ranks.__getitem__, reverse=field.descending)
    assert read(store, schema, entries)["row"].to_pylist() == expected


@given(st.lists(st.integers(-3, 3)), st.booleans())
def test_rows_that_are_in_order_already_keep_it(values: list[int], descending: bool) -> None:
    key = [SortField(column=1, descending=descending)]
    numbers = sorted(range(len(values)), key=values.__getitem__, reverse=descending)
    assert sort_indices({1: pa.array(values, pa.int32())}, key).to_pylist() == numbers
    in_order = pa.array(sorted(values, reverse=descending), pa.int32())
    found = sort_indices({1: in_order}, key)
    assert found.to_pylist() == list(range(len(values)))
    assert found.type == pa.uint64()
