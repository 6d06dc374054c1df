"""Bounds as tagged strings.

JSON numbers cannot represent a 64-bit integer, a decimal or an infinity exactly. A bound is
therefore a string that begins with a tag:

    i:-42        integers, and types stored as integers: booleans (0, 1), dates (days),
                 timestamps (microseconds), times (nanoseconds), intervals (months or
                 microseconds) and decimals (unscaled value)
    f:0.1        float and double: the shortest text that reads back as the same value, inf, -inf
    s:text       strings; compared by code point, which is the order of their UTF-8 bytes
    b:AAE=       binary in base64; compared byte by byte

Spec: docs/spec/operations.md
"""

from __future__ import annotations

import base64
import binascii
from functools import lru_cache

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.schema import SchemaField

Bound = int | float | str | bytes

BoundKinds = tuple[type[Bound], ...]
"""The classes that a bound may have; empty for a type without bounds."""

ANY_KIND: BoundKinds = (int, float, str, bytes)

LOG_BOUND_LENGTH = 32
"""The greatest length of a bound in the log, in code points or bytes. Longer ones are cut."""


def bound_kinds(column: SchemaField) -> BoundKinds:
    """Return the class of a column's bounds, or nothing if its type has no order."""
    name = column.type
    if not isinstance(name, str) or name in ("variant", "void") or " collate " in name:
        return ()
    if name in ("float", "double"):
        return (float,)
    if name == "binary":
        return (bytes,)
    return (str,) if name.startswith(("string", "char(", "varchar(")) else (int,)


def encode_bound(value: Bound) -> str:
    """Write a bound with its tag. Requires: the value is not NaN."""
    if isinstance(value, str):
        return f"s:{value}"
    if isinstance(value, bytes):
        return "b:" + base64.b64encode(value).decode("ascii")
    if isinstance(value, float):
        return f"f:{value!r}"
    return f"i:{int(value)}"


def decode_bound(text: str, kinds: BoundKinds = ANY_KIND) -> Bound:
    """Read a tagged bound.

    Raises CorruptionError for malformed text, and for a bound whose class is not in `kinds`.
    """
    try:
        bound = _decode(text[:2], text[2:])
    except (ValueError, binascii.Error) as error:
        raise CorruptionError(f"bound {text!r:.100} cannot be read.") from error
    if not isinstance(bound, kinds):
        raise CorruptionError(f"bound {text!r:.100} does not fit a column of this type.")
    return bound


@lru_cache(maxsize=16_384)
def _decode(tag: str, body: str) -> Bound:
    match tag:
        case "s:":
            return body
        case "i:":
            return int(body)
        case "b:":
            return base64.b64decode(body, validate=True)
        case "f:" if (value := float(body)) == value:
            return value
    raise ValueError(tag)


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
