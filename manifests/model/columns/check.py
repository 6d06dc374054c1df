"""The rules that the columns of a table keep: their names, their nesting and their metadata.

Spec: docs/spec/types.md
"""

from __future__ import annotations

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns import void
from colonnade.manifests.model.schema import MapType, SchemaField, TableSchema, walk

ROW_HANDLER = "_row_handler"
"""A reserved column name: statements that change rows find rows by this column.

Readers offer other columns beside those of a table. A table's column of the same name hides such a
column.
"""

_STATEMENTS_OF_SPARK = ("__row_", "__original_row_id_")
"""How Spark's own columns begin in the rows of a MERGE or UPDATE, such as `__row_operation`.

A table's column of such a name would be ambiguous there, or be treated as Spark's.
"""

NESTING_LIMIT = 50
"""The deepest nesting of a type. JSON parsers, including the one here, fail on deeper nesting."""

METADATA_LIMIT = 2**18
"""The most bytes of metadata in all fields of a table: each change of columns repeats them."""


def check_schema(schema: TableSchema) -> None:
    """Refuse a schema that no table may have.

    Raises InvalidInputError for a schema without columns, and for nesting or metadata beyond its
    limit. Raises it for a name that is empty or reserved, or has a NUL or half of a surrogate pair.
    Raises it for two names in one struct that differ only by case, and for a nullable map key.
    Raises it for a void column that is not a plain one (`void.py`). The message names the column.
    """
    if not schema.fields:
        raise InvalidInputError("A table needs at least one column.")
    _check_depth(schema)
    for field in schema.fields:
        name = field.name.casefold()
        if name == ROW_HANDLER or name.startswith(_STATEMENTS_OF_SPARK):
            raise InvalidInputError(
                f"Column name {field.name!r} is reserved for statements that change rows; choose"
                " another name."
            )
    _check_names(schema.fields, "")
    for field in walk(schema.fields):
        if isinstance(field.type, MapType) and field.type.key.nullable:
            raise InvalidInputError(
                f"The key of map {field.name!r} must not be nullable; declare it NOT NULL."
            )
    if (problem := void.problem_of(schema)) is not None:
        raise InvalidInputError(problem)
    _check_metadata_size(schema)


def _check_depth(schema: TableSchema) -> None:
    level = [(field.name, field) for field in schema.fields]
    for _ in range(NESTING_LIMIT):
        level = [(column, child) for column, field in level for child in field.children()]
    if level:
        raise nested_too_deep(level[0][0])


def nested_too_deep(column: str) -> InvalidInputError:
    """Return the error for a column with a type of more levels than tables have."""
    return InvalidInputError(
        f"The type of column {column!r} is nested more than {NESTING_LIMIT} deep; store the deeper"
        " levels as text or as a variant."
    )


def _check_metadata_size(schema: TableSchema) -> None:
    sizes = {
        column.name: sum(len((field.metadata or "").encode()) for field in walk([column]))
        for column in schema.fields
    }
    if (total := sum(sizes.values())) > METADATA_LIMIT:
        largest = max(sizes, key=lambda name: sizes[name])
        raise InvalidInputError(
            f"The metadata of the columns takes {total} bytes, and at most {METADATA_LIMIT} are"
            f" allowed; column {largest!r} has {sizes[largest]} of them. Remove some of it."
        )


def _check_names(fields: tuple[SchemaField, ...], path: str) -> None:
    seen: dict[str, str] = {}
    for field in fields:
        full = path + field.name
        if not field.name:
            raise InvalidInputError(
                f"A field of {path.rstrip('.') or 'the table'} has no name; give it one."
            )
        if "\0" in field.name:
            raise InvalidInputError(
                f"Column name {full!r} holds a NUL, which Arrow's C interface cannot carry;"
                " choose another name."
            )
        if any("\ud800" <= letter <= "\udfff" for letter in field.name):
            raise InvalidInputError(
                f"Column name {full!r} has half of a surrogate pair, which no file can hold; choose"
                " another name."
            )
        folded = field.name.casefold()
        if (other := seen.get(folded)) is not None:
            raise InvalidInputError(
                f"Columns {other!r} and {full!r} are the same name; names must differ by more than"
                " case."
            )
        seen[folded] = full
        _check_names(field.children(), full + ".")
