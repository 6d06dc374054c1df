"""Fields of structs, and elements and functions of lists."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import INTEGERS, ArrayType, StructType, type_text
from colonnade.tableformat.predicate.expressions import Operator
from colonnade.tableformat.predicate.values.casts import cast
from colonnade.tableformat.predicate.values.compared import compared
from colonnade.tableformat.predicate.values.row_value import (
    RowValue,
    computed,
    unsupported,
    valid_mask,
)
from colonnade.tableformat.types.compute import pc


def field_of(value: RowValue, name: str) -> RowValue:
    """Return a field of a struct. Raises InvalidInputError for one that it does not have."""
    if not isinstance(value.type, StructType):
        raise InvalidInputError(f"A value of type {type_text(value.type)} has no field {name!r}.")
    fields = value.type.fields
    alike = [each for each in fields if each.name.casefold() == name.casefold()]
    found = next((each for each in fields if each.name == name), alike[0] if alike else None)
    if found is None:
        raise InvalidInputError(f"A value of type {type_text(value.type)} has no field {name!r}.")
    at = found.name
    return computed(found.type, (value,), lambda array: pc.struct_field(array, [at]))


def _elements(name: str, value: RowValue) -> ArrayType:
    if not isinstance(value.type, ArrayType):
        raise unsupported(f"{name} of {type_text(value.type)}")
    return value.type


def size(name: str, value: RowValue) -> RowValue:
    """Return the number of elements of a list."""
    _elements(name, value)
    return computed("int", (value,), pc.list_value_length)


def element(value: RowValue, index: RowValue, *, from_one: bool) -> RowValue:
    """Return an element of a list, counted from 0, or from 1 and from the end below 0.

    The value fails for a list that has no such element.
    """
    kind = _elements("element_at" if from_one else "[ ]", value).element.type
    if index.text not in INTEGERS[:3]:
        raise unsupported(f"an element of a list at {index.text}")

    def apply(lists: pa.Array, numbers: pa.Array) -> pa.Array:
        valid = valid_mask(lists, numbers)
        at = numbers.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        lengths = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
        places = np.where(at > 0, at - 1, np.where(at < 0, lengths + at, -1)) if from_one else at
        outside = valid & ((places < 0) | (places >= lengths))
        if outside.any():
            row = int(np.flatnonzero(outside)[0])
            raise InvalidInputError(
                f"A list of {lengths[row]} elements has none with the number {at[row]}."
            )
        starts = lists.offsets.to_numpy()[:-1].astype(np.int64)
        return lists.values.take(pa.array(starts + places, mask=~valid))

    return computed(kind, (value, index), apply, may_fail=True)


def contains(value: RowValue, wanted: RowValue) -> RowValue:
    """Return whether a list has an element; NULL if it has not, and one of its elements is NULL."""
    kind = _elements("array_contains", value).element.type
    if not isinstance(kind, str):
        raise unsupported(f"array_contains of elements of type {type_text(kind)}")
    inner = RowValue(kind, frozenset(), lambda batch: batch.column(0))
    other = RowValue(wanted.type, frozenset(), lambda batch: batch.column(1))
    equal = compared(Operator.EQUAL, inner, other)

    def apply(lists: pa.Array, others: pa.Array) -> pa.Array:
        parents = pc.list_parent_indices(lists).to_numpy()
        # A NULL may have elements, which `flatten` leaves out.
        parents, elements = parents[valid_mask(lists)[parents]], lists.flatten()
        pairs = pa.RecordBatch.from_arrays(
            [elements, others.take(pa.array(parents))], names=["element", "wanted"]
        )
        same = equal.compute(pairs)
        found, unknown = np.zeros(len(lists), np.bool_), np.zeros(len(lists), np.bool_)
        found[parents[same.fill_null(False).to_numpy(zero_copy_only=False)]] = True
        unknown[parents[same.is_null().to_numpy(zero_copy_only=False)]] = True
        return pa.array(found, mask=~valid_mask(lists, others) | (unknown & ~found))

    return computed("boolean", (value, wanted), apply)


def as_boolean(value: RowValue) -> RowValue:
    """Return a condition. Raises InvalidInputError for a value that is not boolean."""
    if value.text not in ("boolean", "void"):
        raise InvalidInputError(f"A condition is of type {value.text}; it must be boolean.")
    return cast(value, "boolean")
