"""A predicate becomes regions only where it selects exactly their rows."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.model.range_tombstones import MOST_REGIONS, region_of
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.predicate import bind, evaluate, parse_predicate
from colonnade.tableformat.predicate.exact_regions import exact_regions
from colonnade.tableformat.predicate.regions import region_predicate
from colonnade.tableformat.types.arrow_types import arrow_schema

SCHEMA = TableSchema(
    fields=(
        SchemaField(id=1, name="a", type="int", nullable=False),
        SchemaField(id=2, name="x", type="double", nullable=False),
        SchemaField(id=3, name="s", type="string", nullable=False),
        SchemaField(id=4, name="n", type="int"),
    )
)
VALUES: dict[str, list[Any]] = {
    "a": [-3, 0, 1, 2, 5],
    "x": [float("-inf"), -1.5, -0.0, 0.0, 2.0, float("inf"), float("nan")],
    "s": ["", "a", "ab", "b", "\U0001f600"],
}
TEXT = {"a": "{}", "x": "double('{}')", "s": "'{}'"}


@st.composite
def comparisons(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from("axs"))
    values = [v for v in VALUES[name] if v == v]
    value = TEXT[name].format(draw(st.sampled_from(values)))
    if draw(st.booleans()):
        return f"{name} {draw(st.sampled_from(['=', '<', '<=', '>', '>=']))} {value}"
    others = [
        TEXT[name].format(each) for each in draw(st.lists(st.sampled_from(values), max_size=2))
    ]
    return f"{name} IN ({', '.join([value, *others])})"


conjunctions = st.lists(comparisons(), min_size=1, max_size=4).map(" AND ".join)
conditions = st.lists(conjunctions, min_size=1, max_size=3).map(
    lambda parts: " OR ".join(f"({each})" for each in parts)
)


def all_rows() -> pa.RecordBatch:
    rows = [(a, x, s, None) for a in VALUES["a"] for x in VALUES["x"] for s in VALUES["s"]]
    columns = [
        pa.array(c, f.type)
        for c, f in zip(zip(*rows, strict=True), arrow_schema(SCHEMA), strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=arrow_schema(SCHEMA))


ROWS = all_rows()
BY_ID = pa.RecordBatch.from_arrays(ROWS.columns, names=["1", "2", "3", "4"])


@pytest.mark.slow
@given(conditions)
def test_regions_hold_exactly_the_rows_that_meet_the_condition(condition: str) -> None:
    bound = bind(parse_predicate(condition), SCHEMA)
    regions = exact_regions(bound, SCHEMA)
    if regions is None:
        # NaN is above every number, and in no region.
        assert "x >" in condition
        return
    inside = [False] * ROWS.num_rows
    for intervals in regions:
        predicate = region_predicate(region_of(intervals, SCHEMA))
        found = evaluate(predicate, BY_ID).fill_null(False).to_pylist()
        inside = [a or b for a, b in zip(inside, found, strict=True)]
    assert inside == evaluate(bound, ROWS).fill_null(False).to_pylist()


@pytest.mark.parametrize(
    "condition",
    ["n = 1", "a <> 1", "a IS NOT NULL", "NOT (a IN (1, 2))", "s LIKE 'a%'", "a = NULL", "a < n"],
)
def test_a_condition_that_is_no_range_of_not_null_columns_has_no_regions(condition: str) -> None:
    assert exact_regions(bind(parse_predicate(condition), SCHEMA), SCHEMA) is None


def test_more_regions_than_a_tombstone_holds_are_none() -> None:
    many = ", ".join(map(str, range(MOST_REGIONS)))
    few = bind(parse_predicate(f"a IN ({many})"), SCHEMA)
    assert len(exact_regions(few, SCHEMA) or ()) == MOST_REGIONS
    more = bind(parse_predicate(f"a IN ({many}) OR a = 5000"), SCHEMA)
    assert exact_regions(more, SCHEMA) is None
