"""Compute count, min and max of a whole table from the log, if they are exact; pure.

Spark uses the answer without a check. A value that is not certain therefore has no answer, and
Spark reads the rows instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.model.statistics import Bound, bound_prefix, decode_bound, encode_bound
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from colonnade.spark_ext.planner.messages.queries import AggregateCall
from colonnade.tableformat.predicate.storage import domain_of

NAN = "f:nan"
"""The answer NaN; bounds are never NaN."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The value of one aggregate: a count, a bound as text, `f:nan`, or None for NULL."""

    value: int | str | None


def aggregate(call: AggregateCall, schema: TableSchema, view: View) -> Answer | None:
    """Evaluate an aggregate over a view; None if it is not certain."""
    if call.column is None:
        rows = sum(rowset.row_count for rowset in view.rowsets)
        return None if view.hidden else Answer(rows)
    if call.column not in schema.names:
        return None
    field = schema.field(call.column)
    if call.function == "count":
        return _count(field, view)
    return _extreme(field, view, largest=call.function == "max")


def _count(field: SchemaField, view: View) -> Answer | None:
    total = 0
    for rowset in view.rowsets:
        nulls = 0 if not field.nullable else _nulls(field, view, rowset)
        if nulls is None or not view.is_counted(rowset):
            return None
        if nulls < rowset.entry.rows:
            if nulls and rowset.deleted_count:
                return None  # the log does not say whether the deleted rows were NULL
            total += rowset.row_count - nulls
    return Answer(total)


def _nulls(field: SchemaField, view: View, rowset: LiveRowSet) -> int | None:
    statistics = rowset.entry.statistics.get(field.id)
    return None if statistics is None or view.is_masked(rowset, field) else statistics.nulls


def _extreme(field: SchemaField, view: View, *, largest: bool) -> Answer | None:
    """Return the least or greatest value, with NaN as the greatest; None if it is not certain.

    The extreme of a RowSet is uncertain if its bound is inexact, or rows may be missing. Such a
    RowSet still allows an answer if its bound cannot exceed the extreme of the other RowSets.
    """
    if not isinstance(field.type, str) or domain_of(field.type) is None:
        return None
    certain: list[Bound] = []
    uncertain: list[Bound] = []
    nan, prefix = False, bound_prefix(field.type)
    for rowset in view.rowsets:
        statistics = rowset.entry.statistics.get(field.id)
        if statistics is None:
            return None
        present = rowset.entry.rows - statistics.nulls
        counted = not rowset.deleted_count and view.is_counted(rowset)
        whole = counted and not view.is_masked(rowset, field)
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
