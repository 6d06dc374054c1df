"""Check what a table promises about values beyond their Arrow type, before they are written.

These promises are NOT NULL at any depth, the length of char and varchar, the digits of decimals,
and the precision of times and intervals. `valid_text` checks the text before.
Spec: docs/spec/types.md#what-values-must-satisfy
"""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import ArrayType, MapType, SchemaField, StructType
from colonnade.tableformat.types.arrow_types import VARIANT_FIELDS
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.storage_form import map_entries
from colonnade.tableformat.types.text_form import declared_length

_DAY_NS = 86_400 * 10**9
_UNITS = {
    "interval year": 12,
    "interval day": 86_400 * 10**6,
    "interval hour": 3_600 * 10**6,
    "interval day to hour": 3_600 * 10**6,
    "interval minute": 60 * 10**6,
    "interval day to minute": 60 * 10**6,
    "interval hour to minute": 60 * 10**6,
} | {f"time({digits})": 10 ** (9 - digits) for digits in range(10)}
"""Types whose values are multiples of more than the stored unit, and all times."""


@lru_cache(maxsize=4096)
def is_constrained(field: SchemaField) -> bool:
    """Return whether an array of the field's Arrow type could break a promise of the field."""
    if not field.nullable or any(is_constrained(child) for child in _children(field)):
        return True
    return isinstance(field.type, str) and (
        field.type in _UNITS
        or field.type.startswith("decimal")
        or declared_length(field.type) is not None
    )


def _children(field: SchemaField) -> tuple[SchemaField, ...]:
    return VARIANT_FIELDS if field.type == "variant" else field.children()


def check_values(array: pa.Array, field: SchemaField, path: str, below_null: int = 0) -> None:
    """Refuse values that break a promise of `field`.

    Requires an array of the field's Arrow type, with valid text, and with NULL everywhere under a
    NULL parent. `below_null` values are NULL because their parent is. `path` names the column in
    errors. Raises InvalidInputError.
    """
    if not field.nullable and array.null_count > below_null:
        raise InvalidInputError(
            f"Column {path!r} is NOT NULL, but the data has {array.null_count - below_null} NULL;"
            " give a value in each row."
        )
    match field.type:
        case str() as text if text != "variant":
            _check_primitive(array, text, path)
        case ArrayType(element=element):
            _check_below(array.flatten(), element, path)
        case MapType(key=key, value=value):
            keys, values = map_entries(array).flatten().flatten()
            _check_below(keys, key, path)
            _check_below(values, value, path)
        case StructType() | "variant":
            for child, below in zip(array.flatten(), _children(field), strict=True):
                _check_below(child, below, path, array.null_count)


def _check_below(array: pa.Array, field: SchemaField, path: str, below_null: int = 0) -> None:
    if is_constrained(field):
        check_values(array, field, f"{path}.{field.name}", below_null)


def _check_primitive(array: pa.Array, text: str, path: str) -> None:
    if text.startswith("decimal"):
        try:
            array.validate(full=True)
        except pa.ArrowInvalid as error:
            raise InvalidInputError(f"Column {path!r} has an invalid {text}: {error}.") from error
    if length := declared_length(text):
        longest = pc.max(pc.utf8_length(array)).as_py() or 0
        if longest > length:
            raise InvalidInputError(
                f"Column {path!r} is {text}, but the data has a value of {longest} characters;"
                " shorten the value, or make the column longer."
            )
    elif text in _UNITS:
        _check_units(array, text, path)


def _check_units(array: pa.Array, text: str, path: str) -> None:
    numbers = pc.cast(array.drop_null(), pa.int64()).to_numpy()
    wrong = numbers % _UNITS[text] != 0
    if text.startswith("time("):
        wrong |= (numbers < 0) | (numbers >= _DAY_NS)
    if wrong.any():
        unit = "nanoseconds" if text.startswith("time(") else _stored_unit(array.type)
        raise InvalidInputError(
            f"Column {path!r} is {text}, which cannot hold {numbers[wrong][0]} {unit}; change the"
            " value, or the type of the column."
        )


def _stored_unit(arrow: pa.DataType) -> str:
    return "microseconds" if pa.types.is_duration(arrow) else "months"
