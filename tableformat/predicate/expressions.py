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
from colonnade.tableformat.predicate.times import DAY_US


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


@dataclass(frozen=True, slots=True)
class Call:
    """A value that a function or an operator makes of its arguments.

    The function has a name of `values.functions`, or is `cast`, to the type `type`, `field`, whose
    second argument is the name of the field, or `truth` of a predicate. The arguments of `case` are
    conditions, each followed by its value, and then perhaps the value of ELSE.
    """

    function: str
    arguments: tuple[Operand | Predicate, ...]
    type: str = ""

    def __str__(self) -> str:
        texts = [_argument(each) for each in self.arguments]
        match self.function:
            case "cast" if self.type == "interval day":
                return _days_text(self.arguments[0])
            case "cast":
                return f"CAST({texts[0]} AS {_TYPE_NAMES.get(self.type, self.type)})"
            case "truth":
                return texts[0]
            case "negative":
                return f"(- {texts[0]})"
            case "case":
                return _case_text(texts)
            case "field":
                [_, name] = self.arguments
                assert isinstance(name, Literal)
                return f"{texts[0]}.{name_text((str(name.value),))}"
            case "trim" | "ltrim" | "rtrim" if len(texts) == 2:
                return f"TRIM({_SIDES[self.function]} {texts[1]} FROM {texts[0]})"
            case "[]":
                return f"{texts[0]}[{texts[1]}]"
            case name if not name.isidentifier() or name == "div":
                return f"({texts[0]} {name} {texts[1]})"
        return f"{self.function}({', '.join(texts)})"


_TYPE_NAMES = {"byte": "TINYINT", "short": "SMALLINT", "long": "BIGINT"}
"""The types that SQL calls by another name."""

_SIDES = {"trim": "BOTH", "ltrim": "LEADING", "rtrim": "TRAILING"}

Operand = Column | Literal | Call


def _text(operand: Operand) -> str:
    match operand:
        case Column(path):
            return name_text(path)
        case Literal():
            return literal_text(operand)
    return str(operand)


def _argument(argument: Operand | Predicate) -> str:
    return f"({argument})" if isinstance(argument, Predicate) else _text(argument)


def _days_text(days: Operand | Predicate) -> str:
    assert isinstance(days, Literal)
    assert isinstance(days.value, int)
    return f"INTERVAL '{days.value // DAY_US}' DAY"


def _case_text(texts: list[str]) -> str:
    pairs = zip(texts[::2], texts[1::2], strict=False)
    branches = " ".join(f"WHEN {condition} THEN {value}" for condition, value in pairs)
    return f"CASE {branches}{f' ELSE {texts[-1]}' if len(texts) % 2 else ''} END"


def columns_of(value: Operand | Predicate) -> Iterator[Column]:
    """Yield each column that a value or a condition names, as often as it does."""
    match value:
        case Column():
            yield value
        case Call(_, arguments):
            for each in arguments:
                yield from columns_of(each)
        case And(parts) | Or(parts):
            for each in parts:
                yield from columns_of(each)
        case Not(part):
            yield from columns_of(part)
        case Compare(_, left, right):
            yield from columns_of(left)
            yield from columns_of(right)
        case In(operand, _) | IsNull(operand) | StartsWith(operand, _) | Like(operand, _, _):
            yield from columns_of(operand)


MOST_LEVELS = 100
"""The most conditions inside each other. Python allows 1,000 calls, and a level takes several."""


def depth_of(predicate: Predicate) -> int:
    """Return how many conditions are inside each other; 1 for one alone."""
    level, depth = [predicate], 0
    while level:
        level, depth = [part for each in level for part in _parts_of(each)], depth + 1
    return depth


def _parts_of(predicate: Predicate) -> tuple[Predicate, ...]:
    match predicate:
        case And(parts) | Or(parts):
            return parts
        case Not(part):
            return (part,)
    return ()


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

    column: Column | Call
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

    column: Column | Call
    prefix: str

    def __str__(self) -> str:
        return f"startswith({_text(self.column)}, {quoted(self.prefix)})"


@dataclass(frozen=True, slots=True)
class Like(Predicate):
    """The whole string matches a pattern: `%` matches any text, `_` any one character."""

    column: Column | Call
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
