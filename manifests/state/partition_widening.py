"""Which wider types leave every row of a table in its partition. Pure.

Spec: docs/spec/partitions.md#wider-columns
"""

from __future__ import annotations

from colonnade.manifests.model.columns.void import VOID
from colonnade.manifests.model.columns.widening import keeps_bounds, text_length
from colonnade.manifests.model.partition_transforms import TRANSFORMS
from colonnade.manifests.model.schema import INTEGERS, decimal_digits


def keeps_partitions(transform: str, old: str, new: str) -> bool:
    """Return whether a transform gives a value the same partition in a wider type.

    Requires: `old` widens to `new`.
    """
    if old == VOID:
        return True  # no layout had values of it: a restore lets a former one name it
    if transform == "identity":
        return keeps_bounds(old, new) and new != "double"
    if old == "date":
        return TRANSFORMS[transform].of_days
    if old in INTEGERS:
        return new in INTEGERS  # a decimal is hashed in another form
    if decimal_digits(old) is not None:
        return keeps_bounds(old, new)
    return text_length(old) is not None


def partitioned_types(transform: str, old: str) -> str:
    """Return the wider types of a column that keep its partitions, for messages; may be empty."""
    if old in INTEGERS:
        wider = [*INTEGERS[INTEGERS.index(old) + 1 :]]
        return ", ".join([*wider, *(["a decimal of scale 0"] if transform == "identity" else [])])
    if old == "date":
        return "timestamp_ntz" if keeps_partitions(transform, old, "timestamp_ntz") else ""
    if (digits := decimal_digits(old)) is not None:
        return f"a decimal of more digits and scale {digits[1]}" if digits[0] < 38 else ""
    return "a longer varchar, string" if text_length(old) is not None else ""
