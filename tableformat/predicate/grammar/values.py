"""The grammar of values that are computed from a row, in Spark's dialect.

Callers go through `sql`, which imports this module and the SQL library when it first reads SQL.
Spec: docs/spec/types.md#generated-columns
"""

from __future__ import annotations

from decimal import Decimal

from sqlglot import exp

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import TableSchema
from colonnade.tableformat.predicate.grammar.predicates import (
    column_path,
    parse_tree,
    reading,
    type_name,
)
from colonnade.tableformat.predicate.row_values import (
    PARTS,
    WHOLE,
    RowValue,
    arithmetic,
    cast,
    part_of,
    resolve_column,
    whole_number,
)

_OPERATORS: dict[type[exp.Expr], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*"}
_PARTS: dict[type[exp.Expr], str] = {
    exp.Year: "year",
    exp.Month: "month",
    exp.Day: "day",
    exp.DayOfMonth: "day",
    exp.Hour: "hour",
    exp.Minute: "minute",
}
_RANGES = {"int": 31, "long": 63}


def read_row_value(text: str, schema: TableSchema, time_zone: str) -> RowValue:
    """Read an expression (see `sql.parse_row_value`)."""
    with reading("expression", text):
        try:
            return _Reader(schema, time_zone).value(parse_tree(text))
        except InvalidInputError as error:
            raise InvalidInputError(
                f"Colonnade evaluates without Spark only columns, whole numbers, +, -, *, casts and"
                f" {', '.join(PARTS)} of dates and times, and not {text!r}:"
                f" {error.message.rstrip('.')}."
            ) from error


class _Reader:
    """Converts the tree of the SQL library, and refuses everything unknown."""

    def __init__(self, schema: TableSchema, time_zone: str) -> None:
        self._schema, self._zone = schema, time_zone

    def value(self, node: exp.Expr) -> RowValue:
        """Read a value. Raises InvalidInputError, NotFoundError."""
        match node:
            case exp.Paren():
                return self.value(node.this)
            case exp.Column() | exp.Dot():
                return resolve_column(column_path(node), self._schema)
            case exp.Literal() if not node.is_string and node.this.isdigit():
                return _number(node.this)
            case exp.Neg() if isinstance(node.this, exp.Literal) and node.this.this.isdigit():
                return _number(f"-{node.this.this}")
            case exp.Cast() if not node.args.get("safe"):
                return cast(self.value(node.this), type_name(node), self._zone)
            case exp.TsOrDsToDate():
                return self._date(node)
        if (operator := _OPERATORS.get(type(node))) is not None:
            return arithmetic(operator, self.value(node.this), self.value(node.expression))
        if (part := _PARTS.get(type(node))) is not None:
            # The library wraps the argument of some parts in a cast to a date.
            inner = node.this.this if isinstance(node.this, exp.TsOrDsToDate) else node.this
            return part_of(part, self.value(inner), self._zone)
        raise InvalidInputError(f"it holds {node.sql('spark')}")

    def _date(self, node: exp.Expr) -> RowValue:
        value = self.value(node.this)
        if node.args.get("format") is not None:
            raise InvalidInputError("it reads a date in a format")
        return cast(value, "date", self._zone)


def _number(text: str) -> RowValue:
    number = Decimal(text)  # unlike an int, it reads any number of digits
    for kind in WHOLE[2:]:
        if -(2 ** _RANGES[kind]) <= number < 2 ** _RANGES[kind]:
            return whole_number(int(number), kind)
    raise InvalidInputError(f"number {text} is too large")
