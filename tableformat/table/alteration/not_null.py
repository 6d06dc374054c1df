"""Forbid NULL in a column or field, after a look at the rows that are there.

Spec: docs/spec/conflicts.md#reads
"""

from __future__ import annotations

from dataclasses import dataclass

from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.public import public
from colonnade.tableformat.table.alteration.draft import Alteration, Draft
from colonnade.tableformat.table.alteration.paths import FieldPath, dotted, names_of, with_field
from colonnade.tableformat.table.alteration.stored_values import NotNull


@public
@dataclass(frozen=True, slots=True)
class SetNotNull(Alteration):
    """Forbid NULL in a column, or in a field inside one.

    No existing row may be NULL there. Statistics say so of most RowSets and blocks, and the other
    blocks are read. If a concurrent writer adds a row that may be NULL there, all is looked at
    again.
    """

    path: FieldPath

    def __str__(self) -> str:
        return f"set not null of column {dotted(self.path)}"

    def _apply(self, draft: Draft) -> None:
        def needed(found: SchemaField) -> SchemaField:
            is_new = found.id >= draft.table.next_column_id
            if found.nullable and not (is_new and found.initial is not None):
                draft.demand(found.id, NotNull())
            return found.model_copy(update={"nullable": False})

        draft.schema = with_field(draft.schema, names_of(self.path), needed)
