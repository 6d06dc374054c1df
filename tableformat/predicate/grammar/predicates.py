"""The grammar of predicates in SQL text, in Spark's dialect: docs/predicates.md

Callers go through `sql`, which imports this module and the SQL library when it first reads SQL.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from itertools import pairwise

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.predicate.expressions import (
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
from colonnade.tableformat.predicate.grammar.casts import cast_literal
from colonnade.tableformat.predicate.grammar.intervals import (
    add_intervals,
    parse_interval,
    parse_interval_pairs,
    parse_interval_span,
)
from colonnade.tableformat.predicate.literals import NULL, Kind, Literal, make_literal
from colonnade.tableformat.predicate.storage import negative

_DIALECT = Dialect.get_or_raise("spark")
_TEXTS = (TokenType.STRING, TokenType.RAW_STRING)
_SUPPORTED = (
    "columns and literals compared by =, <>, <, <=, >, >=, <=>, IN, BETWEEN, LIKE, IS NULL,"
    " IS DISTINCT FROM, combined by AND, OR and NOT"
)
_OPERATORS: dict[type[exp.Expr], Operator] = {
    exp.EQ: Operator.EQUAL,
    exp.NEQ: Operator.NOT_EQUAL,
    exp.LT: Operator.LESS,
    exp.LTE: Operator.LESS_EQUAL,
    exp.GT: Operator.GREATER,
    exp.GTE: Operator.GREATER_EQUAL,
    exp.NullSafeEQ: Operator.NULL_SAFE_EQUAL,
}
_TYPES = {
    exp.DataType.Type.BOOLEAN: "boolean",
    exp.DataType.Type.TINYINT: "byte",
    exp.DataType.Type.SMALLINT: "short",
    exp.DataType.Type.INT: "int",
    exp.DataType.Type.BIGINT: "long",
    exp.DataType.Type.FLOAT: "float",
    exp.DataType.Type.DOUBLE: "double",
    exp.DataType.Type.TEXT: "string",
    exp.DataType.Type.BINARY: "binary",
    exp.DataType.Type.DATE: "date",
    exp.DataType.Type.TIMESTAMP: "timestamp",
    exp.DataType.Type.TIMESTAMPTZ: "timestamp",
    exp.DataType.Type.TIMESTAMPLTZ: "timestamp",
    exp.DataType.Type.TIMESTAMPNTZ: "timestamp_ntz",
    exp.DataType.Type.TIME: "time",
}


def read_predicate(text: str) -> Predicate:
    """Read a predicate (see `sql.parse_predicate`)."""
    with reading("predicate", text):
        return _Reader().predicate(parse_tree(text))


def read_value(text: str) -> Operand | Predicate:
    """Read a value (see `sql.parse_value`)."""
    with reading("value", text):
        reader, tree = _Reader(), parse_tree(text)
        if isinstance(tree, exp.Column | exp.Dot):
            return Column(column_path(tree))
        literal = reader.literal(tree)
        return reader.predicate(tree) if literal is None else literal


def tokens_of(text: str) -> Sequence[Token]:
    return list(_whole_strings(_DIALECT.tokenize(text), text))


def parse_tree(text: str) -> exp.Expr:
    tokens = list(tokens_of(text))
    _refuse_what_is_dropped(tokens, text)
    trees = _DIALECT.parser().parse_into(exp.Condition, _exact_decimals(tokens), text)
    if not trees or trees[0] is None:
        raise ParseError("No expression.")
    if len(trees) > 1:
        raise InvalidInputError(f"{text!r} is more than one statement: remove the semicolon.")
    return trees[0]


def _refuse_what_is_dropped(tokens: Sequence[Token], text: str) -> None:
    """Refuse tokens that have a meaning in Spark and that the SQL library would ignore."""
    if "{#" in text and any(token.comments for token in tokens):
        raise InvalidInputError(f"{text!r} holds {{# and #}}, which are not comments: remove them.")
    for sign, token in pairwise(tokens):
        if sign.token_type == TokenType.PLUS and token.token_type in _TEXTS:
            raise InvalidInputError(f"{text!r} has + before a text, {token.text!r}: remove it.")


def _whole_strings(tokens: Iterable[Token], text: str) -> Iterator[Token]:
    """Yield the tokens, joining strings such as `'it''s'`, which arrives as two tokens."""
    last: Token | None = None
    for token in tokens:
        if last and last.token_type == token.token_type == TokenType.STRING:
            quote = text[token.start]
            if last.end + 1 != token.start or text[last.end] != quote:
                raise InvalidInputError(
                    f"There are strings side by side in {text!r}, {last.text!r} and {token.text!r}:"
                    " write one string, and \\' for a quote inside it."
                )
            body = last.text + quote + token.text
            last = Token(TokenType.STRING, body, last.line, last.col, last.start, token.end)
            continue
        if last:
            yield last
        last = token
    if last:
        yield last


def _exact_decimals(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens, with 1.5BD as '1.5'::DECIMAL(2, 1): versions of the library round it."""
    exact: list[Token] = []
    for token in tokens:
        if token.token_type == TokenType.DECIMAL and token.text.upper() == "BD":
            number, cast = exact[-2:]  # which the tokenizer made of the same word
            _, digits, exponent = Decimal(number.text).as_tuple()
            scale = max(0, -int(exponent))
            precision = max(len(digits) + max(0, int(exponent)), scale)
            exact[-2:] = [_in_place_of(number, TokenType.STRING, number.text), cast]
            exact += [
                _in_place_of(token, TokenType.DECIMAL, "DECIMAL"),
                _in_place_of(token, TokenType.L_PAREN, "("),
                _in_place_of(token, TokenType.NUMBER, str(precision)),
                _in_place_of(token, TokenType.COMMA, ","),
                _in_place_of(token, TokenType.NUMBER, str(scale)),
                _in_place_of(token, TokenType.R_PAREN, ")"),
            ]
        else:
            exact.append(token)
    return exact


