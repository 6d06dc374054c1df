"""Predicates from expressions of Polars, which tell what need not be read.

Polars itself chooses the rows afterwards. So a predicate may be TRUE for more rows than the
expression, and a part of a conjunction that is no predicate is left out. An expression is read in
its JSON form, in which Polars has resolved the types of all literals.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import INTEGERS, TableSchema
from colonnade.tableformat.predicate.bind import resolve
from colonnade.tableformat.predicate.expressions import (
    FALSE,
    Column,
    Compare,
    In,
    IsNull,
    Not,
    Operand,
    Operator,
    Predicate,
    StartsWith,
    conjunction,
)
from colonnade.tableformat.predicate.foreign.meaning import means_the_same
from colonnade.tableformat.predicate.literals import Literal, make_literal

_OPERATORS = {
    "Eq": Operator.EQUAL,
    "NotEq": Operator.NOT_EQUAL,
    "Lt": Operator.LESS,
    "LtEq": Operator.LESS_EQUAL,
    "Gt": Operator.GREATER,
    "GtEq": Operator.GREATER_EQUAL,
    "EqValidity": Operator.NULL_SAFE_EQUAL,
}
_ENDS = {
    "Both": (Operator.GREATER_EQUAL, Operator.LESS_EQUAL),
    "Left": (Operator.GREATER_EQUAL, Operator.LESS),
    "Right": (Operator.GREATER, Operator.LESS_EQUAL),
    "None": (Operator.GREATER, Operator.LESS),
}
_NAN = make_literal(float("nan"))

Json = Any


def from_polars(expression: Any, schema: TableSchema) -> Predicate | None:
    """Return a predicate on a table's columns that is TRUE wherever a `polars.Expr` is.

    Returns None if nothing is known of the rows.
    """
    try:
        root = json.loads(expression.meta.serialize(format="json"))
    except (ValueError, RecursionError):
        return None
    found = [each for part in _parts(root) if (each := _translated(part, schema)) is not None]
    return conjunction(found) if found else None


def _parts(node: Json) -> Iterator[Json]:
    """Yield the parts of a conjunction. A row is chosen if all parts are TRUE."""
    match node:
        case {"BinaryExpr": {"op": "And" | "LogicalAnd", "left": left, "right": right}}:
            yield from _parts(left)
            yield from _parts(right)
        case _:
            yield node


def _translated(node: Json, schema: TableSchema) -> Predicate | None:
    try:
        found = _predicate(node, schema)
    except (_NoPredicate, InvalidInputError, RecursionError):
        return None
    return found if means_the_same(found, schema) else None


class _NoPredicate(Exception):
    """A node has no form as a predicate."""


def _predicate(node: Json, schema: TableSchema) -> Predicate:
    match node:
        case {"Column": str()}:
            return Compare(Operator.EQUAL, _column(node), make_literal(True))
        case {"BinaryExpr": {"op": "And" | "LogicalAnd", "left": left, "right": right}}:
            return _predicate(left, schema) & _predicate(right, schema)
        case {"BinaryExpr": {"op": "Or" | "LogicalOr", "left": left, "right": right}}:
            return _predicate(left, schema) | _predicate(right, schema)
        case {"BinaryExpr": {"op": "NotEqValidity", "left": left, "right": right}}:
            equal = Operator.NULL_SAFE_EQUAL
            return Not(Compare(equal, _operand(left, schema), _operand(right, schema)))
        case {"BinaryExpr": {"op": op, "left": left, "right": right}} if op in _OPERATORS:
            return Compare(_OPERATORS[op], _operand(left, schema), _operand(right, schema))
        case {"Function": {"input": [first, *others], "function": function}}:
            return _function(function, first, others, schema)
    raise _NoPredicate


def _function(function: Json, first: Json, others: list[Json], schema: TableSchema) -> Predicate:
    match function, others:
        case {"Boolean": "Not"}, []:
            return Not(_predicate(first, schema))
        case {"Boolean": "IsNull"}, []:
            return IsNull(_column(first))
        case {"Boolean": "IsNotNull"}, []:
            return Not(IsNull(_column(first)))
        case {"Boolean": "IsNan"}, []:
            return Compare(Operator.EQUAL, _column(first), _NAN)
        case {"Boolean": "IsNotNan"}, []:
            return Compare(Operator.NOT_EQUAL, _column(first), _NAN)
        case {"Boolean": {"IsIn": {"nulls_equal": False}}}, [values]:
            return _in(_column(first), values)
        case {"Boolean": {"IsBetween": {"closed": closed}}}, [low, high] if closed in _ENDS:
            value = _operand(first, schema)
            ends = zip(_ENDS[closed], (low, high), strict=True)
            return conjunction(Compare(op, value, _operand(each, schema)) for op, each in ends)
        case {"StringExpr": "StartsWith"}, [prefix]:
            text = _literal(prefix).value
            if isinstance(text, str):
                return StartsWith(_column(first), text)
    raise _NoPredicate


def _operand(node: Json, schema: TableSchema) -> Operand:
    match node:
        case {"Literal": _}:
            return _literal(node)
        case {"Cast": {"expr": inner, "dtype": {"Literal": wanted}}}:
            column = _column(inner)
            if _keeps_values(resolve(column, schema).type, wanted):
                return column
            raise _NoPredicate
    return _column(node)


def _keeps_values(type_name: str, wanted: Json) -> bool:
    """Return whether a comparison of cast values is one of the values, as a predicate compares."""
    match wanted:
        case {"Datetime": [_, None]}:
            return type_name == "date"
        case "Float64":
            return type_name in (*INTEGERS, "float")
        case "Int16" | "Int32" | "Int64":
            widest = INTEGERS.index({"Int16": "short", "Int32": "int", "Int64": "long"}[wanted])
            return type_name in INTEGERS[: widest + 1]
    return False


def _column(node: Json) -> Column:
    match node:
        case {"Column": str() as name}:
            return Column((name,))
        case {"Function": {"input": [inner], "function": {"StructExpr": {"FieldByName": name}}}}:
            return Column((*_column(inner).path, name))
    raise _NoPredicate


def _literal(node: Json) -> Literal:
    return make_literal(_value(node))


def _in(column: Column, values: Json) -> Predicate:
    """Return that a column has one of some values; NULL for NULL, also if NULL is among them."""
    found = _value(values)
    if not isinstance(found, pa.ListScalar | pa.LargeListScalar) or not found.is_valid:
        raise _NoPredicate
    members = [make_literal(each) for each in found.values if each.is_valid]
    return In(column, tuple(members)) if members else FALSE


def _value(node: Json) -> pa.Scalar:
    """Return the value of a literal, which Polars reads from its own form."""
    match node:
        case {"Literal": {"Scalar": {"Float32": None} | {"Float64": None}}}:
            raise _NoPredicate  # JSON has neither NaN nor infinities
        case {"Literal": _}:
            polars = import_module("polars")
            try:
                form = io.BytesIO(json.dumps(node).encode())
                value = polars.Expr.deserialize(form, format="json")
                return polars.select(value).to_series().to_arrow()[0]
            except polars.exceptions.PolarsError as error:
                raise _NoPredicate from error
    raise _NoPredicate
