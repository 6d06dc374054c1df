"""Pad and trim the values of char and varchar columns. Does no I/O.

Spec: docs/spec/types.md#char-and-varchar
"""

from __future__ import annotations

import re
from functools import lru_cache

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.types.compute import pc

_LENGTH = re.compile(r"(?:var)?char\((\d+)\)", re.ASCII)
_MOST_BYTES = 2**31 - 1


def declared_length(type_text: str) -> int | None:
    """Return how many code points a char or varchar holds at most; None for any other type."""
    match = _LENGTH.fullmatch(type_text)
    return None if match is None else int(match[1])


def is_padded(type_text: str) -> bool:
    """Return whether values of this type are padded with spaces to their length."""
    return type_text.startswith("char(")


@lru_cache(maxsize=4096)
def has_lengths(field: SchemaField) -> bool:
    """Return whether the field, or one nested in it, is a char or varchar."""
    if isinstance(field.type, str):
        return declared_length(field.type) is not None
    return any(map(has_lengths, field.children()))


def fit_lengths(array: pa.Array, type_text: str, path: str) -> pa.Array:
    """Return text with the spaces that its type requires; other types are returned unchanged.

    A value that is too long loses only spaces at its end, so it may still be too long. Text that is
    not valid UTF-8 is returned unchanged. `path` names the column in errors. Raises
    InvalidInputError when padding a char makes one batch larger than 2 GiB.
    """
    length = declared_length(type_text)
    if length is None or not _is_valid(array):
        return array
    points = pc.utf8_length(array)
    is_longer = pc.greater(points, length)
    if pc.any(is_longer).as_py():
        # Only the long values may be padded: padding many short rows takes gigabytes.
        trimmed = pc.utf8_rtrim(array.filter(is_longer), " ")
        fitted = pc.utf8_rpad(trimmed, length)
        array = pc.replace_with_mask(array, is_longer.fill_null(False), fitted)
    if not is_padded(type_text) or not pc.any(pc.less(points, length)).as_py():
        return array
    if pc.sum(pc.binary_length(array)).as_py() + length * len(array) > _MOST_BYTES:
        raise InvalidInputError(
            f"Column {path!r} is {type_text}, whose spaces make {len(array)} rows more than 2 GiB;"
            " make it a varchar, or pass fewer rows at a time."
        )
    return pc.utf8_rpad(array, length)


def fit_text(text: str, type_text: str) -> str:
    """Return one text as a char column stores it; unchanged for any other type."""
    length = declared_length(type_text)
    if length is None or not is_padded(type_text):
        return text
    return text.ljust(length) if len(text) < length else text[:length] + text[length:].rstrip(" ")


def _is_valid(array: pa.Array) -> bool:
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True
