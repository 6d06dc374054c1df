"""Values computed from a row, as far as Colonnade evaluates expressions without Spark. Pure.

They are columns, whole numbers, `+`, `-` and `*` on them, casts, and parts of dates and times. The
results are those of Spark in ANSI mode.
Spec: docs/spec/types.md#generated-columns
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField, TableSchema, type_text
from colonnade.tableformat.types.arrow_types import arrow_type
from colonnade.tableformat.types.compute import pc

WHOLE = ("byte", "short", "int", "long")
"""The types of whole numbers, the narrowest first."""

PARTS = ("year", "month", "day", "hour", "minute")
"""The parts of a time, by the names of SQL and of the functions of Arrow."""

_OPERATORS = {"+": "add_checked", "-": "subtract_checked", "*": "multiply_checked"}
"""The operators with the functions of Arrow that compute them."""

_FIRST = -62_135_596_800_000_000
_LAST = {9999: 253_402_300_799_999_999, 2037: 2_145_916_799_999_999}
"""The first microsecond of the years that SQL has, and the last one of two years."""


@dataclass(frozen=True, slots=True)
class RowValue:
    """An expression whose columns are resolved: its type, the columns it reads, and its values.

    `compute` takes a batch with these columns, in the types of `arrow_types.arrow_schema`. It
    raises InvalidInputError for a value that the type cannot hold, and for a year beyond 1 to 9999,
    or beyond 2037 in a time zone whose offset changes.
    """

    type: str
    columns: frozenset[int]
    compute: Callable[[pa.RecordBatch], pa.Array]


def column_value(field: SchemaField) -> RowValue:
    """Return the value of a column. Raises InvalidInputError for a nested type."""
    if not isinstance(field.type, str):
        raise InvalidInputError(f"column {field.name!r} is {type_text(field.type)}")
    name = field.name
    return RowValue(
        field.type,
        frozenset((field.id,)),
        lambda batch: batch.column(batch.schema.get_field_index(name)),
    )


def whole_number(number: int, kind: str) -> RowValue:
    """Return a constant of one of the types `WHOLE`."""
    scalar = pa.scalar(number, _arrow(kind))
    return RowValue(kind, frozenset(), lambda batch: pa.repeat(scalar, batch.num_rows))


def arithmetic(operator: str, left: RowValue, right: RowValue) -> RowValue:
    """Return a sum, difference or product. Raises InvalidInputError for other than whole numbers.

    The result has the wider of the two types, and a result that it cannot hold is an error.
    """
    for side in (left, right):
        if side.type not in WHOLE:
            raise InvalidInputError(f"{operator} on {side.type} is not supported")
    kind = max(left.type, right.type, key=WHOLE.index)
    one, other = cast(left, kind, ""), cast(right, kind, "")
    apply = getattr(pc, _OPERATORS[operator])
    return RowValue(
        kind,
        left.columns | right.columns,
        lambda batch: _exact(apply, one.compute(batch), other.compute(batch)),
    )


def cast(value: RowValue, target: str, time_zone: str) -> RowValue:
    """Return a value in another type, as CAST converts it.

    Whole numbers become other whole numbers or text, and times become dates. Raises
    InvalidInputError for any other cast.
    """
    if value.type == target:
        return value
    if value.type in WHOLE and target in (*WHOLE, "string"):
        kind = _arrow(target)
        return RowValue(
            target, value.columns, lambda batch: _exact(pc.cast, value.compute(batch), kind)
        )
    if target == "date" and value.type in ("timestamp", "timestamp_ntz"):
        local = _local(value, time_zone)
        return RowValue(
            target, value.columns, lambda batch: local(batch).cast(pa.date32(), safe=False)
        )
    raise InvalidInputError(f"CAST of {value.type} to {target} is not supported")


def part_of(part: str, value: RowValue, time_zone: str) -> RowValue:
    """Return a part of a date or time, one of `PARTS`, in a time zone.

    Raises InvalidInputError for other types, and for the hours of a date.
    """
    times = ("timestamp", "timestamp_ntz")
    if value.type not in (times if part in ("hour", "minute") else ("date", *times)):
        raise InvalidInputError(f"{part} of {value.type} is not supported")
    local, apply = _local(value, time_zone), getattr(pc, part)
    return RowValue(
        "int", value.columns, lambda batch: apply(local(batch)).cast(pa.int32(), safe=False)
    )


def _local(value: RowValue, time_zone: str) -> Callable[[pa.RecordBatch], pa.Array]:
    """Return what computes local times.

    Arrow knows the changes of a time zone up to the year 2037.
    """
    fixed = value.type != "timestamp" or time_zone == "UTC" or time_zone[:1] in "+-"
    year = 9999 if fixed else 2037
    first, last = (pa.scalar(each, pa.timestamp("us")) for each in (_FIRST, _LAST[year]))
    if value.type == "timestamp":
        try:
            pc.local_timestamp(pa.array([0], pa.timestamp("us", time_zone)))
        except pa.ArrowException as error:
            raise InvalidInputError(f"time zone {time_zone!r} is not known") from error

    def compute(batch: pa.RecordBatch) -> pa.Array:
        given = value.compute(batch)
        plain = _exact(pc.cast, given, pa.timestamp("us"))
        outside = pc.or_(pc.less(plain, first), pc.greater(plain, last))
        if pc.any(outside).as_py():
            raise InvalidInputError(f"it reads a time outside the years 1 to {year}")
        if value.type != "timestamp":
            return plain
        return pc.local_timestamp(given.cast(pa.timestamp("us", time_zone)))

    return compute


def resolve_column(path: tuple[str, ...], schema: TableSchema) -> RowValue:
    """Return the value of a column by name. Raises InvalidInputError, NotFoundError."""
    if len(path) != 1:
        raise InvalidInputError(f"field {'.'.join(path)!r} inside a column is not supported")
    return column_value(schema.field(path[0]))


def _exact(apply: Callable[..., pa.Array], *arguments: object) -> pa.Array:
    try:
        return apply(*arguments)
    except pa.ArrowInvalid as error:
        raise InvalidInputError(f"a result does not fit its type ({error})") from error


def _arrow(kind: str) -> pa.DataType:
    return arrow_type(SchemaField(name="value", type=kind))
