"""Change what the schema says about a column or field: its name, its comment, its NULLs. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import StructType
from colonnade.manifests.public import public
from colonnade.tableformat.table.alteration.draft import Alteration, Draft
from colonnade.tableformat.table.alteration.paths import (
    FieldPath,
    dotted,
    find,
    names_of,
    with_field,
)
from colonnade.tableformat.table.alteration.primary_key import check_not_in_key


@public
@dataclass(frozen=True, slots=True)
class RenameColumn(Alteration):
    """Rename a column, or a field of a struct."""

    path: FieldPath
    name: str

    def __str__(self) -> str:
        return f"rename column {dotted(self.path)} to {self.name}"

    def _apply(self, draft: Draft) -> None:
        names = names_of(self.path)
        _check_text(f"The new name of column {dotted(names)!r}", self.name)
        if len(names) > 1:
            find(draft.schema, names)
            if not isinstance(find(draft.schema, names[:-1]).type, StructType):
                raise InvalidInputError(
                    f"{dotted(names)!r} cannot be renamed, because only columns and fields of"
                    " structs have names."
                )
        _set(draft, self.path, "name", self.name)


@public
@dataclass(frozen=True, slots=True)
class CommentColumn(Alteration):
    """Set the comment of a column or field; None removes it."""

    path: FieldPath
    comment: str | None

    def __str__(self) -> str:
        return f"comment on column {dotted(self.path)}"

    def _apply(self, draft: Draft) -> None:
        if self.comment is not None:
            _check_text(f"The comment of column {dotted(self.path)!r}", self.comment)
        _set(draft, self.path, "comment", self.comment)


@public
@dataclass(frozen=True, slots=True)
class DropNotNull(Alteration):
    """Allow NULL in a column or field."""

    path: FieldPath

    def __str__(self) -> str:
        return f"drop not null of column {dotted(self.path)}"

    def _apply(self, draft: Draft) -> None:
        found = find(draft.schema, names_of(self.path))
        check_not_in_key(found, draft, "made nullable")
        if found.identity is not None:
            raise InvalidInputError(
                f"Column {dotted(self.path)!r} is an identity column, which stays NOT NULL."
            )
        _set(draft, self.path, "nullable", True)


def _check_text(what: str, text: object) -> None:
    if not isinstance(text, str):
        raise InvalidInputError(f"{what} must be text, not {text!r:.100}.")


def _set(draft: Draft, path: FieldPath, key: str, value: object) -> None:
    """Change one attribute of the column or field that a path leads to."""
    draft.schema = with_field(
        draft.schema, names_of(path), lambda found: found.model_copy(update={key: value})
    )
