"""What tasks report of rows, as the jar writes it."""

from __future__ import annotations

import base64
from collections.abc import Iterable

from pyroaring import BitMap


def encode_rows(numbers: Iterable[int]) -> str:
    """Return the numbers of rows as the base64 of a portable Roaring bitmap."""
    return base64.b64encode(BitMap(numbers).serialize()).decode()
