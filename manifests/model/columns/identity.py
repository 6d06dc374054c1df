"""Identity columns: which values a table gives, and which one it gives next. Pure.

The values of a column are `start`, `start + step`, and so on. A job takes the next ones by an epoch
of its own before it writes rows, so writers never wait for each other. A value is given once: no
later epoch gives it again, even if its rows were never committed. Values that users give are
skipped.
Spec: docs/spec/types.md#identity-columns
"""

from __future__ import annotations

from collections.abc import Iterable

from colonnade.manifests.model.entries import ColumnNumber
from colonnade.manifests.model.schema import (
    IdentityColumn,
    LongNumber,
    Model,
    SchemaField,
    TableSchema,
    walk,
)

_BITS = {"byte": 8, "short": 16, "int": 32, "long": 64}


class IdentityCounter(Model):
    """The last value of an identity column that was given, or that later values must not repeat.

    `last` is one of the values that the column can be
    given. A column without a counter begins with its start.
    """

    column: ColumnNumber
    last: LongNumber


def identity_columns(schema: TableSchema) -> tuple[SchemaField, ...]:
    """Return the identity columns of a table."""
    return tuple(field for field in schema.fields if field.identity is not None)


def spec_of(column: SchemaField) -> IdentityColumn:
    """Return what an identity column states."""
    assert column.identity is not None
    return column.identity


def last_value(counters: Iterable[IdentityCounter], column: SchemaField) -> int | None:
    """Return the last value of an identity column; None before the first one."""
    return next((each.last for each in counters if each.column == column.id), None)


def next_value(counters: Iterable[IdentityCounter], column: SchemaField) -> int | None:
    """Return the value that the column gives next; None if its type has no further value."""
    spec, last = spec_of(column), last_value(counters, column)
    following = spec.start if last is None else last + spec.step
    return following if following in numbers_of(column) else None


def next_values(
    counters: Iterable[IdentityCounter], column: SchemaField, count: int
) -> range | None:
    """Return the next `count` values; None if the type has fewer left."""
    first, step = next_value(counters, column), spec_of(column).step
    if first is None or first + (count - 1) * step not in numbers_of(column):
        return None
    return range(first, first + count * step, step)


def past(
    counters: tuple[IdentityCounter, ...], column: SchemaField, low: int, high: int
) -> tuple[IdentityCounter, ...]:
    """Return the counters after rows got values from `low` to `high`: these are not given later."""
    spec, last = spec_of(column), last_value(counters, column)
    farthest = high if spec.step > 0 else low
    steps = (farthest - spec.start) // spec.step
    reached = spec.start + steps * spec.step
    if steps < 0 or (last is not None and (reached - last) // spec.step <= 0):
        return counters
    return with_last(counters, column, reached)


def with_last(
    counters: tuple[IdentityCounter, ...], column: SchemaField, last: int
) -> tuple[IdentityCounter, ...]:
    """Return the counters with another last value of a column, in the order of the columns."""
    others = (each for each in counters if each.column != column.id)
    new = IdentityCounter(column=column.id, last=last)
    return tuple(sorted((*others, new), key=lambda each: each.column))


def numbers_of(column: SchemaField) -> range:
    """Return the numbers that the type of an identity column has."""
    half = 2 ** (_BITS[str(column.type)] - 1)
    return range(-half, half)


def wider_numbers(column: SchemaField) -> tuple[str, ...]:
    """Return the types that an identity column may widen to, from the narrowest to the widest."""
    names = tuple(_BITS)
    return names[names.index(str(column.type)) + 1 :]


def problem_of(schema: TableSchema) -> str | None:
    """Return what is wrong with the identity columns of a schema, or None."""
    top = {field.id for field in schema.fields}
    for field in walk(schema.fields):
        spec = field.identity
        if spec is None:
            continue
        if field.id not in top:
            return f"field {field.name!r} is not a whole column and cannot be an identity column"
        if field.type not in _BITS:
            return (
                f"identity column {field.name!r} is {field.type}; it must be byte, short, int or"
                " long"
            )
        if spec.step == 0:
            return f"identity column {field.name!r} has step 0; choose another step"
        if spec.start not in numbers_of(field):
            return (
                f"identity column {field.name!r} starts with {spec.start}, which is no {field.type}"
            )
        if field.nullable:
            return f"identity column {field.name!r} is nullable; make it NOT NULL"
        if field.default is not None or field.initial is not None:
            return f"identity column {field.name!r} has a default; leave one of them out"
    return None
