"""Which values of a column of a feed a condition allows: they say which epochs to read. Pure.

_commit_version > 7 AND _change_type = 'delete'     epochs from 8 on
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.predicate import Predicate, bind, evaluate
from colonnade.tableformat.predicate.bound import (
    BoundAnd,
    BoundCompare,
    BoundIn,
    BoundNode,
    BoundOr,
)
from colonnade.tableformat.predicate.implied_predicate import implied
from colonnade.tableformat.types.arrow_types import arrow_type

_EDGE = 2**63 - 2


@dataclass(frozen=True, slots=True)
class Limits:
    """The least and the greatest value that a condition may allow. None: no end there.

    If it allows none, `low` is greater than `high`.
    """

    low: int | None = None
    high: int | None = None


def limits_of(where: Predicate, known: TableSchema, column: SchemaField) -> Limits:
    """Return which values of a column of whole numbers, or of times, a condition may allow.

    A time is in microseconds since 1970 UTC. `known` has all columns of the condition. Raises as
    `bind`.
    """
    own = bind(implied(where, known, {column.id}), known)
    # The truth can change only at the values that the condition names.
    values = {min(max(value, -_EDGE), _EDGE) for value in _values(own.root)} or {0}
    points = sorted({value + step for value in values for step in (-1, 0, 1)})
    numbers = pa.array(points, pa.int64()).cast(arrow_type(column))
    met = evaluate(own, pa.RecordBatch.from_arrays([numbers], names=[column.name]))
    allowed = [point for point, true in zip(points, met.to_pylist(), strict=True) if true]
    if not allowed:
        return Limits(0, -1)
    return Limits(
        None if allowed[0] == points[0] else allowed[0],
        None if allowed[-1] == points[-1] else allowed[-1],
    )


def _values(node: BoundNode) -> Iterator[int]:
    match node:
        case BoundAnd(parts) | BoundOr(parts):
            for part in parts:
                yield from _values(part)
        case BoundCompare():
            yield int(node.value)
        case BoundIn():
            yield from map(int, node.values)
