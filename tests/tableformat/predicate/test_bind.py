"""Literals become storage values of their column, or a constant if it cannot hold them."""

from __future__ import annotations

import pickle
from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.predicate import bind, col, evaluate, parse_predicate
from colonnade.tableformat.predicate.bound import BoundColumn, BoundCompare, BoundIsNull, BoundNode
from colonnade.tableformat.predicate.expressions import Operator
from colonnade.tableformat.types.arrow_types import arrow_schema


def schema_of(type_name: str) -> TableSchema:
    return TableSchema(fields=(SchemaField(id=1, name="X", type=type_name),))


def root(where: str, type_name: str) -> BoundNode:
    return bind(parse_predicate(where), schema_of(type_name)).root


def truth(where: str, type_name: str, values: list[Any]) -> list[bool | None]:
    fields = arrow_schema(schema_of(type_name))
    batch = pa.RecordBatch.from_arrays([pa.array(values, fields.field(0).type)], schema=fields)
    return evaluate(bind(parse_predicate(where), schema_of(type_name)), batch).to_pylist()


@pytest.mark.parametrize(
    ("where", "type_name", "value"),
    [
        ("x = 2.0", "int", 2),
        ("x = 2e0", "long", 2),
        ("x = 1.5", "decimal(12,2)", 150),
        ("x = 1", "decimal(38,10)", 10**10),
        ("x = 1", "double", 1.0),
        ("x = -0.0", "double", 0.0),
        ("x = '2024-01-01'", "date", 19723),
        ("x = TIMESTAMP '2024-01-01 00:00:00'", "date", 19723),
        ("x = DATE '1970-01-02'", "timestamp", 86_400_000_000),
        ("x = '1970-01-01 00:00:01'", "timestamp", 1_000_000),
        ("x = '1970-01-01 00:00:01+01:00'", "timestamp", -3_599_000_000),
        ("x = '00:00:01'", "time(6)", 1_000_000_000),
        ("x = 'a '", "char(3)", "a  "),
        ("x = 'é'", "char(3)", "é  "),
        ("x = 'abc  '", "char(3)", "abc"),
        ("x = 'abcd '", "char(3)", "abcd"),
        ("x = 'a '", "varchar(3)", "a "),
        ("x = 'a'", "string collate UTF8_BINARY", "a"),
        ("x = INTERVAL '1' YEAR", "interval month", 12),
        ("x = INTERVAL '1' SECOND", "interval day to second", 1_000_000),
    ],
)
def test_a_literal_becomes_the_storage_value_of_its_column(
    where: str, type_name: str, value: object
) -> None:
    column = BoundColumn(1, ("X",), type_name)
    assert root(where, type_name) == BoundCompare(column, Operator.EQUAL, value)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("x < 3000000000", [True, True, None]),
        ("NOT x < 3000000000", [False, False, None]),
        ("x = 3000000000", [False, False, None]),
        ("x <> 3.5", [True, True, None]),
        ("x > 3.5", [False, True, None]),
        ("x <= 3.5", [True, False, None]),
        ("x < CAST('NaN' AS DOUBLE)", [True, True, None]),
        ("x = CAST('NaN' AS DOUBLE)", [False, False, None]),
        ("x >= CAST('-inf' AS DOUBLE)", [True, True, None]),
        ("x <=> 3000000000", [False, False, False]),
        ("x IN (3.5)", [False, False, None]),
        ("x NOT IN (3.5, NULL)", [None, None, None]),
        ("x = NULL", [None, None, None]),
        ("x <=> NULL", [False, False, True]),
        ("1 = 1.0", [True, True, True]),
        ("1 > NULL", [None, None, None]),
        ("NULL <=> NULL", [True, True, True]),
        ("'a' < 'b'", [True, True, True]),
    ],
)
def test_a_literal_outside_the_type_gives_a_constant_that_is_null_for_null(
    where: str, expected: list[bool | None]
) -> None:
    assert truth(where, "int", [3, 4, None]) == expected


def test_a_long_is_compared_with_a_double_as_a_double() -> None:
    values = [2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, 2**63 - 1, None]
    rounded = [float(v) if v is not None else None for v in values]
    for text, number in (("9007199254740992e0", 2.0**53), ("9223372036854775807e0", 2.0**63)):
        expected = [None if v is None else v == number for v in rounded]
        assert truth(f"x = {text}", "long", values) == expected
        expected = [None if v is None else v < number for v in rounded]
        assert truth(f"x < {text}", "long", values) == expected


def test_a_float_is_compared_as_the_double_that_it_is() -> None:
    assert truth("x = 0.1", "float", [0.1]) == [False]
    assert truth("x = 0.1F", "float", [0.1]) == [True]


