"""The tree of a predicate before its columns are resolved: plain frozen values.

Truth is three-valued, as in SQL: TRUE, FALSE or NULL. A row is selected when its predicate is TRUE.
Build trees with `col` or `parse_predicate`; `bind` resolves their columns in a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NoReturn

from colonnade.manifests.public import public
from colonnade.tableformat.predicate.literal_text import (
    CONSTANTS,
    literal_text,
    name_text,
    quoted,
)
from colonnade.tableformat.predicate.literals import Literal


class Operator(str, Enum):
    """A comparison."""

    EQUAL = "="
    NOT_EQUAL = "<>"
    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="
    NULL_SAFE_EQUAL = "<=>"

    @property
    def flipped(self) -> Operator:
        """The operator with the same meaning once both sides are exchanged."""
        return _FLIPPED.get(self, self)

    @property
    def negated(self) -> Operator:
        """The operator that is TRUE where this one is FALSE. Requires that it is not `<=>`."""
        return _NEGATED[self]


_FLIPPED = {
    Operator.LESS: Operator.GREATER,
    Operator.LESS_EQUAL: Operator.GREATER_EQUAL,
    Operator.GREATER: Operator.LESS,
    Operator.GREATER_EQUAL: Operator.LESS_EQUAL,
}
_NEGATED = {
    Operator.EQUAL: Operator.NOT_EQUAL,
    Operator.NOT_EQUAL: Operator.EQUAL,
    Operator.LESS: Operator.GREATER_EQUAL,
    Operator.GREATER_EQUAL: Operator.LESS,
    Operator.GREATER: Operator.LESS_EQUAL,
    Operator.LESS_EQUAL: Operator.GREATER,
}

TRUE_FOR_NAN = (Operator.NOT_EQUAL, Operator.GREATER, Operator.GREATER_EQUAL)
"""Operators that are TRUE when NaN is on the left and any other number on the right."""


def refuse_truth_value() -> NoReturn:
    """Raise TypeError that explains why `and`, `or`, `not` and chained comparisons cannot work."""
    raise TypeError(
        "A predicate has no truth value in Python: combine predicates with &, | and ~ (each"
        " comparison in parentheses) instead of and, or, not, and write between() for a range."
    )


@public
class Predicate:
    """Base class of all predicates, which are combined with `&`, `|` and `~`.

    Its `str` is SQL.
    """

    __slots__ = ()

    def __and__(self, other: object) -> Predicate:
        return conjunction((self, other)) if isinstance(other, Predicate) else NotImplemented

    def __or__(self, other: object) -> Predicate:
        return disjunction((self, other)) if isinstance(other, Predicate) else NotImplemented

    def __invert__(self) -> Predicate:
        return Not(self)

    def __bool__(self) -> bool:
        refuse_truth_value()


@dataclass(frozen=True, slots=True)
class Column:
    """A column by its name, or a struct field by the names that lead to it."""

    path: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join(self.path)


Operand = Column | Literal


def _text(operand: Operand) -> str:
    return name_text(operand.path) if isinstance(operand, Column) else literal_text(operand)


def _joined(word: str, parts: Iterable[Predicate]) -> str:
    return word.join(f"({part})" for part in parts)


@dataclass(frozen=True, slots=True)
class Constant(Predicate):
    """One truth value for every row; None is NULL."""

    value: bool | None

    def __str__(self) -> str:
        return CONSTANTS[self.value]


TRUE = Constant(True)
FALSE = Constant(False)


@dataclass(frozen=True, slots=True)
class Compare(Predicate):
    """Two operands compared; NULL when one of them is NULL, except with `<=>`."""

    operator: Operator
    left: Operand
    right: Operand

    def __str__(self) -> str:
        return f"{_text(self.left)} {self.operator.value} {_text(self.right)}"


@dataclass(frozen=True, slots=True)
class In(Predicate):
    """The column equals one of the values; NULL if no value is equal and one value is NULL."""

    column: Column
    values: tuple[Literal, ...]

    def __str__(self) -> str:
        values = ", ".join(map(literal_text, self.values))
        return f"{_text(self.column)} IN ({values})"


@dataclass(frozen=True, slots=True)
class IsNull(Predicate):
    """The operand is NULL. The result is never NULL."""

    operand: Operand

    def __str__(self) -> str:
        return f"{_text(self.operand)} IS NULL"


@dataclass(frozen=True, slots=True)
class StartsWith(Predicate):
    """The string begins with a prefix."""

    column: Column
    prefix: str

    def __str__(self) -> str:
        return f"startswith({_text(self.column)}, {quoted(self.prefix)})"


@dataclass(frozen=True, slots=True)
class Like(Predicate):
    """The whole string matches a pattern: `%` matches any text, `_` any one character."""

    column: Column
    pattern: str
    escape: str = "\\"

    def __str__(self) -> str:
        escape = "" if self.escape == "\\" else f" ESCAPE {quoted(self.escape)}"
        return f"{_text(self.column)} LIKE {quoted(self.pattern)}{escape}"


@dataclass(frozen=True, slots=True)
class Not(Predicate):
    """The part with TRUE and FALSE exchanged; NULL stays NULL."""

    part: Predicate

    def __str__(self) -> str:
        return f"NOT ({self.part})"


@dataclass(frozen=True, slots=True)
class And(Predicate):
    """FALSE if any part is FALSE, else NULL if any part is NULL, else TRUE."""

    parts: tuple[Predicate, ...]

    def __str__(self) -> str:
        return _joined(" AND ", self.parts)


@dataclass(frozen=True, slots=True)
class Or(Predicate):
    """TRUE if any part is TRUE, else NULL if any part is NULL, else FALSE."""

    parts: tuple[Predicate, ...]

    def __str__(self) -> str:
        return _joined(" OR ", self.parts)


def conjunction(parts: Iterable[Predicate]) -> Predicate:
    """Return the conjunction of the parts as one flat `And`; TRUE for no parts."""
    flat = tuple(_flatten(parts, And))
    return And(flat) if len(flat) > 1 else flat[0] if flat else TRUE


def disjunction(parts: Iterable[Predicate]) -> Predicate:
    """Return the disjunction of the parts as one flat `Or`; FALSE for no parts."""
    flat = tuple(_flatten(parts, Or))
    return Or(flat) if len(flat) > 1 else flat[0] if flat else FALSE


def _flatten(parts: Iterable[Predicate], kind: type[And] | type[Or]) -> Iterator[Predicate]:
    for part in parts:
        if isinstance(part, kind):
            yield from part.parts
        else:
            yield part
