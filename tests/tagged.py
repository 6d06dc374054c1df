"""Bounds as the log writes them, of values whose class says their tag: no decimals and no dates."""

from __future__ import annotations

from colonnade.manifests.model.statistics import WHOLE, Bound, encode_bound, read_bound


def tagged(value: Bound) -> str:
    """Write a bound of a whole number, a float, a text or bytes."""
    return encode_bound(value, WHOLE)


def untagged(text: str) -> Bound:
    """Return the value of a bound, as the type that wrote it has it."""
    return read_bound(text)[1]
