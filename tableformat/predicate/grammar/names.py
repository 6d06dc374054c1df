"""Where SQL text names columns, so that the text can be shown after they got other names. Pure.

Callers go through `sql`, which imports this module and the SQL library when it first reads SQL.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from sqlglot import Token, TokenType, exp

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import NameReference, SchemaField, StructType, TableSchema
from colonnade.tableformat.predicate.grammar.trees import (
    column_path,
    parse_tree,
    reading,
    tokens_of,
)

_SCOPES = (exp.Lambda, exp.Alias, exp.Query)
"""What gives names of its own, which may hide those of columns."""

_VALUES = (TokenType.STRING, TokenType.RAW_STRING, TokenType.NUMBER)
_WORDS = (TokenType.VAR, TokenType.IDENTIFIER)


def references(
    text: str, schema: TableSchema, columns: Collection[int]
) -> tuple[NameReference, ...]:
    """Return where a text names columns (see `sql.references`)."""
    read = {field.name.casefold(): field for field in schema.fields if field.id in columns}
    try:
        with reading("expression", text):
            tree = parse_tree(text)
            if any(True for _ in tree.find_all(*_SCOPES)):
                return ()
            found = _candidates(text, read)
            marked = {reference.field for reference in found}
            if marked.issuperset(columns) and _are_all(text, tree, found, read):
                return found
    except InvalidInputError:
        pass  # only Spark can read it
    return ()


def _candidates(text: str, read: Mapping[str, SchemaField]) -> tuple[NameReference, ...]:
    tokens = tokens_of(text)
    found: list[NameReference] = []
    at = 0
    while at < len(tokens):
        field = read.get(_name(tokens[at], text)) if _may_be_column(tokens, at) else None
        while field is not None:
            token = tokens[at]
            length = token.end + 1 - token.start
            found.append(NameReference(offset=token.start, length=length, field=field.id))
            is_path = at + 2 < len(tokens) and tokens[at + 1].token_type == TokenType.DOT
            field = _child(field, _name(tokens[at + 2], text)) if is_path else None
            at += 2 if field is not None else 0
        at += 1
    return tuple(found)


def _may_be_column(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a token may be a column: no function, type, typed literal or field."""
    before = tokens[at - 1].token_type if at else None
    after = tokens[at + 1].token_type if at + 1 < len(tokens) else None
    if tokens[at].token_type in _VALUES or after == TokenType.L_PAREN or before == TokenType.DOT:
        return False
    is_word = tokens[at].token_type in _WORDS
    return is_word or not (after in _VALUES or before == TokenType.ALIAS)


def _name(token: Token, text: str) -> str:
    quoted = text[token.start] == "`"
    return (token.text if quoted else text[token.start : token.end + 1]).casefold()


def _child(field: SchemaField, name: str) -> SchemaField | None:
    inside = field.type.fields if isinstance(field.type, StructType) else ()
    return next((each for each in inside if each.name.casefold() == name), None)


def _are_all(
    text: str, tree: exp.Expr, found: Sequence[NameReference], read: Mapping[str, SchemaField]
) -> bool:
    """Return whether the places are all that name the columns, and nothing else.

    With a new name at each of them, the text must be the same expression of the new names.
    """
    fresh = {f"c_{at}_{each.field}": each for at, each in enumerate(found)}
    if any(name in text for name in fresh):
        return False
    other = parse_tree(_renamed(text, {each.offset: name for name, each in fresh.items()}, found))
    if any(column_path(each)[0].casefold() in read for each in other.find_all(exp.Column)):
        return False
    old = {name: text[r.offset : r.offset + r.length].strip("`") for name, r in fresh.items()}
    for each in other.find_all(exp.Identifier):
        each.set("this", old.get(each.name, each.name))
    return _plain(other) == _plain(tree)


def _renamed(text: str, names: Mapping[int, str], found: Sequence[NameReference]) -> str:
    for each in reversed(found):
        text = text[: each.offset] + names[each.offset] + text[each.offset + each.length :]
    return text


def _plain(tree: exp.Expr) -> str:
    copy = tree.copy()
    for each in copy.find_all(exp.Identifier):
        each.set("this", re.sub("``", "`", each.name).casefold())
        each.set("quoted", True)
    return copy.sql("spark", comments=False)
