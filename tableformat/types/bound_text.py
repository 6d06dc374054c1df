"""Bounds of the log as text for people: 2026-01-31 and 12.50 instead of the stored numbers."""

from __future__ import annotations

import pyarrow as pa

from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.model.statistics import Bound, bound_prefix, decode_bound
from colonnade.tableformat.types.arrow_types import storage_type
from colonnade.tableformat.types.decimals import from_unscaled

SHOWN = 40
"""The most characters of a bound that are shown."""


def bounds_text(
    column: SchemaField, statistics: ColumnStatistics | None
) -> tuple[str | None, str | None]:
    """Return the least and the greatest value of a column as text.

    Both are None where the log does not know them. Raises CorruptionError for a bound that its
    column cannot have.
    """
    if statistics is None or statistics.min is None or statistics.max is None:
        return None, None
    prefix = bound_prefix(column.type)
    low, high = decode_bound(statistics.min, prefix), decode_bound(statistics.max, prefix)
    return value_text(column, low), value_text(column, high)


def value_text(column: SchemaField, bound: Bound) -> str:
    """Return one bound of a column as text, cut to `SHOWN` characters."""
    text = _text(column, bound)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _text(column: SchemaField, bound: Bound) -> str:
    if isinstance(bound, bytes):
        return bound.hex()
    if not isinstance(bound, int):
        return str(bound)
    arrow = storage_type(column)
    if pa.types.is_decimal(arrow):
        return f"{from_unscaled(bound, arrow.scale):f}"
    if pa.types.is_boolean(arrow):
        return str(bool(bound)).lower()
    if pa.types.is_temporal(arrow):
        whole = pa.int32() if arrow.bit_width == 32 else pa.int64()
        # Arrow shows whole seconds without a fraction. Times of Spark may lie beyond datetime's
        # range.
        return str(pa.scalar(bound, whole).cast(arrow).cast(pa.string()).as_py())
    return str(bound)
