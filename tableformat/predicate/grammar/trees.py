"""SQL text as a tree of the SQL library, in Spark's dialect."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from itertools import count, pairwise
from typing import Any, ClassVar

from sqlglot import Token, TokenType, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError

from colonnade.manifests.errors import InvalidInputError

_DIALECT = Dialect.get_or_raise("spark")


class _Parser(type(_DIALECT.parser())):  # type: ignore[misc]
    """The library's parser, which keeps each call as it is written, by name and arguments."""

    FUNCTIONS: ClassVar[dict[str, Any]] = {}
    FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
        name: parse
        for name, parse in type(_DIALECT.parser()).FUNCTION_PARSERS.items()
        if name in ("CAST", "EXTRACT", "SUBSTRING", "SUBSTR", "TRIM")
    }


_TEXTS = (TokenType.STRING, TokenType.RAW_STRING)
_NUMBERED = re.compile(r":\?\d+")
"""The name that a parameter without one has in a tree."""

_SUPPORTED = (
    "columns and literals, fields of structs, elements of lists, + - * / % div, comparisons, IN,"
    " BETWEEN, LIKE, IS NULL, IS DISTINCT FROM, AND, OR, NOT, CASE, CAST, and the functions of"
    " docs/expressions.md; Spark evaluates all others"
)
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


TYPE_FUNCTIONS = {
    "boolean": "boolean",
    "tinyint": "byte",
    "smallint": "short",
    "int": "int",
    "bigint": "long",
    "float": "float",
    "double": "double",
    "string": "string",
    "binary": "binary",
    "date": "date",
    "timestamp": "timestamp",
}
"""The functions that cast to the type of their name."""


def cast_by_name(node: exp.Expr) -> tuple[exp.Expr, str] | None:
    """Return what a call such as `double(x)` casts, and the type; None for any other node."""
    if not isinstance(node, exp.Anonymous) or len(node.expressions) != 1:
        return None
    name = TYPE_FUNCTIONS.get(node.name.lower())
    return None if name is None else (node.expressions[0], name)


def tokens_of(text: str) -> Sequence[Token]:
    return list(_whole_strings(_DIALECT.tokenize(text), text))


def parse_tree(text: str) -> exp.Expr:
    tokens = list(tokens_of(text))
    _refuse_what_is_dropped(tokens, text)
    tokens = list(_numbered(_exact_decimals(tokens)))
    trees = _Parser(dialect=_DIALECT).parse_into(exp.Condition, tokens, text)
    if not trees or trees[0] is None:
        raise ParseError("No expression.")
    if len(trees) > 1:
        raise InvalidInputError(f"{text!r} is more than one statement: remove the semicolon.")
    tree: exp.Expr = trees[0]
    return tree


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


def _numbered(tokens: Iterable[Token]) -> Iterator[Token]:
    """Yield the tokens, with names for parameters without one: the first `?` as `:?0`."""
    numbers = count()
    for token in tokens:
        if token.token_type == TokenType.PLACEHOLDER:
            yield _in_place_of(token, TokenType.COLON, ":")
            yield _in_place_of(token, TokenType.VAR, f"?{next(numbers)}")
        else:
            yield token


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


def unsupported(node: exp.Expr) -> InvalidInputError:
    text = _NUMBERED.sub("?", node.sql("spark"))
    return InvalidInputError(f"A predicate cannot contain {text!r}; it may hold {_SUPPORTED}.")


def only(node: exp.Expr, *known: str) -> None:
    """Refuse a node that has more parts than the caller reads."""
    if any(value for key, value in node.args.items() if key not in known):
        raise unsupported(node)


def column_path(node: exp.Expr) -> tuple[str, ...]:
    if isinstance(node, exp.Dot):
        if not isinstance(node.expression, exp.Identifier):
            raise unsupported(node)
        return (*column_path(node.this), node.expression.name)
    if not isinstance(node, exp.Column) or not all(
        isinstance(part, exp.Identifier) for part in node.parts
    ):
        raise unsupported(node)
    return tuple(part.name for part in node.parts)


def type_name(node: exp.Cast) -> str:
    target = node.to
    if target.this == exp.DataType.Type.DECIMAL:
        sizes = [int(each.name) for each in target.expressions] or [10]
        precision, scale = (*sizes, 0)[:2]
        if not (1 <= precision <= 38 and scale <= precision):
            raise unsupported(node)
        return f"decimal({precision},{scale})"
    name = _TYPES.get(target.this)
    if name is None:
        raise unsupported(node)
    return name


def is_path(node: exp.Expr) -> bool:
    """Return whether a node is a column, or leads from one through fields alone."""
    while isinstance(node, exp.Dot):
        node = node.this
    return isinstance(node, exp.Column)
