"""Properties of a table that name a column. Pure.

The log names each column by its id, such as `merge.3` = `add` or `sequence` =
`4`. So a property means the same column whatever that is called, and follows no change of columns.
People give and see the names of columns.
Spec: docs/spec/operations.md#properties-that-name-a-column
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.model.schema import SchemaField, TableSchema

BLOOM = "bloom-filter-enabled.column."
"""`<BLOOM><column>` says whether a column gets Bloom filters."""
MERGE = "merge."
"""`<MERGE><column>` is the merge mode of a column."""
SEQUENCE = "sequence"
"""The column that says how new a row is."""
SEQUENCE_OF = "sequence."
"""`<SEQUENCE_OF><column>` is the column that says how new the value of a column is."""

_FOR_A_COLUMN = (BLOOM, MERGE, SEQUENCE_OF)

Properties = Mapping[str, str]


def names_column(name: str) -> bool:
    """Return whether a property names a column."""
    return name == SEQUENCE or name.startswith(_FOR_A_COLUMN)


def column_of(name: str) -> str | None:
    """Return the column that a property is for, as its name states it; None if it is for none."""
    prefix = next((each for each in _FOR_A_COLUMN if name.startswith(each)), None)
    return None if prefix is None else name[len(prefix) :]


def is_sequence(name: str) -> bool:
    """Return whether the text of a property is a column."""
    return name == SEQUENCE or name.startswith(SEQUENCE_OF)


def by_id(properties: Properties, schema: TableSchema) -> dict[str, str]:
    """Return properties as the log states them, from those that a user gives.

    Raises InvalidInputError that names the property if the schema lacks its column, and for two
    properties that are the same one.
    """
    found: dict[str, str] = {}
    given: dict[str, str] = {}
    for name, text in properties.items():
        try:
            key = _named(name, lambda column: _id_of(column, schema))
            found_text = _id_of(text, schema) if is_sequence(name) else text
        except NotFoundError as error:
            raise InvalidInputError(
                f"Property {name!r} names a column that is not there. {error.message}"
            ) from error
        if key in found:
            raise InvalidInputError(f"Properties {given[key]!r} and {name!r} are the same one.")
        given[key], found[key] = name, found_text
    return found


def names_by_id(names: Iterable[str], schema: TableSchema) -> tuple[str, ...]:
    """Return names of properties as the log states them, without those for unknown columns."""
    there = {each.casefold() for each in schema.names}
    return tuple(
        _named(name, lambda column: _id_of(column, schema))
        for name in names
        if (column := column_of(name)) is None or column.casefold() in there
    )


def by_name(properties: Properties, schema: TableSchema) -> Properties:
    """Return properties as users see them, from those that the log states.

    Those that name a column which the schema lacks are left out. So some of the columns of a table
    have the properties that are about them alone.
    """
    if not any(map(names_column, properties)):
        return properties
    names = {str(field.id): field.name for field in schema.fields}
    return {
        _named(name, names.__getitem__): names[text] if is_sequence(name) else text
        for name, text in properties.items()
        if columns_of(name, text) <= names.keys()
    }


def columns_of(name: str, text: str) -> set[str]:
    """Return the columns that a property of the log names, each by its id as text."""
    column = column_of(name)
    return {*(() if column is None else (column,)), *((text,) if is_sequence(name) else ())}


def divided(
    properties: Properties, columns: Iterable[SchemaField]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the properties of the log that are for one of these columns, and those for another.

    Properties that are for no column are in neither.
    """
    ids = _ids(columns)
    of_columns = {k: text for k, text in properties.items() if column_of(k) is not None}
    own = {name: text for name, text in of_columns.items() if column_of(name) in ids}
    return own, {name: text for name, text in of_columns.items() if name not in own}


def missing(properties: Properties, schema: TableSchema) -> Iterator[tuple[str, str]]:
    """Yield properties of the log that name a column which the schema lacks, and that column.

    The column is its id as text.
    """
    there = _ids(schema.fields)
    for name, text in properties.items():
        for column in sorted(columns_of(name, text) - there):
            yield name, column


def check_columns_stay(
    properties: Properties, before: TableSchema, after: TableSchema, done: str
) -> None:
    """Refuse other columns for a table if one is missing that its properties name.

    `properties` are those of the log. `done` says what was to happen to the column, such as
    "dropped". Raises InvalidInputError.
    """
    names = {str(field.id): field.name for field in before.fields}
    for name, column in missing(properties, after):
        shown = _named(name, lambda each: names.get(each, each))
        raise InvalidInputError(
            f"Column {names.get(column, column)!r} cannot be {done}: property {shown!r} names it;"
            " unset the property first."
        )


def _named(name: str, column_as: Callable[[str], str]) -> str:
    """Return the name of a property with another text for its column."""
    column = column_of(name)
    return name if column is None else name.removesuffix(column) + column_as(column)


def _ids(columns: Iterable[SchemaField]) -> set[str]:
    return {str(each.id) for each in columns}


def _id_of(column: str, schema: TableSchema) -> str:
    return str(schema.field(column).id)
