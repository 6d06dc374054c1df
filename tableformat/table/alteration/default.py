"""Set and remove the default of a column. Pure.

Spec: docs/spec/types.md#defaults
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.public import public
from colonnade.tableformat.table.alteration.draft import Alteration, Draft
from colonnade.tableformat.table.alteration.paths import (
    FieldPath,
    dotted,
    find,
    names_of,
    with_field,
)
from colonnade.tableformat.table.design.defaults import with_default


@public
@dataclass(frozen=True, slots=True)
class SetDefault(Alteration):
    """Set the default of a column: the value of rows that are written later without the column.

    Text is the SQL of a literal, `"'text'"` for a text; every other Python value means itself. A
    datetime needs a time zone if the column is a timestamp.
    """

    path: FieldPath
    default: Any

    def __str__(self) -> str:
        return f"set default of column {dotted(self.path)}"

    def _apply(self, draft: Draft) -> None:
        _change(draft, self.path, lambda column: with_default(column, self.default))


@public
@dataclass(frozen=True, slots=True)
class DropDefault(Alteration):
    """Remove the default of a column. Existing rows keep their values."""

    path: FieldPath

    def __str__(self) -> str:
        return f"drop default of column {dotted(self.path)}"

    def _apply(self, draft: Draft) -> None:
        _change(draft, self.path, lambda column: column.model_copy(update={"default": None}))


def _change(draft: Draft, path: FieldPath, change: Callable[[SchemaField], SchemaField]) -> None:
    names = names_of(path)
    find(draft.schema, names[:1])
    if len(names) > 1:
        raise InvalidInputError(
            f"Field {dotted(names)!r} cannot have a default: only whole columns can."
        )
    draft.schema = with_field(draft.schema, names, change)
