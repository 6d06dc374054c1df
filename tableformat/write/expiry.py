"""A time to live for the rows of one write, in the column that says when each row expires. Pure.

Guide: docs/lifetimes.md#the-rows-of-one-write
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pyarrow as pa

from colonnade.manifests.clock import DAY_MS
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.lifetimes import Lifetimes, column_of, lifetime_ms
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.types.arrow_types import arrow_type
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.conversion import convert
from colonnade.tableformat.write.settings import WriteSettings


@dataclass(frozen=True, slots=True)
class Expiry:
    """When the rows of a write expire that do not say it themselves.

    `column` holds the time of each row. `ms` is the time of rows without one, since 1970 UTC.
    """

    column: SchemaField
    ms: int

    @property
    def stored(self) -> int:
        """The time as the column stores it: in µs, or in days.

        A date expires at its midnight, so it is the first one that is not too early.
        """
        return -(-self.ms // DAY_MS) if self.column.type == "date" else self.ms * 1000

    def filled(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows of a user with a time where they have NULL, or lack the column.

        Raises InvalidInputError if the column of the rows has another type.
        """
        name, kind = self.column.name, arrow_type(self.column)
        time = pa.scalar(self.stored, pa.int32() if kind == pa.date32() else pa.int64()).cast(kind)
        names = rows.schema.names
        found = [at for at, each in enumerate(names) if each == name] or [
            at for at, each in enumerate(names) if each.casefold() == name.casefold()
        ]
        if not found:
            return rows.append_column(name, pa.repeat(time, rows.num_rows))
        if len(found) > 1 or not rows.column(found[0]).null_count:
            return rows
        given = convert(rows.column(found[0]), self.column, name)
        return rows.set_column(found[0], names[found[0]], pc.fill_null(given, time))


def expiry_of(
    table: TableState, settings: WriteSettings | None, present_ms: int | None
) -> Expiry | None:
    """Return when the rows of a write to a table expire; None if its settings do not say it.

    The time counts from `present_ms`, the present of the statement in ms since 1970 UTC, which may
    be None if nothing expires in the table. Raises the errors of `expiry`.
    """
    if settings is None or settings.ttl is None:
        return None
    column = expires_column(table.lifetimes, table.schema)
    assert column is None or present_ms is not None, "Rows that expire begin at a time."
    return expiry(table.name, column, settings.ttl, present_ms or 0)


def expires_column(lifetimes: Lifetimes | None, schema: TableSchema) -> SchemaField | None:
    """Return the column that says when each row of a table expires, if it has one."""
    number = None if lifetimes is None else lifetimes.expires_column
    return None if number is None else column_of(number, schema)


def expiry(table: str, column: SchemaField | None, ttl: str, now_ms: int) -> Expiry:
    """Return when rows expire that live for `ttl` from `now_ms` on, in ms since 1970 UTC.

    Raises InvalidInputError that names the table if no `column` says when its rows expire, or if
    the column is generated.
    """
    lasts = lifetime_ms(ttl, "Option ttl")
    if column is None:
        raise InvalidInputError(
            f"Table {table!r} has no column that says when each row expires, so option ttl cannot"
            " fill one; name a date or timestamp column by the property 'ttl.expires', or leave"
            " the option out."
        )
    if column.generated is not None:
        raise InvalidInputError(
            f"Column {column.name!r} of table {table!r} says when each row expires and is"
            " generated, so option ttl cannot fill it; leave the option out."
        )
    return Expiry(column, now_ms + lasts)


def expiring(batches: Iterable[pa.RecordBatch], expires: Expiry | None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a user, with the time at which they expire if there is one."""
    for batch in batches:
        yield batch if expires is None else expires.filled(batch)
