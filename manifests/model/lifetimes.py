"""How long the rows and values of a table live. Pure.

The log names each column by its id.
Spec: docs/spec/lifetimes.md
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, model_validator

from colonnade.manifests.clock import DAY_MS
from colonnade.manifests.durations import parse_duration
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.entries import ColumnNumber, Count, PartitionField, SortField
from colonnade.manifests.model.primary_key import PrimaryKey
from colonnade.manifests.model.schema import Model, SchemaField, TableSchema, type_text

LONGEST_MS = 1_000 * 366 * DAY_MS
"""The longest lifetime, in ms: a thousand years."""

Lifetime = Annotated[int, Field(ge=1, le=LONGEST_MS)]

TIME_TYPES = ("date", "timestamp", "timestamp_ntz")
"""The types of columns that say when a row was made, or when it expires."""


class ColumnLifetime(Model):
    """Values of a column count as NULL when `ms` have passed since the time of their row."""

    column: ColumnNumber
    ms: Lifetime


class Lifetimes(Model):
    """The lifetimes of a table, in ms.

    A row expires `rows_ms` after its time, which is the value of `time_column`, or when it was
    written where that is None. It also expires at the value of `expires_column`. A row whose column
    is NULL does not expire. Purges wait `grace_ms` longer. Rows of RowSets that do not state when
    they were written count as written at `since_ms`.
    """

    rows_ms: Lifetime | None = None
    time_column: ColumnNumber | None = None
    expires_column: ColumnNumber | None = None
    columns: tuple[ColumnLifetime, ...] = ()
    grace_ms: Annotated[int, Field(ge=0, le=LONGEST_MS)] = 0
    since_ms: Count = 0

    @model_validator(mode="after")
    def _check_some(self) -> Lifetimes:
        if self.rows_ms is None and self.expires_column is None and not self.columns:
            raise ValueError("lifetimes concern rows or columns")
        numbers = [each.column for each in self.columns]
        if len(set(numbers)) < len(numbers):
            raise ValueError("a column has one lifetime")
        return self

    @property
    def counts_from_write(self) -> bool:
        """Whether something expires some time after it was written."""
        return self.time_column is None and bool(self.rows_ms or self.columns)

    @property
    def named(self) -> frozenset[int]:
        """The columns that the lifetimes name, by their ids."""
        times = {self.time_column, self.expires_column} - {None}
        return frozenset((*(t for t in times if t), *(each.column for each in self.columns)))


def lifetime_ms(text: str, what: str, others: str = "") -> int:
    """Return a lifetime in ms. Raises InvalidInputError that names `what` for any other text."""
    try:
        ms = parse_duration(text) * 1000
    except ValueError:
        ms = 0
    if not 0 < ms <= LONGEST_MS:
        raise InvalidInputError(
            f"{what} must be a time in seconds, minutes, hours or days, such as 30 days, of at most"
            f" {LONGEST_MS // DAY_MS} days{others}, not {text!r:.100}."
        )
    return ms


def problem_of(
    lifetimes: Lifetimes,
    schema: TableSchema,
    key: PrimaryKey,
    sort_key: tuple[SortField, ...],
    layout: tuple[PartitionField, ...],
) -> str | None:
    """Return why a table with these columns cannot have these lifetimes, or None."""
    first = {field.id: field for field in schema.fields}
    for number in sorted(lifetimes.named):
        if number not in first:
            return f"a lifetime names column {number}, which the table does not have"
    for time in (lifetimes.time_column, lifetimes.expires_column):
        if time is not None and first[time].type not in TIME_TYPES:
            return (
                f"column {first[time].name!r} of type {type_text(first[time].type)} is no time"
                " that rows can expire by; use a date or timestamp column"
            )
    placing = {*(each.column for each in sort_key), *(each.column for each in layout)}
    times = {lifetimes.time_column, lifetimes.expires_column}
    for each in lifetimes.columns:
        column = first[each.column]
        if each.column in (*key, *times) or column.id in placing:
            return (
                f"values of column {column.name!r} cannot expire, because the column is part of the"
                " primary key, the sort key or the partitioning, or is itself a time of expiry"
            )
        if not column.nullable:
            return f"values of column {column.name!r} cannot expire, because it is NOT NULL"
    return None


def renumbered(lifetimes: Lifetimes, ids: Mapping[int, int]) -> Lifetimes:
    """Return lifetimes of columns that have other ids."""
    columns = tuple(
        each.model_copy(update={"column": ids[each.column]}) for each in lifetimes.columns
    )
    time, expires = lifetimes.time_column, lifetimes.expires_column
    return lifetimes.model_copy(
        update={
            "time_column": None if time is None else ids[time],
            "expires_column": None if expires is None else ids[expires],
            "columns": columns,
        }
    )


def column_of(number: int, schema: TableSchema) -> SchemaField:
    """Return the column with an id. Requires: the schema has it."""
    return next(field for field in schema.fields if field.id == number)
