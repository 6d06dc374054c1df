"""Expressions of Arrow become predicates, except for what only Arrow can evaluate."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField, StructType, TableSchema
from colonnade.tableformat.predicate.foreign.arrow import from_arrow, split

TYPES = {
    "n": "long",
    "f": "double",
    "d": "decimal(9,2)",
    "s": "string",
    "c": "char(3)",
    "y": "date",
    "t": "timestamp_ntz",
    "z": "timestamp",
    "b": "boolean",
}
SCHEMA = TableSchema(
    fields=(
        *(SchemaField(name=name, type=each) for name, each in TYPES.items()),
        SchemaField(name="r", type=StructType(fields=(SchemaField(name="x", type="int"),))),
    )
)
PREDICATES = [
    (pc.field("n") >= 3, "n >= 3"),
    (pc.scalar(3) < pc.field("n"), "3 < n"),
    (pc.field("n") == pc.field("f"), "n = f"),
    (pc.field("r", "x") != 1, "r.x <> 1"),
    (pc.field("d") == Decimal("1.50"), "d = 1.50BD"),
    (pc.field("s").isin(["a", None, "b"]), "s IN ('a', 'b')"),
    (pc.field("s").isin([]), "FALSE"),
    (pc.field("s").isin([None]), "s = NULL"),
    (~pc.field("s").isin(["a"]), "NOT (s IN ('a'))"),
    (pc.field("f").is_null(), "f IS NULL"),
    (pc.field("f").is_valid(), "NOT (f IS NULL)"),
    (pc.field("f").is_nan(), "f = CAST('nan' AS DOUBLE)"),
    (pc.field("f").is_null(nan_is_null=True), "(f IS NULL) OR (f = CAST('nan' AS DOUBLE))"),
    (pc.starts_with(pc.field("s"), "ab"), "startswith(s, 'ab')"),
    (pc.field("b"), "b = TRUE"),
    (pc.field("b") & pc.scalar(True), "(b = TRUE) AND (TRUE)"),
    (pc.field("y") < dt.date(2026, 1, 1), "y < DATE '2026-01-01'"),
    (pc.field("t") < dt.datetime(2026, 1, 1), "t < TIMESTAMP_NTZ '2026-01-01 00:00:00'"),
]
ARROWS = [
    pc.field("n") + 1 > 3,
    pc.field("n").cast("int32") == 3,
    pc.starts_with(pc.field("s"), "a", ignore_case=True),
    (pc.field("n") > 1) | (pc.field("n") * 2 == 0),
    pc.field("s") == 3,  # Arrow says that it cannot compare them
    pc.field("y") == "2026-01-01",
    pc.field("c") == "a",  # a predicate would pad it
    pc.field("t") > pa.scalar(dt.datetime(2026, 1, 1), pa.timestamp("us", "UTC")),
    pc.field("z") > pa.scalar(1, pa.timestamp("ns", "UTC")),  # finer than microseconds
    pc.field("x") == 1,
    pc.field("r").is_valid() & (pc.field("r") == 1),
]


@pytest.mark.parametrize(("expression", "text"), PREDICATES, ids=[each for _, each in PREDICATES])
def test_comparisons_are_predicates(expression: pc.Expression, text: str) -> None:
    assert str(from_arrow(expression)) == text
    where, rest, columns = split(expression, SCHEMA)
    assert str(where) == text
    assert rest is None
    assert columns == frozenset()


@pytest.mark.parametrize("expression", ARROWS[:4], ids=str)
def test_what_predicates_cannot_state_is_refused_in_one_sentence(expression: pc.Expression) -> None:
    with pytest.raises(InvalidInputError, match="is no predicate: compare columns with"):
        from_arrow(expression)


@pytest.mark.parametrize("expression", ARROWS, ids=str)
def test_arrow_evaluates_what_predicates_cannot_or_would_do_otherwise(
    expression: pc.Expression,
) -> None:
    where, rest, columns = split((pc.field("n") > 5) & expression, SCHEMA)
    assert where is not None
    assert str(where).startswith(("n > 5", "(n > 5) AND"))
    assert rest is not None
    assert columns is not None


def test_each_part_of_a_conjunction_is_decided_alone() -> None:
    first, second = pc.field("n") > 5, pc.field("s") == "a"
    computed = pc.field("f") * 2 == 4
    where, rest, columns = split(first & (computed & second), SCHEMA)
    assert str(where) == "(n > 5) AND (s = 'a')"
    assert rest is not None
    assert rest.equals(computed)
    assert columns == frozenset({"f"})


def test_an_expression_without_a_tree_is_left_to_arrow_with_all_columns() -> None:
    numbered = pc.field(0) > 1
    where, rest, columns = split(numbered, SCHEMA)
    assert (where, columns) == (None, None)
    assert rest is numbered


@pytest.mark.slow
def test_arrow_evaluates_what_is_nested_too_deeply_for_a_predicate() -> None:
    for levels in (99, 100, 101, 250, 2000):
        nested = reduce(lambda found, _: ~found, range(levels), pc.field("n") > 5)
        where, rest, _ = split(nested, SCHEMA)
        assert (where is None) == (levels >= 99)
        assert (rest is None) == (levels < 99)
    chain = reduce(or_, [pc.field("n") == n for n in range(3000)])
    assert split(chain, SCHEMA).rest is None
    assert len(str(from_arrow(chain))) > 3000


@pytest.mark.parametrize(
    ("tested", "members"),
    [
        (pc.field("c"), ["a  "]),  # a predicate would pad the text
        (pc.field("n") + 1, [2]),
        (pc.field("n").cast("int32"), [1, None]),
    ],
)
def test_arrow_finds_null_in_no_list_and_outside_of_none(
    tested: pc.Expression, members: list[Any]
) -> None:
    rows = pa.table({"c": ["a  ", "b  ", None], "n": [1, 2, None]})
    for test, wanted in ((tested.isin(members), [1]), (~tested.isin(members), [2])):
        where, rest, _ = split(test, SCHEMA)
        assert where is None
        assert rows.filter(rest)["n"].to_pylist() == wanted
