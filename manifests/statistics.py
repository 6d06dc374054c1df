"""Bounds as tagged strings.

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
