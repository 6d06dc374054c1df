"""Which nodes of a tree are calls, and which calls the table of functions does not have."""

from __future__ import annotations

import pytest

from colonnade import InvalidInputError
from colonnade.tableformat.predicate.expressions import Call, Column
from colonnade.tableformat.predicate.grammar.calls import is_condition, is_typed, read_call
from colonnade.tableformat.predicate.grammar.trees import parse_tree
from colonnade.tableformat.predicate.sql import parse_value


def test_conditions_and_literals_with_a_type_are_told_from_other_values() -> None:
    assert is_condition(parse_tree("a = 1"))
    assert is_condition(parse_tree("isnan(a)"))
    assert not is_condition(parse_tree("a + 1"))
    assert [text for text in ("7L", "double('1')", "INTERVAL 1 DAY", "7", "INTERVAL 1 HOUR")
            if is_typed(parse_tree(text))] == ["7L", "double('1')", "INTERVAL 1 DAY"]  # fmt: skip


def test_other_spellings_are_the_same_call() -> None:
    for text, other in [
        ("a::INT", "CAST(a AS INT)"),
        ("int(a)", "CAST(a AS INT)"),
        ("EXTRACT(YEAR FROM a)", "year(a)"),
        ("if(a, 1, 2)", "CASE WHEN a THEN 1 ELSE 2 END"),
        ("substring(a FROM 2 FOR 3)", "substr(a, 2, 3)"),
        ("rtrim('x', a)", "TRIM(TRAILING 'x' FROM a)"),
        ("mod(a, 2)", "a % 2"),
    ]:
        assert parse_value(text) == parse_value(other)


@pytest.mark.parametrize(
    "text", ["md5(a)", "negative(a)", "EXTRACT(CENTURY FROM a)", "a ^ 2", "count(*)"]
)
def test_a_call_of_another_function_names_it_and_what_there_is(text: str) -> None:
    with pytest.raises(InvalidInputError, match=r"cannot contain .* CASE, CAST, and the functions"):
        read_call(parse_tree(text), lambda node: Column(("a",)), lambda node: None)


def test_a_call_has_its_arguments_in_order() -> None:
    assert read_call(
        parse_tree("replace(a, b)"), lambda node: Column((node.name,)), lambda node: None
    ) == Call("replace", (Column(("a",)), Column(("b",))))
