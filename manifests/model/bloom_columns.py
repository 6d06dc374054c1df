"""Which columns of a table get Bloom filters, as its properties say.

A property names its column, so it follows the column: renamed with it, gone with it.
Guide: docs/bloom-filters.md
"""

from __future__ import annotations

from collections.abc import Mapping

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.model.schema import SchemaField, TableSchema, type_text
from colonnade.manifests.model.statistics import bound_kinds

PREFIX = "bloom-filter-enabled.column."
"""A property of this name and a column's is `true` where its blocks get Bloom filters."""

_FAMILY = "bloom-filter"


def bloom_columns(properties: Mapping[str, str], schema: TableSchema) -> tuple[int, ...]:
    """The ids of the columns to write filters of, ascending.

    A name that the schema does not have, because somebody else renamed the column at the same
    time, is nobody's; likewise one of a type without filters.
    """
    found = {_find(name, schema) for name, text in _named(properties) if _is_true(text)}
    return tuple(sorted(field.id for field in found if field is not None and _suits(field)))


def check_bloom_columns(properties: Mapping[str, str], schema: TableSchema) -> None:
    """Refuse properties about Bloom filters that mean nothing. Raises InvalidInputError.

    That is another name than `PREFIX` and a column's, another value than true and false, and a
    column that does not exist or whose type has no filters.
    """
    for key, text in properties.items():
        if not key.startswith(_FAMILY):
            continue
        if not key.startswith(PREFIX):
            raise InvalidInputError(
                f"There is no property {key!r}; {PREFIX}<column> asks for Bloom filters."
            )
        if text.strip().casefold() not in ("true", "false"):
            raise InvalidInputError(f"Property {key!r} is true or false, not {text!r}.")
        name = key.removeprefix(PREFIX)
        field = _find(name, schema)
        if field is None:
            raise InvalidInputError(
                f"Property {key!r} names no column: the table has {', '.join(schema.names)}."
            )
        if not _suits(field):
            raise InvalidInputError(
                f"Property {key!r}: column {field.name!r} of type {type_text(field.type)} cannot"
                " have Bloom filters; numbers, dates, times, intervals, binary and strings without"
                " a collation can."
            )


def follow_columns(
    properties: Mapping[str, str], before: TableSchema, after: TableSchema
) -> tuple[dict[str, str], tuple[str, ...]]:
    """What to set and to remove so that properties name the same columns in another schema."""
    fields = {field.id: field for field in after.fields}
    renamed: dict[str, str] = {}
    removed: list[str] = []
    for name, text in _named(properties):
        old = _find(name, before)
        if old is None:
            continue
        new = fields.get(old.id)
        if new is None or new.name != old.name:
            removed.append(PREFIX + name)
        if new is not None and new.name != old.name:
            renamed[PREFIX + new.name] = text
    return renamed, tuple(key for key in removed if key not in renamed)


def without_missing(properties: Mapping[str, str], schema: TableSchema) -> dict[str, str]:
    """Properties of a table that gets other columns: all but those of columns that it then lacks.

    A column whose new type has no filters is none that they could go on with.
    """
    fields = {name: _find(name, schema) for name, _ in _named(properties)}
    gone = {PREFIX + name for name, field in fields.items() if field is None or not _suits(field)}
    return {key: text for key, text in properties.items() if key not in gone}


def _named(properties: Mapping[str, str]) -> list[tuple[str, str]]:
    """Names of columns, and what the properties about them say."""
    return [
        (key.removeprefix(PREFIX), text)
        for key, text in properties.items()
        if key.startswith(PREFIX)
    ]


def _is_true(text: str) -> bool:
    return text.strip().casefold() == "true"


def _find(name: str, schema: TableSchema) -> SchemaField | None:
    try:
        return schema.field(name)
    except NotFoundError:
        return None


def _suits(field: SchemaField) -> bool:
    """Whether equal values of a column are equal bytes, and more than bounds can tell apart."""
    return bool(bound_kinds(field)) and field.type != "boolean"
