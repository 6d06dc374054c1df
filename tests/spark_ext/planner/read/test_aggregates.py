"""Aggregates from the log: the value that reading the rows would give, or none."""

import math

from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.spark_ext.planner.messages.queries import AggregateCall
from colonnade.spark_ext.planner.read.aggregates import NAN, Answer, aggregate
from tests.spark_ext.planner.rowsets import SCHEMA, Sample, order_key, samples, view_of


def answer(function: str, *given_samples: Sample, column: str | None = "x") -> Answer | None:
    rowsets = [sample.rowset(number) for number, sample in enumerate(given_samples)]
    asked = AggregateCall.model_validate({"function": function, "column": column})
    return aggregate(asked, SCHEMA, view_of(rowsets))


def truth(function: str, rows: list[float | None]) -> int | str | None:
    present = [value for value in rows if value is not None]
    if function == "count":
        return len(present)
    if not present:
        return None
    value = (min if function == "min" else max)(present, key=order_key)
    return NAN if math.isnan(value) else f"f:{value!r}"


@given(st.lists(samples(), max_size=5), st.sampled_from(["count", "min", "max"]))
def test_an_answer_is_what_the_rows_say(found: list[Sample], function: str) -> None:
    rows = [value for sample in found for value in sample.live]
    got = answer(function, *found)
    assert got is None or got.value == truth(function, rows)


@given(st.lists(samples(), max_size=5))
def test_rows_are_always_counted_without_those_deleted(found: list[Sample]) -> None:
    assert answer("count", *found, column=None) == Answer(sum(len(s.live) for s in found))


def test_exact_bounds_of_whole_rowsets_are_answers() -> None:
    found = (Sample((1.0, None, 3.0)), Sample((-2.0,)), Sample((None,)))
    assert answer("min", *found) == Answer("f:-2.0")
    assert answer("max", *found) == Answer("f:3.0")
    assert answer("count", *found) == Answer(3)


def test_a_rowset_with_deletions_does_no_harm_where_its_bounds_lie_inside() -> None:
    whole, inside = Sample((0.0, 9.0, -9.0)), Sample((1.0, 2.0), frozenset({1}))
    assert answer("max", whole, inside) == Answer("f:9.0")
    assert answer("max", inside) is None


def test_zero_has_two_signs_in_rows_and_one_in_bounds() -> None:
    assert answer("max", Sample((0.0, -1.0))) is None


def test_nothing_is_said_of_unknown_columns() -> None:
    rowsets = [Sample((1.0,)).rowset(0)]
    call = AggregateCall(function="count", column="_row")
    assert aggregate(call, SCHEMA, view_of(rowsets)) is None


def test_nothing_is_said_of_the_extremes_of_collated_strings() -> None:
    collated = TableSchema(fields=(SchemaField(id=1, name="x", type="string collate UNICODE_CI"),))
    rowsets = [Sample((None,)).rowset(0)]
    assert aggregate(AggregateCall(function="max", column="x"), collated, view_of(rowsets)) is None


def test_a_column_that_cannot_be_null_needs_no_statistics_to_be_counted() -> None:
    strict = TableSchema(fields=(SchemaField(id=1, name="x", type="double", nullable=False),))
    rowsets = [Sample((1.0, 2.0), frozenset({0}), known=False).rowset(0)]
    call = AggregateCall(function="count", column="x")
    assert aggregate(call, strict, view_of(rowsets)) == Answer(1)
