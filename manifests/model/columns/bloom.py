"""Which columns of a table get Bloom filters, according to its properties.

Columns of the primary key get them unless a property says otherwise. Guide: docs/bloom-filters.md
"""

from __future__ import annotations

from collections.abc import Mapping

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.model.columns.properties import BLOOM
from colonnade.manifests.model.primary_key import PrimaryKey, key_fields
from colonnade.manifests.model.schema import SchemaField, TableSchema, type_text
from colonnade.manifests.model.statistics import bound_prefix

_FAMILY = "bloom-filter"


def bloom_columns(
    properties: Mapping[str, str], schema: TableSchema, key: PrimaryKey = ()
) -> tuple[int, ...]:
    """Return the ids of the columns that get filters, ascending. `key` is the primary key.

    Properties are ignored if the schema does not have the column, or the column's type has no
    filters.
    """
    wanted = {field.id: True for field in key_fields(key, schema)}
    for name, text in _named(properties):
        if (field := _find(name, schema)) is not None:
            wanted[field.id] = _is_true(text)
    by_id = {field.id: field for field in schema.fields}
    return tuple(
        sorted(each for each, asked in wanted.items() if asked and has_filters(by_id[each]))
    )


def check_bloom_columns(properties: Mapping[str, str], schema: TableSchema) -> None:
    """Refuse invalid properties about Bloom filters. Raises InvalidInputError.

    A property is invalid if its name is not `BLOOM` and a column, or its value is neither true nor
    false. It is also invalid if the column does not exist or is static, or its type has no filters.
    """
    for key, text in properties.items():
        if not key.startswith(_FAMILY):
            continue
        if not key.startswith(BLOOM):
            raise InvalidInputError(
                f"There is no property {key!r}; {BLOOM}<column> asks for Bloom filters."
            )
        if text.strip().casefold() not in ("true", "false"):
            raise InvalidInputError(f"Property {key!r} must be true or false, not {text!r}.")
        name = key.removeprefix(BLOOM)
        field = _find(name, schema)
        if field is None:
            raise InvalidInputError(
                f"Property {key!r} names no column: the table has {', '.join(schema.names)}."
            )
        if field.static and _is_true(text):
            raise InvalidInputError(
                f"Property {key!r} names a static column, which the RowSets of the table do not"
                " store; leave the property out."
            )
        if not has_filters(field):
            raise InvalidInputError(
                f"Property {key!r}: column {field.name!r} of type {type_text(field.type)} cannot"
                " have Bloom filters; numbers, dates, times, intervals, binary and strings without"
                " a collation can."
            )


def has_filters(field: SchemaField) -> bool:
    """Return whether the type of a column can have filters.

    Equal values of its type must be equal bytes, and bounds alone must not tell all values apart.
    """
    return bool(bound_prefix(field.type)) and field.type != "boolean"


def _named(properties: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return column names, each with the value of its property."""
    return [
        (key.removeprefix(BLOOM), text) for key, text in properties.items() if key.startswith(BLOOM)
    ]


def _is_true(text: str) -> bool:
    return text.strip().casefold() == "true"


def _find(name: str, schema: TableSchema) -> SchemaField | None:
    try:
        return schema.field(name)
    except NotFoundError:
        return None
