"""A predicate as regions of rows, where it selects exactly the rows of some regions. Pure.

Spec: docs/spec/operations.md#regions
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from colonnade.manifests.model.range_tombstones import MOST_REGIONS
from colonnade.manifests.model.regions import Interval
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.model.statistics import Bound, bound_prefix, encode_bound
from colonnade.tableformat.predicate.bound import (
    BoundAnd,
    BoundCompare,
    BoundIn,
    BoundNode,
    BoundOr,
    BoundPredicate,
    StorageValue,
)
from colonnade.tableformat.predicate.expressions import Operator

Regions = tuple[tuple[Interval, ...], ...]


@dataclass(frozen=True, slots=True)
class _Range:
    """The values of a column between two ends; None: no end there."""

    low: Any = None
    high: Any = None
    low_open: bool = False
    high_open: bool = False

    @property
    def is_empty(self) -> bool:
        if self.low is None or self.high is None:
            return False
        if self.low == self.high:
            return self.low_open or self.high_open
        return bool(self.low > self.high)

    def above(self, value: Bound, *, is_open: bool) -> _Range:
        if self.low is not None and (value, is_open) < (self.low, self.low_open):
            return self
        return replace(self, low=value, low_open=is_open)

    def below(self, value: Bound, *, is_open: bool) -> _Range:
        if self.high is not None and (value, not is_open) > (self.high, not self.high_open):
            return self
        return replace(self, high=value, high_open=is_open)

    def interval(self, column: SchemaField) -> Interval:
        prefix = bound_prefix(column.type)
        return Interval(
            column=column.id,
            low=None if self.low is None else encode_bound(self.low, prefix),
            high=None if self.high is None else encode_bound(self.high, prefix),
            low_open=self.low_open,
            high_open=self.high_open,
        )


def exact_regions(predicate: BoundPredicate, schema: TableSchema) -> Regions | None:
    """Return regions whose rows are exactly those that meet a predicate; None if there are none.

    The predicate must be a conjunction of comparisons of NOT NULL columns with values, or a
    disjunction of such. A list of values makes a region for each of them. Returns no region where
    no row can meet the predicate, and None for more than 1,000 regions.
    """
    root = predicate.root
    parts = [
        _regions(node, schema) for node in (root.parts if isinstance(root, BoundOr) else [root])
    ]
    known = [part for part in parts if part is not None]
    regions = tuple(region for part in known for region in part)
    return regions if len(known) == len(parts) and len(regions) <= MOST_REGIONS else None


def _regions(conjunction: BoundNode, schema: TableSchema) -> Regions | None:
    choices: dict[int, list[_Range]] = {}
    for node in _parts(conjunction):
        found = _ranges(node, schema)
        if found is None:
            return None
        column, ranges = found
        before = choices.get(column, [_Range()])
        choices[column] = [
            both for a in before for b in ranges if not (both := _both(a, b)).is_empty
        ]
    if not choices or _count(choices) > MOST_REGIONS or _leaves_nan(choices, schema):
        return None
    return tuple(
        tuple(
            each.interval(schema.by_id(column))
            for column, each in zip(choices, region, strict=True)
        )
        for region in product(*choices.values())
    )


def _parts(node: BoundNode) -> Iterable[BoundNode]:
    return node.parts if isinstance(node, BoundAnd) else (node,)


def _ranges(node: BoundNode, schema: TableSchema) -> tuple[int, list[_Range]] | None:
    """Return a column, and the ranges of its values that a node selects."""
    if not isinstance(node, BoundCompare | BoundIn) or len(node.column.path) != 1:
        return None
    column = schema.by_id(node.column.id)
    if column.nullable or not bound_prefix(column.type):
        return None
    if isinstance(node, BoundIn):
        if node.negated:
            return None
        return column.id, [_exactly(each) for each in node.values]
    value = _bound(node.value)
    match node.operator:
        case Operator.EQUAL:
            return column.id, [_exactly(node.value)]
        case Operator.LESS | Operator.LESS_EQUAL:
            is_open = node.operator is Operator.LESS
            return column.id, [_Range(high=value, high_open=is_open)]
        case Operator.GREATER | Operator.GREATER_EQUAL:
            is_open = node.operator is Operator.GREATER
            return column.id, [_Range(low=value, low_open=is_open)]
    return None


def _exactly(value: StorageValue) -> _Range:
    return _Range(_bound(value), _bound(value))


def _bound(value: StorageValue) -> Bound:
    return int(value) if isinstance(value, bool) else value


def _both(one: _Range, other: _Range) -> _Range:
    found = one
    if other.low is not None:
        found = found.above(other.low, is_open=other.low_open)
    if other.high is not None:
        found = found.below(other.high, is_open=other.high_open)
    return found


def _count(choices: Mapping[int, list[_Range]]) -> int:
    count = 1
    for ranges in choices.values():
        count *= len(ranges)
    return count


def _leaves_nan(choices: Mapping[int, list[_Range]], schema: TableSchema) -> bool:
    """Return whether NaN, which is in no region, meets the predicate: it is above every number."""
    return any(
        schema.by_id(column).type in ("float", "double")
        and any(each.high is None for each in ranges)
        for column, ranges in choices.items()
    )
