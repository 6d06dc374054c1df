"""The effect of replacing columns on a RowSet. Pure.

Spec: docs/spec/operations.md#replaced-columns
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from colonnade.manifests.model.entries import ColumnReplacement, RowSetEntry
from colonnade.manifests.model.operations import AddRowSet, Operation, ReplaceColumn
from colonnade.manifests.state.snapshot import TableState

_STORED = ("object", "place", "bytes", "footer", "data", "unsynced")

REPLACE_COLUMN = "replace_column"
"""The feature that readers and writers of replaced columns must support."""


def replaceable(table: TableState) -> frozenset[int]:
    """Return the columns that may be replaced: those that do not decide the place of a row."""
    keys = {field.column for field in table.sort_key}
    keys.update(field.column for layout in table.partition_layouts for field in layout)
    return frozenset(field.id for field in table.schema.fields) - keys


def holders(entry: RowSetEntry, columns: Collection[int]) -> tuple[str, ...]:
    """Return the objects of the replacements that hold any of these columns."""
    replacements = entry.replacements or ()
    return tuple(r.object for r in replacements if not set(columns).isdisjoint(r.columns))


def with_replacement(entry: RowSetEntry, operation: ReplaceColumn) -> RowSetEntry:
    """Return a RowSet's entry after a replacement of columns."""
    new = operation.replacement
    kept = []
    for each in entry.replacements or ():
        left = tuple(column for column in each.columns if column not in new.columns)
        if left:
            kept.append(each if left == each.columns else each.model_copy(update={"columns": left}))
    statistics = {c: s for c, s in entry.statistics.items() if c not in new.columns}
    return entry.model_copy(
        update={
            "replacements": (*kept, new),
            "statistics": dict(sorted({**statistics, **operation.statistics}.items())),
        }
    )


def with_replacements(entry: RowSetEntry, operations: Iterable[ReplaceColumn]) -> RowSetEntry:
    """Return a RowSet's entry after several replacements, in their order."""
    for operation in operations:
        entry = with_replacement(entry, operation)
    return entry


def stored_as(entry: RowSetEntry, replacement: ColumnReplacement) -> RowSetEntry:
    """Return a replacement as the entry of the RowSet that stores it."""
    fields = {name: getattr(replacement, name) for name in _STORED}
    statistics = {c: s for c, s in entry.statistics.items() if c in replacement.columns}
    return entry.model_copy(update={**fields, "statistics": statistics, "replacements": None})


def stored_parts(entry: RowSetEntry) -> list[RowSetEntry]:
    """Return the stored parts of a RowSet: its own remaining columns, then each replacement."""
    replacements = entry.replacements or ()
    if not replacements:
        return [entry]
    replaced = {column for each in replacements for column in each.columns}
    statistics = {c: s for c, s in entry.statistics.items() if c not in replaced}
    own = entry.model_copy(update={"statistics": statistics, "replacements": None})
    return [own, *(stored_as(entry, each) for each in replacements)]


def replacement_of(stored: RowSetEntry, columns: Iterable[int]) -> ColumnReplacement:
    """Return the replacement of some columns that a stored RowSet holds."""
    return ColumnReplacement(
        columns=tuple(columns), **{name: getattr(stored, name) for name in _STORED}
    )


def unsuperseded(
    before: Sequence[ReplaceColumn], operation: ReplaceColumn
) -> tuple[ReplaceColumn, ...]:
    """Append a replacement, and leave out earlier ones whose columns it replaces completely."""
    new = set(operation.replacement.columns)
    return (*(op for op in before if not new.issuperset(op.replacement.columns)), operation)


def replaces_columns(operation: Operation) -> bool:
    """Return whether a reader needs the feature `REPLACE_COLUMN` to understand an operation."""
    added = isinstance(operation, AddRowSet) and operation.rowset.replacements
    return isinstance(operation, ReplaceColumn) or bool(added)
