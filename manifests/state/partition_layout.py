"""Partition layouts: what a list of partition fields means, and its text form. Pure.

A layout says what the rows of one RowSet have in common, such as the day of a timestamp. The values
are stored in the entries of RowSets, never in a path, so a table can change its layout at any time.
Spec: docs/spec/partitions.md
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from colonnade.manifests.errors import CorruptionError, InvalidInputError, NotFoundError
from colonnade.manifests.model.column_names import quoted
from colonnade.manifests.model.entries import PartitionField, PartitionValues
from colonnade.manifests.model.partition_transforms import BY_ANY_NAME, TRANSFORMS
from colonnade.manifests.model.schema import SchemaField, TableSchema, type_text
from colonnade.manifests.model.statistics import WHOLE, bound_prefix, decode_bound
from colonnade.manifests.state.snapshot import TableState

VALUE_LIMIT = 1024
"""The most bytes of a text or binary partition value."""

_WIDTH = re.compile(r"\s*[0-9]{1,18}\s*")
_CALL = re.compile(r"\s*([A-Za-z_]+)\s*\((.*)\)\s*", re.DOTALL)


def parse_layout(texts: Sequence[str], schema: TableSchema) -> tuple[PartitionField, ...]:
    """Parse texts such as `region`, `days(ts)` or `bucket(16, id)`. Requires: a schema with ids.

    Raises NotFoundError for an unknown column; InvalidInputError for an unknown transform, or one
    that the column's type does not support.
    """
    return check_layout([_parse_field(text, schema) for text in texts], schema)


def _parse_field(text: str, schema: TableSchema) -> PartitionField:
    call = _CALL.fullmatch(text)
    if call is None or text in schema.names:
        return make_field("identity", text, None, schema)
    name, inside = call[1], call[2].strip()
    first, comma, rest = inside.partition(",")
    if comma and _WIDTH.fullmatch(first):
        return make_field(name, rest, int(first), schema)
    # A column's name may have a comma, so only digits after the last comma are the width.
    before, comma, last = inside.rpartition(",")
    if comma and _WIDTH.fullmatch(last):
        return make_field(name, before, int(last), schema)
    return make_field(name, inside, None, schema)


def make_field(
    transform: str, column: str, argument: int | None, schema: TableSchema
) -> PartitionField:
    """Make a field of a layout from the names that people use.

    Raises NotFoundError for an unknown column; InvalidInputError for an unknown transform, or an
    argument that is missing, out of range or not allowed.
    """
    found = schema.named(column)
    known = BY_ANY_NAME.get(transform.casefold())
    if known is None:
        *names, last = TRANSFORMS
        raise InvalidInputError(
            f"Transform {transform!r} of column {found.name!r} is unknown; the transforms are"
            f" {', '.join(names)} and {last}."
        )
    if (argument is None) == (known.example is not None):
        how = "has no argument except its column"
        how = f"is written like {known.example}" if known.example else how
        raise InvalidInputError(f"Transform {known.name} of column {found.name!r} {how}.")
    values: dict[str, Any] = {"transform": known.name, "column": found.id, "argument": argument}
    try:
        return PartitionField(**values)
    except ValidationError as error:
        raise InvalidInputError(
            f"The argument of {known.name} for column {found.name!r} must be a number from 1 to"
            f" 2147483647,"
            f" not {argument}."
        ) from error


def check_layout(
    fields: Sequence[PartitionField], schema: TableSchema
) -> tuple[PartitionField, ...]:
    """Refuse an invalid layout of a table with these columns. Returns the fields.

    Raises NotFoundError for an unknown column; InvalidInputError for a column whose type the
    transform does not support, and for a repeated field.
    """
    for field in fields:
        column = schema.by_id(field.column)
        if not TRANSFORMS[field.transform].takes(column):
            raise InvalidInputError(
                f"Column {column.name!r} of type {type_text(column.type)} cannot be partitioned by"
                f" {field.transform}."
            )
        if fields.count(field) > 1:
            raise InvalidInputError(
                f"The partitions of a table name {field_text(field, schema)} twice."
            )
    return tuple(fields)


def value_tag(field: PartitionField, column: SchemaField) -> str:
    """Return the prefix that values of a partition field on a column have."""
    return bound_prefix(column.type) if TRANSFORMS[field.transform].of_column else WHOLE


def check_partition(table: TableState, layout: int, values: PartitionValues | None) -> None:
    """Refuse partition values that no RowSet of the table can have.

    Raises CorruptionError. Its message does not say where the values are stored.
    """
    if layout > len(table.partition_layouts):
        raise CorruptionError(f"partition layout {layout} does not exist.")
    fields = table.partition_layout(layout)
    if (values is None) != (layout == 0) or len(values or ()) != len(fields):
        raise CorruptionError(f"the partition {values} does not fit layout {layout}.")
    columns = {column.id: column for column in table.schema.fields}
    for field, value in zip(fields, values or (), strict=True):
        if value is not None and field.column in columns:
            decode_bound(value, value_tag(field, columns[field.column]))


def field_text(field: PartitionField, schema: TableSchema) -> str:
    """Return a field as `parse_layout` takes it. A dropped column is shown by its id."""
    try:
        name = schema.by_id(field.column).name
    except NotFoundError:
        name = f"#{field.column}"
    if field.transform == "identity":
        return name
    if field.argument is None:
        return f"{field.transform}({quoted(name)})"
    return f"{field.transform}({field.argument}, {quoted(name)})"