def _in_place_of(token: Token, kind: TokenType, text: str) -> Token:
    return Token(kind, text, token.line, token.col, token.start, token.end)


@contextmanager
def reading(what: str, text: str) -> Iterator[None]:
    """Turn errors of the SQL library about a text into one sentence."""
    try:
        yield
    except ParseError as error:
        raise InvalidInputError(f"The {what} {text!r} {_explain(error)}.") from error
    except SqlglotError as error:
        raise InvalidInputError(f"The {what} {text!r} cannot be read: {error}.") from error
    except RecursionError as error:
        raise InvalidInputError(f"The {what} is nested too deeply; flatten it.") from error


def _explain(error: ParseError) -> str:
    first = error.errors[0] if error.errors else {}
    if not first.get("highlight"):
        return "is empty or incomplete"
    return (
        f"is not SQL from {first['highlight']!r} on (line {first['line']}, column {first['col']})"
    )


class _Reader:
    """Converts the tree of the SQL library to a predicate, and refuses everything unknown."""

    def predicate(self, node: exp.Expr) -> Predicate:
        """Read a condition. Raises InvalidInputError that names the unsupported part."""
        if type(node) in _OPERATORS:
            _only(node, "this", "expression")
            return self._compare(_OPERATORS[type(node)], node.this, node.expression)
        method = _CONDITIONS.get(type(node))
        if method is not None:
            return method(self, node)
        literal = self.literal(node)
        if literal is None or not isinstance(literal.value, bool | None):
            raise _unsupported(node)
        return Constant(literal.value)

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
        raise _unsupported(node)

    def _is_nan(self, node: exp.Expr) -> Predicate:
        nan = make_literal(float("nan"))
        return Compare(Operator.NULL_SAFE_EQUAL, self._operand(node.this), nan)

    def _between(self, node: exp.Expr) -> Predicate:
        _only(node, "this", "low", "high")
        low, high = node.args["low"], node.args["high"]
        return conjunction(
            (
                self._compare(Operator.GREATER_EQUAL, node.this, low),
                self._compare(Operator.LESS_EQUAL, node.this, high),
            )
        )

    def _in(self, node: exp.Expr) -> Predicate:
        _only(node, "this", "expressions")
        operand = self._operand(node.this)
        values = [self._operand(value) for value in node.expressions]
        if not values:
            raise _unsupported(node)
        literals = tuple(value for value in values if isinstance(value, Literal))
        if isinstance(operand, Column) and len(literals) == len(values):
            return In(operand, literals)
        return disjunction(Compare(Operator.EQUAL, operand, value) for value in values)

    def _like(self, node: exp.Expr) -> Predicate:
        escape = "\\"
        if isinstance(node, exp.Escape):
            escape = self._string(node.expression, node)
            node = node.this
        if not isinstance(node, exp.Like):
            raise _unsupported(node)
        _only(node, "this", "expression", "negate")
        like = Like(self._column_of(node), self._string(node.expression, node), escape)
        return Not(like) if node.args.get("negate") else like

    def _starts_with(self, node: exp.Expr) -> Predicate:
        return StartsWith(self._column_of(node), self._string(node.expression, node))

    def _column_of(self, node: exp.Expr) -> Column:
        operand = self._operand(node.this)
        if not isinstance(operand, Column):
            raise _unsupported(node)
        return operand

    def _string(self, node: exp.Expr, whole: exp.Expr) -> str:
        literal = self.literal(node)
        if literal is None or not isinstance(literal.value, str):
            raise _unsupported(whole)
        return literal.value

    def _operand(self, node: exp.Expr) -> Operand:
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.Column | exp.Dot):
            return Column(column_path(node))
        literal = self.literal(node)
        if literal is None:
            raise _unsupported(node)
        return literal

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
        _only(node, "this", "to")
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
    exp.IsNan: _Reader._is_nan,
    exp.Between: _Reader._between,
    exp.In: _Reader._in,
    exp.Like: _Reader._like,
    exp.Escape: _Reader._like,
    exp.StartsWith: _Reader._starts_with,
}


