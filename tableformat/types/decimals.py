"""Decimals and the integers that they are stored as: 12.50 of `decimal(9,2)` is 1250."""

from __future__ import annotations

from decimal import Context, Decimal

_EXACT = Context(prec=76)


def unscaled(value: Decimal, scale: int) -> int:
    """The integer that a decimal is stored as."""
    return int(value.scaleb(scale, _EXACT))


def from_unscaled(number: int, scale: int) -> Decimal:
    """The decimal that an integer stands for, all its digits kept."""
    return Decimal(number).scaleb(-scale, _EXACT)
