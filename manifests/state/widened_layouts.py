"""Sort orders and partition layouts of a table whose columns get other ids, or wider types. Pure.

A column gets a new id when its type widens, and an earlier one again by a restore. All sort orders
and partition layouts then name it by its present id.
Spec: docs/spec/types.md#widening
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from colonnade.manifests.model.entries import PartitionField, SortField
from colonnade.manifests.model.schema import TableSchema, decimal_digits
from colonnade.manifests.model.void import VOID
from colonnade.manifests.model.widening import keeps_bounds, text_length
from colonnade.manifests.state.snapshot import TableState

_WHOLE = ("byte", "short", "int", "long")


def with_present_ids(state: TableState, schema: TableSchema) -> TableState:
    """Return a table whose sort orders and layouts name columns by the ids they get by `schema`.

    They name a dropped column by its first id, because a restore looks for that id.
    """
    if not any(field.earlier for field in (*state.schema.fields, *schema.fields)):
        return state
    present = _present_ids(state.schema, schema)

    def layout(fields: tuple[PartitionField, ...]) -> tuple[PartitionField, ...]:
        return tuple(each.model_copy(update={"column": present(each.column)}) for each in fields)

    def order(fields: tuple[SortField, ...]) -> tuple[SortField, ...]:
        return tuple(each.model_copy(update={"column": present(each.column)}) for each in fields)

    orders = tuple(order(fields) for fields in state.sort_orders)
    layouts = tuple(layout(fields) for fields in state.partition_layouts)
    return replace(state, sort_orders=orders, partition_layouts=layouts)


def _present_ids(before: TableSchema, after: TableSchema) -> Callable[[int], int]:
    known = {field.id: field.ids for field in before.fields}
    present = {each: field.id for field in after.fields for each in field.ids}

    def of(column: int) -> int:
        ids = known.get(column, (column,))
        return next((present[each] for each in reversed(ids) if each in present), ids[0])

    return of


def keeps_partitions(transform: str, old: str, new: str) -> bool:
    """Return whether a transform gives a value the same partition in a wider type.

    Requires: `old` widens to `new`.
    """
    if old == VOID:
        return True  # no layout had values of it: a restore lets a former one name it
    if transform == "identity":
        return keeps_bounds(old, new) and new != "double"
    if old == "date":
        return transform in ("years", "months", "days")
    if old in _WHOLE:
        return new in _WHOLE  # a decimal is hashed in another form
    if decimal_digits(old) is not None:
        return keeps_bounds(old, new)
    return text_length(old) is not None


def partitioned_types(transform: str, old: str) -> str:
    """Return the wider types of a column that keep its partitions, for messages; may be empty."""
    if old in _WHOLE:
        wider = [*_WHOLE[_WHOLE.index(old) + 1 :]]
        return ", ".join([*wider, *(["a decimal of scale 0"] if transform == "identity" else [])])
    if old == "date":
        return "timestamp_ntz" if keeps_partitions(transform, old, "timestamp_ntz") else ""
    if (digits := decimal_digits(old)) is not None:
        return f"a decimal of more digits and scale {digits[1]}" if digits[0] < 38 else ""
    return "a longer varchar, string" if text_length(old) is not None else ""
