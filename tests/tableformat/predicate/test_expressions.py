"""Trees of predicates are flat, and operators keep their meaning when sides are exchanged."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.tableformat.predicate.expressions import (
    FALSE,
    TRUE,
    And,
    Column,
    IsNull,
    Not,
    Operator,
    Or,
    Predicate,
    conjunction,
    disjunction,
)

MEANING: dict[Operator, Callable[[int, int], bool]] = {
    Operator.EQUAL: operator.eq,
    Operator.NOT_EQUAL: operator.ne,
    Operator.LESS: operator.lt,
    Operator.LESS_EQUAL: operator.le,
    Operator.GREATER: operator.gt,
    Operator.GREATER_EQUAL: operator.ge,
    Operator.NULL_SAFE_EQUAL: operator.eq,
}
LEAVES = st.integers(0, 3).map(lambda n: IsNull(Column((f"c{n}",))))
TREES: st.SearchStrategy[Predicate] = st.recursive(
    LEAVES, lambda parts: st.lists(parts).map(conjunction) | st.lists(parts).map(disjunction)
)


@pytest.mark.parametrize("each", Operator)
@given(left=st.integers(-2, 2), right=st.integers(-2, 2))
def test_a_flipped_or_negated_comparison_says_the_same(
    each: Operator, left: int, right: int
) -> None:
    found = MEANING[each](left, right)
    assert MEANING[each.flipped](right, left) == found
    if each is not Operator.NULL_SAFE_EQUAL:
        assert MEANING[each.negated](left, right) == (not found)


@settings(max_examples=20)
@given(TREES)
def test_nested_ands_are_joined_and_each_has_several_parts(tree: Predicate) -> None:
    waiting = [tree]
    while waiting:
        each = waiting.pop()
        if isinstance(each, And | Or):
            assert len(each.parts) > 1
            assert not any(type(part) is type(each) for part in each.parts)
            waiting += each.parts


@given(st.lists(LEAVES, min_size=2, max_size=5), st.integers(1, 4))
def test_the_order_of_parts_stays_however_they_are_joined(parts: list[Predicate], cut: int) -> None:
    assert conjunction(parts) == And(tuple(parts))
    assert conjunction([conjunction(parts[:cut]), *parts[cut:]]) == And(tuple(parts))
    assert parts[0] & parts[1] == And((parts[0], parts[1]))
    assert parts[0] | parts[1] == Or((parts[0], parts[1]))
    assert ~parts[0] == Not(parts[0])


def test_without_parts_every_row_or_no_row_is_selected() -> None:
    assert conjunction([]) is TRUE
    assert disjunction([]) is FALSE


def test_a_predicate_has_no_truth_value_and_says_what_to_write() -> None:
    with pytest.raises(TypeError, match="&, | and ~"):
        bool(TRUE)
    with pytest.raises(TypeError):
        _ = TRUE & 1
