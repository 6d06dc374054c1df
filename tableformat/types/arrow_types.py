"""Colonnade types in Arrow: the user form, the storage form, and the way back from any schema.

Both forms have the same physical layout, so `storage_form.py` turns one into the other by new
labels and copies nothing:

    user form      Fields have the names and the NOT NULL of the schema. Comments, and types that
                   Arrow cannot express, are in field metadata.
    storage form   Nested fields are named by their ids, and all are nullable. So blocks stay
                   valid when a column is renamed or its NOT NULL is dropped.

Spec: docs/spec/types.md
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.check import NESTING_LIMIT, nested_too_deep
from colonnade.manifests.model.schema import (
    ArrayType,
    DataType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
    decimal_digits,
)
from colonnade.tableformat.types.pandas_index import without_index

TYPE_KEY = b"colonnade.type"
"""Field metadata key of the exact type; set where the Arrow type does not imply it."""

COMMENT_KEY = b"comment"
"""Field metadata key of the comment of a column or nested field."""

VARIANT_FIELDS = (
    SchemaField(name="value", type="binary", nullable=False),
    SchemaField(name="metadata", type="binary", nullable=False),
)
"""The fields of a variant, in the binary encoding that Spark and Parquet share."""

# Spark marks the struct that represents a variant with this metadata, and looks for it.
_VARIANT = pa.struct(
    [
        pa.field("value", pa.binary(), nullable=False),
        pa.field("metadata", pa.binary(), nullable=False, metadata={b"variant": b"true"}),
    ]
)

_ARROW = {
    "boolean": pa.bool_(),
    "byte": pa.int8(),
    "short": pa.int16(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "time": pa.time64("ns"),
    "interval year to month": pa.int32(),
    "interval day to second": pa.duration("us"),
    "variant": _VARIANT,
    "void": pa.null(),
}

_PLAIN = {
    pa.bool_(): "boolean",
    pa.int8(): "byte",
    pa.int16(): "short",
    pa.int32(): "int",
    pa.int64(): "long",
    pa.uint8(): "short",
    pa.uint16(): "int",
    pa.uint32(): "long",
    pa.uint64(): "decimal(20,0)",
    pa.float16(): "float",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.large_string(): "string",
    pa.string_view(): "string",
    pa.binary(): "binary",
    pa.large_binary(): "binary",
    pa.binary_view(): "binary",
    pa.date32(): "date",
    pa.date64(): "date",
    pa.time32("s"): "time(6)",
    pa.time32("ms"): "time(6)",
    pa.time64("us"): "time(6)",
    pa.time64("ns"): "time(9)",
    pa.null(): "void",
}
_PLAIN_IDS = frozenset(each.id for each in _PLAIN)

_LISTS = frozenset(
    {
        pa.lib.Type_LIST,
        pa.lib.Type_LARGE_LIST,
        pa.lib.Type_FIXED_SIZE_LIST,
        pa.lib.Type_LIST_VIEW,
        pa.lib.Type_LARGE_LIST_VIEW,
    }
)

_EXTENSION_NAME = b"ARROW:extension:name"
TRANSPARENT_EXTENSIONS = frozenset({"arrow.json", "arrow.uuid"})
"""Extension types that add no meaning to their storage, which is text or 16 bytes."""


def base_type(text: str) -> str:
    """Return the type without what only restricts or orders its values.

    `char(3)`, `varchar(3)` and collated strings become `string`; `time(3)` becomes `time`; an
    interval becomes the widest interval of its kind. Every other primitive type is returned
    unchanged.
    """
    if text.startswith(("char(", "varchar(", "string ")):
        return "string"
    if text.startswith("time("):
        return "time"
    if text.startswith(("interval year", "interval month")):
        return "interval year to month"
    return "interval day to second" if text.startswith("interval ") else text


def type_name(data_type: DataType) -> str:
    """Return the name of a type for a sentence: its text, or `array`, `map` or `struct`."""
    return data_type if isinstance(data_type, str) else data_type.type


@lru_cache(maxsize=4096)
def storage_type(field: SchemaField) -> pa.DataType:
    """Return the Arrow type that blocks hold for a column.

    Requires ids on every nested field.
    """
    return _arrow_type(field.type, lambda child: pa.field(str(child.id), storage_type(child)))


@lru_cache(maxsize=4096)
def arrow_type(field: SchemaField) -> pa.DataType:
    """Return the Arrow type that users see for a column or nested field."""
    return _arrow_type(field.type, _user_field)


@lru_cache(maxsize=256)
def arrow_schema(schema: TableSchema) -> pa.Schema:
    """Return the Arrow schema that users see: scans return it and `conform` produces it."""
    return pa.schema([_user_field(field) for field in schema.fields])


def _user_field(field: SchemaField) -> pa.Field:
    metadata = {}
    if isinstance(field.type, str) and _implied_type(field.type) != field.type:
        metadata[TYPE_KEY] = field.type.encode()
    if field.comment is not None:
        metadata[COMMENT_KEY] = field.comment.encode()
    return pa.field(
        field.name, arrow_type(field), nullable=field.nullable, metadata=metadata or None
    )


def _implied_type(text: str) -> str:
    """Return what `schema_from_arrow` makes of the Arrow type of `text` without metadata."""
    base = base_type(text)
    return {"time": "time(9)", "interval year to month": "int"}.get(base, base)


def _arrow_type(data_type: DataType, child: Callable[[SchemaField], pa.Field]) -> pa.DataType:
    match data_type:
        case ArrayType(element=element):
            return pa.list_(child(element))
        case MapType(key=key, value=value):
            return pa.map_(child(key).with_nullable(False), child(value))
        case StructType(fields=fields):
            return pa.struct([child(field) for field in fields])
        case str() as text:
            if digits := decimal_digits(text):
                return pa.decimal128(*digits)
            return _ARROW[base_type(text)]


def schema_from_arrow(schema: pa.Schema) -> TableSchema:
    """Read any Arrow schema as a table schema, without assigning ids.

    Physical forms do not matter: a string view, a dictionary of strings and a large string all
    become `string`. An index of pandas without a name is not a column. Raises InvalidInputError
    that names the column and its type when a type cannot be stored.
    """
    check_fields(schema)
    fields = without_index(schema)
    return TableSchema(fields=tuple(_field_from_arrow(field, field.name) for field in fields))


def check_fields(schema: pa.Schema) -> None:
    """Refuse columns that no table can have, before anything else reads their types.

    Arrow takes any bytes for a name, and types of any depth. Raises InvalidInputError for a name
    that is not valid UTF-8, of a column or a field within one, and for a type that is nested too
    deep, which names the column.
    """
    level = [(column, column) for column in _named(schema)]
    depth = 0
    while level := [(column, child) for column, field in level for child in _children(field.type)]:
        depth += 1
        if depth == NESTING_LIMIT:
            raise nested_too_deep(level[0][0].name)


def _children(arrow: pa.DataType) -> list[pa.Field]:
    arrow = _stored_form(arrow)
    if is_list(arrow):
        return _named([arrow.value_field])
    if pa.types.is_map(arrow):
        return _named([arrow.key_field, arrow.item_field])
    fields = _named(arrow) if pa.types.is_struct(arrow) else []
    return [] if fields and _is_variant(arrow) else fields


def _named(fields: Iterable[pa.Field]) -> list[pa.Field]:
    """Return fields whose names are valid. Raises the errors of `check_fields`."""
    found = [*fields]
    for field in found:
        try:
            _ = field.name
        except UnicodeDecodeError as error:
            raise InvalidInputError(
                "A column, or a field within one, has a name that is not valid UTF-8"
                f" ({error.object!r}); rename it."
            ) from error
    return found


def _stored_form(arrow: pa.DataType) -> pa.DataType:
    """Return the type of the values that other forms of an array stand for."""
    while True:
        if pa.types.is_dictionary(arrow) or pa.types.is_run_end_encoded(arrow):
            arrow = arrow.value_type
        elif _is_transparent(arrow):
            arrow = arrow.storage_type
        else:
            return arrow


def _is_transparent(arrow: pa.DataType) -> bool:
    known = TRANSPARENT_EXTENSIONS
    return isinstance(arrow, pa.BaseExtensionType) and arrow.extension_name in known


def _field_from_arrow(field: pa.Field, path: str) -> SchemaField:
    metadata = field.metadata or {}
    extension = metadata.get(_EXTENSION_NAME, b"").decode(errors="replace")
    if extension and extension not in TRANSPARENT_EXTENSIONS:
        raise InvalidInputError(
            f"Column {path!r} has the Arrow extension type {extension!r}, which Colonnade cannot"
            " store; cast it to its storage type and remove the mark from the field's metadata."
        )
    data_type = _type_from_arrow(field.type, path)
    if stated := metadata.get(TYPE_KEY):
        data_type = _stated_type(stated.decode(errors="replace"), data_type, path)
    comment = metadata.get(COMMENT_KEY)
    return SchemaField(
        name=field.name,
        type=data_type,
        nullable=field.nullable,
        comment=None if comment is None else comment.decode(errors="replace"),
    )


def _stated_type(stated: str, found: DataType, path: str) -> DataType:
    """Return the type that metadata names, if it has the same base type as the type found."""
    try:
        field = SchemaField(name=path, type=stated)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"Column {path!r} states the type {stated!r}, which Colonnade does not know; remove"
            f" {TYPE_KEY.decode()!r} from the metadata of the field."
        ) from error
    if not isinstance(found, str) or base_type(_implied_type(stated)) != base_type(found):
        raise InvalidInputError(
            f"Column {path!r} states the type {stated!r} in its field metadata, but its Arrow type"
            f" is that of {type_name(found)}; remove"
            f" {TYPE_KEY.decode()!r} from the metadata or cast the column."
        )
    return field.type


def _type_from_arrow(arrow: pa.DataType, path: str) -> DataType:
    arrow = _stored_form(arrow)
    # A type is hashed by its text, which is as long as the type is deep.
    if arrow.id in _PLAIN_IDS:
        return _PLAIN[arrow]
    if pa.types.is_decimal(arrow):
        return _decimal_from_arrow(arrow, path)
    if pa.types.is_timestamp(arrow):
        return "timestamp_ntz" if arrow.tz is None else "timestamp"
    if pa.types.is_duration(arrow):
        return "interval day to second"
    if pa.types.is_fixed_size_binary(arrow):
        return "binary"
    if is_list(arrow):
        element = _field_from_arrow(arrow.value_field, f"{path}.element")
        return ArrayType(element=element.model_copy(update={"name": "element"}))
    if pa.types.is_map(arrow):
        key = _field_from_arrow(arrow.key_field, f"{path}.key")
        value = _field_from_arrow(arrow.item_field, f"{path}.value")
        return MapType(
            key=key.model_copy(update={"name": "key", "nullable": False}),
            value=value.model_copy(update={"name": "value"}),
        )
    if pa.types.is_struct(arrow):
        if _is_variant(arrow):
            return "variant"
        return StructType(
            fields=tuple(_field_from_arrow(child, f"{path}.{child.name}") for child in arrow)
        )
    raise InvalidInputError(_refusal(arrow, path))


def is_list(arrow: pa.DataType) -> bool:
    """Return whether an Arrow type is a list in any of its physical forms; a map is not."""
    return arrow.id in _LISTS


def _decimal_from_arrow(arrow: Any, path: str) -> str:
    scale = max(arrow.scale, 0)
    precision = max(arrow.precision - min(arrow.scale, 0), scale)
    if precision > 38:
        raise InvalidInputError(
            f"Column {path!r} has the Arrow type {arrow}; Colonnade stores decimals of at most 38"
            " digits; cast it."
        )
    return f"decimal({precision},{scale})"


def _is_variant(arrow: pa.DataType) -> bool:
    fields = {field.name: field for field in arrow}
    return fields.keys() == {"value", "metadata"} and (
        (fields["metadata"].metadata or {}).get(b"variant") == b"true"
    )


def _refusal(arrow: Any, path: str) -> str:
    hint = "."
    if pa.types.is_interval(arrow):
        hint = "; store its months as int and the rest as duration, in two columns."
    elif isinstance(arrow, pa.BaseExtensionType):
        hint = f"; cast it to {arrow.storage_type}."
    elif pa.types.is_union(arrow):
        hint = "; use a struct with one field for each alternative."
    return f"Column {path!r} has the Arrow type {arrow}, which Colonnade cannot store{hint}"
