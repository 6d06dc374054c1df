"""Changes of the fields inside a column: fields that are added, dropped, moved or widened. Pure.

A block states the id of each field inside it, so a column keeps its id under these changes, and
RowSets keep their bytes.
Spec: docs/spec/types.md#fields-inside-a-column
"""

from __future__ import annotations

from collections.abc import Iterable

from colonnade.manifests.model.schema import SchemaField, walk


def misplaced(before: Iterable[SchemaField], after: Iterable[SchemaField]) -> SchemaField | None:
    """Return a field that keeps its id, but not its kind of type or the field that it is part of.

    No reader would find its values. None means that there is no such field.
    """
    known = dict(_places(before, 0))
    for number, (parent, kind) in _places(after, 0):
        if known.get(number, (parent, kind)) != (parent, kind):
            return next(field for field in walk(after) if field.id == number)
    return None


def _places(fields: Iterable[SchemaField], parent: int) -> Iterable[tuple[int, tuple[int, str]]]:
    """Yield id, id of the parent, and type without what is inside it, of each field."""
    for field in fields:
        yield field.id, (parent, field.type if isinstance(field.type, str) else field.type.type)
        yield from _places(field.children(), field.id)
