"""Rows of Arrow as rows of Python, also with values that Python has no type for."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pyarrow as pa


def python_rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """Return the rows of a batch as dicts by column."""
    columns = [[_python_value(each) for each in column] for column in batch.columns]
    return [dict(zip(batch.schema.names, row, strict=True)) for row in zip(*columns, strict=True)]


def _python_value(value: pa.Scalar) -> Any:
    """Convert a value, also inside nested ones; a time that Python cannot hold becomes text."""
    if not value.is_valid:
        return None
    match value:
        case pa.StructScalar():
            return {name: _python_value(each) for name, each in value.items()}
        case pa.MapScalar():
            return [tuple(_python_value(part) for part in pair.values()) for pair in value.values]
        case pa.ListScalar():
            return [_python_value(each) for each in value.values]
    try:
        return (value.cast(pa.time64("us")) if pa.types.is_time64(value.type) else value).as_py()
    except (OverflowError, ValueError):
        # Arrow's own texts of times are wrong from the year 32768 on.
        if isinstance(value, pa.Date32Scalar):
            return _iso(np.datetime64(value.value, "D"))
        if isinstance(value, pa.TimestampScalar):
            zone = "" if value.type.tz is None else "+00:00"
            return _iso(np.datetime64(value.value, value.type.unit)) + zone
        return value.cast(pa.string()).as_py()


def _iso(time: np.datetime64) -> str:
    """Format a time; NumPy counts the sign of a year as one of its four digits."""
    return re.sub(r"^-(?=\d{3}-)", "-0", str(time))