def _unsupported(node: exp.Expr) -> InvalidInputError:
    return InvalidInputError(
        f"A predicate cannot contain {node.sql('spark')!r}; it may hold {_SUPPORTED}."
    )


def _only(node: exp.Expr, *known: str) -> None:
    """Refuse a node that has more parts than the caller reads."""
    if any(value for key, value in node.args.items() if key not in known):
        raise _unsupported(node)


def column_path(node: exp.Expr) -> tuple[str, ...]:
    if isinstance(node, exp.Dot):
        if not isinstance(node.expression, exp.Identifier):
            raise _unsupported(node)
        return (*column_path(node.this), node.expression.name)
    if not isinstance(node, exp.Column) or not all(
        isinstance(part, exp.Identifier) for part in node.parts
    ):
        raise _unsupported(node)
    return tuple(part.name for part in node.parts)


def _number(text: str) -> Literal:
    if re.search("[eE]", text):
        return make_literal(float(text))
    number = Decimal(text)  # unlike an int, it reads any number of digits
    return make_literal(number if "." in text else int(number))


def _binary(digits: str) -> Literal:
    even = digits.rjust(len(digits) + len(digits) % 2, "0")
    return Literal(Kind.BINARY, bytes.fromhex(even))


def type_name(node: exp.Cast) -> str:
    target = node.to
    if target.this == exp.DataType.Type.DECIMAL:
        sizes = [int(each.name) for each in target.expressions] or [10]
        precision, scale = (*sizes, 0)[:2]
        if not (1 <= precision <= 38 and scale <= precision):
            raise _unsupported(node)
        return f"decimal({precision},{scale})"
    name = _TYPES.get(target.this)
    if name is None:
        raise _unsupported(node)
    return name
