"""The tree of an expression of Arrow is read, and makes the same expression again."""

from __future__ import annotations

import datetime as dt
import operator
import pickle
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from colonnade.tableformat.predicate.foreign.tree import (
    Call,
    Constant,
    Field,
    columns_of,
    read_expression,
    to_expression,
)

EXPRESSIONS = [
    pc.field("a") > 3,
    pc.field("a.b") == pa.scalar(None),
    pc.field("s", "x", "y").is_null(nan_is_null=True),
    (pc.field("a") > 3) & ~(pc.field("b").isin([1, None]) | pc.field("c").is_valid()),
    pc.field("d").cast("int32") * 2 < pa.scalar(1.5, pa.float32()),
    pc.if_else(pc.field("b"), pc.field("é"), pc.scalar("text")) == "",
    pc.starts_with(pc.field("s"), "a", ignore_case=True),
    pc.field("t") > pa.scalar(dt.datetime(2026, 1, 1), pa.timestamp("ns", "Europe/Berlin")),
    pc.field("l") == pa.scalar([{"a": 1}], pa.list_(pa.struct([("a", pa.int8())]))),
    pc.scalar(True),
    pc.field("b"),
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_a_tree_makes_the_expression_that_it_was_read_from(expression: pc.Expression) -> None:
    node = read_expression(expression)
    assert node is not None
    assert to_expression(node).equals(expression)


def test_a_tree_has_functions_columns_literals_and_options() -> None:
    node = read_expression((pc.field("a") > 3) & pc.field("s", "x").isin(["u", "v"]))
    assert isinstance(node, Call)
    assert node.function == "and_kleene"
    greater, member = node.arguments
    assert isinstance(greater, Call)
    assert greater.function == "greater"
    assert greater.arguments[0] == Field(("a",))
    assert isinstance(greater.arguments[1], Constant)
    assert greater.arguments[1].value.as_py() == 3
    assert isinstance(member, Call)
    assert member.arguments == (Field(("s", "x")),)
    assert member.option("value_set").as_py() == ["u", "v"]
    with pytest.raises(KeyError):
        greater.option("value_set")
    assert {*columns_of(node)} == {"a", "s"}


def test_what_arrow_cannot_pickle_has_no_tree() -> None:
    numbered = pc.field(0) > 1
    with pytest.raises(pa.ArrowNotImplementedError):
        pickle.dumps(numbered)
    assert read_expression(numbered) is None


@pytest.mark.slow
@pytest.mark.parametrize("join", [operator.or_, operator.and_])
def test_a_long_chain_is_one_call_and_makes_the_same_expression_again(join: Any) -> None:
    expression = reduce(join, [pc.field("n") == n for n in range(3000)])
    node = read_expression(expression)
    assert isinstance(node, Call)
    assert len(node.arguments) == 3000
    assert to_expression(node).equals(expression)
