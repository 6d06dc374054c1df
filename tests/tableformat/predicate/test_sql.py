"""Predicates as text: what is read, what is refused, and that another engine agrees."""

from __future__ import annotations

import random
from functools import reduce
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.predicate import (
    Predicate,
    bind,
    col,
    evaluate,
    from_json,
    parse_predicate,
    text_of,
    to_json,
)
from colonnade.tableformat.predicate import expressions as ex
from colonnade.tableformat.predicate.expressions import MOST_LEVELS
from colonnade.tableformat.predicate.grammar.trees import parse_tree
from colonnade.tableformat.predicate.literals import Kind, Literal, make_literal
from colonnade.tableformat.types.arrow_types import arrow_schema
from tests.tableformat.predicate.oracle import DAY, random_predicate, random_value


@pytest.mark.parametrize(
    ("text", "built"),
    [
        ("a = 1", col("a") == 1),
        ("a == 1", col("a") == 1),
        ("a <> 1", col("a") != 1),
        ("a != 1", col("a") != 1),
        ("a <=> NULL", col("a").eq_null_safe(None)),
        ("a IS NOT DISTINCT FROM 1", col("a").eq_null_safe(1)),
        ("a IS DISTINCT FROM b", ~col("a").eq_null_safe(col("b"))),
        ("a IS NULL", col("a").is_null()),
        ("a IS NOT NULL", col("a").is_not_null()),
        ("a IN (1, NULL)", col("a").isin([1, None])),
        ("a NOT IN (1)", ~col("a").isin([1])),
        ("a BETWEEN 1 AND 2 AND b", col("a").between(1, 2) & col("b")),
        ("a NOT BETWEEN 1 AND 2", ~col("a").between(1, 2)),
        ("s LIKE 'a%'", col("s").like("a%")),
        ("s NOT LIKE 'a!%' ESCAPE '!'", ~col("s").like("a!%", escape="!")),
        ("startswith(s, 'a')", col("s").startswith("a")),
        ("NOT a = 1 OR b AND c", ~(col("a") == 1) | (col("b") & col("c"))),
        ("NOT (a > 1 OR ((b)))", ~((col("a") > 1) | col("b"))),
        ("`a b`.c = 1", col("`a b`.c") == 1),
        ("s.t.`u.v` = 1", col("s.t")["u.v"] == 1),
        ("a.b.c.d.e < 1", col("a.b.c.d.e") < 1),
        ("flag IS TRUE", col("flag").eq_null_safe(True)),
        ("a < b", col("a") < col("b")),
    ],
)
def test_text_and_builder_give_the_same_tree(text: str, built: Predicate) -> None:
    parsed = parse_predicate(text)
    assert parsed == built
    assert from_json(to_json(parsed)) == built


@pytest.mark.slow
def test_a_long_or_is_read_without_nesting() -> None:
    parsed = parse_predicate(" OR ".join(f"a = {n}" for n in range(2_000)))
    assert isinstance(parsed, ex.Or)
    assert len(parsed.parts) == 2_000


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "empty"),
        ("a >", "'>'"),
        ("a > 3 b", "'b'"),
        ("a > 3; DROP TABLE t", "DROP"),
        ("'open", "open"),
        ("a & 1 > 3", "a & 1"),
        ("md5(s) = 'A'", "MD5(s)"),
        ("CAST(a AS MAP<INT, INT>) = 1", "MAP"),
        ("a IN (SELECT 1)", "SELECT 1"),
        ("a IN ()", "a IN ()"),
        ("a = (SELECT 1)", "SELECT 1"),
        ("s LIKE ANY ('a')", "LIKE ANY"),
        ("s RLIKE 'a'", "RLIKE"),
        ("s LIKE t", "s LIKE t"),
        ("a BETWEEN SYMMETRIC 2 AND 1", "BETWEEN"),
        ("case(a, b)", "case"),
        ("a = ?", "?"),
        ("s = 'a' 'b'", "side by side"),
        ("s = +'5'", "+ before a text"),
        ("a = 1 {# AND b = 2 #}", "not comments"),
        ("s = reverse(t)", "REVERSE"),
        ("s = 'a''b' OR s = reverse('a')", "REVERSE"),
        ("s LIKE concat('a', t)", "LIKE"),
        ("a = 1; a = 2", "semicolon"),
        ("a = 9223372036854775808L", "9223372036854775808"),
        ("a = CAST('x' AS INT)", "'x'"),
        ("a = CAST(1 AS DATE)", "date"),
        ("a = CAST(12.5 AS DECIMAL(2,1))", "decimal(2,1)"),
        ("d = DATE '2023-02-29'", "2023-02-29"),
        ("d = DATE 'soon'", "soon"),
        ("t = TIMESTAMP '2024-01-01 25:00:00'", "25:00:00"),
        ("t = TIMESTAMP '2024-01-01 00:00:00 Mars/Base'", "Mars/Base"),
        ("t = TIMESTAMP_NTZ '2024-01-01 00:00:00Z'", "time zone"),
        ("i = INTERVAL '1 month 1 day'", "days"),
        ("i = INTERVAL 'x' DAY", "INTERVAL"),
        ("i = INTERVAL '1 25:00' DAY TO MINUTE", "DAY TO MINUTE"),
        ("a = " + "9" * 39, "38 digits"),
        ("a = " + "9" * 5_000, "38 digits"),
        ("(" * 5_000 + "a" + ")" * 5_000, "nested too deeply"),
    ],
)
def test_unsupported_sql_is_refused_in_one_sentence(text: str, named: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse_predicate(text)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "broken",
    [
        None,
        [],
        {},
        {"op": "xor", "parts": []},
        {"op": "and"},
        {"op": "and", "parts": [1]},
        {"op": "=", "left": [], "right": "integer:1"},
        {"op": "=", "left": ["a"], "right": "integer:x"},
        {"op": "=", "left": ["a"], "right": "1"},
        {"op": "=", "left": ["a"], "right": "null:1"},
        {"op": "=", "left": ["a"], "right": "boolean:yes"},
        {"op": "=", "left": ["a"], "right": "integer:1", "more": 1},
        {"op": "in", "column": ["a"], "values": [1]},
        {"op": "constant", "value": "true"},
    ],
)
def test_broken_json_is_refused(broken: object) -> None:
    with pytest.raises(InvalidInputError):
        from_json(broken)


