"""Partition layouts: what a list of partition fields means, and how people write it. Pure.

A layout says what the rows of one RowSet have in common, such as the day of a timestamp. Its values
stand in the RowSets' entries, never in a path, so a table can get another one at any time.
Spec: docs/spec/partitions.md
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from colonnade.manifests.errors import CorruptionError, InvalidInputError, NotFoundError
from colonnade.manifests.model.entries import PartitionField, PartitionValues
from colonnade.manifests.model.schema import SchemaField, TableSchema, type_text
from colonnade.manifests.model.statistics import BoundKinds, bound_kinds, decode_bound
from colonnade.manifests.state.snapshot import TableState

PARTITIONS = "partitions"
"""The feature that readers and writers of a database with partitioned tables know."""

VALUE_LIMIT = 1024
"""Bytes of text or of binary that a partition value may have."""

_NAMES = {
    "identity": "identity",
    **{name: "years" for name in ("year", "years")},
    **{name: "months" for name in ("month", "months")},
    **{name: "days" for name in ("day", "days", "date")},
    **{name: "hours" for name in ("hour", "hours", "date_hour")},
    "bucket": "bucket",
    "truncate": "truncate",
}
"""Transforms by the names that users of other formats know."""

_CALL = re.compile(r"\s*([A-Za-z_]+)\s*\((.*)\)\s*", re.DOTALL)
_TIMESTAMPS = ("timestamp", "timestamp_ntz")
_WHOLE = ("byte", "short", "int", "long")


def parse_layout(texts: Sequence[str], schema: TableSchema) -> tuple[PartitionField, ...]:
    """Resolve texts such as `region`, `days(ts)` or `bucket(16, id)` against a schema with ids.

    Raises NotFoundError for an unknown column, InvalidInputError for what is no transform, or none
    of the column's type.
    """
    return check_layout([_parse_field(text, schema) for text in texts], schema)


def split_fields(text: str) -> tuple[str, ...]:
    """The fields of a layout that is given as one text: `days(ts), bucket(16, id)`."""
    # A comma that no closing parenthesis follows before an opening one.
    parts = re.split(r",(?![^()]*\))", text)
    return tuple(part.strip() for part in parts if part.strip())


def _parse_field(text: str, schema: TableSchema) -> PartitionField:
    call = _CALL.fullmatch(text)
    if call is None or text in schema.names:
        return make_field("identity", text, None, schema)
    name, inside = call[1], call[2].strip()
    first, comma, rest = inside.partition(",")
    if comma and first.strip().isdecimal():
        return make_field(name, rest, int(first), schema)
    # Columns may have a comma in their names; what follows the last one is perhaps the width.
    before, comma, last = inside.rpartition(",")
    if comma and last.strip().isdecimal():
        return make_field(name, before, int(last), schema)
    return make_field(name, inside, None, schema)


def make_field(
    transform: str, column: str, argument: int | None, schema: TableSchema
) -> PartitionField:
    """A field of a layout by the names that people use.

    Raises NotFoundError for an unknown column, InvalidInputError for an unknown transform, or an
    argument that is missing, out of range or of no use.
    """
    found = schema.field(_unquoted(column.strip()))
    known = _NAMES.get(transform.casefold())
    if known is None:
        raise InvalidInputError(
            f"Transform {transform!r} of column {found.name!r} is unknown; the transforms are"
            " identity, years, months, days, hours, bucket and truncate."
        )
    if (argument is None) == (known in ("bucket", "truncate")):
        example = {"bucket": "bucket(16, id)", "truncate": "truncate(10, name)"}.get(known)
        how = f"is written like {example}" if example else "has no argument but its column"
        raise InvalidInputError(f"Transform {known} of column {found.name!r} {how}.")
    values: dict[str, Any] = {"transform": known, "column": found.id, "argument": argument}
    try:
        return PartitionField(**values)
    except ValidationError as error:
        raise InvalidInputError(
            f"The argument of {known} for column {found.name!r} is a number from 1 to 2147483647,"
            f" not {argument}."
        ) from error


def _unquoted(name: str) -> str:
    quoted = len(name) > 1 and name[0] == name[-1] == "`"
    return name[1:-1].replace("``", "`") if quoted else name


def check_layout(
    fields: Sequence[PartitionField], schema: TableSchema
) -> tuple[PartitionField, ...]:
    """Refuse what cannot be a layout of a table with these columns; returns the fields.

    Raises NotFoundError for a column that is not there, InvalidInputError for one whose type the
    transform does not take, and for a field that stands twice.
    """
    for field in fields:
        column = schema.by_id(field.column)
        if not _takes(field.transform, column):
            raise InvalidInputError(
                f"Column {column.name!r} of type {type_text(column.type)} cannot be partitioned by"
                f" {field.transform}."
            )
        if fields.count(field) > 1:
            raise InvalidInputError(
                f"The partitions of a table name {field_text(field, schema)} twice."
            )
    return tuple(fields)


def _takes(transform: str, column: SchemaField) -> bool:
    """Whether a transform is defined for the type of a column."""
    name, kinds = str(column.type), bound_kinds(column)
    text = kinds in ((str,), (bytes,))
    match transform:
        case "identity":
            return kinds in ((int,), (str,), (bytes,))
        case "hours":
            return name in _TIMESTAMPS
        case "years" | "months" | "days":
            return name == "date" or name in _TIMESTAMPS
        case "truncate":
            return text or name in _WHOLE or name.startswith("decimal")
    hashed = (*_WHOLE, *_TIMESTAMPS, "date")
    return text or name in hashed or name.startswith(("decimal", "time("))


def value_kinds(field: PartitionField, column: SchemaField) -> BoundKinds:
    """What the values of a field of a column are."""
    return bound_kinds(column) if field.transform in ("identity", "truncate") else (int,)


def check_partition(table: TableState, layout: int, values: PartitionValues | None) -> None:
    """Refuse a partition that no RowSet of a table can be of.

    Raises CorruptionError without saying where it stands.
    """
    if layout > len(table.partition_layouts):
        raise CorruptionError(f"partition layout {layout} does not exist.")
    fields = table.partition_layout(layout)
    if (values is None) != (layout == 0) or len(values or ()) != len(fields):
        raise CorruptionError(f"the partition {values} is none of layout {layout}.")
    columns = {column.id: column for column in table.schema.fields}
    for field, value in zip(fields, values or (), strict=True):
        if value is not None and field.column in columns:
            decode_bound(value, value_kinds(field, columns[field.column]))


def field_text(field: PartitionField, schema: TableSchema) -> str:
    """A field as people write it; a column that was dropped since is shown by its id."""
    try:
        name = schema.by_id(field.column).name
    except NotFoundError:
        name = f"#{field.column}"
    if field.transform == "identity":
        return name
    if field.argument is None:
        return f"{field.transform}({name})"
    return f"{field.transform}({field.argument}, {name})"
