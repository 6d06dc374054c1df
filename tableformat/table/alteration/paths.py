"""Find a column, or a field inside one, by the names that lead to it, and change it there. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.model.schema import (
    MapType,
    SchemaField,
    StructType,
    TableSchema,
    type_text,
)
from colonnade.tableformat.rowset.column import check_names

FieldPath = tuple[str, ...] | str
"""The name of a column, or the names that lead to a field inside it.

The names are a tuple, such as `("s", "element", "x")`, or one text with dots between them, such as
`"s.element.x"`. In a text, backquotes are around a name that has dots. The element of an array is
named `element`; key and value of a map are `key` and `value`.
"""

FieldNames = tuple[str, ...]
"""The names of a path, from the column inwards."""

_NAME = re.compile(r"`((?:[^`]|``)+)`|([^.`]+)")
_TEXT = re.compile(rf"(?:{_NAME.pattern})(?:\.(?:{_NAME.pattern}))*")

_SHOWN = 20
"""The most fields that an error lists."""


def names_of(path: FieldPath) -> FieldNames:
    """Return the names of a path. Raises InvalidInputError for a malformed path."""
    if isinstance(path, str):
        return _split(path)
    names = check_names(path, "The path of a column")
    if not names:
        raise InvalidInputError("The path of a column must have at least one name.")
    return names


def _split(text: str) -> FieldNames:
    if not _TEXT.fullmatch(text):
        raise InvalidInputError(
            f"{text!r} is not the path of a column; write names with dots between them, and"
            " backquotes around a name that has dots."
        )
    found = _NAME.findall(text)
    return tuple(plain or quoted.replace("``", "`") for quoted, plain in found)


def dotted(path: FieldPath) -> str:
    """Return a path as one text, for messages and for the history of a table."""
    return path if isinstance(path, str) else ".".join(path)


def find(schema: TableSchema, names: FieldNames) -> SchemaField:
    """Return the column or field that a path leads to. Raises NotFoundError, which names it."""
    found = schema.field(names[0])
    for depth in range(1, len(names)):
        found = _child(found, names[: depth + 1])
    return found


def _child(parent: SchemaField, names: FieldNames) -> SchemaField:
    children, name = parent.children(), names[-1]
    for match in (str, str.casefold):
        for child in children:
            if match(child.name) == match(name):
                return child
    above, path = ".".join(names[:-1]), ".".join(names)
    if isinstance(parent.type, str) or not children:
        raise NotFoundError(
            f"Field {path!r} does not exist: {above!r} of type {type_text(parent.type)} has no"
            " fields."
        )
    known, more = ", ".join(each.name for each in children[:_SHOWN]), len(children) - _SHOWN
    others = f" and {more} more" if more > 0 else ""
    raise NotFoundError(
        f"Field {path!r} does not exist; the fields of {above!r} are {known}{others}."
    )


Fields = tuple[SchemaField, ...]


def with_fields(
    schema: TableSchema, parent: FieldNames, change: Callable[[Fields], Fields]
) -> TableSchema:
    """Change the columns of a table, or the fields of the struct that `parent` leads to.

    An empty `parent` means the table itself. Raises NotFoundError; InvalidInputError if `parent`
    does not lead to a struct.
    """
    if not parent:
        return TableSchema(fields=change(schema.fields))

    def changed(struct: SchemaField) -> SchemaField:
        if not isinstance(struct.type, StructType):
            raise InvalidInputError(
                f"{'.'.join(parent)!r} is of type {type_text(struct.type)}, and only a struct has"
                f" fields that can be added, dropped or moved{_hint(parent, struct)}."
            )
        return struct.with_children(change(struct.type.fields))

    return with_field(schema, parent, changed)


def _hint(names: FieldNames, found: SchemaField) -> str:
    """Return where a list or map of structs has fields."""
    children = [child for child in found.children() if isinstance(child.type, StructType)]
    if not children:
        return ""
    name = children[-1].name
    return f"; the fields of its {name} are below {'.'.join((*names, name))}"


def with_field(
    schema: TableSchema, names: FieldNames, change: Callable[[SchemaField], SchemaField]
) -> TableSchema:
    """Change the column or field that a path leads to. Raises NotFoundError."""
    found = find(schema, names)
    new = change(found)
    for depth in range(len(names) - 1, 0, -1):
        parent = find(schema, names[:depth])
        children = (new if child is found else child for child in parent.children())
        found, new = parent, parent.with_children(children)
    return TableSchema(fields=tuple(new if each is found else each for each in schema.fields))


def is_inside_key(schema: TableSchema, names: FieldNames) -> bool:
    """Return whether a path leads to a part of the key of a map."""
    parents = (find(schema, names[:depth]) for depth in range(1, len(names)))
    return any(
        isinstance(parent.type, MapType) and name.casefold() == "key"
        for parent, name in zip(parents, names[1:], strict=True)
    )
