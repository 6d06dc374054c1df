"""Add, drop and move columns. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.model.schema import SchemaField, TableSchema, assign_ids, check_schema
from colonnade.tableformat.table.alteration.draft import Alteration, Draft, Path, check_path
from colonnade.tableformat.table.defaults import added_with_default


@dataclass(frozen=True, slots=True)
class AddColumn(Alteration):
    """Add a column: as the last, `first`, or `after` another column.

    Existing rows have the `default` in it, at once and for ever, or NULL without one. A NOT NULL
    column needs a default. `SetDefault` says in what forms it can be given.
    """

    column: SchemaField
    after: str | None = None
    first: bool = False
    default: Any = None

    def __str__(self) -> str:
        return f"add column {self.column.name}"

    def apply(self, draft: Draft) -> None:
        name = self.column.name
        added, draft.next_id = assign_ids(TableSchema(fields=(self.column,)), draft.next_id)
        column = added_with_default(added.fields[0], self.default)
        if not column.may_be_absent:
            raise InvalidInputError(
                f"Column {name!r} cannot be added as NOT NULL, because existing rows have NULL in"
                " it; add it as nullable, or with a default."
            )
        draft.schema = TableSchema(fields=(*draft.schema.fields, column))
        # Checked before the move, which could not tell two columns of one name apart.
        check_schema(draft.schema)
        if self.first or self.after is not None:
            draft.schema = _move(draft.schema, name, self.after)


@dataclass(frozen=True, slots=True)
class DropColumn(Alteration):
    """Drop a column. With `if_exists`, an unknown column is not an error."""

    path: Path
    if_exists: bool = False

    def __str__(self) -> str:
        return f"drop column {'.'.join(self.path)}"

    def apply(self, draft: Draft) -> None:
        check_path(self.path)
        try:
            found = draft.schema.field(self.path[0])
        except NotFoundError:
            if self.if_exists:
                return
            raise
        if len(self.path) > 1:
            raise InvalidInputError(
                f"Field {'.'.join(self.path)!r} cannot be dropped: only whole columns can."
            )
        if any(key.column == found.id for key in draft.table.sort_key):
            raise InvalidInputError(
                f"Column {found.name!r} cannot be dropped: the table is sorted by it."
            )
        layout = draft.table.partition_fields if draft.layout is None else draft.layout
        if any(field.column == found.id for field in layout):
            raise InvalidInputError(
                f"Column {found.name!r} cannot be dropped: the table is partitioned by it;"
                " partition it by other columns first."
            )
        draft.schema = TableSchema(fields=tuple(f for f in draft.schema.fields if f.id != found.id))


@dataclass(frozen=True, slots=True)
class MoveColumn(Alteration):
    """Move a column to be `first`, or `after` another column."""

    path: Path
    after: str | None = None
    first: bool = False

    def __str__(self) -> str:
        return f"move column {'.'.join(self.path)}"

    def apply(self, draft: Draft) -> None:
        check_path(self.path)
        if len(self.path) > 1:
            raise InvalidInputError(
                f"Field {'.'.join(self.path)!r} cannot be moved: only whole columns can."
            )
        draft.schema = _move(draft.schema, self.path[0], self.after)


def _move(schema: TableSchema, name: str, after: str | None) -> TableSchema:
    moved = schema.field(name)
    others = [f for f in schema.fields if f.id != moved.id]
    at = 0 if after is None else 1 + _index(others, schema.field(after), name)
    return TableSchema(fields=(*others[:at], moved, *others[at:]))


def _index(fields: list[SchemaField], wanted: SchemaField, name: str) -> int:
    for index, each in enumerate(fields):
        if each.id == wanted.id:
            return index
    raise InvalidInputError(f"Column {name!r} cannot come after itself.")
