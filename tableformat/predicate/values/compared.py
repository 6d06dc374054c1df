"""Comparisons of computed values, by the rules of `compare_arrays`."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.void import VOID
from colonnade.tableformat.predicate.expressions import Operator
from colonnade.tableformat.predicate.literals import Kind, Literal
from colonnade.tableformat.predicate.storage import domain_of
from colonnade.tableformat.predicate.values.casts import cast
from colonnade.tableformat.predicate.values.compare_arrays import compare_arrays
from colonnade.tableformat.predicate.values.row_value import (
    RowValue,
    computed,
    constant,
    unsupported,
)
from colonnade.tableformat.types.compute import pc


def compared(operator: Operator, left: RowValue, right: RowValue) -> RowValue:
    """Return whether two values compare so. Raises InvalidInputError for types without an order."""
    left, right = _read(left, right), _read(right, left)
    if VOID in (left.type, right.type):
        left, right = _typed(left, right), _typed(right, left)
    families = {_family(left), _family(right)}
    if len(families) > 1 and families != {"number", "float"}:
        raise InvalidInputError(
            f"A value of type {left.text} cannot be compared with one of type {right.text}; cast"
            " one of them."
        )

    def apply(one: pa.Array, other: pa.Array) -> pa.Array:
        if operator is Operator.NULL_SAFE_EQUAL:
            equal = pc.fill_null(compare_arrays(one, Operator.EQUAL, other), False)
            return pc.or_(equal, pc.and_(one.is_null(), other.is_null()))
        return compare_arrays(one, operator, other)

    asks_all = operator is Operator.NULL_SAFE_EQUAL
    return computed("boolean", (left, right), apply, asks_all=asks_all)


def is_one_of(value: RowValue, literals: Sequence[Literal]) -> RowValue:
    """Return whether a value equals one of some literals; else NULL if one of them is NULL."""
    stated = [each for each in literals if each.kind is not Kind.NULL]
    inner = RowValue(value.type, frozenset(), lambda batch: batch.column(0))
    tests = [compared(Operator.EQUAL, inner, constant(each)) for each in stated]

    def apply(array: pa.Array) -> pa.BooleanArray:
        batch = pa.RecordBatch.from_arrays([array], names=["value"])
        nothing = pa.scalar(None if len(stated) < len(literals) else False, pa.bool_())
        found = pa.repeat(nothing, len(array))
        for each in tests:
            found = pc.or_kleene(found, each.compute(batch))
        return found

    return computed("boolean", (value,), apply)


def _family(value: RowValue) -> str:
    domain = domain_of(value.text)
    if domain is None:
        raise unsupported(f"A comparison of {value.text}")
    return domain.family


def _typed(value: RowValue, other: RowValue) -> RowValue:
    if value.type != VOID:
        return value
    return cast(value, "boolean" if other.type == VOID else other.text)


def _read(value: RowValue, other: RowValue) -> RowValue:
    """Return a literal text that is compared with a date or time as one."""
    times = ("date", "timestamp", "timestamp_ntz")
    is_text = value.text == "string" and value.literal is not None
    return cast(value, other.text) if is_text and other.text in times else value
