"""Operators and functions of SQL as calls, which `values.functions` computes.

Callers go through `sql`, which imports this module and the SQL library when it first reads SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from colonnade.tableformat.predicate.expressions import Call, Compare, Operand, Operator, Predicate
from colonnade.tableformat.predicate.grammar.trees import (
    cast_by_name,
    is_path,
    only,
    type_name,
    unsupported,
)
from colonnade.tableformat.predicate.literals import Literal, make_literal
from colonnade.tableformat.predicate.values.functions import ALIASES, FUNCTIONS

Read = Callable[[exp.Expr], Operand | Predicate]

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.IntDiv: "div",
    exp.DPipe: "concat",
}
_CONDITIONS = (
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ),
    *(exp.And, exp.Or, exp.Not, exp.Is, exp.Between, exp.In, exp.Like, exp.Escape),
)
_TRUTHS = ("isnan", "isnull", "isnotnull")
_INNER = ("case", "negative", "[]")
"""The names of FUNCTIONS that are no names in SQL."""

_SIDES = {None: "trim", "BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}


def is_condition(node: exp.Expr) -> bool:
    """Return whether a node is read as a condition."""
    return isinstance(node, _CONDITIONS) or (
        isinstance(node, exp.Anonymous) and node.name.lower() in _TRUTHS
    )


def is_typed(node: exp.Expr) -> bool:
    """Return whether a literal states its type, which decides the type of a result."""
    if isinstance(node, exp.Neg):
        node = node.this
    if isinstance(node, exp.Interval):
        return _counts_days(node)
    return isinstance(node, exp.Cast) or cast_by_name(node) is not None


def read_call(node: exp.Expr, read: Read, literal: Callable[[exp.Expr], Literal | None]) -> Call:
    """Read a call. `read` reads its arguments. Raises InvalidInputError that names what is not."""
    match node:
        case exp.Anonymous():
            return _function(node, read)
        case exp.Neg() if isinstance(node.this, exp.Cast) and (value := literal(node)) is not None:
            return Call("cast", (value,), type_name(node.this))
        case exp.Neg():
            return Call("negative", (read(node.this),))
        case exp.Cast():
            only(node, "this", "to")
            return Call("cast", (read(node.this),), type_name(node))
        case exp.Interval():
            value = literal(node)
            if value is not None:
                return Call("cast", (value,), "interval day")
        case exp.Case():
            return _case(node, read)
        case exp.If():
            return _if(node, read)
        case exp.Bracket() if len(node.expressions) == 1:
            only(node, "this", "expressions")
            return Call("[]", (read(node.this), read(node.expressions[0])))
        case exp.Dot() if isinstance(node.expression, exp.Identifier) and not is_path(node):
            return Call("field", (read(node.this), make_literal(node.expression.name)))
        case exp.Substring():
            parts = [node.args.get(each) for each in ("this", "start", "length")]
            return Call("substring", tuple(read(each) for each in parts if each is not None))
        case exp.Trim():
            only(node, "this", "expression", "position")
            parts = [node.this, node.expression]
            found = tuple(read(each) for each in parts if each is not None)
            return Call(_SIDES[node.args.get("position")], found)
        case exp.Extract():
            part = node.name.lower()
            return _named(ALIASES.get(part, part), [node.expression], node, read)
    operator = _OPERATORS.get(type(node))
    if operator is None:
        raise unsupported(node)
    return Call(operator, (read(node.this), read(node.expression)))


def _function(node: exp.Anonymous, read: Read) -> Call:
    name, arguments = node.name.lower(), node.expressions
    if (cast := cast_by_name(node)) is not None:
        return Call("cast", (read(cast[0]),), cast[1])
    if name == "if" and len(arguments) == 3:
        return Call("case", tuple(map(read, arguments)))
    if name in ("ltrim", "rtrim"):
        arguments = arguments[::-1]  # what is trimmed comes last in SQL
    return _named(ALIASES.get(name, name), arguments, node, read)


def _named(name: str, arguments: Sequence[exp.Expr], node: exp.Expr, read: Read) -> Call:
    if name not in FUNCTIONS or name in _INNER:
        raise unsupported(node)
    return Call(name, tuple(map(read, arguments)))


def _case(node: exp.Case, read: Read) -> Call:
    parts: list[Operand | Predicate] = []
    for branch in node.args["ifs"]:
        condition = read(branch.this)
        if node.this is not None:
            condition = Compare(Operator.EQUAL, _operand(read(node.this)), _operand(condition))
        parts += [condition, read(branch.args["true"])]
    default = node.args.get("default")
    return Call("case", (*parts, *([] if default is None else [read(default)])))


def _operand(value: Operand | Predicate) -> Operand:
    return Call("truth", (value,)) if isinstance(value, Predicate) else value


def _if(node: exp.If, read: Read) -> Call:
    other = node.args.get("false")
    parts = (read(node.this), read(node.args["true"]))
    return Call("case", (*parts, *([] if other is None else [read(other)])))


def _counts_days(node: exp.Interval) -> bool:
    """Return whether an interval is written in days, so that a date plus it is a date."""
    unit = node.args.get("unit")
    if isinstance(unit, exp.IntervalSpan):
        return False
    units = node.this.name.split()[1::2] if unit is None else [unit.name]
    return {each.upper().removesuffix("S") for each in units} <= {"DAY", "WEEK"}
