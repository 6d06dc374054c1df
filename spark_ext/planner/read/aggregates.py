"""Compute count, min and max of a whole table from the log, if they are exact; pure.

Spark uses the answer without a check. A value that is not certain therefore has no answer, and
Spark reads the rows instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.model.statistics import Bound, bound_prefix, decode_bound, encode_bound
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.tableformat.predicate.storage import domain_of

NAN = "f:nan"
"""The answer NaN; bounds are never NaN."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The value of one aggregate: a count, a bound as text, `f:nan`, or None for NULL."""

    value: int | str | None


def aggregate(
    function: Mapping[str, Any], schema: TableSchema, rowsets: Sequence[LiveRowSet]
) -> Answer | None:
    """Evaluate `{"function": "min", "column": ["a"]}` over all rows; None if it is not certain.

    The functions are `count`, `min` and `max`; a `count` without a column is count(*).
    """
    path = function["column"]
    if path is None:
        counted = all(rowset.is_counted for rowset in rowsets)
        return Answer(sum(rowset.row_count for rowset in rowsets)) if counted else None
    if len(path) != 1 or path[0] not in schema.names:
        return None
    field = schema.field(path[0])
    if function["function"] == "count":
        return _count(field, rowsets)
    return _extreme(field, rowsets, largest=function["function"] == "max")


def _count(field: SchemaField, rowsets: Sequence[LiveRowSet]) -> Answer | None:
    total = 0
    for rowset in rowsets:
        nulls = 0 if not field.nullable else _nulls(field, rowset)
        if nulls is None or not rowset.is_counted:
            return None
        if nulls < rowset.entry.rows:
            if nulls and rowset.deleted_count:
                return None  # the log does not say whether the deleted rows were NULL
            total += rowset.row_count - nulls
    return Answer(total)


def _nulls(field: SchemaField, rowset: LiveRowSet) -> int | None:
    statistics = rowset.entry.statistics.get(field.id)
    return None if statistics is None or rowset.is_masked(field) else statistics.nulls


def _extreme(field: SchemaField, rowsets: Sequence[LiveRowSet], *, largest: bool) -> Answer | None:
    """Return the least or greatest value, with NaN as the greatest; None if it is not certain.

    The extreme of a RowSet is uncertain if its bound is inexact, or rows may be missing. Such a
    RowSet still allows an answer if its bound cannot exceed the extreme of the other RowSets.
    """
    if not isinstance(field.type, str) or domain_of(field.type) is None:
        return None
    certain: list[Bound] = []
    uncertain: list[Bound] = []
    nan, prefix = False, bound_prefix(field.type)
    for rowset in rowsets:
        statistics = rowset.entry.statistics.get(field.id)
        if statistics is None:
            return None
        present = rowset.entry.rows - statistics.nulls
        whole = not rowset.deleted_count and rowset.is_counted and not rowset.is_masked(field)
        if statistics.nans:
            if not whole and (largest or statistics.nans == present):
                return None
            nan = True
        if present == statistics.nans:
            continue
        text = statistics.max if largest else statistics.min
        bound = None if text is None else decode_bound(text, prefix)
        if bound is None:
            return None
        exact = statistics.exact and whole
        (certain if exact else uncertain).append(bound)
    return _combined(certain, uncertain, prefix, nan=nan, largest=largest)


def _combined(
    certain: Sequence[Any], uncertain: Sequence[Any], prefix: str, *, nan: bool, largest: bool
) -> Answer | None:
    if nan and largest:
        return Answer(NAN)
    best: Callable[..., Any] = max if largest else min
    if not certain:
        if uncertain:
            return None
        return Answer(NAN if nan else None)
    found = best(certain)
    if uncertain and best(found, *uncertain) != found:
        return None
    if isinstance(found, float) and found == 0.0:
        return None  # bounds do not tell 0.0 from -0.0, but rows do
    return Answer(encode_bound(found, prefix))