@pytest.mark.parametrize(
    ("where", "type_name", "named"),
    [
        ("y = 1", "int", "'y'"),
        ("x.a = 1", "int", "not a struct"),
        ("x = '5'", "int", "string '5'"),
        ("x = 5", "string", "integer 5"),
        ("x = TRUE", "int", "boolean"),
        ("x", "int", "boolean"),
        ("x = 1", "boolean", "integer"),
        ("x = 'soon'", "date", "soon"),
        ("x = '2024-01-01 00:00:00Z'", "timestamp_ntz", "time zone"),
        ("x = 1", "timestamp", "integer"),
        ("x = INTERVAL '1' DAY", "interval year", "duration"),
        ("x = 'a'", "string collate UNICODE_CI", "collate"),
        ("x LIKE 'a'", "string collate UNICODE_CI", "collate"),
        ("x LIKE 'a'", "int", "LIKE"),
        (r"x LIKE 'a\\b'", "string", "LIKE pattern"),
        (r"x LIKE 'a\\'", "string", "LIKE pattern"),
        ("x LIKE 'a' ESCAPE 'ab'", "string", "one character"),
        ("x = X'00'", "variant", "variant"),
        ("1 = 'a'", "int", "cast one"),
    ],
)
def test_an_impossible_comparison_is_refused_by_name(
    where: str, type_name: str, named: str
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        root(where, type_name)
    assert named in str(caught.value)


@pytest.mark.parametrize("type_name", ["variant", "string collate UNICODE_CI"])
def test_is_null_works_on_types_without_an_order(type_name: str) -> None:
    column = BoundColumn(1, ("X",), type_name)
    assert root("x IS NULL", type_name) == BoundIsNull(column)
    assert root("x <=> NULL", type_name) == BoundIsNull(column)


def test_columns_of_unrelated_types_are_not_compared() -> None:
    fields = (SchemaField(id=1, name="a", type="int"), SchemaField(id=2, name="b", type="string"))
    with pytest.raises(InvalidInputError, match="'a' of type int and 'b' of type string"):
        bind(col("a") == col("b"), TableSchema(fields=fields))


def test_values_of_arrow_are_compared_as_the_values_of_python_that_they_are() -> None:
    values = pa.array([1, 2, None])
    for given in (values, pa.chunked_array([values])):
        assert col("x").isin(given) == col("x").isin([1, 2, None])
    assert (col("x") == values[0]) == (col("x") == 1)
    assert col("x").between(values[0], values[1]) == col("x").between(1, 2)


def test_a_bound_predicate_travels_to_other_processes() -> None:
    bound = bind(col("x").isin([1, 2]) | col("x").is_null(), schema_of("int"))
    assert pickle.loads(pickle.dumps(bound)) == bound


def test_a_column_that_the_batch_lacks_is_named() -> None:
    batch = pa.RecordBatch.from_pydict({"other": [1]})
    with pytest.raises(InvalidInputError, match="'X'"):
        evaluate(bind(col("x") == 1, schema_of("int")), batch)


@pytest.mark.parametrize(
    ("pattern", "matching"),
    [
        ("%", ["", "abc", "a\nc", "a.c", "😀"]),
        ("a_c", ["abc", "a\nc", "a.c"]),
        ("a.c", ["a.c"]),
        ("_", ["😀"]),
        ("%b%", ["abc"]),
        ("", [""]),
    ],
)
def test_like_matches_whole_texts_by_characters(pattern: str, matching: list[str]) -> None:
    texts = ["", "abc", "a\nc", "a.c", "😀"]
    found = truth(f"x LIKE '{pattern}'", "string", [*texts, None])
    assert found == [text in matching for text in texts] + [None]


def test_a_double_in_a_list_makes_all_its_numbers_doubles_as_in_spark() -> None:
    values = [2**53, 2**53 + 1, 1, None]
    exact = f"x IN ({2**53 + 1}, 1)"
    assert truth(exact, "long", values) == [False, True, True, None]
    assert truth(exact.replace("1)", "1D)"), "long", values) == [True, True, True, None]


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("n = DATE '2026-01-01'", "with the date: write"),
        ("n = TIMESTAMP '2026-01-01 00:00:00Z'", "with the timestamp: write"),
        ("n = INTERVAL '1' DAY", "with the duration: write"),
    ],
)
def test_a_value_of_another_type_is_told_as_users_write_it(where: str, said: str) -> None:
    """Users have not written the number of days or microseconds that stands for a time."""
    schema = TableSchema(fields=(SchemaField(id=1, name="n", type="long"),))
    with pytest.raises(InvalidInputError, match=f"'n' of type long cannot be compared {said}"):
        bind(parse_predicate(where), schema)


@pytest.mark.parametrize("where", ["n", "NOT n", "n = TRUE", "n IS TRUE", "n = 1 AND n"])
def test_a_column_that_is_not_boolean_is_no_condition(where: str) -> None:
    schema = TableSchema(fields=(SchemaField(id=1, name="n", type="long"),))
    with pytest.raises(InvalidInputError, match="'n' of type long is not boolean: compare it with"):
        bind(parse_predicate(where), schema)


@pytest.mark.parametrize(("where", "found"), [("5", "integer 5"), ("n = 1 AND 'x'", "string x")])
def test_a_literal_that_is_not_boolean_is_no_condition(where: str, found: str) -> None:
    with pytest.raises(InvalidInputError, match=f"must be boolean, unlike the {found}; compare it"):
        parse_predicate(where)
