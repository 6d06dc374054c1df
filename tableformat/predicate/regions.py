"""A region of rows as a predicate, which prunes and is evaluated like any other.

Spec: docs/spec/operations.md#regions
"""

from __future__ import annotations

from collections.abc import Iterator

from colonnade.manifests.model.regions import Interval, Region
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.model.statistics import Bound
from colonnade.tableformat.predicate.bound import (
    BoundColumn,
    BoundCompare,
    BoundIsNan,
    BoundIsNull,
    BoundNode,
    BoundPredicate,
    StorageValue,
    all_of,
)
from colonnade.tableformat.predicate.expressions import Operator


def region_predicate(region: Region) -> BoundPredicate:
    """Return a predicate that is TRUE in the rows of a region, and FALSE or NULL in the rest.

    It names each column by its id, so that columns of one name do not meet. Raises CorruptionError
    for a bound that its column cannot have.
    """
    nodes = (
        node
        for interval, column in zip(region.intervals, region.columns, strict=True)
        for node in _nodes(interval, column)
    )
    return BoundPredicate(all_of(nodes))


def named_by_id(column: SchemaField) -> SchemaField:
    """Return a column of a region under the name that `region_predicate` gives it."""
    return column.model_copy(update={"name": str(column.id)})


def _nodes(interval: Interval, column: SchemaField) -> Iterator[BoundNode]:
    bound = BoundColumn(column.id, (str(column.id),), str(column.type))
    low, high = interval.bounds(column)
    if low is None and high is None:
        yield BoundIsNull(bound, negated=True)
    if column.type in ("float", "double"):
        yield BoundIsNan(bound, negated=True)
    if low is not None:
        above = Operator.GREATER if interval.low_open else Operator.GREATER_EQUAL
        yield BoundCompare(bound, above, _stored(low, column))
    if high is not None:
        below = Operator.LESS if interval.high_open else Operator.LESS_EQUAL
        yield BoundCompare(bound, below, _stored(high, column))


def _stored(value: Bound, column: SchemaField) -> StorageValue:
    return bool(value) if column.type == "boolean" else value
