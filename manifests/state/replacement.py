"""Columns of RowSets that were replaced: what a RowSet is afterwards. Pure.

Spec: docs/spec/operations.md#replaced-columns
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from colonnade.manifests.model.entries import Replacement, RowSetEntry
from colonnade.manifests.model.operations import AddRowSet, Operation, ReplaceColumn
from colonnade.manifests.state.snapshot import TableState

_STORED = ("object", "place", "bytes", "footer", "data", "unsynced")

REPLACE_COLUMN = "replace_column"
"""The feature that readers and writers of a database with replaced columns know."""


def replaceable(table: TableState) -> frozenset[int]:
    """The columns that can be replaced: those that do not decide where a row is."""
    keys = {field.column for field in table.sort_key}
    keys.update(field.column for layout in table.partition_layouts for field in layout)
    return frozenset(field.id for field in table.schema.fields) - keys


def holders(entry: RowSetEntry, columns: Collection[int]) -> tuple[str, ...]:
    """The objects of the replacements that have some of these columns."""
    replacements = entry.replacements or ()
    return tuple(r.object for r in replacements if not set(columns).isdisjoint(r.columns))


def with_replacement(entry: RowSetEntry, operation: ReplaceColumn) -> RowSetEntry:
    """A RowSet after columns of it were replaced."""
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
    """A RowSet after several replacements, in their order."""
    for operation in operations:
        entry = with_replacement(entry, operation)
    return entry


def stored_as(entry: RowSetEntry, replacement: Replacement) -> RowSetEntry:
    """A replacement as the RowSet that it is stored as."""
    fields = {name: getattr(replacement, name) for name in _STORED}
    statistics = {c: s for c, s in entry.statistics.items() if c in replacement.columns}
    return entry.model_copy(update={**fields, "statistics": statistics, "replacements": None})


def stored_parts(entry: RowSetEntry) -> list[RowSetEntry]:
    """A RowSet without what was replaced, then each of its replacements, as they are stored."""
    replacements = entry.replacements or ()
    if not replacements:
        return [entry]
    replaced = {column for each in replacements for column in each.columns}
    statistics = {c: s for c, s in entry.statistics.items() if c not in replaced}
    own = entry.model_copy(update={"statistics": statistics, "replacements": None})
    return [own, *(stored_as(entry, each) for each in replacements)]


def replacement_of(stored: RowSetEntry, columns: Iterable[int]) -> Replacement:
    """A RowSet of some columns as what replaces these columns of another one."""
    return Replacement(columns=tuple(columns), **{name: getattr(stored, name) for name in _STORED})


def unsuperseded(
    before: Sequence[ReplaceColumn], operation: ReplaceColumn
) -> tuple[ReplaceColumn, ...]:
    """Replacements of a RowSet and one more, without those of which nothing is left to read."""
    new = set(operation.replacement.columns)
    return (*(op for op in before if not new.issuperset(op.replacement.columns)), operation)


def replaces_columns(operation: Operation) -> bool:
    """Whether readers must know of replaced columns to understand an operation."""
    added = isinstance(operation, AddRowSet) and operation.rowset.replacements
    return isinstance(operation, ReplaceColumn) or bool(added)
