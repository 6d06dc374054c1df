"""Set and remove the default of a column. Pure.

Spec: docs/spec/types.md#defaults
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.table.alteration.draft import Alteration, Draft, Path, check_path
from colonnade.tableformat.table.defaults import with_default


@dataclass(frozen=True, slots=True)
class SetDefault(Alteration):
    """Set the default of a column: the value of rows that are written later without the column.

    Text is the SQL of a literal, `"'text'"` for a text; every other Python value means itself.
    """

    path: Path
    default: Any

    def __str__(self) -> str:
        return f"set default of column {'.'.join(self.path)}"

    def apply(self, draft: Draft) -> None:
        _change(draft, self.path, lambda column: with_default(column, self.default))


@dataclass(frozen=True, slots=True)
class DropDefault(Alteration):
    """Remove the default of a column. Existing rows keep their values."""

    path: Path

    def __str__(self) -> str:
        return f"drop default of column {'.'.join(self.path)}"

    def apply(self, draft: Draft) -> None:
        _change(draft, self.path, lambda column: column.model_copy(update={"default": None}))


def _change(draft: Draft, path: Path, change: Callable[[SchemaField], SchemaField]) -> None:
    check_path(path)
    found = draft.schema.field(path[0])
    if len(path) > 1:
        raise InvalidInputError(
            f"Field {'.'.join(path)!r} cannot have a default: only whole columns can."
        )
    changed = change(found)
    fields = (changed if field.id == found.id else field for field in draft.schema.fields)
    draft.schema = TableSchema(fields=tuple(fields))
