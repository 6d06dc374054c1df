"""Expressions of Polars become predicates that are TRUE wherever they are."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import polars
import pytest

from colonnade.manifests.model.schema import SchemaField, StructType, TableSchema
from colonnade.tableformat.predicate.foreign.polars import from_polars

TYPES = {"n": "long", "i": "int", "f": "double", "d": "decimal(9,2)", "s": "string", "c": "char(3)"}
SCHEMA = TableSchema(
    fields=(
        *(SchemaField(name=name, type=each) for name, each in TYPES.items()),
        SchemaField(name="y", type="date"),
        SchemaField(name="b", type="boolean"),
        SchemaField(name="r", type=StructType(fields=(SchemaField(name="x", type="int"),))),
    )
)
FRAME = polars.LazyFrame(
    schema={
        "n": polars.Int64,
        "i": polars.Int32,
        "f": polars.Float64,
        "d": polars.Decimal(9, 2),
        "s": polars.String,
        "c": polars.String,
        "y": polars.Date,
        "b": polars.Boolean,
        "r": polars.Struct({"x": polars.Int32}),
    }
)
COL = polars.col


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (COL("n") > polars.lit(3, polars.Int64), "n > 3"),
        (COL("n").cast(polars.Float64) > 1.5, "n > 1.5D"),
        (COL("n") == COL("i").cast(polars.Int64), "n = i"),
        (COL("d") == Decimal("1.50"), "d = 1.50BD"),
        (COL("s").is_in(["a", "b"]), "s IN ('a', 'b')"),
        (~COL("s").is_in(["a"]), "NOT (s IN ('a'))"),
        (COL("s").str.starts_with("ab"), "startswith(s, 'ab')"),
        (COL("s").is_null() | COL("b"), "(s IS NULL) OR (b = TRUE)"),
        (COL("f").is_not_nan(), "f <> CAST('nan' AS DOUBLE)"),
        (COL("n").is_between(1, 5, closed="left"), "(n >= 1) AND (n < 5)"),
        (COL("n").eq_missing(3), "n <=> 3"),
        (COL("n").ne_missing(3), "NOT (n <=> 3)"),
        (COL("y") >= dt.date(2026, 1, 1), "y >= DATE '2026-01-01'"),
        (COL("r").struct.field("x") != 1, "r.x <> 1"),
        ((COL("n") > 3) & (COL("n") * 2 > 3), "n > 3"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_comparisons_are_predicates(expression: polars.Expr, text: str) -> None:
    assert str(from_polars(expression, SCHEMA)) == text


@pytest.mark.parametrize(
    "expression",
    [
        COL("n") + 1 > 3,
        COL("d").cast(polars.Float64) > 1.5,  # Polars may round it in another way
        COL("i").cast(polars.Int8) == 1,
        COL("c") == "a",  # a predicate would pad it
        COL("f") > float("nan"),  # JSON has no NaN
        (COL("n") > 3) | (COL("n") * 2 > 3),
        COL("s").str.contains("a"),
        COL("n").is_in([1, None], nulls_equal=True),
    ],
    ids=str,
)
def test_nothing_is_known_of_rows_that_other_expressions_choose(expression: polars.Expr) -> None:
    assert from_polars(expression, SCHEMA) is None
