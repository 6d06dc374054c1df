"""Number the rows that one task wrote, which may be more than one bitmap can hold.

Numbers count from 0 through the RowSets as the task lists them. A bitmap holds 32-bit numbers, so
each bitmap is one *part*: the numbers whose upper 32 bits are equal to the part's key.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests.commit.rebase.targets import all_rows

PART_ROWS = 2**32
"""How many numbers one part can hold; tests use fewer."""


def first_numbers(count: int, part_rows: int = PART_ROWS) -> dict[int, FrozenBitMap]:
    """Return the numbers 0 to `count` - 1. Takes a few bytes for each 2**32."""
    starts = range(0, count, part_rows)
    return {part: all_rows(min(part_rows, count - start)) for part, start in enumerate(starts)}


def numbers_between(
    parts: Mapping[int, FrozenBitMap], low: int, high: int, part_rows: int = PART_ROWS
) -> NDArray[np.int64]:
    """Return the numbers that are at least `low` and below `high`, ascending."""
    found: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    for part in range(low // part_rows, -(-high // part_rows)):
        first = part * part_rows
        wanted = BitMap()
        wanted.add_range(max(low - first, 0), min(high - first, part_rows))
        rows = parts.get(part, FrozenBitMap()) & wanted
        found.append(np.asarray(rows.to_array(), np.int64) + first)
    return np.concatenate(found)
