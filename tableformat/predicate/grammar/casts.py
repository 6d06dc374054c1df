"""Cast literals as Spark does in ANSI mode: a value that does not fit is an error."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation

import numpy as np

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import INTEGERS, decimal_digits
from colonnade.tableformat.predicate.literals import Kind, Literal
from colonnade.tableformat.predicate.storage import domain_of, parse_local_timestamp
from colonnade.tableformat.predicate.times import DAY_US, parse_date, parse_time, parse_timestamp

_NUMERIC = frozenset((Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE))
_INTEGER_TEXT = re.compile(r"[+-]?\d+", re.ASCII)
_DOUBLE_TEXT = re.compile(
    r"[+-]?(?:nan|inf(?:inity)?|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)[df]?", re.ASCII | re.IGNORECASE
)


def cast_literal(literal: Literal, type_name: str) -> Literal:
    """Return the literal as a value of a primitive type, which is spelled as in a schema.

    Raises InvalidInputError when the value does not fit the type, or the cast is not supported.
    """
    if literal.kind is Kind.NULL:
        return literal
    family = "decimal" if type_name.startswith("decimal(") else type_name
    cast = _CASTS.get(family)
    try:
        result = None if cast is None else cast(literal, type_name)
    except InvalidInputError:
        raise
    except (ValueError, OverflowError, InvalidOperation) as error:
        raise InvalidInputError(f"{literal.value!r} is not a valid {type_name}.") from error
    if result is None:
        raise InvalidInputError(
            f"A predicate cannot cast the {literal.kind.value} {literal.value!r} to {type_name};"
            " write the value as a literal of that type."
        )
    return result


def _to_integer(literal: Literal, type_name: str) -> Literal | None:
    value = literal.value
    if literal.kind is Kind.STRING:
        text = str(value).strip()
        if not _INTEGER_TEXT.fullmatch(text):
            raise ValueError(text)
        number = int(text)
    elif literal.kind in _NUMERIC:
        number = int(value)  # type: ignore[arg-type]
    else:
        return None
    domain = domain_of(type_name)
    assert domain is not None
    if not domain.low <= number <= domain.high:
        raise OverflowError(number)
    return Literal(Kind.INTEGER, number)


def _to_decimal(literal: Literal, type_name: str) -> Literal | None:
    if literal.kind not in _NUMERIC and literal.kind is not Kind.STRING:
        return None
    digits = decimal_digits(type_name)
    assert digits is not None
    precision, scale = digits
    value = literal.value
    exact = Decimal(repr(value) if isinstance(value, float) else str(value).strip())
    context = Context(prec=precision, rounding=ROUND_HALF_UP, Emax=999_999, Emin=-999_999)
    return Literal(Kind.DECIMAL, exact.quantize(Decimal((0, (1,), -scale)), context=context))


def _to_double(literal: Literal, type_name: str) -> Literal | None:
    value = literal.value
    if literal.kind is Kind.STRING:
        text = str(value).strip()
        if not _DOUBLE_TEXT.fullmatch(text):
            raise ValueError(text)
        plain = text.lower()
        number = float(plain if plain.endswith(("inf", "nan")) else plain.rstrip("df"))
    elif literal.kind in _NUMERIC:
        number = float(value)  # type: ignore[arg-type]
    else:
        return None
    if type_name == "float":
        with np.errstate(over="ignore"):
            number = float(np.float32(number))
    return Literal(Kind.DOUBLE, number)


def _to_boolean(literal: Literal, _: str) -> Literal | None:
    if literal.kind is not Kind.STRING:
        return literal if literal.kind is Kind.BOOLEAN else None
    text = str(literal.value).strip().lower()
    if text not in ("true", "false"):
        raise ValueError(text)
    return Literal(Kind.BOOLEAN, text == "true")


def _to_string(literal: Literal, _: str) -> Literal | None:
    if literal.kind is Kind.INTEGER:
        return Literal(Kind.STRING, str(literal.value))
    return literal if literal.kind is Kind.STRING else None


def _to_binary(literal: Literal, _: str) -> Literal | None:
    if literal.kind is Kind.STRING:
        return Literal(Kind.BINARY, str(literal.value).encode("utf-8"))
    return literal if literal.kind is Kind.BINARY else None


def _to_date(literal: Literal, _: str) -> Literal | None:
    if literal.kind is Kind.STRING:
        return Literal(Kind.DATE, parse_date(str(literal.value)))
    if literal.kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ):
        return Literal(Kind.DATE, int(literal.value) // DAY_US)  # type: ignore[arg-type]
    return literal if literal.kind is Kind.DATE else None


def _to_instant(literal: Literal, type_name: str) -> Literal | None:
    kind = Kind(type_name)
    if literal.kind is Kind.STRING:
        text = str(literal.value)
        local = kind is Kind.TIMESTAMP_NTZ
        return Literal(kind, parse_local_timestamp(text) if local else parse_timestamp(text)[0])
    if literal.kind is Kind.DATE:
        return Literal(kind, int(literal.value) * DAY_US)  # type: ignore[arg-type]
    if literal.kind in (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ):
        return Literal(kind, literal.value)
    return None


def _to_time(literal: Literal, _: str) -> Literal | None:
    if literal.kind is Kind.STRING:
        return Literal(Kind.TIME, parse_time(str(literal.value)))
    return literal if literal.kind is Kind.TIME else None


_CASTS: dict[str, Callable[[Literal, str], Literal | None]] = {
    **dict.fromkeys(INTEGERS, _to_integer),
    **dict.fromkeys(("float", "double"), _to_double),
    **dict.fromkeys(("timestamp", "timestamp_ntz"), _to_instant),
    "decimal": _to_decimal,
    "boolean": _to_boolean,
    "string": _to_string,
    "binary": _to_binary,
    "date": _to_date,
    "time": _to_time,
}
