"""Bind comparisons of one column with literals, which bounds can decide. Pure.

Their nodes hold storage values of the column (see `bound` and `storage`).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.predicate.bound import (
    BoundColumn,
    BoundCompare,
    BoundConstant,
    BoundIn,
    BoundIsNan,
    BoundIsNull,
    BoundLike,
    BoundNode,
    BoundStartsWith,
    StorageValue,
    all_of,
    any_of,
    negate,
)
from colonnade.tableformat.predicate.expressions import Operator
from colonnade.tableformat.predicate.like import parse_like
from colonnade.tableformat.predicate.literals import TIMES, Kind, Literal, require_zone
from colonnade.tableformat.predicate.storage import (
    Domain,
    as_double,
    domain_of,
    fits,
    locate,
    order,
    read_text,
)
from colonnade.tableformat.types.text_form import fit_text

_HOLDS: dict[Operator, Callable[[int], bool]] = {
    Operator.EQUAL: lambda sign: sign == 0,
    Operator.NOT_EQUAL: lambda sign: sign != 0,
    Operator.LESS: lambda sign: sign < 0,
    Operator.LESS_EQUAL: lambda sign: sign <= 0,
    Operator.GREATER: lambda sign: sign > 0,
    Operator.GREATER_EQUAL: lambda sign: sign >= 0,
}


def domain_for(column: BoundColumn) -> Domain:
    domain = domain_of(column.type)
    if domain is None:
        kind = f"of type {column.type}" if column.type else "nested"
        raise InvalidInputError(
            f"Column {str(column)!r} is {kind} and cannot be compared: only IS NULL and"
            " IS NOT NULL work on it."
        )
    return domain


def compare_literals(operator: Operator, left: Literal, right: Literal) -> BoundNode:
    if Kind.NULL in (left.kind, right.kind):
        both = left.kind is right.kind
        return BoundConstant(both if operator is Operator.NULL_SAFE_EQUAL else None)
    sign = order(left, right)
    if sign is None:
        raise InvalidInputError(f"The predicate compares {left} with {right}: cast one of them.")
    if operator is Operator.NULL_SAFE_EQUAL:
        operator = Operator.EQUAL
    return BoundConstant(_HOLDS[operator](sign))


def bind_in(column: BoundColumn, values: tuple[Literal, ...]) -> BoundNode:
    """Bind IN: values that the column can hold become one set, each other value a part of an OR."""
    exact: dict[StorageValue, None] = {}
    others: list[BoundNode] = []
    for value in _of_one_kind(values):
        node = compare_literal(column, Operator.EQUAL, value)
        if isinstance(node, BoundCompare):
            exact[node.value] = None
        elif node != _never(column):
            others.append(node)
    if exact:
        others.insert(0, BoundIn(column, tuple(sorted(exact))))
    return any_of(others) if others else _never(column) if values else BoundConstant(False)


def _of_one_kind(values: tuple[Literal, ...]) -> tuple[Literal, ...]:
    """Convert every number to a double when one of the values is a double, as Spark does."""
    if all(value.kind is not Kind.DOUBLE for value in values):
        return values
    return tuple(
        Literal(Kind.DOUBLE, as_double(value))
        if value.kind in (Kind.INTEGER, Kind.DECIMAL)
        else value
        for value in values
    )


def bind_like(column: BoundColumn, pattern: str, escape: str) -> BoundNode:
    parsed = parse_like(pattern, escape)
    if parsed.rest == "":
        return BoundCompare(column, Operator.EQUAL, parsed.prefix)
    if parsed.rest == "%":
        return BoundStartsWith(column, parsed.prefix)
    return BoundLike(column, parsed.regex, parsed.prefix)


def _never(column: BoundColumn) -> BoundNode:
    """Return a node that is NULL where the column is NULL, else FALSE."""
    return all_of((BoundIsNull(column), BoundConstant(None)))


def _always(column: BoundColumn) -> BoundNode:
    """Return a node that is NULL where the column is NULL, else TRUE."""
    return negate(_never(column))


def compare_literal(column: BoundColumn, operator: Operator, literal: Literal) -> BoundNode:
    if literal.kind is Kind.NULL and operator is Operator.NULL_SAFE_EQUAL:
        return BoundIsNull(column)
    domain = domain_for(column)
    if literal.kind is Kind.NULL:
        return BoundConstant(None)
    require_zone(literal, column.type, f"Column {str(column)!r}")
    literal = read_text(literal, column.type)
    if not fits(literal, domain):
        if literal.kind is Kind.BOOLEAN:  # The column alone may stand for a condition.
            raise InvalidInputError(
                f"Column {str(column)!r} of type {column.type} is not boolean: compare it with a"
                " literal of its type."
            )
        # A time is stored as a number, which users have not written.
        value = "" if literal.kind in TIMES else f" {literal.value!r}"
        raise InvalidInputError(
            f"Column {str(column)!r} of type {column.type} cannot be compared with the"
            f" {literal.kind.value}{value}: write a literal of the column's type."
        )
    if operator is Operator.NULL_SAFE_EQUAL:
        equal = _compare_value(column, domain, Operator.EQUAL, literal)
        return all_of((BoundIsNull(column, negated=True), equal))
    return _compare_value(column, domain, operator, literal)


def _compare_value(
    column: BoundColumn, domain: Domain, operator: Operator, literal: Literal
) -> BoundNode:
    if domain.family == "float":
        return _compare_float(column, operator, as_double(literal))
    if domain.family in ("boolean", "string", "binary"):
        value = literal.value
        assert isinstance(value, bool | str | bytes)
        if isinstance(value, str):
            value = fit_text(value, column.type)
        return BoundCompare(column, operator, value)
    if isinstance(literal.value, float) and math.isnan(literal.value):
        # NaN is greater than every number, and no integer or decimal is NaN.
        return _always(column) if _HOLDS[operator](-1) else _never(column)
    first, last = locate(literal, domain)
    match operator:
        case Operator.EQUAL:
            return _between(column, domain, first, last)
        case Operator.NOT_EQUAL:
            return negate(_between(column, domain, first, last))
        case Operator.LESS:
            return _at_most(column, domain, first - 1)
        case Operator.LESS_EQUAL:
            return _at_most(column, domain, last)
        case Operator.GREATER:
            return negate(_at_most(column, domain, last))
        case _:
            return negate(_at_most(column, domain, first - 1))


def _between(column: BoundColumn, domain: Domain, first: int, last: int) -> BoundNode:
    if first > last or first > domain.high or last < domain.low:
        return _never(column)
    if first == last:
        return BoundCompare(column, Operator.EQUAL, first)
    return all_of((negate(_at_most(column, domain, first - 1)), _at_most(column, domain, last)))


def _at_most(column: BoundColumn, domain: Domain, value: int) -> BoundNode:
    if value < domain.low:
        return _never(column)
    if value >= domain.high:
        return _always(column)
    return BoundCompare(column, Operator.LESS_EQUAL, value)


def _compare_float(column: BoundColumn, operator: Operator, value: float) -> BoundNode:
    if not math.isnan(value):
        return BoundCompare(column, operator, value)
    match operator:
        case Operator.EQUAL | Operator.GREATER_EQUAL:
            return BoundIsNan(column)
        case Operator.NOT_EQUAL | Operator.LESS:
            return BoundIsNan(column, negated=True)
        case Operator.LESS_EQUAL:
            return _always(column)
        case _:
            return _never(column)
