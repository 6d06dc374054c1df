"""Merge modes and sequences in plain Python, one value after another: what keyed tables must hold.

Spec: docs/spec/keys.md
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from typing import Any

import numpy as np

Row = dict[str, Any]
"""A row: the columns that it has. A row of a batch may lack some."""

_EXACT = Context(prec=100)


class Overflow(Exception):
    """A sum that its column cannot hold."""


@dataclass(frozen=True)
class MergeModel:
    """How rows of one key become one row. `modes` and `sequences` are given by column."""

    modes: Mapping[str, str] = field(default_factory=dict)
    sequences: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, properties: Mapping[str, str], columns: Collection[str], types: Mapping[str, str]
    ) -> MergeModel:
        """Return what the properties of a table say of its columns beside its key."""
        modes = {k[6:]: v for k, v in properties.items() if k.startswith("merge.")}
        own = {k[9:]: v for k, v in properties.items() if k.startswith("sequence.")}
        of_rows = properties.get("sequence")
        rest = {*columns} - own.keys() - {*own.values(), of_rows} if of_rows else set()
        return cls(modes, own | {name: str(of_rows) for name in rest}, types)

    def merge(self, stored: Row | None, given: Sequence[Row], defaults: Row) -> Row:
        """Return the row of a key after a batch that has the rows `given` of it, as they arrived.

        `defaults` has all columns of the table.
        """
        rows = [stored, *given] if stored is not None else list(given)
        return {name: self._cell(name, rows, stored is not None, defaults) for name in defaults}

    def _cell(self, name: str, rows: Sequence[Row], has_stored: bool, defaults: Row) -> Any:
        if name not in rows[-1]:
            return rows[0][name] if has_stored else defaults[name]
        mode = self.modes.get(name, "replace")
        if name in self.sequences.values():
            mode = "max"
        sequence = self.sequences.get(name)
        ages = [None if sequence is None else row[sequence] for row in rows]
        sided = mode in ("replace", "coalesce", "map")
        order = sorted(
            range(len(rows)),
            key=lambda i: (not sided and (i > 0 or not has_stored), *_age(ages[i])),
        )
        return merge_values(mode, [rows[i][name] for i in order], self.types.get(name, "long"))


def _age(value: Any) -> tuple[bool, Any]:
    return (value is not None, 0 if value is None else value)


def merge_values(mode: str, values: Sequence[Any], type_name: str) -> Any:
    """Fold values that are in the order in which they count. Raises Overflow."""
    known = [each for each in values if each is not None]
    if mode == "replace":
        return values[-1]
    if not known:
        return None
    word, _, separator = mode.partition(":")
    match word:
        case "coalesce":
            return known[-1]
        case "first":
            return known[0]
        case "min":
            return min(known, key=_order)
        case "max":
            return max(known, key=_order)
        case "add":
            return _sum(known, type_name)
        case "list":
            return [each for part in known for each in part]
        case "union":
            elements = [each for part in known for each in part]
            seen: dict[Any, Any] = {}
            for each in elements:
                seen.setdefault(_identity(each), each)
            return list(seen.values())
        case "map":
            return _entries(known)
        case "concat":
            return separator.join(known)
    raise AssertionError(mode)


def _sum(known: Sequence[Any], type_name: str) -> Any:
    if type_name in ("float", "double"):
        total = known[0]
        for each in known[1:]:
            total = total + each
        with np.errstate(over="ignore"):
            return float(np.float32(total)) if type_name == "float" else total
    if type_name.startswith("decimal"):
        precision, scale = map(int, type_name[8:-1].split(","))
        whole = sum(int(each.scaleb(scale, _EXACT)) for each in known)
        if abs(whole) >= 10**precision:
            raise Overflow
        return Decimal(whole).scaleb(-scale, _EXACT)
    bits = {"byte": 8, "short": 16, "int": 32, "long": 64}[type_name]
    total = sum(known)
    if not -(2 ** (bits - 1)) <= total < 2 ** (bits - 1):
        raise Overflow
    return total


def _entries(known: Sequence[Any]) -> list[tuple[Any, Any]]:
    entries: dict[Any, tuple[Any, Any]] = {}
    for part in known:
        for key, value in part:
            entries.pop(_identity(key), None)
            if value is not None:
                entries[_identity(key)] = (key, value)
    return list(entries.values())


def _order(value: Any) -> tuple[bool, Any]:
    is_nan = isinstance(value, float) and math.isnan(value)
    return (is_nan, 0 if is_nan else value)


def _identity(value: Any) -> Any:
    """Return what equal values share: NaN equals NaN, and -0.0 equals 0.0."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    return value
