"""Which type a column may widen to. Pure.

A RowSet keeps the bytes of the narrower type. A wider type holds every value of the narrower one
exactly, in the same order.
Spec: docs/spec/types.md#widening
"""

from __future__ import annotations

import re

from colonnade.manifests.model.columns.void import VOID
from colonnade.manifests.model.schema import DataType, decimal_digits
from colonnade.manifests.model.statistics import bound_prefix

_DIGITS = {"byte": 3, "short": 5, "int": 10, "long": 19}
"""The decimal digits of integer types, from the narrowest type to the widest."""

_MOST_DIGITS = 38
"""The most digits of a decimal."""

_DOUBLES = frozenset({"byte", "short", "int", "float"})
"""The types whose values are all exact as a double."""

_DAY_US = 86_400_000_000

LAST_DAY = (2**63 - 1) // _DAY_US
"""The last day since 1970-01-01, and its negative the first, that a timestamp can hold."""

_TEXT = re.compile(r"(?P<kind>char|varchar)\((?P<length>\d+)\)", re.ASCII)


def widens(old: DataType, new: DataType) -> bool:
    """Return whether a column of type `old` may widen to type `new`.

    A void column has no values, so it may get any type, also a nested one.
    """
    if old == VOID:
        return new != VOID
    if not isinstance(old, str) or not isinstance(new, str) or old == new:
        return False
    if new == "double":
        return old in _DOUBLES
    if old == "date":
        return new == "timestamp_ntz"
    if old in _DIGITS and new in _DIGITS:
        return _DIGITS[old] < _DIGITS[new]
    if (digits := decimal_digits(new)) is not None:
        return _fits_decimal(old, *digits)
    return _fits_text(old, new)


def may_overflow(old: DataType, new: DataType) -> bool:
    """Return whether a type that widens has values that the wider type cannot hold.

    A date of 32 bits may be beyond `LAST_DAY`. No row may have such a value when its column widens.
    """
    return old == "date" and new == "timestamp_ntz"


def text_length(type_name: str) -> int | None:
    """Return the greatest length of values of a char or varchar; None for any other type."""
    match = _TEXT.fullmatch(type_name)
    return None if match is None else int(match["length"])


def common_type(first: str, second: str) -> str | None:
    """Return the narrowest type with all values of both that each of them is or widens to.

    Returns None if there is no such type. A date has none with a timestamp, because it widens only
    after a look at the rows.
    """
    if may_overflow(first, second) or may_overflow(second, first):
        return None
    if first == second or widens(second, first):
        return first
    if widens(first, second):
        return second
    digits = [_digits(each) for each in (first, second)]
    if (one := digits[0]) is not None and (other := digits[1]) is not None:
        scale = max(one[1], other[1])
        precision = scale + max(one[0] - one[1], other[0] - other[1])
        return f"decimal({precision},{scale})" if precision <= _MOST_DIGITS else None
    if widens(first, "double") and widens(second, "double"):
        return "double"
    lengths = [text_length(each) for each in (first, second)]
    if (a := lengths[0]) is not None and (b := lengths[1]) is not None:
        return f"varchar({max(a, b)})"
    return None


def evolved_type(own: DataType, given: DataType) -> DataType | None:
    """Return the type that a column must widen to so that it takes values of another type, too.

    None means that it need not widen, or that there is no such type. A char or varchar widens only
    for a longer one, because text without a length may be short.
    """
    if own == VOID:
        return given if given != VOID else None
    if not isinstance(own, str) or not isinstance(given, str):
        return None
    length = text_length(own)
    if length is not None and (text_length(given) or 0) <= length:
        return None
    common = common_type(own, given)
    return None if common == own else common


def _digits(type_name: str) -> tuple[int, int] | None:
    """Return precision and scale of the narrowest decimal with all values of a type."""
    whole = _DIGITS.get(type_name)
    return decimal_digits(type_name) if whole is None else (whole, 0)


def _fits_decimal(old: str, precision: int, scale: int) -> bool:
    if old in _DIGITS:
        return precision - scale >= _DIGITS[old]
    before = decimal_digits(old)
    if before is None:
        return False
    return scale >= before[1] and precision - scale >= before[0] - before[1]


def _fits_text(old: str, new: str) -> bool:
    before, after = _TEXT.fullmatch(old), _TEXT.fullmatch(new)
    if before is None:
        return False
    # A longer char would have other values, because each value is filled up with spaces.
    fits = after is not None and int(after["length"]) >= int(before["length"])
    return new == "string" or (after is not None and after["kind"] == "varchar" and fits)


def wider_types(old: DataType) -> str:
    """Return the types that a column may widen to, for messages; empty if there are none."""
    if old == VOID:
        return "any other type"
    if not isinstance(old, str):
        return ""
    if old in _DIGITS:
        names = list(_DIGITS)
        wider = [*names[names.index(old) + 1 :], *(("double",) if old in _DOUBLES else ())]
        return ", ".join([*wider, f"a decimal of {_DIGITS[old]} or more digits before the point"])
    if (digits := decimal_digits(old)) is not None:
        if digits[0] == _MOST_DIGITS:
            return ""
        return "a decimal of at least as many digits before and after the point"
    if (text := _TEXT.fullmatch(old)) is not None:
        return f"a varchar of {text['length']} or more characters, string"
    return {"float": "double", "date": "timestamp_ntz"}.get(old, "")


def keeps_bounds(old: DataType, new: DataType) -> bool:
    """Return whether bounds, and the hashes of Bloom filters, are the same in the wider type."""
    return bound_prefix(old) == bound_prefix(new)
