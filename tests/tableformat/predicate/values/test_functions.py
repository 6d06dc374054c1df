"""Every function and operator of expressions has Spark's results, by examples.

`tests/spark_ext/test_expressions.py` compares random expressions with Spark.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from colonnade import InvalidInputError
from colonnade.manifests.model.schema import SchemaField, TableSchema, assign_ids
from colonnade.tableformat.predicate import bind, evaluate, parse_predicate
from colonnade.tableformat.predicate.bind import bind_value
from colonnade.tableformat.predicate.sql import parse_value
from colonnade.tableformat.predicate.values.functions import ALIASES, FUNCTIONS
from colonnade.tableformat.types.arrow_types import arrow_schema, schema_from_arrow

COLUMNS = pa.schema(
    {
        "b": pa.int8(),
        "i": pa.int32(),
        "l": pa.int64(),
        "f": pa.float32(),
        "d": pa.float64(),
        "p": pa.decimal128(9, 2),
        "q": pa.decimal128(38, 10),
        "s": pa.string(),
        "t": pa.string(),
        "x": pa.binary(),
        "o": pa.bool_(),
        "day": pa.date32(),
        "at": pa.timestamp("us", "UTC"),
        "n": pa.timestamp("us"),
        "a": pa.list_(pa.int32()),
        "st": pa.struct({"u": pa.int32(), "In": pa.struct({"v": pa.string()})}),
        "rows": pa.list_(pa.struct({"u": pa.int32()})),
    }
)
SCHEMA, _ = assign_ids(schema_from_arrow(COLUMNS), 1)
ROW: dict[str, Any] = {
    "b": 100,
    "i": -7,
    "l": 2**62,
    "f": 1.5,
    "d": 2.5,
    "p": Decimal("12.35"),
    "q": Decimal("1.5"),
    "s": " Straße ",
    "t": "aXbXc",
    "x": b"\x00\xff",
    "o": True,
    "day": dt.date(2024, 1, 31),
    "at": dt.datetime(2024, 2, 29, 23, 59, 58, 500000, tzinfo=dt.timezone.utc),
    "n": dt.datetime(2023, 12, 31, 1, 2, 3),
    "a": [3, None, 1],
    "st": {"u": 5, "In": {"v": "deep"}},
    "rows": [{"u": 8}],
}


def batch_of(*rows: dict[str, Any]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(list(rows), arrow_schema(SCHEMA))


def result(sql: str, row: dict[str, Any] | None = None) -> tuple[Any, str]:
    value = bind_value(parse_value(sql), SCHEMA)
    [found] = value.compute(batch_of(ROW if row is None else row)).to_pylist()
    return found, value.text


EXAMPLES: list[tuple[str, Any, str]] = [
    ("i + 1", -6, "int"),
    ("b + 1L", 101, "long"),
    ("b - i", 107, "int"),
    ("b + -1L", 99, "long"),
    ("-9223372036854775808L - i", 7 - 2**63, "long"),
    ("i * 2.50", Decimal("-17.50"), "decimal(14,2)"),
    ("p * 2", Decimal("24.70"), "decimal(11,2)"),
    ("p + q", Decimal("13.8500000000"), "decimal(38,9)"),
    ("p / 3", Decimal("4.11666667"), "decimal(13,6)"),
    ("i / 2", -3.5, "double"),
    ("i div 2", -3, "long"),
    ("p div 5", 2, "long"),
    ("i % 3", -1, "int"),
    ("mod(i, 3)", -1, "int"),
    ("p % 5", Decimal("2.35"), "decimal(3,2)"),
    ("d % 2", 0.5, "double"),
    ("f + 1", 2.5, "double"),
    ("f * f", 2.25, "float"),
    ("- p", Decimal("-12.35"), "decimal(9,2)"),
    ("abs(i)", 7, "int"),
    ("CAST(d AS INT)", 2, "int"),
    ("CAST(p AS DECIMAL(5,1))", Decimal("12.4"), "decimal(5,1)"),
    ("CAST(-d AS DECIMAL(5,0))", Decimal("-3"), "decimal(5,0)"),
    ("CAST(' 42 ' AS BIGINT) + 0", 42, "long"),
    ("CAST(q AS STRING)", "1.5000000000", "string"),
    ("CAST(at AS STRING)", "2024-02-29 23:59:58.5", "string"),
    ("CAST(n AS STRING)", "2023-12-31 01:02:03", "string"),
    ("CAST(day AS STRING)", "2024-01-31", "string"),
    ("CAST(o AS INT)", 1, "int"),
    ("CAST(i AS BOOLEAN)", True, "boolean"),
    ("string(o)", "true", "string"),
    ("CASE WHEN i > 0 THEN 'plus' WHEN i < 0 THEN 'minus' END", "minus", "string"),
    ("CASE i WHEN 7 THEN 1 ELSE 2.5 END", Decimal("2.5"), "decimal(11,1)"),
    ("if(o, i, l)", -7, "long"),
    ("coalesce(NULL, NULL, i)", -7, "int"),
    ("nvl(i, 1)", -7, "int"),
    ("nullif(i, -7)", None, "int"),
    ("greatest(i, 3, NULL)", 3, "int"),
    ("least(d, f)", 1.5, "double"),
    ("upper(s)", " STRASSE ", "string"),
    ("lower(t)", "axbxc", "string"),
    ("trim(s)", "Straße", "string"),
    ("ltrim(s)", "Straße ", "string"),
    ("trim(TRAILING 'c' FROM t)", "aXbX", "string"),
    ("ltrim('a', t)", "XbXc", "string"),
    ("length(s)", 8, "int"),
    ("length(x)", 2, "int"),
    ("t || '-' || i", "aXbXc--7", "string"),
    ("concat(t, NULL)", None, "string"),
    ("substring(t, 2, 3)", "XbX", "string"),
    ("substring(t, -2)", "Xc", "string"),
    ("substring(t, -7, 3)", "a", "string"),
    ("substring(t FROM 4)", "Xc", "string"),
    ("replace(t, 'X', '..')", "a..b..c", "string"),
    ("replace(t, 'X')", "abc", "string"),
    ("replace(t, '', 'y')", "aXbXc", "string"),
    ("startswith(t, 'aX')", True, "boolean"),
    ("endswith(t, s)", False, "boolean"),
    ("contains(t, 'bX')", True, "boolean"),
    ("t LIKE 'a_b%'", True, "boolean"),
    ("year(at)", 2024, "int"),
    ("quarter(day)", 1, "int"),
    ("EXTRACT(MONTH FROM at)", 2, "int"),
    ("dayofmonth(day)", 31, "int"),
    ("hour(at)", 23, "int"),
    ("minute(n)", 2, "int"),
    ("second(at)", 58, "int"),
    ("dayofweek(day)", 4, "int"),
    ("weekday(day)", 2, "int"),
    ("dayofyear(at)", 60, "int"),
    ("last_day(day)", dt.date(2024, 1, 31), "date"),
    ("to_date(at)", dt.date(2024, 2, 29), "date"),
    ("date(at)", dt.date(2024, 2, 29), "date"),
    ("date_add(day, 1)", dt.date(2024, 2, 1), "date"),
    ("date_sub(day, 31)", dt.date(2023, 12, 31), "date"),
    ("day + 1", dt.date(2024, 2, 1), "date"),
    ("add_months(day, 1)", dt.date(2024, 2, 29), "date"),
    ("datediff(day, DATE '2024-01-01')", 30, "int"),
    ("day + INTERVAL '2' DAY", dt.date(2024, 2, 2), "date"),
    ("day + INTERVAL 1 WEEK", dt.date(2024, 2, 7), "date"),
    ("day - INTERVAL '1-1' YEAR TO MONTH", dt.date(2022, 12, 31), "date"),
    ("day + INTERVAL '36' HOUR", dt.datetime(2024, 2, 1, 12, tzinfo=dt.timezone.utc), "timestamp"),
    ("n + INTERVAL '1' DAY", dt.datetime(2024, 1, 1, 1, 2, 3), "timestamp_ntz"),
    ("day - DATE '2024-01-01'", dt.timedelta(30), "interval day"),
    ("size(a)", 3, "int"),
    ("a[2]", 1, "int"),
    ("element_at(a, -1)", 1, "int"),
    ("array_contains(a, 1)", True, "boolean"),
    ("array_contains(a, 2)", None, "boolean"),
    ("st.u + 1", 6, "int"),
    ("upper(st.in.v)", "DEEP", "string"),
    ("rows[0].u", 8, "int"),
    ("(i > 0) IS NULL", False, "boolean"),
    ("(i > 0) <=> FALSE", True, "boolean"),
    ("lower(t) IN ('axbxc', NULL)", True, "boolean"),
    ("i + 1 IN (1, NULL)", None, "boolean"),
    ("d BETWEEN f + 0 AND d * 2", True, "boolean"),
    ("day + 1 > '2024-01-01'", True, "boolean"),
    ("CAST('NaN' AS DOUBLE) > d", True, "boolean"),
]


@pytest.mark.parametrize(("sql", "value", "kind"), EXAMPLES)
def test_an_expression_has_the_value_and_the_type_of_spark(sql: str, value: Any, kind: str) -> None:
    found, found_kind = result(sql)
    if isinstance(value, Decimal) and "/" in sql:
        value = value.quantize(Decimal(1).scaleb(-6))
    assert (found, found_kind) == (value, kind)


@pytest.mark.parametrize("sql", [sql for sql, _, _ in EXAMPLES])
def test_the_sql_of_an_expression_means_the_same(sql: str) -> None:
    again = str(parse_value(sql))
    if not isinstance(parse_value(sql), type(parse_value("1"))):
        assert result(again) == result(sql)


@pytest.mark.parametrize("sql", [sql for sql, _, kind in EXAMPLES if kind != "boolean"])
def test_null_makes_most_results_null(sql: str) -> None:
    found, _ = result(sql, {})
    chooses = sql.startswith(("CASE", "coalesce", "nvl", "greatest", "least", "CAST(' 42"))
    assert chooses or found is None


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("i / 0", "divided by zero"),
        ("i % 0", "divided by zero"),
        ("p div 0", "divided by zero"),
        ("d / 0.0D", "divided by zero"),
        ("l * 2", "does not fit"),
        ("b + b", "does not fit"),
        ("- CAST(b - 228 AS TINYINT)", "does not fit"),
        ("CAST(l AS DECIMAL(38,0)) * l * l", "more digits"),
        ("CAST(l AS INT)", "does not fit"),
        ("CAST(d * 1e300 AS BIGINT)", "does not fit"),
        ("CAST('x' || t AS INT)", "is not a valid"),
        ("CAST(p AS DECIMAL(3,2))", "more digits"),
        ("a[3]", "has none with the number 3"),
        ("a[i]", "has none with the number -7"),
        ("element_at(a, 0)", "has none with the number 0"),
        ("date_add(day, 2147483647)", "does not fit"),
    ],
)
def test_a_value_that_cannot_be_computed_is_an_error(sql: str, reason: str) -> None:
    with pytest.raises(InvalidInputError, match=reason):
        result(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "CASE WHEN i = 0 THEN 1 / i ELSE 0 END",
        "CASE WHEN i <> 0 THEN 0 ELSE 1 / (i + 7) END",
        "coalesce(i, 1 / (i + 7))",
        "i = 0 AND 1 / (i + 7) > 0",
        "i <> 0 OR 1 / (i + 7) > 0",
        "NULL + 1 / (i + 7)",
    ],
)
def test_a_value_that_no_row_needs_does_not_fail(sql: str) -> None:
    result(sql)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("lower(i)", "lower of int"),
        ("s + 1", r"\+ on string"),
        ("day * 2", r"\* on date and int"),
        ("coalesce(i, s)", "int and string"),
        ("CASE WHEN i THEN 1 END", "must be boolean"),
        ("s = i", "cannot be compared"),
        ("lower(s) = i", "cannot be compared with one of type int"),
        ("st.missing + 1", "missing"),
        ("rows[0].v", "has no field 'v'"),
        ("substring(t)", "takes 2 or 3 arguments, not 1"),
        ("coalesce()", "takes 1 or more arguments, not 0"),
        ("lower(s, t)", "takes 1 arguments, not 2"),
        ("CAST(x AS INT)", "CAST of binary to int"),
        ("trim(BOTH t FROM s)", "not a literal"),
    ],
)
def test_an_expression_of_other_types_is_refused(sql: str, reason: str) -> None:
    with pytest.raises(InvalidInputError, match=reason):
        result(sql)


def test_a_batch_has_the_values_of_its_rows() -> None:
    batch = batch_of(ROW, {}, ROW)
    for sql, _, _ in EXAMPLES:
        value = bind_value(parse_value(sql), SCHEMA)
        whole = value.compute(batch.slice(1))
        assert whole.to_pylist() == [
            value.compute(batch.slice(at, 1))[0].as_py() for at in (1, 2)
        ], sql


def test_every_name_in_sql_leads_to_a_function() -> None:
    assert set(ALIASES.values()) <= set(FUNCTIONS)
    assert not set(ALIASES) & set(FUNCTIONS)


def test_a_part_of_and_sees_no_row_that_an_earlier_part_excludes() -> None:
    rows = batch_of(*({**ROW, "i": at} for at in (0, 2, 4)))
    bound = bind(parse_predicate("i <> 0 AND 8 / i > 3"), SCHEMA)
    assert bound.may_fail
    assert evaluate(bound, rows).to_pylist() == [False, True, False]
    with pytest.raises(InvalidInputError, match="divided by zero"):
        evaluate(bind(parse_predicate("8 / i > 3 AND i <> 0"), SCHEMA), rows)


OF_TEXT = [
    "coalesce({0}, s)",
    "coalesce(s, {0})",
    "coalesce({0}, {0})",
    "coalesce({0}, NULL)",
    "if(o, {0}, s)",
    "if(o, {0}, {0})",
    "if(o, {0}, NULL)",
    "CASE WHEN NOT o THEN NULL ELSE {0} END",
    "nullif({0}, s)",
    "greatest({0}, 'a')",
    "greatest({0}, {0})",
    "least(s, {0}, NULL)",
    "concat({0}, '-', {0})",
    "{0} || s",
    "upper({0})",
    "replace({0}, 'b', s)",
    "substring({0}, length(s), 2)",
    "{0} = coalesce({0}, s)",
]


@pytest.mark.parametrize("expression", OF_TEXT)
@pytest.mark.parametrize("kind", ["varchar(5)", "char(5)"])
def test_a_text_with_a_length_is_a_text(kind: str, expression: str) -> None:
    fields = [("w", kind), ("t", "string"), ("s", "string"), ("o", "boolean")]
    schema, _ = assign_ids(
        TableSchema(fields=tuple(SchemaField(name=name, type=each) for name, each in fields)), 1
    )
    rows = [{"w": each, "t": each, "s": "abcde", "o": True} for each in ("abcde", "bbbbb", None)]
    batch = pa.RecordBatch.from_pylist(rows, arrow_schema(schema))
    found, wanted = (
        bind_value(parse_value(expression.format(name)), schema).compute(batch).to_pylist()
        for name in ("w", "t")
    )
    assert found == wanted
    assert any(wanted)


@pytest.mark.parametrize(
    "expression", ["day + INTERVAL '999999999' YEAR", "n + INTERVAL '106751992' DAY"]
)
def test_an_interval_that_no_type_holds_is_refused(expression: str) -> None:
    with pytest.raises(InvalidInputError, match="INTERVAL '.*' .* does not fit the type interval"):
        result(expression)
