"""The effect of replacing columns on a RowSet. Pure.

Spec: docs/spec/operations.md#replaced-columns
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from colonnade.manifests.model.columns.void import VOID
from colonnade.manifests.model.entries import ColumnReplacement, RowSetEntry
from colonnade.manifests.model.operations import ReplaceColumn
from colonnade.manifests.state.snapshot import LiveRowSet, TableState

_STORED = ("object", "place", "bytes", "footer", "data", "unsynced")


def replaceable(table: TableState) -> frozenset[int]:
    """Return the columns that may be replaced: those that do not decide the place of a row.

    The result leaves out these columns:

    - columns of any sort order or partition layout, also of an earlier one that RowSets may have
    - identity columns, because the entry of a RowSet must show each of their values
    - columns of the primary key, because keys are compared only when rows are added
    - void columns, because no RowSet has them
    - columns whose values expire, because a replacement would purge the expired ones too early
    - all columns, where rows expire after they were written: a replacement has no time of its own
    """
    lives = table.lifetimes
    if lives is not None and lives.counts_from_write:
        return frozenset()
    expiring = frozenset(each.column for each in lives.columns) if lives else frozenset()
    keys = {field.column for order in table.sort_orders for field in order}
    keys.update(field.column for layout in table.partition_layouts for field in layout)
    return frozenset(
        field.id
        for field in table.schema.fields
        if field.id not in keys
        and field.identity is None
        and field.type != VOID
        and field.id not in table.primary_key
        and field.id not in expiring
    )


def with_replacement(rowset: LiveRowSet, operation: ReplaceColumn) -> LiveRowSet:
    """Return a RowSet after a replacement of columns."""
    new, entry = operation.replacement, rowset.entry
    statistics = {c: s for c, s in entry.statistics.items() if c not in new.columns}
    statistics = dict(sorted({**statistics, **operation.statistics}.items()))
    return replace(
        rowset,
        entry=entry.model_copy(update={"statistics": statistics}),
        replacements=(*_left(rowset.replacements, new.columns), new),
    )


def _left(
    replacements: Iterable[ColumnReplacement], columns: Collection[int]
) -> Iterator[ColumnReplacement]:
    """Yield what replacements hold besides some columns, which were replaced again."""
    for each in replacements:
        left = tuple(column for column in each.columns if column not in columns)
        if left:
            yield each if left == each.columns else each.model_copy(update={"columns": left})


def with_replacements(rowset: LiveRowSet, operations: Iterable[ReplaceColumn]) -> LiveRowSet:
    """Return a RowSet after several replacements, in their order."""
    for operation in operations:
        rowset = with_replacement(rowset, operation)
    return rowset


def stored_as(entry: RowSetEntry, replacement: ColumnReplacement) -> RowSetEntry:
    """Return a replacement as the entry of the RowSet that stores it."""
    fields = {name: getattr(replacement, name) for name in _STORED}
    statistics = {c: s for c, s in entry.statistics.items() if c in replacement.columns}
    return entry.model_copy(update={**fields, "statistics": statistics})


def stored_parts(rowset: LiveRowSet) -> list[RowSetEntry]:
    """Return the stored parts of a RowSet: its own remaining columns, then each replacement."""
    entry, replacements = rowset.entry, rowset.replacements
    if not replacements:
        return [entry]
    replaced = {column for each in replacements for column in each.columns}
    statistics = {c: s for c, s in entry.statistics.items() if c not in replaced}
    own = entry.model_copy(update={"statistics": statistics})
    return [own, *(stored_as(entry, each) for each in replacements)]


def replacement_of(stored: RowSetEntry, columns: Iterable[int]) -> ColumnReplacement:
    """Return the replacement of some columns that a stored RowSet holds."""
    return ColumnReplacement(
        columns=tuple(columns), **{name: getattr(stored, name) for name in _STORED}
    )
