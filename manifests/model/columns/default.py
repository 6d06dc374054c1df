"""Values that a column has where rows give none: its initial value, and its default. Pure.

Both are stored as a bound is (`statistics.py`), in the type that the column has now; `f:nan` is
NaN.
Spec: docs/spec/types.md#defaults
"""

from __future__ import annotations

import re
from typing import Any

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.schema import (
    ColumnDefault,
    DataType,
    SchemaField,
    TableSchema,
    decimal_digits,
    type_text,
    walk,
)
from colonnade.manifests.model.statistics import (
    REAL,
    TEXT,
    Bound,
    bound_prefix,
    decode_bound,
    encode_bound,
)

NAN = "f:nan"

_BITS = {
    "byte": 8,
    "short": 16,
    "int": 32,
    "date": 32,
    "long": 64,
    "timestamp": 64,
    "timestamp_ntz": 64,
}

_DAY_NS = 86_400 * 10**9


def encode_value(value: Bound, data_type: DataType) -> str:
    """Write one value of a type, which may be NaN."""
    return encode_bound(value, bound_prefix(data_type))


def decode_value(text: str, column: SchemaField) -> Bound:
    """Read a value that `encode_value` wrote for a column of this type.

    Raises CorruptionError for text that does not denote a value of the type.
    """
    collated = isinstance(column.type, str) and " collate " in column.type
    prefix = TEXT if collated else bound_prefix(column.type)
    if not prefix:
        raise CorruptionError(f"a column of type {type_text(column.type)} has no stored value.")
    if text == NAN and prefix == REAL:
        return float("nan")
    value = decode_bound(text, prefix)
    if isinstance(value, int) and value not in _numbers(str(column.type)):
        raise CorruptionError(f"value {text!r:.100} is not a {type_text(column.type)}.")
    return value


def _numbers(name: str) -> range:
    """Return the integers that store the values of a type."""
    if name == "boolean":
        return range(2)
    if (digits := decimal_digits(name)) is not None:
        return range(1 - 10 ** digits[0], 10 ** digits[0])
    if name.startswith("time("):
        return range(_DAY_NS)
    months = re.fullmatch("interval (year|month|year to month)", name)
    bits = _BITS.get(name, 32 if months else 64)
    return range(-(2 ** (bits - 1)), 2 ** (bits - 1))


def problem_of(schema: TableSchema) -> str | None:
    """Return what is wrong with the initial values and defaults of a schema, or None."""
    top = {field.id for field in schema.fields}
    for field in walk(schema.fields):
        constant = None if field.default is None else field.default.value
        if field.id not in top and (field.initial is not None or field.default is not None):
            return f"gives a value to field {field.name!r}, which is not a whole column"
        for text in (field.initial, constant):
            try:
                _ = text is None or decode_value(text, field)
            except CorruptionError as error:
                return f"gives column {field.name!r} a wrong value: {error.message.rstrip('.')}"
    return None


def widened_values(column: SchemaField, wider: DataType) -> dict[str, Any]:
    """Return the initial value and the default of a column in the wider type that it gets.

    Requires: `widens` allows it. The result has the keys of the fields to update.
    """

    wider_column = column.model_copy(update={"type": wider})

    def in_wider(text: str | None) -> str | None:
        if text is None:
            return None
        return encode_value(decode_value(text, wider_column), wider)

    default = column.default
    if default is not None:
        default = ColumnDefault(sql=default.sql, value=in_wider(default.value))
    return {"initial": in_wider(column.initial), "default": default}