# --- a second opinion

DUCKDB_TYPES = {
    "i": "int",
    "l": "long",
    "d": "double",
    "m": "decimal(10,2)",
    "s": "string",
    "day": "date",
    "moment": "timestamp_ntz",
    "b": "boolean",
}


@pytest.mark.slow
def test_duckdb_reads_the_same_text_and_selects_the_same_rows() -> None:
    seed = 7
    rng = random.Random(seed)
    fields = (SchemaField(id=i, name=n, type=t) for i, (n, t) in enumerate(DUCKDB_TYPES.items(), 1))
    schema = TableSchema(fields=tuple(fields))
    columns = [
        pa.array([random_value(rng, t) if rng.random() < 0.8 else None for _ in range(60)], f.type)
        for t, f in zip(DUCKDB_TYPES.values(), arrow_schema(schema), strict=True)
    ]
    batch = pa.RecordBatch.from_arrays(columns, schema=arrow_schema(schema))
    predicates = [p for p in (random_predicate(rng, DUCKDB_TYPES) for _ in range(900)) if plain(p)]
    assert len(predicates) >= 300
    with duckdb.connect() as connection:
        connection.register("t", pa.table(batch))
        for predicate in predicates:
            text = sql(predicate)
            theirs = text.replace("TIMESTAMP_NTZ", "TIMESTAMP")
            (rows,) = connection.sql(f"SELECT list({theirs}) FROM t").fetchall()
            ours = evaluate(bind(parse_predicate(text), schema), batch)
            assert ours.to_pylist() == rows[0], f"seed {seed}: {text}"


def plain(node: Predicate) -> bool:
    """Whether the two engines mean the same by a predicate: no casts that they do differently."""
    match node:
        case ex.And(parts) | ex.Or(parts):
            return all(map(plain, parts))
        case ex.Not(part):
            return plain(part)
        case ex.Like(pattern=text) | ex.StartsWith(prefix=text):
            return plain_text(text)
        case ex.Compare(left=left, right=right):
            return all(map(plain_operand, (left, right))) and same_types(left, right)
        case ex.In(column=column, values=values):
            return all(plain_operand(v) and same_types(column, v) for v in values)
    return True


def plain_text(text: str) -> bool:
    return text.isprintable() and "\\" not in text


def plain_operand(operand: ex.Operand) -> bool:
    if not isinstance(operand, Literal):
        return True
    if isinstance(operand.value, str):
        return plain_text(operand.value)
    if operand.kind is Kind.TIMESTAMP_NTZ:
        return abs(operand.value) < 50_000 * DAY  # type: ignore[arg-type, operator]
    if operand.kind is Kind.TIMESTAMP:
        return False
    return operand.kind not in (Kind.INTEGER, Kind.DECIMAL) or abs(operand.value) < 10**9  # type: ignore[arg-type,operator]


def same_types(left: ex.Operand, right: ex.Operand) -> bool:
    """DuckDB rounds decimals and large integers in other ways where doubles take part."""
    kinds = set()
    for each in (left, right):
        assert not isinstance(each, ex.Call)
        if isinstance(each, Literal):
            kinds.add("double" if each.kind is Kind.DOUBLE else "exact")
        else:
            kinds.add("double" if DUCKDB_TYPES[each.path[0]] == "double" else "exact")
    return len(kinds) == 1


