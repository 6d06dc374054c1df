"""Bounds as texts with a prefix.

JSON numbers cannot represent a 64-bit integer, a decimal or an infinity exactly. A bound is
therefore a string that begins with a prefix:

    i:-42        integers, and types stored as integers: booleans (0, 1), timestamps
                 (microseconds), times (nanoseconds), intervals (months or microseconds)
    i2:-4200     decimals with two digits behind the point: the unscaled value
    d:20454      dates: days since 1970-01-01
    f:0.1        float and double: the shortest text that reads back as the same value, inf, -inf
    s:text       strings; compared by code point, which is the order of their UTF-8 bytes
    b:AAE=       binary in base64; compared byte by byte

A prefix says how a value is written. So a bound keeps its meaning when its column widens.
Spec: docs/spec/operations.md#statistics-and-bounds
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable
from functools import lru_cache

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.schema import DataType, decimal_digits

Bound = int | float | str | bytes

WHOLE, DAYS, REAL, TEXT, BINARY = "i", "d", "f", "s", "b"
"""The prefixes of bounds, besides those of decimals with digits behind the point."""

LOG_BOUND_LENGTH = 32
"""The greatest length of a bound in the log, in code points or bytes. Longer ones are cut."""

_SCALED = re.compile(r"i([1-9]|[12][0-9]|3[0-8])?", re.ASCII)

_DAY_US = 86_400_000_000


@lru_cache(maxsize=4096)
def _tag_of(name: str) -> str:
    if name in ("variant", "void") or " collate " in name:
        return ""
    if (digits := decimal_digits(name)) is not None:
        return f"i{digits[1] or ''}"
    if name.startswith(("string", "char(", "varchar(")):
        return TEXT
    return {"float": REAL, "double": REAL, "binary": BINARY, "date": DAYS}.get(name, WHOLE)


def bound_prefix(data_type: DataType) -> str:
    """Return the prefix of the bounds of a type, or an empty text if the type has no order."""
    return _tag_of(data_type) if isinstance(data_type, str) else ""


def encode_bound(value: Bound, prefix: str) -> str:
    """Write a bound with its prefix. Requires: the value is not NaN, and is one of the prefix."""
    if isinstance(value, str):
        return f"{TEXT}:{value}"
    if isinstance(value, bytes):
        return f"{BINARY}:{base64.b64encode(value).decode('ascii')}"
    if isinstance(value, float):
        return f"{REAL}:{value!r}"
    return f"{prefix}:{int(value)}"


def read_bound(text: str) -> tuple[str, Bound]:
    """Return the prefix of a bound and its value. Raises CorruptionError for malformed text."""
    try:
        return _read(text)
    except (ValueError, binascii.Error) as error:
        raise CorruptionError(f"bound {text!r:.100} cannot be read.") from error


def decode_bound(text: str, prefix: str) -> Bound:
    """Read a bound as a value of another prefix, which is that of a column.

    Raises CorruptionError for malformed text, and for a bound that no type has which widens to a
    type of the prefix.
    """
    own, value = read_bound(text)
    if own == prefix:
        return value
    if not prefix_widens(own, prefix):
        raise CorruptionError(f"bound {text!r:.100} does not fit a column of this type.")
    return in_prefix(value, own, prefix)


def is_prefix(text: str) -> bool:
    """Return whether a text is the prefix of some bounds."""
    return text in (DAYS, REAL, TEXT, BINARY) or _SCALED.fullmatch(text) is not None


def prefix_widens(prefix: str, wanted: str) -> bool:
    """Return whether the bounds of a prefix are also bounds of another one, or of the same one."""
    if prefix == wanted:
        return True
    if prefix == DAYS:
        return wanted == WHOLE
    if _SCALED.fullmatch(prefix) is None:
        return False
    if wanted == REAL:
        return prefix == WHOLE
    return _SCALED.fullmatch(wanted) is not None and _scale(prefix) < _scale(wanted)


def widest_prefix(prefixes: Iterable[str]) -> str:
    """Return the prefix that all of these widen to; that of whole numbers if there are none.

    Raises CorruptionError if there is no such prefix.
    """
    every = list(dict.fromkeys(prefixes)) or [WHOLE]
    found = next(
        (prefix for prefix in every if all(prefix_widens(each, prefix) for each in every)), None
    )
    if found is None:
        raise CorruptionError("A column of the log has bounds of types that cannot be compared.")
    return found


def in_prefix(value: Bound, prefix: str, wanted: str) -> Bound:
    """Return the value of a bound in another prefix. Requires: `prefix_widens` allows it.

    A date that no timestamp can hold becomes the nearest timestamp: only deleted rows have one.
    """
    if prefix == wanted or not isinstance(value, int):
        return value
    if prefix == DAYS:
        return max(-(2**63), min(value * _DAY_US, 2**63 - 1))
    if wanted != REAL:
        return int(value * 10 ** (_scale(wanted) - _scale(prefix)))
    try:
        return float(value)
    except OverflowError as error:
        raise CorruptionError(f"bound {value!r:.100} is too large for its column.") from error


def _scale(prefix: str) -> int:
    return int(prefix[1:] or 0)


@lru_cache(maxsize=16_384)
def _read(text: str) -> tuple[str, Bound]:
    prefix, colon, body = text.partition(":")
    if colon and (prefix == DAYS or _SCALED.fullmatch(prefix)):
        return prefix, int(body)
    match prefix + colon:
        case "s:":
            return prefix, body
        case "b:":
            return prefix, base64.b64decode(body, validate=True)
        case "f:" if (value := float(body)) == value:
            return prefix, value
    raise ValueError(prefix)


def value_after(prefix: str | bytes) -> str | bytes | None:
    """Return the smallest value above all values that begin with `prefix`, or None."""
    if isinstance(prefix, bytes):
        stem = prefix.rstrip(b"\xff")
        return stem[:-1] + bytes([stem[-1] + 1]) if stem else None
    text = prefix.rstrip("\U0010ffff")
    if not text:
        return None
    # A string cannot contain the code points from U+D800 to U+DFFF.
    following = 0xE000 if text[-1] == "\ud7ff" else ord(text[-1]) + 1
    return text[:-1] + chr(following)
