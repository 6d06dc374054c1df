"""Bounds as tagged strings, and how bounds of parts become bounds of the whole.

JSON numbers cannot carry a 64-bit integer, a decimal or an infinity exactly, so a bound is a
string that begins with a tag:

    i:-42        integers, and what is stored as one: booleans (0, 1), dates (days), timestamps
                 (microseconds), times (nanoseconds), intervals (months or microseconds) and
                 decimals (unscaled value)
    f:0.1        float and double: the shortest text that reads back as the same value, inf, -inf
    s:text       strings; compared by code point, which is the order of their UTF-8 bytes
    b:AAE=       binary in base64; compared byte by byte

Spec: docs/spec/operations.md
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable

from manifests.entries import ColumnStatistics
from manifests.errors import CorruptionError

Bound = int | float | str | bytes


def encode_bound(value: Bound) -> str:
    """Write a bound with its tag. Requires: no NaN."""
    if isinstance(value, str):
        return f"s:{value}"
    if isinstance(value, bytes):
        return "b:" + base64.b64encode(value).decode("ascii")
    if isinstance(value, float):
        return f"f:{value!r}"
    return f"i:{int(value)}"


def decode_bound(text: str) -> Bound:
    """Read a tagged bound. Raises CorruptionError for anything else."""
    tag, body = text[:2], text[2:]
    try:
        if tag == "s:":
            return body
        if tag == "i:":
            return int(body)
        if tag == "f:" and (value := float(body)) == value:
            return value
        if tag == "b:":
            return base64.b64decode(body, validate=True)
    except (ValueError, binascii.Error) as error:
        raise CorruptionError(f"Bound {text!r:.100} in the log cannot be read.") from error
    raise CorruptionError(f"Bound {text!r:.100} in the log cannot be read.")


def merge_statistics(parts: Iterable[tuple[ColumnStatistics, int]]) -> ColumnStatistics:
    """Statistics of the union of parts, each given with its row count.

    A part without bounds takes part only with its counts when all its values are NULL or NaN;
    otherwise nothing is known about it and the union has no bounds.
    """
    low: Bound | None = None
    high: Bound | None = None
    nulls = nans = 0
    exact, bounded = True, True
    for part, rows in parts:
        nulls += part.nulls
        nans += part.nans
        exact = exact and part.exact
        if part.min is None or part.max is None:
            bounded = bounded and part.nulls + part.nans >= rows
            continue
        below, above = decode_bound(part.min), decode_bound(part.max)
        low = below if low is None or below < low else low  # type: ignore[operator]
        high = above if high is None or above > high else high  # type: ignore[operator]
    if not bounded or low is None or high is None:
        return ColumnStatistics(nulls=nulls, nans=nans, exact=exact and bounded)
    return ColumnStatistics(
        min=encode_bound(low), max=encode_bound(high), nulls=nulls, nans=nans, exact=exact
    )
