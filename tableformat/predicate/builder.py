"""Build predicates in Python: `col("a") > 3`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NoReturn

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.public import public
from colonnade.tableformat.predicate.expressions import (
    FALSE,
    Column,
    Compare,
    In,
    IsNull,
    Like,
    Not,
    Operator,
    Predicate,
    StartsWith,
    conjunction,
    disjunction,
    refuse_truth_value,
)
from colonnade.tableformat.predicate.literals import Kind, make_literal

_NAME = re.compile(r"`((?:[^`]|``)+)`|([^`.]+)")


@public
class ColumnBuilder:
    """A column whose comparisons are predicates. A boolean column is itself a predicate.

    Raises InvalidInputError for a value of a type that no column has.
    """

    __slots__ = ("_column",)

    def __init__(self, column: Column) -> None:
        self._column = column

    def __repr__(self) -> str:
        return f"col({str(self._column)!r})"

    def __getitem__(self, name: str) -> ColumnBuilder:
        """Return the field `name` of a struct column."""
        return ColumnBuilder(Column((*self._column.path, name)))

    def __eq__(self, other: object) -> Predicate:  # type: ignore[override]
        return self._compare(Operator.EQUAL, other)

    def __ne__(self, other: object) -> Predicate:  # type: ignore[override]
        return self._compare(Operator.NOT_EQUAL, other)

    def __lt__(self, other: object) -> Predicate:
        return self._compare(Operator.LESS, other)

    def __le__(self, other: object) -> Predicate:
        return self._compare(Operator.LESS_EQUAL, other)

    def __gt__(self, other: object) -> Predicate:
        return self._compare(Operator.GREATER, other)

    def __ge__(self, other: object) -> Predicate:
        return self._compare(Operator.GREATER_EQUAL, other)

    def __and__(self, other: object) -> Predicate:
        part = as_predicate(other)
        return NotImplemented if part is None else conjunction((self._truth(), part))

    def __rand__(self, other: object) -> Predicate:
        part = as_predicate(other)
        return NotImplemented if part is None else conjunction((part, self._truth()))

    def __or__(self, other: object) -> Predicate:
        part = as_predicate(other)
        return NotImplemented if part is None else disjunction((self._truth(), part))

    def __ror__(self, other: object) -> Predicate:
        part = as_predicate(other)
        return NotImplemented if part is None else disjunction((part, self._truth()))

    def __invert__(self) -> Predicate:
        return Not(self._truth())

    def __bool__(self) -> bool:
        refuse_truth_value()

    def _compute(self, _: object = None) -> NoReturn:
        raise InvalidInputError(
            f"col({str(self._column)!r}) is compared, and computes nothing; write a computed value"
            f" as SQL text, such as '{self._column} + 1'."
        )

    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = _compute
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = _compute
    __neg__ = __abs__ = _compute

    __hash__ = None  # type: ignore[assignment]

    def eq_null_safe(self, other: object) -> Predicate:
        """Return the predicate that both are equal, where NULL equals NULL. It is never NULL."""
        right = other._column if isinstance(other, ColumnBuilder) else make_literal(other)
        return Compare(Operator.NULL_SAFE_EQUAL, self._column, right)

    def is_null(self) -> Predicate:
        """Return the predicate that the column is NULL."""
        return IsNull(self._column)

    def is_not_null(self) -> Predicate:
        """Return the predicate that the column is not NULL."""
        return Not(IsNull(self._column))

    def is_nan(self) -> Predicate:
        """Return the predicate that the column is NaN; it is FALSE for NULL."""
        return self.eq_null_safe(float("nan"))

    def isin(self, values: Iterable[object]) -> Predicate:
        """Return the predicate that the column equals one of the values; FALSE for an empty list.

        Raises InvalidInputError for a string, and for anything else that is not a list of values.
        """
        try:
            members = None if isinstance(values, str | bytes) else [*values]
        except TypeError:
            members = None
        if members is None:
            raise InvalidInputError(f"isin() takes a list of values, not {values!r}.")
        literals = tuple(map(make_literal, members))
        return In(self._column, literals) if literals else FALSE

    def between(self, low: object, high: object) -> Predicate:
        """Return the predicate that the column is at least `low` and at most `high`."""
        return conjunction((self >= low, self <= high))

    def startswith(self, prefix: str) -> Predicate:
        """Return the predicate that the string begins with `prefix`.

        Raises InvalidInputError when `prefix` is not a string.
        """
        if not isinstance(prefix, str):
            raise InvalidInputError(f"startswith() takes a text, not {prefix!r}.")
        return StartsWith(self._column, prefix)

    def like(self, pattern: str, escape: str = "\\") -> Predicate:
        """Return the predicate that the whole string matches a SQL pattern.

        `%` matches any text, and `_` matches any one character. Raises InvalidInputError when the
        pattern or the escape character is not a string.
        """
        if not isinstance(pattern, str) or not isinstance(escape, str):
            raise InvalidInputError(f"like() takes texts, not {pattern!r} and {escape!r}.")
        return Like(self._column, pattern, escape)

    def _compare(self, operator: Operator, other: object) -> Predicate:
        if isinstance(other, ColumnBuilder):
            return Compare(operator, self._column, other._column)
        literal = make_literal(other)
        if literal.kind is Kind.NULL:
            raise InvalidInputError(
                f"Comparing {self._column} with None is never true: use is_null() or"
                " eq_null_safe()."
            )
        return Compare(operator, self._column, literal)

    def _truth(self) -> Predicate:
        return Compare(Operator.EQUAL, self._column, make_literal(True))


def as_predicate(value: object) -> Predicate | None:
    """Return a predicate unchanged, a boolean column as a predicate, and None for anything else."""
    if isinstance(value, ColumnBuilder):
        return value._truth()
    return value if isinstance(value, Predicate) else None


def as_column(value: ColumnBuilder) -> Column:
    """Return the column of a builder."""
    return value._column


@public
def col(name: str) -> ColumnBuilder:
    """Return a column to build a predicate from: `col("a")`, or `col("a.b")` for a struct field.

    A name that contains a dot is written in backticks, as in SQL. A datetime that a timestamp is
    compared with needs a time zone. Raises InvalidInputError for an
    empty name, and for a misplaced backtick.
    """
    if not isinstance(name, str):
        raise InvalidInputError(f"A column name must be text, not {name!r}.")
    path, position = [], 0
    while match := _NAME.match(name, position):
        path.append(match[1].replace("``", "`") if match[1] is not None else match[2])
        position = match.end() + 1
        if name[match.end() : position] != ".":
            break
    if not path or position <= len(name):
        raise InvalidInputError(
            f"{name!r} is not a column name: write a or a.b, in backticks if a name holds a dot."
        )
    return ColumnBuilder(Column(tuple(path)))
