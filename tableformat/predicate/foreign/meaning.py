"""Whether a predicate means the same as the filter of another library that it was made from."""

from __future__ import annotations

from collections.abc import Iterator

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import TableSchema
from colonnade.tableformat.predicate.bind import bind, resolve
from colonnade.tableformat.predicate.expressions import (
    MOST_LEVELS,
    And,
    Column,
    Compare,
    In,
    Not,
    Operand,
    Or,
    Predicate,
    StartsWith,
    depth_of,
)
from colonnade.tableformat.predicate.literals import Kind, Literal
from colonnade.tableformat.predicate.storage import domain_of


def means_the_same(predicate: Predicate, schema: TableSchema) -> bool:
    """Return whether a predicate fits a table, and compares its values as other libraries do.

    A predicate also reads text as a time, compares times with and without a zone, and pads values
    of `char`. Other libraries compare the texts, or refuse to.
    """
    if depth_of(predicate) >= MOST_LEVELS:  # it may become a part of a conjunction
        return False
    try:
        bind(predicate, schema)
    except InvalidInputError:
        return False
    return all(_is_plain(part, schema) for part in _conditions(predicate))


def _conditions(predicate: Predicate) -> Iterator[Predicate]:
    match predicate:
        case And(parts) | Or(parts):
            for part in parts:
                yield from _conditions(part)
        case Not(part):
            yield from _conditions(part)
        case _:
            yield predicate


def _is_plain(condition: Predicate, schema: TableSchema) -> bool:
    match condition:
        case Compare(_, left, right):
            operands: tuple[Operand, ...] = (left, right)
        case In(column, values):
            operands = (column, *values)
        case StartsWith(column):
            operands = (column,)
        case _:
            return True
    types = {resolve(each, schema).type for each in operands if isinstance(each, Column)}
    kinds = {each.kind for each in operands if isinstance(each, Literal)}
    return not (
        any(each.startswith("char(") for each in types)
        or (Kind.STRING in kinds and not all(map(_is_text, types)))
        or ("timestamp" in types and kinds & {Kind.TIMESTAMP_NTZ, Kind.DATE})
        or ("timestamp_ntz" in types and Kind.TIMESTAMP in kinds)
        or {"timestamp", "timestamp_ntz"} <= types
    )


def _is_text(type_name: str) -> bool:
    domain = domain_of(type_name)
    return domain is not None and domain.family == "string"
