"""Convert Spark's V2 expressions to predicates of Colonnade; pure.

Java sends an expression as a tree (`messages.clauses.Tree`):

    a.b <= 3    {"op": "<=", "args": [{"column": ["a", "b"]}, {"type": "int", "value": "3"}]}

Most predicates made here only skip data, since Spark evaluates every filter on the rows again. Such
a predicate may omit a part that Colonnade cannot express if that makes the predicate weaker.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.spark_ext.planner.clauses.static_columns import static_column_of
from colonnade.spark_ext.planner.messages.clauses import Tree
from colonnade.tableformat.predicate import Predicate, bind
from colonnade.tableformat.predicate.expressions import (
    FALSE,
    TRUE,
    And,
    Column,
    Compare,
    In,
    IsNull,
    Not,
    Operand,
    Operator,
    Or,
    StartsWith,
    conjunction,
    disjunction,
)
from colonnade.tableformat.predicate.literals import NULL, Kind, Literal, decode_literal

_KINDS = {
    "boolean": Kind.BOOLEAN,
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), Kind.INTEGER),
    **dict.fromkeys(("float", "double"), Kind.DOUBLE),
    "string": Kind.STRING,
    "binary": Kind.BINARY,
    "date": Kind.DATE,
    "timestamp": Kind.TIMESTAMP,
    "timestamp_ntz": Kind.TIMESTAMP_NTZ,
}
_PATTERNS = (
    (re.compile(r"decimal\(\d+,\d+\)"), Kind.DECIMAL),
    (re.compile(r"time\(\d\)"), Kind.TIME),
    (re.compile(r"interval (year|month)( to month)?"), Kind.MONTHS),
    (re.compile(r"interval (day|hour|minute|second)( to \w+)?"), Kind.DURATION),
)
_COMPARISONS = {operator.value: operator for operator in Operator}


class _NoCounterpart(Exception):
    """Colonnade's predicates cannot express this tree."""


def predicate_of(filters: Sequence[Tree], schema: TableSchema) -> Predicate | None:
    """Return a predicate that is true wherever all filters are; None if none can be used."""
    found = [part for part in (usable(tree, schema) for tree in filters) if part is not None]
    return conjunction(found) if found else None


def exact_predicate(filters: Sequence[Tree]) -> Predicate:
    """Return the predicate that is true exactly where all filters are.

    Raises InvalidInputError for a filter that Colonnade cannot express.
    """
    try:
        return conjunction([_exact(tree) for tree in filters])
    except _NoCounterpart:
        raise InvalidInputError(
            "Colonnade cannot evaluate this condition without Spark: compare columns with"
            " constants."
        ) from None


def overwritten(filters: Sequence[Tree], table: TableState | None) -> tuple[Predicate, bool]:
    """Return the predicate of an overwrite of `table`, and whether it is exactly that of `filters`.

    If it is not exact, only Spark can find the rows. The predicate is then FALSE and selects none.
    Only Spark compares new rows with a condition on static columns.
    """
    try:
        found = exact_predicate(filters)
    except InvalidInputError:
        return FALSE, False
    if table is not None and static_column_of(found, table) is not None:
        return FALSE, False
    return found, True


def usable(tree: Tree, schema: TableSchema) -> Predicate | None:
    """Return a predicate that fits the schema and is true wherever the filter is, or None."""
    predicate = _weaker(tree)
    if predicate is None:
        return None
    try:
        bind(predicate, schema)
    except InvalidInputError:
        return None  # a metadata column, or types that only Spark compares
    return predicate


def _weaker(tree: Tree) -> Predicate | None:
    """Return a predicate that is true wherever the expression is; None if only TRUE is."""
    match tree.op, tree.args:
        case "AND", [left, right]:
            kept = [part for part in (_weaker(left), _weaker(right)) if part is not None]
            return And(tuple(kept)) if len(kept) == 2 else next(iter(kept), None)
        case "OR", [left, right]:
            first, second = _weaker(left), _weaker(right)
            return None if first is None or second is None else disjunction((first, second))
        case _:
            try:
                return _exact(tree)
            except _NoCounterpart:
                return None


def _exact(tree: Tree) -> Predicate:
    match tree.op, tree.args:
        case "AND", [left, right]:
            return And((_exact(left), _exact(right)))
        case "OR", [left, right]:
            return Or((_exact(left), _exact(right)))
        case "NOT", [part]:
            return Not(_exact(part))
        case "ALWAYS_TRUE", _:
            return TRUE
        case "ALWAYS_FALSE", _:
            return FALSE
        case None, None if tree.type == "boolean" and tree.value is not None:
            return TRUE if tree.value == "true" else FALSE
        case "IS_NULL", [operand]:
            return IsNull(_operand(operand))
        case "IS_NOT_NULL", [operand]:
            return Not(IsNull(_operand(operand)))
        case "STARTS_WITH", [column, prefix]:
            return StartsWith(_column(column), _text(prefix))
        case "IN", [column, *values]:
            return In(_column(column), tuple(_literal(value) for value in values))
        case str(name), [left, right] if name in _COMPARISONS:
            return Compare(_COMPARISONS[name], _operand(left), _operand(right))
    raise _NoCounterpart


def literal_of(tree: Tree) -> Literal | None:
    """Return the literal that a tree is, or None for a value that no column compares with."""
    try:
        return _literal(tree)
    except _NoCounterpart:
        return None


def _operand(tree: Tree) -> Operand:
    return _literal(tree) if tree.column is None else _column(tree)


def _column(tree: Tree) -> Column:
    if tree.column is None:
        raise _NoCounterpart
    return Column(tree.column)


def _text(tree: Tree) -> str:
    value = _literal(tree).value
    if not isinstance(value, str):
        raise _NoCounterpart
    return value


def _literal(tree: Tree) -> Literal:
    name = tree.type
    if name is None:
        raise _NoCounterpart
    if tree.value is None:
        return NULL
    kind = _KINDS.get(name)
    if kind is None:
        kind = next((each for pattern, each in _PATTERNS if pattern.fullmatch(name)), None)
    if kind is None:
        raise _NoCounterpart
    return decode_literal(f"{kind.value}:{tree.value}")
