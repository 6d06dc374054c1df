"""Rows are checked as SQL checks them: what is FALSE is refused, and what is NULL is allowed."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.constraints import CheckConstraint
from colonnade.manifests.model.schema import SchemaField, StructType, TableSchema
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.conform import conform
from colonnade.tableformat.write.constraints import (
    are_decided_by,
    bind_constraints,
    can_evaluate,
    check_rows,
    checked_rows,
    decided_by,
)

SCHEMA = TableSchema(
    fields=(
        SchemaField(id=1, name="a", type="int"),
        SchemaField(id=2, name="b", type="int"),
        SchemaField(id=3, name="name", type="string"),
        SchemaField(id=4, name="day", type="date"),
        SchemaField(
            id=5, name="at", type=StructType(fields=(SchemaField(id=6, name="x", type="double"),))
        ),
    )
)


def constraint(sql: str, *columns: int) -> CheckConstraint:
    return CheckConstraint(name="rule", sql=sql, columns=columns)


def rows(*values: dict[str, object]) -> pa.RecordBatch:
    return conform(pa.RecordBatch.from_pylist(list(values), arrow_schema(SCHEMA)), SCHEMA)


def check(sql: str, *values: dict[str, object]) -> None:
    check_rows(rows(*values), bind_constraints("t", [constraint(sql)], SCHEMA))


@pytest.mark.parametrize(
    ("sql", "allowed", "refused"),
    [
        ("a > 0", [{"a": 1}, {"a": None}], {"a": 0}),
        ("a < b", [{"a": 1, "b": 2}, {"a": 1}, {"b": 1}], {"a": 2, "b": 2}),
        ("a > 0 AND b > 0", [{"a": 1, "b": None}, {}], {"a": None, "b": 0}),
        ("a > 0 OR b > 0", [{"a": None, "b": 0}, {"a": 1, "b": 0}], {"a": 0, "b": 0}),
        ("a IS NOT NULL", [{"a": 0}], {"a": None}),
        ("name IN ('x', 'y')", [{"name": "x"}, {}], {"name": "z"}),
        ("name LIKE 'x%'", [{"name": "xy"}, {}], {"name": "yx"}),
        ("at.x >= 0.5", [{"at": {"x": 0.5}}, {"at": None}], {"at": {"x": 0.25}}),
        ("day < '2030-01-01'", [{}], {"day": 30_000}),
    ],
)
def test_only_false_is_refused(
    sql: str, allowed: list[dict[str, object]], refused: dict[str, object]
) -> None:
    check(sql, *allowed)
    with pytest.raises(InvalidInputError, match="Constraint 'rule' of table 't', CHECK"):
        check(sql, *allowed, refused)


def test_the_error_names_the_values_of_one_row() -> None:
    with pytest.raises(InvalidInputError) as caught:
        check("a < b AND name <> 'no'", {"a": 1, "b": 2}, {"a": 3, "b": None, "name": "no"})
    assert str(caught.value) == (
        "Constraint 'rule' of table 't', CHECK (a < b AND name <> 'no'), does not hold for a row"
        " with a = 3, b = NULL, name = 'no'; no row was written."
    )


def test_the_error_cuts_long_values_and_shows_dates_beyond_those_of_python() -> None:
    with pytest.raises(InvalidInputError) as caught:
        check("name = '' OR day IS NULL", {"name": "x" * 1000, "day": 2**31 - 1})
    text = str(caught.value)
    assert "'" + "x" * 98 + "…" in text
    assert "x" * 100 not in text
    assert "day = " in text


def test_a_condition_that_only_spark_can_evaluate_is_refused_before_the_first_row() -> None:
    rule = constraint("octet_length(name) < 5", 3)
    assert not can_evaluate([rule], SCHEMA)
    assert can_evaluate([constraint("a > 0", 1)], SCHEMA)
    with pytest.raises(InvalidInputError, match="only Spark can check its constraint 'rule'"):
        bind_constraints("t", [rule], SCHEMA)


def test_rows_pass_unchanged_until_the_first_refused_batch() -> None:
    rules = bind_constraints("t", [constraint("a > 0", 1)], SCHEMA)
    given = [rows({"a": 1}), rows({"a": 0}), rows({"a": 2})]
    passed = checked_rows(given, rules)
    assert next(passed) is given[0]
    with pytest.raises(InvalidInputError, match="a = 0"):
        next(passed)


def test_new_values_decide_a_constraint_that_reads_only_them() -> None:
    one, two = constraint("a > 0", 1), constraint("a < b", 1, 2)
    assert are_decided_by([one], SCHEMA, [1])
    assert are_decided_by([one, two], SCHEMA, [1, 2])
    assert are_decided_by([one, two], SCHEMA, [3])
    assert not are_decided_by([two], SCHEMA, [1])
    rules = bind_constraints("t", [one, two], SCHEMA)
    assert [rule.constraint for rule in decided_by(rules, [1])] == [one]
    assert [rule.constraint for rule in decided_by(rules, [1, 2])] == [one, two]
