"""The grammar of conditions and values in SQL text, in Spark's dialect: docs/expressions.md

Callers go through `sql`, which imports this module and the SQL library when it first reads SQL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlglot import exp

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.predicate.expressions import (
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
    Predicate,
    StartsWith,
    conjunction,
    disjunction,
)
from colonnade.tableformat.predicate.grammar.calls import is_condition, is_typed, read_call
from colonnade.tableformat.predicate.grammar.casts import cast_literal
from colonnade.tableformat.predicate.grammar.intervals import (
    add_intervals,
    parse_interval,
    parse_interval_pairs,
    parse_interval_span,
)
from colonnade.tableformat.predicate.grammar.parameters import Parameters
from colonnade.tableformat.predicate.grammar.trees import (
    cast_by_name,
    column_path,
    is_path,
    only,
    parse_tree,
    reading,
    type_name,
    unsupported,
)
from colonnade.tableformat.predicate.literals import NULL, Kind, Literal, make_literal
from colonnade.tableformat.predicate.storage import negative

_OPERATORS: dict[type[exp.Expr], Operator] = {
    exp.EQ: Operator.EQUAL,
    exp.NEQ: Operator.NOT_EQUAL,
    exp.LT: Operator.LESS,
    exp.LTE: Operator.LESS_EQUAL,
    exp.GT: Operator.GREATER,
    exp.GTE: Operator.GREATER_EQUAL,
    exp.NullSafeEQ: Operator.NULL_SAFE_EQUAL,
}


def read_predicate(text: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Predicate:
    """Read a predicate (see `sql.parse_predicate`)."""
    parameters = Parameters(text, values)
    with reading("predicate", text):
        predicate = _Reader(parameters).predicate(parse_tree(text))
    parameters.require_used()
    return predicate


def read_value(text: str) -> Operand | Predicate:
    """Read a value (see `sql.parse_value`)."""
    with reading("value", text):
        return _Reader(Parameters(text)).value(parse_tree(text))


class _Reader:
    """Converts the tree of the SQL library to a predicate, and refuses everything unknown."""

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters

    def predicate(self, node: exp.Expr) -> Predicate:
        """Read a condition. Raises InvalidInputError that names the unsupported part."""
        if type(node) in _OPERATORS:
            only(node, "this", "expression")
            return self._compare(_OPERATORS[type(node)], node.this, node.expression)
        method = _CONDITIONS.get(type(node))
        if method is not None:
            return method(self, node)
        literal = self.literal(node)
        if literal is None:
            return Compare(Operator.EQUAL, self._call(node), make_literal(True))
        if not isinstance(literal.value, bool | None):
            raise InvalidInputError(
                f"A condition must be boolean, unlike the {literal}; compare it with a column."
            )
        return Constant(literal.value)

    def value(self, node: exp.Expr) -> Operand | Predicate:
        """Read a value. Raises the errors of `predicate`."""
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.Column | exp.Dot) and is_path(node):
            return Column(column_path(node))
        literal = self.literal(node)
        if literal is not None:
            return literal
        return self.predicate(node) if is_condition(node) else self._call(node)

    def _call(self, node: exp.Expr) -> Call:
        return read_call(node, self.argument, self.literal)

    def argument(self, node: exp.Expr) -> Operand | Predicate:
        """Read an argument of a function, in which a literal keeps the type that it is cast to."""
        while isinstance(node, exp.Paren):
            node = node.this
        if is_typed(node):
            return self._call(node)
        return self.value(node)

    def _compare(self, operator: Operator, left: exp.Expr, right: exp.Expr) -> Predicate:
        return Compare(operator, self._operand(left), self._operand(right))

    def _and(self, node: exp.Expr) -> Predicate:
        return conjunction(self.predicate(part) for part in node.flatten())

    def _or(self, node: exp.Expr) -> Predicate:
        return disjunction(self.predicate(part) for part in node.flatten())

    def _not(self, node: exp.Expr) -> Predicate:
        return Not(self.predicate(node.this))

    def _paren(self, node: exp.Expr) -> Predicate:
        return self.predicate(node.this)

    def _column_truth(self, node: exp.Expr) -> Predicate:
        return Compare(Operator.EQUAL, self._operand(node), make_literal(True))

    def _null_safe_not_equal(self, node: exp.Expr) -> Predicate:
        return Not(self._compare(Operator.NULL_SAFE_EQUAL, node.this, node.expression))

    def _is(self, node: exp.Expr) -> Predicate:
        operand = self._operand(node.this)
        if isinstance(node.expression, exp.Null):
            return IsNull(operand)
        if isinstance(node.expression, exp.Boolean):
            truth = make_literal(bool(node.expression.this))
            return Compare(Operator.NULL_SAFE_EQUAL, operand, truth)
        raise unsupported(node)

    def _function(self, node: exp.Expr) -> Predicate:
        name, arguments = node.name.lower(), node.expressions
        if name == "isnan" and len(arguments) == 1:
            nan = make_literal(float("nan"))
            return Compare(Operator.NULL_SAFE_EQUAL, self._operand(arguments[0]), nan)
        if name in ("isnull", "isnotnull") and len(arguments) == 1:
            found = IsNull(self._operand(arguments[0]))
            return found if name == "isnull" else Not(found)
        if name == "startswith" and len(arguments) == 2:
            text, prefix = self._operand(arguments[0]), self.literal(arguments[1])
            if isinstance(text, Column) and prefix is not None and isinstance(prefix.value, str):
                return StartsWith(text, prefix.value)
        return Compare(Operator.EQUAL, self._call(node), make_literal(True))

    def _between(self, node: exp.Expr) -> Predicate:
        only(node, "this", "low", "high")
        low, high = node.args["low"], node.args["high"]
        return conjunction(
            (
                self._compare(Operator.GREATER_EQUAL, node.this, low),
                self._compare(Operator.LESS_EQUAL, node.this, high),
            )
        )

    def _in(self, node: exp.Expr) -> Predicate:
        only(node, "this", "expressions")
        operand = self._operand(node.this)
        values = [self._operand(value) for value in node.expressions]
        if not values:
            raise unsupported(node)
        literals = tuple(value for value in values if isinstance(value, Literal))
        if not isinstance(operand, Literal) and len(literals) == len(values):
            return In(operand, literals)
        return disjunction(Compare(Operator.EQUAL, operand, value) for value in values)

    def _like(self, node: exp.Expr) -> Predicate:
        escape = "\\"
        if isinstance(node, exp.Escape):
            escape = self._string(node.expression, node)
            node = node.this
        if not isinstance(node, exp.Like):
            raise unsupported(node)
        only(node, "this", "expression", "negate")
        operand = self._operand(node.this)
        if isinstance(operand, Literal):
            operand = Call("concat", (operand,))
        like = Like(operand, self._string(node.expression, node), escape)
        return Not(like) if node.args.get("negate") else like

    def _string(self, node: exp.Expr, whole: exp.Expr) -> str:
        literal = self.literal(node)
        if literal is None or not isinstance(literal.value, str):
            raise unsupported(whole)
        return literal.value

    def _operand(self, node: exp.Expr) -> Operand:
        value = self.value(node)
        return Call("truth", (value,)) if isinstance(value, Predicate) else value

    def literal(self, node: exp.Expr) -> Literal | None:
        """Return the constant that a node denotes, or None."""
        match node:
            case exp.Paren():
                return self.literal(node.this)
            case exp.Null():
                return NULL
            case exp.Boolean():
                return make_literal(bool(node.this))
            case exp.Literal():
                return make_literal(node.this) if node.is_string else _number(node.this)
            case exp.RawString():
                return make_literal(node.this)
            case exp.HexString():
                return _binary(node.this)
            case exp.Neg():
                return self._negative(node.this)
            case exp.Cast():
                return self._cast(node, negated=False)
            case exp.Interval() | exp.Add():
                return self._interval(node)
            case exp.Placeholder():
                return self._parameters.literal(node.name)
            case exp.Anonymous() if (cast := cast_by_name(node)) is not None:
                literal = self.literal(cast[0])
                return None if literal is None else cast_literal(literal, cast[1])
        return None

    def _negative(self, node: exp.Expr) -> Literal | None:
        # In -9223372036854775808L, the sign belongs to the number before its type is checked. A
        # quoted text is cast before it is negated, and so are the digits of 1.5BD.
        if isinstance(node, exp.Cast) and node.this.is_number:
            literal = self._cast(node, negated=True)
            return literal if literal and negative(literal) else None
        literal = self.literal(node)
        return None if literal is None else negative(literal)

    def _cast(self, node: exp.Cast, negated: bool) -> Literal | None:
        literal = self.literal(node.this)
        if literal is None:
            return None
        if negated:
            literal = negative(literal) or literal
        only(node, "this", "to")
        return cast_literal(literal, type_name(node))

    def _interval(self, node: exp.Expr) -> Literal | None:
        if isinstance(node, exp.Add):
            sides = (node.this, node.expression)
            if not all(isinstance(side, exp.Interval | exp.Add) for side in sides):
                return None
            left, right = (self._interval(side) for side in sides)
            return None if left is None or right is None else add_intervals(left, right)
        number = self.literal(node.this) if node.this is not None else None
        if number is None:
            return None
        unit, text = node.args.get("unit"), str(number.value)
        if unit is None:
            return parse_interval_pairs(text)
        if isinstance(unit, exp.IntervalSpan):
            return parse_interval_span(text, unit.this.name, unit.expression.name)
        return parse_interval(text, unit.name)


_CONDITIONS: dict[type[exp.Expr], Callable[[_Reader, exp.Expr], Predicate]] = {
    exp.And: _Reader._and,
    exp.Or: _Reader._or,
    exp.Not: _Reader._not,
    exp.Paren: _Reader._paren,
    exp.Column: _Reader._column_truth,
    exp.Dot: _Reader._column_truth,
    exp.NullSafeNEQ: _Reader._null_safe_not_equal,
    exp.Is: _Reader._is,
    exp.Anonymous: _Reader._function,
    exp.Between: _Reader._between,
    exp.In: _Reader._in,
    exp.Like: _Reader._like,
    exp.Escape: _Reader._like,
}


def _number(text: str) -> Literal:
    if re.search("[eE]", text):
        return make_literal(float(text))
    number = Decimal(text)  # unlike an int, it reads any number of digits
    return make_literal(number if "." in text else int(number))


def _binary(digits: str) -> Literal:
    even = digits.rjust(len(digits) + len(digits) % 2, "0")
    return Literal(Kind.BINARY, bytes.fromhex(even))
