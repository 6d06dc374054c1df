"""Decide whether data that was written for some columns is right under the table's later columns.

RowSets know columns by id, so most changes of columns leave them right. Readers ignore a dropped
column and find a renamed one. They return the initial value or NULL in a new column, and convert
the values of a widened one.
Spec: docs/spec/conflicts.md#tables-and-columns
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from colonnade.manifests.commit.change import Change
from colonnade.manifests.model.columns.widening import may_overflow, widens
from colonnade.manifests.model.operations import (
    AddRangeTombstone,
    AddRowSet,
    AddRowSets,
    Compaction,
    CreateTable,
    ReplaceColumn,
)
from colonnade.manifests.model.schema import SchemaField, StructType, TableSchema, walk
from colonnade.manifests.state.replaced_columns import replaceable
from colonnade.manifests.state.snapshot import TableState

Written = AddRowSet | AddRowSets | ReplaceColumn | Compaction
"""Operations with data that was written for the columns of the change's base."""


def fits_columns(change: Change, planned: TableState, current: TableState) -> bool:
    """Return whether a change of a table, planned on one state, is right in a later state.

    Only columns are compared. The rows of a change may fit, and still be wrong: a statement that
    inserts missing keys has looked for them as values of the types that the key columns had. A
    compaction writes no new values, which a user would have meant for a column by its name. Whether
    columns can be replaced is another question (`fits_replacements`).
    """
    old, new = planned.schema, current.schema
    ops = [op for op in change.ops if isinstance(op, Written) and op.table == current.id]
    has_values = any(not isinstance(op, Compaction) for op in ops)
    return (
        rows_fit(old, new)
        and (not has_values or same_by_name(old, new))
        and all(keep_types(g.columns, old, new) for g in change.keys if g.table == current.id)
    )


def fits_replacements(change: Change, current: TableState) -> bool:
    """Return whether the columns that a change replaces in a table can still be replaced."""
    return all(
        _can_replace(op, current)
        for op in change.ops
        if isinstance(op, ReplaceColumn) and op.table == current.id
    )


def keeps_meanings(change: Change, planned: TableState, current: TableState) -> bool:
    """Return whether one id means one column in a table and in that which replaces it by a change.

    The new table gives columns that stay the ids that they had at the base, and other columns ids
    that were free there. A concurrent writer may have renamed the former or given the latter since.
    """
    made = [op for op in change.ops if isinstance(op, CreateTable) and op.name == planned.name]
    if not made:
        return True
    given = {each.id for each in walk(made[0].table_schema.fields)}
    before, now = _names(planned.schema), _names(current.schema)
    return current.next_column_id == planned.next_column_id and all(
        now.get(each, before[each]) == before[each] for each in given & before.keys()
    )


def keeps_ranges(change: Change, planned: TableState, current: TableState) -> bool:
    """Return whether the columns of a change's range tombstones have the types that they had.

    A bound of the narrower type need not be one among the values of the wider type: `a < 3.5` of
    whole numbers ends at 4.
    """
    ops = (op for op in change.ops if isinstance(op, AddRangeTombstone) and op.table == current.id)
    columns = {side.column for op in ops for region in op.regions for side in region}
    return keep_types(columns, planned.schema, current.schema)


def _names(schema: TableSchema) -> dict[int, str]:
    return {each.id: each.name.casefold() for each in walk(schema.fields)}


def rows_fit(written: TableSchema, current: TableSchema) -> bool:
    """Return whether RowSets written for some columns are correct under other columns, by id.

    A column may have another name, comment or position, may have lost NOT NULL, and may have
    widened. It must not be narrower again after a restore, because no reader would take the values
    of the wider one. A date must not have
    become a timestamp, because the range of the new dates was not checked. A new column must be
    nullable or have an initial value, and it must not be generated. The rules for fields of structs
    are the same.
    """
    return written is current or _fields_fit(written.fields, current.fields)


def _fields_fit(written: Sequence[SchemaField], current: Sequence[SchemaField]) -> bool:
    before = {field.id: field for field in written}
    return all(
        field.may_be_absent if (own := before.get(field.id)) is None else column_fits(own, field)
        for field in current
    )


def column_fits(written: SchemaField, current: SchemaField) -> bool:
    """Return whether one column, or field of a struct, fits as `rows_fit` says."""
    return (
        _values_fit(written, current)
        and current.generated in (None, written.generated)
        and (current.nullable or not written.nullable)
    )


def _values_fit(written: SchemaField, current: SchemaField) -> bool:
    own, other = written.type, current.type
    if own == other:
        return True
    if isinstance(own, str) or isinstance(other, str):
        return widens(own, other) and not may_overflow(own, other)
    if own.type != other.type:
        return False
    before, after = written.children(), current.children()
    if isinstance(own, StructType):
        return _fields_fit(before, after)
    return all(w.id == c.id and column_fits(w, c) for w, c in zip(before, after, strict=True))


def with_same_types(planned: TableSchema, current: TableSchema) -> TableSchema:
    """Return the present columns whose types are those that a statement was planned for.

    A predicate knows no values of a wider type. So bounds of other columns decide nothing for it.
    """
    types = {field.id: field.type for field in planned.fields}
    kept = (f for f in current.fields if types.get(f.id, f.type) == f.type)
    return TableSchema(fields=tuple(kept))


def same_by_name(written: TableSchema, current: TableSchema) -> bool:
    """Return whether every name that both have, in any case, still means the same field."""
    return written is current or _same_by_name(written.fields, current.fields)


def _same_by_name(written: Sequence[SchemaField], current: Sequence[SchemaField]) -> bool:
    before = {field.id: field for field in written}
    named = {field.name.casefold(): field.id for field in written}
    for field in current:
        if named.get(field.name.casefold(), field.id) != field.id:
            return False
        own = before.get(field.id)
        if own is not None and not _same_by_name(own.children(), field.children()):
            return False
    return True


def _can_replace(operation: ReplaceColumn, table: TableState) -> bool:
    """Return whether a table has the columns to replace, and these do not decide a row's place."""
    return replaceable(table).issuperset(operation.replacement.columns)


def keep_types(columns: Collection[int] | None, written: TableSchema, current: TableSchema) -> bool:
    """Return whether some columns, or all for None, have the types that they had.

    A column that was dropped has none that matters.
    """
    after = {field.id: field.type for field in current.fields}
    return all(
        after.get(field.id, field.type) == field.type
        for field in written.fields
        if columns is None or field.id in columns
    )