def sql(node: Predicate) -> str:
    """A predicate in the SQL that Spark and DuckDB share."""
    match node:
        case ex.And(parts):
            return "(" + " AND ".join(map(sql, parts)) + ")"
        case ex.Or(parts):
            return "(" + " OR ".join(map(sql, parts)) + ")"
        case ex.Not(part):
            return f"(NOT {sql(part)})"
        case ex.Constant(value):
            return f"CAST({'NULL' if value is None else str(value)} AS BOOLEAN)"
        case ex.IsNull(operand):
            return f"({operand_sql(operand)} IS NULL)"
        case ex.Compare(ex.Operator.NULL_SAFE_EQUAL, left, right):
            return f"({operand_sql(left)} IS NOT DISTINCT FROM {operand_sql(right)})"
        case ex.Compare(operator, left, right):
            return f"({operand_sql(left)} {operator.value} {operand_sql(right)})"
        case ex.In(column, values):
            return f"({column} IN ({', '.join(map(operand_sql, values))}))"
        case ex.StartsWith(column, prefix):
            return f"({column} LIKE {operand_sql(make_literal(prefix + '%'))})"
        case ex.Like(column, pattern):
            return f"({column} LIKE {operand_sql(make_literal(pattern))})"
    raise AssertionError(node)


def operand_sql(operand: ex.Operand) -> str:
    if isinstance(operand, ex.Column):
        return str(operand)
    assert isinstance(operand, Literal)
    value: Any = operand.value
    match operand.kind:
        case Kind.STRING:
            return "'" + str(value).replace("'", "''") + "'"
        case Kind.DOUBLE:
            return f"CAST('{value!r}' AS DOUBLE)"
        case Kind.DATE:
            return f"DATE '{pa.scalar(value, pa.date32())}'"
        case Kind.TIMESTAMP_NTZ:
            text = str(pa.scalar(value, pa.timestamp("us")))
            return f"CAST('{text}' AS TIMESTAMP_NTZ)"
        case Kind.DECIMAL:
            return f"{value:f}"
    return "NULL" if value is None else str(value)


def test_a_text_is_one_expression() -> None:
    assert parse_tree("a + 1").sql("spark") == "a + 1"
    with pytest.raises(InvalidInputError, match="more than one statement"):
        parse_tree("a; b")


def test_parameters_are_values_by_their_order_or_by_their_names() -> None:
    by_order = parse_predicate(("s = ? AND a IN (?, 7) AND d > ?", ["O'Neil -- x", 1, None]))
    assert str(by_order) == "(s = 'O\\'Neil -- x') AND (a IN (1, 7)) AND (d > NULL)"
    by_name = parse_predicate(("a > :low AND (a < :high OR s = :low)", {"low": 1, "high": 2.5}))
    assert str(by_name) == "(a > 1) AND ((a < 2.5D) OR (s = 1))"
    assert parse_predicate(("lower(s) = concat(?, 'b')", ["a"])) == parse_predicate(
        "lower(s) = concat('a', 'b')"
    )


@pytest.mark.parametrize(
    ("where", "named"),
    [
        ("a = ?", "number 1 of 'a = \\?' has no value"),
        (("a = ? OR a = ?", [1]), "number 2 of"),
        (("a = :x", {"y": 1}), "'x' of"),
        (("a = ?", [1, 2]), "number 2, which 'a = \\?' does not have"),
        (("a = 1", {"x": 1}), "'x', which 'a = 1' does not have"),
        (("a = ?", [[1]]), "number 1 of .* is a list"),
        (("a = ?", 1), "where must be"),
        (("a = ?",), "where must be"),
    ],
)
def test_each_parameter_has_one_value(where: Any, named: str) -> None:
    with pytest.raises(InvalidInputError, match=named):
        parse_predicate(where)


def test_an_expression_of_arrow_is_the_predicate_of_the_same_condition() -> None:
    built = (pc.field("a") > 1) & ~pc.field("s", "x").isin(["u", None])
    assert parse_predicate(built) == (col("a") > 1) & ~col("s.x").isin(["u"])
    assert text_of(built) == "(a > 1) AND (NOT (s.x IN ('u')))"
    with pytest.raises(InvalidInputError, match="of Arrow is no predicate: compare columns"):
        parse_predicate(pc.field("a") + 1 > 2)


@pytest.mark.parametrize("levels", [101, 200, 400, 5000])
def test_a_built_predicate_of_too_many_levels_is_refused(levels: int) -> None:
    deep = reduce(
        lambda found, n: found | col("b") if n % 2 else found & col("b"), range(levels), ~col("a")
    )
    with pytest.raises(InvalidInputError, match="nested too deeply"):
        parse_predicate(deep)


def test_a_built_predicate_of_as_many_levels_as_are_taken_is_written_and_evaluated() -> None:
    truth = col("b") == col("b")
    joins: list[Any] = [lambda p, n: ~p, lambda p, n: p | truth if n % 2 else p & truth]
    for join in joins:
        deep = reduce(join, range(MOST_LEVELS - 1), truth)
        schema = TableSchema(fields=(SchemaField(id=1, name="b", type="boolean"),))
        batch = pa.RecordBatch.from_pylist([{"b": True}], arrow_schema(schema))
        assert parse_predicate(deep) is deep
        assert len(str(deep)) > MOST_LEVELS
        assert from_json(to_json(deep)) == deep
        assert evaluate(bind(deep, schema), batch).to_pylist()[0] is not None
