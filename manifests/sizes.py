"""Byte counts and shares as text that people write and read."""

from __future__ import annotations

import re

_SIZE = re.compile(r"(\d{1,18})\s*(?:([kmgt])i?)?b?", re.ASCII | re.IGNORECASE)


def parse_size(text: str) -> int:
    """Return the byte count of a text such as `7`, `64m`, `128mb` or `8 GiB`.

    Units are powers of 1024. Raises ValueError for any other text.
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    return int(match[1]) << 10 * " kmgt".index((match[2] or " ").lower())


def size_text(count: int) -> str:
    """Return a byte count as text for people: `640 B`, `1.5 MiB`."""
    if count < 1024:
        return f"{count} B"
    size, units = count / 1024, iter(("KiB", "MiB", "GiB", "TiB"))
    unit = next(units)
    while size >= 1000 and unit != "TiB":
        size, unit = size / 1024, next(units)
    return f"{size:.3g} {unit}"


def share_text(part: int, whole: int) -> str:
    """Format a part of a whole in per cent; a part of 0 gives an empty text."""
    if not part:
        return ""
    percent = 100 * part / whole
    return f"{percent:.1f} %" if percent >= 0.1 else "< 0.1 %"
