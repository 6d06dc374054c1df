"""The SQL text of a default that was stated as a value. Pure.

Spark reads the text, so it says the same in each session, whatever its time zone.
"""

from __future__ import annotations

import re

import pyarrow as pa

from colonnade.manifests.model.columns.default import decode_value
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.model.statistics import Bound
from colonnade.tableformat.types.arrow_types import base_type, storage_type
from colonnade.tableformat.types.stored_value import repeated

_DAY_US = 86_400 * 10**6


def default_sql(type_name: str, stored: str) -> str:
    """Return a stored value of a primitive type as a literal of Spark SQL."""
    column = SchemaField(name="default", type=type_name)
    value = decode_value(stored, column)
    base = base_type(type_name)
    if isinstance(value, bytes):
        return f"X'{value.hex().upper()}'"
    if isinstance(value, str):
        return "'" + re.sub(r"(['\\])", r"\\\1", value) + "'"
    if base == "boolean":
        return "true" if value else "false"
    if base == "interval year to month":
        return _months(int(value))
    if base == "interval day to second":
        return _duration(int(value))
    if base == "long":
        return f"{value}L"
    if base in ("byte", "short", "int"):
        return str(value)
    return f"CAST('{_text(column, value)}' AS {type_name.upper()})"


def _text(column: SchemaField, value: Bound) -> str:
    if isinstance(value, float):
        return repr(value)
    array = repeated(value, storage_type(column), 1)
    text = str(array.cast(pa.string())[0].as_py())
    return text.rstrip("0").rstrip(".") if base_type(str(column.type)) == "time" else text


def _months(count: int) -> str:
    years, months = divmod(abs(count), 12)
    return f"INTERVAL '{'-' if count < 0 else ''}{years}-{months}' YEAR TO MONTH"


def _duration(micros: int) -> str:
    days, rest = divmod(abs(micros), _DAY_US)
    seconds, fraction = divmod(rest, 10**6)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:06}"
    return f"INTERVAL '{'-' if micros < 0 else ''}{days} {clock}' DAY TO SECOND"
