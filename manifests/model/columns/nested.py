"""Changes of the fields inside a column: fields that are added, dropped, moved or widened. Pure.

A block states the id of each field inside it, so RowSets keep their bytes under these changes.
Spec: docs/spec/types.md#fields-inside-a-column
"""

from __future__ import annotations

from collections.abc import Iterable

from colonnade.manifests.model.columns.widening import widens
from colonnade.manifests.model.schema import DataType, SchemaField


def misplaced(before: Iterable[SchemaField], after: Iterable[SchemaField]) -> SchemaField | None:
    """Return a field that keeps its id, but not the field that it is part of, or not its values.

    A field keeps its values if its type widens, and if other fields are inside it. No reader would
    find the values of the returned field. None means that there is no such field.
    """
    known = {field.id: (parent, field) for parent, field in _places(before, 0)}
    for parent, field in _places(after, 0):
        place, own = known.get(field.id, (parent, field))
        if place != parent or not _keeps_values(own.type, field.type):
            return field
    return None


def _keeps_values(old: DataType, new: DataType) -> bool:
    if isinstance(old, str) or isinstance(new, str):
        return old == new or widens(old, new)
    return old.type == new.type


def _places(fields: Iterable[SchemaField], parent: int) -> Iterable[tuple[int, SchemaField]]:
    """Yield the id of the parent with each field."""
    for field in fields:
        yield parent, field
        yield from _places(field.children(), field.id)
