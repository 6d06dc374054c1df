"""Predicates from expressions of Arrow, such as DuckDB, Polars and DataFusion hand to a dataset.

Arrow itself says that NaN is equal to nothing, and that `isin` is false for NULL. No engine that
hands expressions to a dataset means that. So an expression has the meaning that a predicate has
everywhere: NULL is unknown, also to `isin`, and NaN is equal to itself and above every number.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from operator import and_
from typing import Any, NamedTuple

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import TableSchema
from colonnade.tableformat.predicate.expressions import (
    FALSE,
    Column,
    Compare,
    Constant,
    In,
    IsNull,
    Not,
    Operand,
    Operator,
    Predicate,
    StartsWith,
    conjunction,
    disjunction,
)
from colonnade.tableformat.predicate.foreign import tree
from colonnade.tableformat.predicate.foreign.meaning import means_the_same
from colonnade.tableformat.predicate.literals import Kind, Literal, make_literal

_OPERATORS = {
    "equal": Operator.EQUAL,
    "not_equal": Operator.NOT_EQUAL,
    "less": Operator.LESS,
    "less_equal": Operator.LESS_EQUAL,
    "greater": Operator.GREATER,
    "greater_equal": Operator.GREATER_EQUAL,
}

_NAN = make_literal(float("nan"))


class ArrowFilter(NamedTuple):
    """A filter as a predicate and a rest: a row passes if it meets both; None is met by every row.

    `rest` is an expression for Arrow, and `columns` are those that it reads; None if that is
    unknown.
    """

    where: Predicate | None
    rest: Any | None
    columns: frozenset[str] | None


def from_arrow(expression: Any) -> Predicate:
    """Return the predicate of a `pyarrow.compute.Expression`.

    Raises InvalidInputError for one that computes something else than predicates do.
    """
    found = _translated(tree.read_expression(expression))
    if found is None:
        raise InvalidInputError(
            f"The expression {str(expression)!r:.200} of Arrow is no predicate: compare columns"
            " with constants or columns, and use isin, is_null, is_nan, starts_with, &, | and ~."
        )
    return found


def split(expression: Any, schema: TableSchema) -> ArrowFilter:
    """Divide an expression into a predicate on a table's columns and what Arrow must evaluate.

    Each part of a conjunction is one or the other. Arrow evaluates all of an expression that is
    nested too deeply for Python.
    """
    try:
        return _split(tree.read_expression(expression), schema) or _whole(expression)
    except RecursionError:
        return _whole(expression)


def _whole(expression: Any) -> ArrowFilter:
    return ArrowFilter(None, expression, None)


def _split(root: tree.Node | None, schema: TableSchema) -> ArrowFilter | None:
    if root is None:
        return None
    where, rest = list[Predicate](), list[tree.Node]()
    for part in _parts(root):
        found = _translated(part)
        if found is not None and means_the_same(found, schema):
            where.append(found)
        else:
            rest.append(part)
    return ArrowFilter(
        conjunction(where) if where else None,
        reduce(and_, (tree.to_expression(_unknown_for_null(each)) for each in rest))
        if rest
        else None,
        frozenset(name for part in rest for name in tree.columns_of(part)),
    )


def _unknown_for_null(node: tree.Node) -> tree.Node:
    """Return a tree whose `is_in` is NULL for NULL, like `IN` in a predicate, and not FALSE."""
    if not isinstance(node, tree.Call):
        return node
    arguments = tuple(map(_unknown_for_null, node.arguments))
    found = replace(node, arguments=arguments)
    if node.function != "is_in":
        return found
    unknown = tree.Constant(pa.array([None], pa.bool_()))
    return tree.Call("if_else", (tree.Call("is_valid", arguments), found, unknown))


def _parts(node: tree.Node) -> Iterator[tree.Node]:
    """Yield the parts of a conjunction. A row passes if all parts are TRUE."""
    match node:
        case tree.Call("and_kleene" | "and", parts):
            for part in parts:
                yield from _parts(part)
        case _:
            yield node


def _translated(node: tree.Node | None) -> Predicate | None:
    """Return the predicate of a tree, or None if there is none."""
    try:
        return None if node is None else _predicate(node)
    except (_NoPredicate, InvalidInputError, RecursionError):
        return None


class _NoPredicate(Exception):
    """A node has no form as a predicate."""


def _predicate(node: tree.Node) -> Predicate:
    match node:
        case tree.Field(path):
            return Compare(Operator.EQUAL, Column(path), make_literal(True))
        case tree.Constant() if pa.types.is_boolean(node.row.type):
            return Constant(node.value.as_py())
        case tree.Call("and_kleene", parts):
            return conjunction(map(_predicate, parts))
        case tree.Call("or_kleene", parts):
            return disjunction(map(_predicate, parts))
        case tree.Call("invert", (part,)):
            return Not(_predicate(part))
        case tree.Call(function, (left, right)) if function in _OPERATORS:
            return Compare(_OPERATORS[function], _operand(left), _operand(right))
        case tree.Call("is_valid", (tree.Field(path),)):
            return Not(IsNull(Column(path)))
        case tree.Call("is_null", (tree.Field(path),)):
            null = IsNull(Column(path))
            return null | _is_nan(path) if node.option("nan_is_null").as_py() else null
        case tree.Call("is_nan", (tree.Field(path),)):
            return _is_nan(path)
        case tree.Call("is_in", (tree.Field(path),)):
            return _in(path, node.option("value_set"))
        case tree.Call("starts_with", (tree.Field(path),)) if not node.option(
            "ignore_case"
        ).as_py():
            return StartsWith(Column(path), node.option("pattern").as_py())
    raise _NoPredicate


def _operand(node: tree.Node) -> Operand:
    match node:
        case tree.Field(path):
            return Column(path)
        case tree.Constant():
            return make_literal(node.value)
    raise _NoPredicate


def _is_nan(path: tuple[str, ...]) -> Predicate:
    return Compare(Operator.EQUAL, Column(path), _NAN)


def _in(path: tuple[str, ...], values: pa.Scalar) -> Predicate:
    """Return that a column has one of some values; NULL for NULL, also if NULL is among them."""
    members = tuple(make_literal(each) for each in values.values if each.is_valid)
    if not members:
        return FALSE if len(values.values) == 0 else Compare(Operator.EQUAL, Column(path), _NULL)
    return In(Column(path), members)


_NULL = Literal(Kind.NULL, None)
