"""Read columns and types in any of the forms in which users state them. Pure.

A type is a text such as `long` or `BIGINT NOT NULL`, a type of Arrow, a type of Python such as
`int` or `list[str]`, or a type of the table format. A column is a type with a name, a field of
Arrow, or a `SchemaField`.
"""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import (
    ArrayType,
    DataType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
)
from colonnade.manifests.model.type_words import PYTHON_TYPES
from colonnade.tableformat.types.arrow_types import schema_from_arrow

GivenType: TypeAlias = str | ArrayType | MapType | StructType | type | Any
"""A type as users state it; Arrow's classes have no types of their own."""

GivenColumn: TypeAlias = SchemaField | tuple[str, GivenType] | Any
"""A column as users state it."""

GivenSchema: TypeAlias = TableSchema | Mapping[str, GivenType] | Sequence[GivenColumn] | Any
"""The columns of a table as users state them."""

_NOT_NULL = re.compile(r"\s+not\s+null\s*$", re.IGNORECASE)


def as_table_schema(given: GivenSchema) -> TableSchema:
    """Return columns that a user states: a schema, a list of columns, or types by name.

    Raises InvalidInputError that names the column for a type that cannot be stored, and for any
    other object.
    """
    if isinstance(given, TableSchema):
        return given
    if isinstance(given, pa.Schema):
        return schema_from_arrow(given)
    if isinstance(given, Mapping):
        return TableSchema(fields=tuple(as_column(name, given[name]) for name in given))
    if isinstance(given, list | tuple):
        return TableSchema(fields=tuple(map(as_field, given)))
    raise InvalidInputError(
        "A schema is a pyarrow.Schema, a colonnade.TableSchema, a list of columns, or a dict of"
        f" types by name, not {given!r:.200}."
    )


def states_columns(given: object) -> bool:
    """Return whether a value states columns, and has no rows of them."""
    if isinstance(given, TableSchema | pa.Schema):
        return True
    if isinstance(given, Mapping):
        return bool(given) and all(map(_is_type, given.values()))
    return isinstance(given, list | tuple) and bool(given) and all(map(_is_column, given))


def as_field(given: GivenColumn) -> SchemaField:
    """Return a column that a user states. Raises InvalidInputError that names it."""
    if isinstance(given, SchemaField):
        return given
    if isinstance(given, pa.Field):
        return schema_from_arrow(pa.schema([given])).fields[0]
    if isinstance(given, tuple) and len(given) == 2:
        return as_column(*given)
    raise InvalidInputError(
        "A column is a pyarrow.Field, a colonnade.SchemaField, or a pair of name and type, not"
        f" {given!r:.200}."
    )


def as_column(
    name: str, given: GivenType, *, nullable: bool = True, comment: str | None = None
) -> SchemaField:
    """Return a column of a name and a type. `NOT NULL` after the text of a type makes it so.

    Raises InvalidInputError that names the column for a type that cannot be stored.
    """
    if not isinstance(name, str):
        raise InvalidInputError(f"The name of a column must be text, not {name!r:.200}.")
    if isinstance(given, pa.Field):
        return as_field(given.with_name(name))
    plain = _NOT_NULL.sub("", given) if isinstance(given, str) else given
    required = not nullable or plain != given
    found = as_data_type(plain, name)
    return SchemaField(name=name, type=found, nullable=not required, comment=comment)


def as_data_type(given: GivenType, name: str) -> DataType:
    """Return the type of a column that a user states. Raises InvalidInputError with its `name`."""
    if isinstance(given, pa.DataType):
        return schema_from_arrow(pa.schema([pa.field(name, given)])).fields[0].type
    return SchemaField(name=name, type=_of_python(given, name)).type


def _of_python(given: Any, name: str) -> Any:
    """Return the type of a table for a generic type of Python; anything else unchanged."""
    origin, parts = typing.get_origin(given), typing.get_args(given)
    if origin is list:
        element = SchemaField(name="element", type=_of_python(parts[0], name))
        return ArrayType(element=element)
    if origin is dict:
        key, value = (_of_python(each, name) for each in parts)
        return MapType(
            key=SchemaField(name="key", type=key, nullable=False),
            value=SchemaField(name="value", type=value),
        )
    if origin in (types.UnionType, typing.Union):
        others = [each for each in parts if each is not type(None)]
        return _of_python(others[0], name) if len(others) == 1 else given
    return given


def _is_type(value: object) -> bool:
    stated = str | pa.DataType | pa.Field | ArrayType | MapType | StructType
    named = isinstance(value, type) and value in PYTHON_TYPES
    return isinstance(value, stated) or named or typing.get_origin(value) is not None


def _is_column(value: object) -> bool:
    if isinstance(value, tuple) and len(value) == 2:
        return isinstance(value[0], str) and _is_type(value[1])
    return isinstance(value, SchemaField | pa.Field)
