"""Spark's filters as predicates: never stronger than the filter, and its equal where possible."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.model.schema import SchemaField, StructType, TableSchema
from colonnade.spark_ext.planner.clauses.filters import predicate_of, usable
from colonnade.spark_ext.planner.messages.clauses import Tree
from colonnade.tableformat.predicate import parse_predicate, to_json

SCHEMA = TableSchema(
    fields=(
        SchemaField(id=1, name="i", type="int"),
        SchemaField(id=2, name="s", type="string"),
        SchemaField(id=3, name="d", type="date"),
        SchemaField(id=4, name="n", type="decimal(10,2)"),
        SchemaField(id=5, name="t", type="timestamp"),
        SchemaField(
            id=6,
            name="st",
            type=StructType(fields=(SchemaField(id=7, name="a", type="long"),)),
        ),
        SchemaField(id=8, name="c", type="string collate UNICODE_CI"),
        SchemaField(id=9, name="f", type="float"),
    )
)


def column(*path: str) -> Tree:
    return Tree(column=path)


def value(data_type: str, text: str | None) -> Tree:
    return Tree(type=data_type, value=text)


def call(op: str, *args: Tree) -> Tree:
    return Tree(op=op, args=args)


I_IS_1 = call("=", column("i"), value("int", "1"))
UNKNOWN = call("CONTAINS", column("s"), value("string", "x"))


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (I_IS_1, "i = 1"),
        (call("<>", column("i"), value("int", "-1")), "i <> -1"),
        (call("<=>", column("i"), value("int", None)), "i <=> NULL"),
        (call(">=", column("d"), value("date", "19723")), "d >= DATE '2024-01-01'"),
        (call("<", column("n"), value("decimal(10,2)", "1.50")), "n < 1.50"),
        (
            call(">", column("t"), value("timestamp", "1000000")),
            "t > TIMESTAMP '1970-01-01 00:00:01Z'",
        ),
        (call("<", column("st", "a"), value("bigint", "3")), "st.a < 3"),
        (call("IS_NOT_NULL", column("st")), "st IS NOT NULL"),
        (call("STARTS_WITH", column("s"), value("string", "a:b")), "STARTSWITH(s, 'a:b')"),
        (call("IN", column("i"), value("int", "1"), value("int", None)), "i IN (1, NULL)"),
        (call("NOT", call("OR", I_IS_1, call("IS_NULL", column("s")))), "NOT (i = 1 OR s IS NULL)"),
        (call("=", column("f"), value("float", "NaN")), "f = CAST('NaN' AS DOUBLE)"),
    ],
)
def test_a_filter_becomes_the_same_predicate(tree: Tree, text: str) -> None:
    predicate = predicate_of([tree], SCHEMA)
    assert predicate is not None
    assert to_json(predicate) == to_json(parse_predicate(text))  # where NaN equals itself


@pytest.mark.parametrize(
    "tree",
    [
        UNKNOWN,
        call("", column("i")),
        call("=", column("i"), call("ABS", column("i"))),
        call("=", column("c"), value("string collate UNICODE_CI", "x")),
        call("=", column("c"), value("string", "x")),
        call("=", column("_row"), value("bigint", "1")),
        call("=", column("s"), value("array<int>", "[1]")),
        call("NOT", call("AND", I_IS_1, UNKNOWN)),
        call("OR", I_IS_1, UNKNOWN),
    ],
)
def test_a_filter_without_counterpart_prunes_nothing(tree: Tree) -> None:
    assert usable(tree, SCHEMA) is None
    assert predicate_of([tree], SCHEMA) is None


def test_a_part_without_counterpart_is_left_out_where_that_is_weaker() -> None:
    expected = parse_predicate("i = 1")
    assert usable(call("AND", I_IS_1, UNKNOWN), SCHEMA) == expected
    assert usable(call("AND", UNKNOWN, I_IS_1), SCHEMA) == expected
    assert predicate_of([UNKNOWN, I_IS_1], SCHEMA) == expected
    either = call("OR", call("AND", I_IS_1, UNKNOWN), I_IS_1)
    assert usable(either, SCHEMA) == parse_predicate("i = 1 OR i = 1")


ATOMS = {"p": I_IS_1, "q": call("IS_NULL", column("s")), "u": UNKNOWN}
TEXTS = {"i = 1": "p", "s IS NULL": "q"}


def trees() -> st.SearchStrategy[Any]:
    atoms = st.sampled_from(sorted(ATOMS))
    return st.recursive(
        atoms,
        lambda inner: st.one_of(
            st.tuples(st.just("NOT"), inner),
            st.tuples(st.sampled_from(["AND", "OR"]), inner, inner),
        ),
        max_leaves=6,
    )


def as_tree(shape: Any) -> Tree:
    if isinstance(shape, str):
        return ATOMS[shape]
    return call(shape[0], *(as_tree(part) for part in shape[1:]))


def truth(shape: Any, facts: dict[str, bool]) -> bool:
    if isinstance(shape, str):
        return facts[shape]
    parts = [truth(part, facts) for part in shape[1:]]
    return {"NOT": not parts[0], "AND": all(parts), "OR": any(parts)}[shape[0]]


def holds(predicate: Any, facts: dict[str, bool]) -> bool:
    """Evaluate a predicate, which may name only p and q."""
    for text, name in TEXTS.items():
        if predicate == parse_predicate(text):
            return facts[name]
    parts = getattr(predicate, "parts", None)
    if parts is None:
        return not holds(predicate.part, facts)
    every = [holds(part, facts) for part in parts]
    return all(every) if type(predicate).__name__ == "And" else any(every)


@given(trees(), st.booleans(), st.booleans(), st.booleans())
def test_a_predicate_is_true_wherever_the_filter_is(shape: Any, p: bool, q: bool, u: bool) -> None:
    facts = {"p": p, "q": q, "u": u}
    predicate = usable(as_tree(shape), SCHEMA)
    if predicate is not None and truth(shape, facts):
        assert holds(predicate, facts)
