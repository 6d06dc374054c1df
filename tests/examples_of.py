"""How many examples a property tries."""

from __future__ import annotations

from hypothesis import settings

QUICK = 25
"""Examples of a property of a push that states no number. A run by hand has 100."""


def examples(number: int) -> int:
    """Return `number`, or in a push a quarter of it."""
    return max(1, number * QUICK // 100) if settings().max_examples == QUICK else number
