"""Decimals and the integers that store them: 12.50 of `decimal(9,2)` is 1250."""

from __future__ import annotations

from decimal import Context, Decimal

_EXACT = Context(prec=76)


def unscaled(value: Decimal, scale: int) -> int:
    """Return the integer that stores a decimal."""
    return int(value.scaleb(scale, _EXACT))


def from_unscaled(number: int, scale: int) -> Decimal:
    """Return the decimal that an integer stores, with all its digits."""
    return Decimal(number).scaleb(-scale, _EXACT)
