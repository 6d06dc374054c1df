"""Checks of arguments that callers pass to a store, and errors that several stores raise. Pure.

Spec: docs/spec/store.md#names
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Sized

from colonnade.manifests.errors import (
    CorruptionError,
    InvalidInputError,
    MissingObjectError,
    NotFoundError,
)

_PART = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}"
_NAME = re.compile(rf"{_PART}(?:/{_PART}){{0,7}}", re.ASCII)
_MARKER = ".tmp-"
_UNFINISHED = re.compile(rf"((?:.*/)?){re.escape(_MARKER)}[0-9a-f]{{16}}-([^/]+)", re.ASCII)


def is_name(name: str) -> bool:
    """Return whether `name` can name an object (see `check_name`)."""
    return _NAME.fullmatch(name) is not None


def finished_name(name: str) -> str | None:
    """Return the name that an unfinished object would get; None for any other name."""
    found = _UNFINISHED.fullmatch(name) if _MARKER in name else None
    if found is None or not is_name(finished := found[1] + found[2]):
        return None
    return finished


def is_unfinished(name: str) -> bool:
    """Return whether a name is that of an unfinished object."""
    return finished_name(name) is not None


def check_name(name: str) -> None:
    """Refuse a text that cannot name an object.

    A name has one to eight parts of 1 to 200 ASCII letters, digits, `_`, `-` and `.`. No part
    begins with `.` or `-`. A name is therefore never absolute or hidden, and has no `..` and no
    empty part.

    Raises: InvalidInputError.
    """
    if not is_name(name):
        raise InvalidInputError(
            f"{name[:300]!r} is not an object name: it must be relative, made of letters, digits,"
            " '_', '-' and '.', and stay inside the database."
        )


def check_prefix(prefix: str) -> None:
    """Refuse a prefix that no object name can begin with. Raises: InvalidInputError."""
    if prefix:
        check_name(prefix.removesuffix("/"))


def check_body(name: str, data: Sized) -> None:
    """Refuse a malformed name or an empty body. Raises: InvalidInputError."""
    check_name(name)
    if not len(data):
        raise InvalidInputError(
            f"{name} has an empty body: every object must hold at least one byte."
        )


def check_ranges(ranges: Sequence[tuple[int, int]]) -> None:
    """Refuse negative offsets and lengths. Raises: InvalidInputError."""
    for offset, length in ranges:
        if offset < 0 or length < 0:
            raise InvalidInputError(f"{length} bytes from offset {offset} is not a range of bytes.")


def no_log(location: str) -> NotFoundError:
    """Return the error for an epoch whose log does not exist, or was replaced."""
    return NotFoundError(
        f"The database at {location} was removed or replaced, so nothing can be committed to it;"
        " open it again."
    )


def no_database(location: str) -> NotFoundError:
    """Return the error for a place that has no database, and is in none."""
    return NotFoundError(
        f"{location} is not a Colonnade database or table; check the path, or create one there."
    )


def missing_object(location: str, object_id: str) -> MissingObjectError:
    """Return the error for an object that was to be read and does not exist."""
    problem = f"{location} is missing, though the log names it."
    return MissingObjectError(
        f"{problem} Restore it, or run `verify`, which says what it is for.", object_id
    )


def too_large(location: str, size: str, limit: int) -> CorruptionError:
    """Return the error for an object above its limit; `size` is its size, or "at least N"."""
    return CorruptionError(f"{location} holds {size} bytes, but at most {limit} are allowed.")


def truncated(location: str, size: int, offset: int, length: int) -> CorruptionError:
    """Return the error for an object that ends before the end of a required range."""
    return CorruptionError(
        f"{location} is truncated: {length} bytes from offset {offset} are needed, but it holds"
        f" {size} bytes."
    )
