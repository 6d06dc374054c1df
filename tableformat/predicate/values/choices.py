"""Expressions that choose one of several values: CASE, COALESCE, NULLIF, GREATEST and LEAST.

A value is computed only for the rows that need it, because it may fail for others.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from colonnade.manifests.model.columns.void import VOID
from colonnade.manifests.model.schema import DataType
from colonnade.tableformat.predicate.expressions import Operator
from colonnade.tableformat.predicate.literals import NULL
from colonnade.tableformat.predicate.values.casts import cast
from colonnade.tableformat.predicate.values.compared import compared
from colonnade.tableformat.predicate.values.row_value import (
    RowValue,
    arrow_of,
    constant,
    on_rows,
)
from colonnade.tableformat.predicate.values.row_value import computed as computed_of
from colonnade.tableformat.predicate.values.types import common_type
from colonnade.tableformat.types.compute import pc


def _alike(name: str, values: Sequence[RowValue]) -> tuple[DataType, list[RowValue]]:
    kind = common_type(list(values), name)
    if not isinstance(kind, str):
        return kind, list(values)
    return kind, [cast(each, kind) for each in values]


def case(branches: Sequence[tuple[RowValue, RowValue]], other: RowValue | None) -> RowValue:
    """Return the value of the first branch whose condition is TRUE, else `other`, else NULL."""
    last = constant(NULL) if other is None else other
    kind, values = _alike("CASE", [*(value for _, value in branches), last])
    if not isinstance(kind, str):
        values = [_of_kind(each, kind) for each in values]
    conditions = [condition for condition, _ in branches]

    def compute(batch: pa.RecordBatch) -> pa.Array:
        left = pa.repeat(pa.scalar(True), batch.num_rows)
        chosen, parts = [], []
        for condition, value in zip(conditions, values, strict=False):
            met = pc.fill_null(on_rows(condition.compute, batch, left), False)
            chosen.append(met)
            parts.append(on_rows(value.compute, batch, met))
            left = pc.and_not(left, met)
        parts.append(on_rows(values[-1].compute, batch, left))
        conditions_met = pa.StructArray.from_arrays(chosen, [str(at) for at in range(len(chosen))])
        return pc.case_when(conditions_met, *parts)

    return _value(kind, [*conditions, *values], compute)


def _of_kind(value: RowValue, kind: DataType) -> RowValue:
    """Return a value as a nested type. Only NULL can have another type."""
    if value.type != VOID:
        return value
    nothing = pa.scalar(None, arrow_of(kind))
    return computed_of(kind, (value,), lambda array: pa.repeat(nothing, len(array)))


def _value(kind: DataType, parts: Sequence[RowValue], compute: object) -> RowValue:
    assert callable(compute)
    columns = frozenset[int]().union(*(each.columns for each in parts))
    return RowValue(kind, columns, compute, any(each.may_fail for each in parts))


def coalesce(values: Sequence[RowValue]) -> RowValue:
    """Return the first value that is not NULL."""
    kind, parts = _alike("COALESCE", values)
    parts = [_of_kind(each, kind) for each in parts]

    def compute(batch: pa.RecordBatch) -> pa.Array:
        found = parts[0].compute(batch)
        for each in parts[1:]:
            if not found.null_count:
                break
            more = on_rows(each.compute, batch, found.is_null())
            found = pc.coalesce(found, more)
        return found

    return _value(kind, parts, compute)


def nullif(value: RowValue, other: RowValue) -> RowValue:
    """Return a value, or NULL where it equals the other."""
    equal = compared(Operator.EQUAL, value, other)
    nothing = pa.scalar(None, arrow_of(value.type))

    def compute(batch: pa.RecordBatch) -> pa.Array:
        same = pc.fill_null(equal.compute(batch), False)
        return pc.if_else(same, nothing, value.compute(batch))

    return _value(value.type, (value, equal), compute)


def most(name: str, values: Sequence[RowValue]) -> RowValue:
    """Return the greatest or least value; NULL is left out, and NaN is the greatest number."""
    kind, parts = _alike(name.upper(), values)
    operator = Operator.GREATER if name == "greatest" else Operator.LESS
    found = parts[0]
    for each in parts[1:]:
        found = _better(operator, found, each, kind)
    return found


def _better(operator: Operator, one: RowValue, other: RowValue, kind: DataType) -> RowValue:
    better = compared(operator, other, one)

    def compute(batch: pa.RecordBatch) -> pa.Array:
        first, second = one.compute(batch), other.compute(batch)
        takes = pc.or_kleene(pc.fill_null(better.compute(batch), False), first.is_null())
        return pc.if_else(takes, second, first)

    return _value(kind, (one, other, better), compute)
