"""Change what the schema says about a column or field: its name, its comment, its NULLs. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField, StructType, TableSchema
from colonnade.tableformat.table.alteration.draft import Alteration, Draft, Path, check_path


@dataclass(frozen=True, slots=True)
class RenameColumn(Alteration):
    """Rename a column, or a field of a struct."""

    path: Path
    name: str

    def __str__(self) -> str:
        return f"rename column {'.'.join(self.path)} to {self.name}"

    def apply(self, draft: Draft) -> None:
        draft.schema = _replace(draft.schema, self.path, "name", self.name)


@dataclass(frozen=True, slots=True)
class CommentColumn(Alteration):
    """Set the comment of a column or field; None removes it."""

    path: Path
    comment: str | None

    def __str__(self) -> str:
        return f"comment on column {'.'.join(self.path)}"

    def apply(self, draft: Draft) -> None:
        draft.schema = _replace(draft.schema, self.path, "comment", self.comment)


@dataclass(frozen=True, slots=True)
class DropNotNull(Alteration):
    """Allow NULL in a column or field."""

    path: Path

    def __str__(self) -> str:
        return f"drop not null of column {'.'.join(self.path)}"

    def apply(self, draft: Draft) -> None:
        draft.schema = _replace(draft.schema, self.path, "nullable", True)


def _replace(schema: TableSchema, path: Path, key: str, value: object) -> TableSchema:
    """Change one attribute of the column or field that a path leads to."""
    check_path(path)

    def replaced(fields: tuple[SchemaField, ...], names: Path) -> tuple[SchemaField, ...]:
        # A TableSchema finds the field, so that errors are the same as for columns.
        found = TableSchema(fields=fields).field(names[0])
        if len(names) == 1:
            new = found.model_copy(update={key: value})
        else:
            if key == "name" and len(names) == 2 and not isinstance(found.type, StructType):
                raise InvalidInputError(f"{'.'.join(path)!r} is not a field that can be renamed.")
            new = found.with_children(replaced(found.children(), names[1:]))
        return tuple(new if f.id == found.id else f for f in fields)

    return TableSchema(fields=replaced(schema.fields, path))
