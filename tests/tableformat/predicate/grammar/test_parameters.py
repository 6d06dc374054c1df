"""A parameter has a value by its order or its name, and each value is used."""

from __future__ import annotations

import pytest

from colonnade import InvalidInputError
from colonnade.tableformat.predicate import parse_predicate
from colonnade.tableformat.predicate.grammar.parameters import Parameters
from colonnade.tableformat.predicate.literals import make_literal


def test_a_parameter_has_the_value_of_its_place_or_name() -> None:
    assert Parameters("?", ["x"]).literal("?0") == make_literal("x")
    named = Parameters(":a = :a", {"a": 3})
    assert named.literal("a") == named.literal("a") == make_literal(3)
    named.require_used()


def test_a_list_is_refused_and_what_to_write_is_said() -> None:
    with pytest.raises(InvalidInputError, match=r"Parameter 'a' of .* is a list; .* IN \(\?, \?\)"):
        parse_predicate(("x IN (:a)", {"a": [1, 2]}))
    with pytest.raises(InvalidInputError, match=r"cannot contain 'x IN \?'; it may"):
        parse_predicate(("x IN ?", [[1, 2]]))


def test_what_is_missing_or_left_over_is_named() -> None:
    with pytest.raises(InvalidInputError, match=r"Parameter number 2 of .* has no value"):
        Parameters("? ?", ["x"]).literal("?1")
    with pytest.raises(InvalidInputError, match="'b', which ':a' does not have"):
        Parameters(":a", {"b": 3}).require_used()
