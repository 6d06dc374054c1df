"""The functions of expressions by their names in SQL: the one table of what Colonnade evaluates.

A function takes the values of its arguments, and the time zone that times are taken apart in. A new
function is a line here, and a line in docs/expressions.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.predicate.values import choices, moments, nested, texts
from colonnade.tableformat.predicate.values.arithmetic import absolute, arithmetic, negated
from colonnade.tableformat.predicate.values.casts import cast
from colonnade.tableformat.predicate.values.row_value import RowValue

Values = Sequence[RowValue]


class Function(NamedTuple):
    """What a function computes, and how many arguments it takes: at least and at most."""

    apply: Callable[[Values, str], RowValue]
    least: int
    most: int


def _of(apply: Callable[[Values], RowValue], least: int, most: int | None = None) -> Function:
    return Function(lambda values, _: apply(values), least, least if most is None else most)


def _of_time(apply: Callable[[RowValue, str], RowValue]) -> Function:
    return Function(lambda values, zone: apply(values[0], zone), 1, 1)


def _operator(name: str) -> Function:
    def apply(values: Values, zone: str) -> RowValue:
        left, right = values
        if moments.has_times(left, right):
            return moments.sum_of_times(name, left, right, zone)
        return arithmetic(name, left, right)

    return Function(apply, 2, 2)


def _part(name: str) -> Function:
    return _of_time(lambda value, zone: moments.part_of(name, value, zone))


def _day(name: str) -> Function:
    return _of_time(lambda value, zone: moments.day_of(name, value, zone))


def _to_date(values: Values, zone: str) -> RowValue:
    return cast(values[0], "date", zone)


def _case(values: Values) -> RowValue:
    pairs = [
        (nested.as_boolean(condition), value)
        for condition, value in zip(values[::2], values[1::2], strict=False)
    ]
    return choices.case(pairs, values[-1] if len(values) % 2 else None)


_MANY = 1000

FUNCTIONS: Mapping[str, Function] = {
    **{each: _operator(each) for each in ("+", "-", "*", "/", "%", "div")},
    "negative": _of(lambda v: negated(v[0]), 1),
    "abs": _of(lambda v: absolute(v[0]), 1),
    "case": _of(_case, 2, _MANY),
    "coalesce": _of(choices.coalesce, 1, _MANY),
    "nullif": _of(lambda v: choices.nullif(*v), 2),
    "greatest": _of(lambda v: choices.most("greatest", v), 2, _MANY),
    "least": _of(lambda v: choices.most("least", v), 2, _MANY),
    "lower": _of(lambda v: texts.cased("lower", v[0]), 1),
    "upper": _of(lambda v: texts.cased("upper", v[0]), 1),
    "trim": _of(lambda v: texts.trimmed("trim", v), 1, 2),
    "ltrim": _of(lambda v: texts.trimmed("ltrim", v), 1, 2),
    "rtrim": _of(lambda v: texts.trimmed("rtrim", v), 1, 2),
    "length": _of(lambda v: texts.length(v[0]), 1),
    "concat": _of(texts.concatenated, 1, _MANY),
    "substring": _of(texts.substring, 2, 3),
    "replace": _of(texts.replaced, 2, 3),
    "startswith": _of(lambda v: texts.found_in("startswith", *v), 2),
    "endswith": _of(lambda v: texts.found_in("endswith", *v), 2),
    "contains": _of(lambda v: texts.found_in("contains", *v), 2),
    **{each: _part(each) for each in moments.PARTS},
    **{each: _day(each) for each in ("dayofweek", "weekday", "dayofyear")},
    "last_day": _of(lambda v: moments.last_day(v[0]), 1),
    "to_date": Function(_to_date, 1, 1),
    "date_add": _of(lambda v: moments.date_plus("date_add", v), 2),
    "date_sub": _of(lambda v: moments.date_plus("date_sub", v), 2),
    "add_months": _of(lambda v: moments.date_plus("add_months", v), 2),
    "datediff": _of(moments.date_difference, 2),
    "size": _of(lambda v: nested.size("size", v[0]), 1),
    "[]": _of(lambda v: nested.element(*v, from_one=False), 2),
    "element_at": _of(lambda v: nested.element(*v, from_one=True), 2),
    "array_contains": _of(lambda v: nested.contains(*v), 2),
}

ALIASES: Mapping[str, str] = {
    "mod": "%",
    "ifnull": "coalesce",
    "nvl": "coalesce",
    "lcase": "lower",
    "ucase": "upper",
    "char_length": "length",
    "character_length": "length",
    "len": "length",
    "substr": "substring",
    "dayofmonth": "day",
    "dateadd": "date_add",
    "date_diff": "datediff",
    "cardinality": "size",
    "array_size": "size",
}
"""Other names of functions."""


def call(name: str, values: Values, time_zone: str) -> RowValue:
    """Return what a function makes of values. Requires a name of `FUNCTIONS`.

    Raises InvalidInputError for values that it does not take.
    """
    function = FUNCTIONS[name]
    if not function.least <= len(values) <= function.most:
        counts = sorted({function.least, function.most})
        wanted = f"{counts[0]} or more" if function.most == _MANY else " or ".join(map(str, counts))
        raise InvalidInputError(f"{name} takes {wanted} arguments, not {len(values)}.")
    return function.apply(values, time_zone)
