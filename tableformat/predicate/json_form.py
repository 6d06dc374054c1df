"""Predicates as JSON values, as scan plans carry them.

    {"op": "and", "parts": [...]}                       and, or
    {"op": "not", "part": ...}
    {"op": "constant", "value": true}                   true, false or null
    {"op": "<", "left": ["a", "b"], "right": "integer:3"}
    {"op": "in", "column": ["a"], "values": ["integer:3", "null:"]}
    {"op": "is_null", "operand": ["a"]}
    {"op": "starts_with", "column": ["a"], "prefix": "x"}
    {"op": "like", "column": ["a"], "pattern": "x%", "escape": "\\"}

A column is the list of names that lead to it. A literal is a text with a prefix. What a function
makes of values is

    {"call": "lower", "arguments": [["a"]]}    arguments are values, and conditions as above
    {"call": "cast", "arguments": [["a"]], "type": "int"}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.predicate.expressions import (
    And,
    Call,
    Column,
    Compare,
    Constant,
    In,
    IsNull,
    Like,
    Not,
    Operand,
    Operator,
    Or,
    Predicate,
    StartsWith,
)
from colonnade.tableformat.predicate.literals import Literal, decode_literal, encode_literal

Json = Any


def to_json(predicate: Predicate) -> Json:
    """Write a predicate as dicts, lists, strings, booleans and None only."""
    match predicate:
        case And(parts):
            return {"op": "and", "parts": [to_json(part) for part in parts]}
        case Or(parts):
            return {"op": "or", "parts": [to_json(part) for part in parts]}
        case Not(part):
            return {"op": "not", "part": to_json(part)}
        case Constant(value):
            return {"op": "constant", "value": value}
        case Compare(operator, left, right):
            return {"op": operator.value, "left": _operand(left), "right": _operand(right)}
        case In(column, values):
            texts = [encode_literal(value) for value in values]
            return {"op": "in", "column": _operand(column), "values": texts}
        case IsNull(operand):
            return {"op": "is_null", "operand": _operand(operand)}
        case StartsWith(column, prefix):
            return {"op": "starts_with", "column": _operand(column), "prefix": prefix}
        case Like(column, pattern, escape):
            named = {"pattern": pattern, "escape": escape}
            return {"op": "like", "column": _operand(column), **named}
    raise AssertionError(f"not a predicate: {predicate!r}")


def _operand(operand: Operand) -> Json:
    match operand:
        case Column(path):
            return list(path)
        case Call(function, arguments, type_name):
            parts = [to_json(a) if isinstance(a, Predicate) else _operand(a) for a in arguments]
            named = {"type": type_name} if type_name else {}
            return {"call": function, "arguments": parts, **named}
    return encode_literal(operand)


_OPERAND = (list, str, dict)
_KEYS: dict[str, dict[str, Any]] = {
    "and": {"parts": list},
    "or": {"parts": list},
    "not": {"part": dict},
    "constant": {"value": (bool, type(None))},
    "in": {"column": (list, dict), "values": list},
    "is_null": {"operand": _OPERAND},
    "starts_with": {"column": (list, dict), "prefix": str},
    "like": {"column": (list, dict), "pattern": str, "escape": str},
    **{each.value: {"left": _OPERAND, "right": _OPERAND} for each in Operator},
}


def from_json(value: Json) -> Predicate:
    """Read what `to_json` wrote. Raises InvalidInputError for anything else."""
    keys = _check(value)
    match value["op"]:
        case "and":
            return And(tuple(from_json(part) for part in keys["parts"]))
        case "or":
            return Or(tuple(from_json(part) for part in keys["parts"]))
        case "not":
            return Not(from_json(keys["part"]))
        case "constant":
            return Constant(keys["value"])
        case "in":
            values = tuple(_read_literal(each) for each in keys["values"])
            return In(_read_value(keys["column"]), values)
        case "is_null":
            return IsNull(_read_operand(keys["operand"]))
        case "starts_with":
            return StartsWith(_read_value(keys["column"]), keys["prefix"])
        case "like":
            return Like(_read_value(keys["column"]), keys["pattern"], keys["escape"])
        case operator:
            left, right = _read_operand(keys["left"]), _read_operand(keys["right"])
            return Compare(Operator(operator), left, right)


def _check(value: Json) -> Mapping[str, Json]:
    if not isinstance(value, dict) or not isinstance(value.get("op"), str):
        raise InvalidInputError(f"A predicate in JSON is an object with an op, not {value!r}.")
    types = _KEYS.get(value["op"])
    if types is None:
        raise InvalidInputError(f"{value['op']!r} is not an op of a predicate in JSON.")
    keys = {key: each for key, each in value.items() if key != "op"}
    if keys.keys() != types.keys() or not all(isinstance(keys[key], types[key]) for key in keys):
        expected = ", ".join(types)
        raise InvalidInputError(
            f"The predicate {value!r} in JSON must have {expected}, each of the right type."
        )
    return keys


def _read_operand(value: Json) -> Operand:
    return _read_value(value) if isinstance(value, list | dict) else _read_literal(value)


def _read_value(value: Json) -> Column | Call:
    if not isinstance(value, dict):
        return _read_column(value)
    match value:
        case {"call": str(name), "arguments": list(parts), "type": str(type_name)}:
            return Call(name, tuple(map(_read_argument, parts)), type_name)
        case {"call": str(name), "arguments": list(parts)} if len(value) == 2:
            return Call(name, tuple(map(_read_argument, parts)))
    raise InvalidInputError(f"A call in the JSON of a predicate cannot be {value!r}.")


def _read_argument(value: Json) -> Operand | Predicate:
    is_condition = isinstance(value, dict) and "op" in value
    return from_json(value) if is_condition else _read_operand(value)


def _read_column(value: Json) -> Column:
    if not value or not all(isinstance(name, str) and name for name in value):
        raise InvalidInputError(
            f"A column in the JSON of a predicate must be names, not {value!r}."
        )
    return Column(tuple(value))


def _read_literal(value: Json) -> Literal:
    if not isinstance(value, str):
        raise InvalidInputError(f"A literal in the JSON of a predicate is text, not {value!r}.")
    return decode_literal(value)
