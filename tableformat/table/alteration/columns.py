"""Add, drop and move columns, and fields of structs. Pure.

Spec: docs/spec/types.md#fields-inside-a-column
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.model.columns.check import check_schema
from colonnade.manifests.model.schema import SchemaField, TableSchema, assign_ids
from colonnade.manifests.public import public
from colonnade.tableformat.table.alteration.draft import Alteration, Draft
from colonnade.tableformat.table.alteration.paths import (
    FieldNames,
    FieldPath,
    Fields,
    dotted,
    find,
    is_inside_key,
    names_of,
    with_fields,
)
from colonnade.tableformat.table.alteration.primary_key import check_not_in_key
from colonnade.tableformat.table.design.defaults import added_with_default
from colonnade.tableformat.types.input.column_types import as_field


@public
@dataclass(frozen=True, slots=True)
class AddColumn(Alteration):
    """Add a column: as the last, `first`, or `after` another column.

    Existing rows have the `default` in it, at once and for ever, or NULL without one. A NOT NULL
    column needs a default. `SetDefault` says in what forms it can be given. `parent` leads to a
    struct, which gets the column as a field, without a default. A column may also be given as a
    `pyarrow.Field`, or as a pair of name and type, such as `("tip", "decimal(9,2)")`.
    """

    column: SchemaField
    after: str | None = None
    first: bool = False
    default: Any = None
    parent: FieldPath = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "column", as_field(self.column))

    def __str__(self) -> str:
        above = f"{dotted(self.parent)}." if self.parent else ""
        return f"add column {above}{self.column.name}"

    def _apply(self, draft: Draft) -> None:
        parent = names_of(self.parent) if self.parent else ()
        path = ".".join((*parent, self.column.name))
        _refuse_two_places(path, self.after, self.first)
        if self.column.identity is not None:
            raise InvalidInputError(
                f"Column {path!r} cannot be added as an identity column, because existing rows"
                " would have no value in it; write the rows to a new table that has the column."
            )
        if parent and self.default is not None:
            raise InvalidInputError(
                f"Field {path!r} cannot have a default: only whole columns can."
            )
        if self.column.generated is not None:
            raise InvalidInputError(
                f"Column {path!r} cannot be added as a generated column, because existing rows have"
                " no values of it; create the table with it."
            )
        numbered, draft.next_id = assign_ids(TableSchema(fields=(self.column,)), draft.next_id)
        added = added_with_default(numbered.fields[0], self.default)
        if not added.may_be_absent:
            raise InvalidInputError(
                f"Column {path!r} cannot be added as NOT NULL, because existing rows have NULL in"
                " it; add it as nullable, or with a default."
            )
        draft.schema = with_fields(draft.schema, parent, lambda fields: (*fields, added))
        # Checked before the move, which could not tell two columns of one name apart.
        check_schema(draft.schema)
        if self.first or self.after is not None:
            draft.schema = _moved(draft.schema, (*parent, added.name), self.after)


@public
@dataclass(frozen=True, slots=True)
class DropColumn(Alteration):
    """Drop a column, or a field of a struct. With `if_exists`, an unknown one is not an error."""

    path: FieldPath
    if_exists: bool = False

    def __str__(self) -> str:
        return f"drop column {dotted(self.path)}"

    def _apply(self, draft: Draft) -> None:
        names = names_of(self.path)
        try:
            found = find(draft.schema, names)
        except NotFoundError:
            if self.if_exists:
                return
            raise
        if len(names) == 1:
            _check_unused(found, draft)
        elif is_inside_key(draft.schema, names):
            raise InvalidInputError(
                f"Field {dotted(names)!r} cannot be dropped: without it, keys of one map could"
                " become equal."
            )
        draft.schema = with_fields(
            draft.schema, names[:-1], lambda fields: tuple(f for f in fields if f is not found)
        )


def _check_unused(column: SchemaField, draft: Draft) -> None:
    """Refuse to drop a column that decides where rows are stored, or which rows there may be."""
    check_not_in_key(column, draft, "dropped")
    if any(key.column == column.id for key in draft.sorted_by):
        raise InvalidInputError(
            f"Column {column.name!r} cannot be dropped: the table is sorted by it; sort it by other"
            " columns first."
        )
    layout = draft.table.partition_fields if draft.layout is None else draft.layout
    if any(field.column == column.id for field in layout):
        raise InvalidInputError(
            f"Column {column.name!r} cannot be dropped: the table is partitioned by it; partition"
            " it by other columns first."
        )


@public
@dataclass(frozen=True, slots=True)
class MoveColumn(Alteration):
    """Move a column to be `first`, or `after` another column.

    A field of a struct moves inside it, and `after` names another field of the struct.
    """

    path: FieldPath
    after: str | None = None
    first: bool = False

    def __str__(self) -> str:
        return f"move column {dotted(self.path)}"

    def _apply(self, draft: Draft) -> None:
        names = names_of(self.path)
        _refuse_two_places(dotted(names), self.after, self.first)
        if not self.first and self.after is None:
            raise InvalidInputError(
                f"Column {dotted(names)!r} needs a place to move to; give first or after."
            )
        draft.schema = _moved(draft.schema, names, self.after)


def _refuse_two_places(path: str, after: str | None, first: bool) -> None:
    if first and after is not None:
        raise InvalidInputError(
            f"Column {path!r} cannot be both first and after {after!r}; give one of them."
        )


def _moved(schema: TableSchema, names: FieldNames, after: str | None) -> TableSchema:
    parent = names[:-1]
    moved = find(schema, names)
    before = None if after is None else find(schema, (*parent, after))
    if before is moved:
        what = "Field" if parent else "Column"
        raise InvalidInputError(f"{what} {dotted(names)!r} cannot come after itself.")

    def placed(fields: Fields) -> Fields:
        others = [field for field in fields if field is not moved]
        at = 0 if before is None else 1 + next(i for i, f in enumerate(others) if f is before)
        return (*others[:at], moved, *others[at:])

    return with_fields(schema, parent, placed)
