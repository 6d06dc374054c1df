"""Give rows the values of identity columns: the only place without Spark.

A job takes the next values by an epoch of its own, a few times for many rows, and writes them like
any other values. Rows that move keep their values and do not come here.
Spec: docs/spec/types.md#identity-columns
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Protocol

import numpy as np
import pyarrow as pa

from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.identity_draws import exhausted
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.ids import TableId, new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.columns.identity import (
    identity_columns,
    next_values,
    spec_of,
    with_last,
)
from colonnade.manifests.model.operations import DrawIdentity
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.types.arrow_types import arrow_schema, storage_type
from colonnade.tableformat.types.compute import pc

DRAW = "draw_identity"
"""The name of the operation in the history."""

MOST_AHEAD = 2**20
"""The most values that a job takes before it knows that it needs them."""


class Draws(Protocol):
    """Where a job gets values of identity columns."""

    def draw(self, column: SchemaField, count: int) -> range:
        """Return the next `count` values of a column, which no other job gets.

        Raises InvalidInputError that names the column if its type has fewer left.
        """


class LogDraws:
    """Takes values from the log, by an epoch for each draw. Draws never conflict with each other.

    `base` is a state with the table. Raises the errors of `Log.commit`.
    """

    def __init__(self, log: Log, base: Snapshot, table: TableState, job_id: str) -> None:
        self._log, self._state, self._table, self._job_id = log, base, table.id, job_id

    def draw(self, column: SchemaField, count: int) -> range:
        """Commit an epoch that takes the values. Cost: that of a small commit."""
        first = column.id
        taken = DrawIdentity(table=self._table, column=first, count=count, job=self._job_id)
        change = Change(
            new_transaction_id(),
            DRAW,
            (taken,),
            {"column": column.name, "count": str(count)},
            job_id=self._job_id,
            fresh=True,
        )
        self._state = after = self._log.commit(change, self._state)
        counters = after.tables[self._table].identities
        last = next(each.last for each in counters if each.column == first)
        step = spec_of(column).step
        return range(last - (count - 1) * step, last + step, step)


class OwnDraws:
    """Takes values of a table that no other writer sees yet, without the log."""

    def __init__(self, table: TableState) -> None:
        self._table, self._counters = table, table.identities

    def draw(self, column: SchemaField, count: int) -> range:
        """Return the next values. The epoch that creates the table will tell which were used."""
        values = next_values(self._counters, column, count)
        if values is None:
            raise exhausted(replace(self._table, identities=self._counters), column, count)
        self._counters = with_last(self._counters, column, values[-1])
        return values


def draws_of(log: Log, table: TableState, job_id: str, base: Snapshot | None = None) -> Draws:
    """Return where a job gets values for a table, which the job or a transaction may create.

    `base` is a state of the log; without one, this costs as `LogReader.read_head`.
    """
    with suppress(NotFoundError):  # the job creates the database, too
        head = log.reader.read_head() if base is None else base
        if table.id in head.tables:
            return LogDraws(log, head, table, job_id)
    return OwnDraws(table)


def draws_at(log: Log, table: TableId, job_id: str) -> Draws:
    """Return where a task of a job gets values for a table that exists.

    Cost: that of `LogReader.read_head`. Raises NotFoundError if the table was dropped.
    """
    head = log.reader.read_head()
    state = head.tables.get(table)
    if state is None:
        raise NotFoundError(
            f"Table {table} of {log.store.url} was dropped meanwhile; its rows were not written."
        )
    return LogDraws(log, head, state, job_id)


def check_settable(columns: Iterable[SchemaField]) -> None:
    """Refuse to set columns whose values only the table gives.

    Raises InvalidInputError that names the column.
    """
    for column in columns:
        if column.identity is not None and column.identity.always:
            raise InvalidInputError(
                f"Column {column.name!r} is GENERATED ALWAYS AS IDENTITY and cannot be set; leave"
                " it out."
            )


def open_schema(schema: TableSchema) -> TableSchema:
    """Return the columns as rows have them that await the values of identity columns."""
    return _open_schema(schema) if identity_columns(schema) else schema


@lru_cache(maxsize=256)
def _open_schema(schema: TableSchema) -> TableSchema:
    return TableSchema(
        fields=tuple(
            field.model_copy(update={"nullable": field.nullable or field.identity is not None})
            for field in schema.fields
        )
    )


def identified(
    rows: Iterable[pa.RecordBatch], table: str, schema: TableSchema, draws: Draws
) -> Iterator[pa.RecordBatch]:
    """Yield rows, which conform to `open_schema`, with values where an identity column has NULL.

    The values follow the order of the rows. `table` is the name for errors. Raises
    InvalidInputError for a value that a user gives a column which does not allow that.
    """
    target = arrow_schema(schema)
    columns = [(schema.fields.index(each), each) for each in identity_columns(schema)]
    supplies = [(at, column, _Supply(column, draws)) for at, column in columns]
    first_row = 0
    for batch in rows:
        arrays = batch.columns
        for at, column, supply in supplies:
            if spec_of(column).always:
                _refuse_given(arrays[at], table, column, first_row)
            arrays[at] = _filled(arrays[at], column, supply)
        yield pa.RecordBatch.from_arrays(arrays, schema=target)
        first_row += batch.num_rows


def beyond(values: range, farthest: int | None) -> range:
    """Return the values beyond `farthest`, a value that a user gave; None means no value."""
    if farthest is None or not values:
        return values
    return values[max(0, (farthest - values[0]) // values.step + 1) :]


def values_beyond(
    draws: Draws, column: SchemaField, count: int, farthest: int | None, *, least: int
) -> range:
    """Draw values of a column beyond `farthest`, a value that a user gave; None means no value.

    Returns up to `count` values: fewer if some are not beyond it, or if the type has fewer left,
    but at least `least`. Raises the errors of `Draws.draw`.
    """
    drawn = _draw_up_to(draws, column, count, least)
    left = beyond(drawn, farthest)
    if len(left) >= least:
        return left
    assert farthest is not None
    behind = (farthest - drawn[-1]) // drawn.step
    if behind > 0:
        draws.draw(column, behind)  # values up to the farthest one are of no use
    return beyond(_draw_up_to(draws, column, count, least), farthest)


def _draw_up_to(draws: Draws, column: SchemaField, count: int, least: int) -> range:
    """Take `count` values, or as many as the type has left, but at least `least`."""
    while count > least:
        try:
            return draws.draw(column, count)
        except InvalidInputError:
            count = max(least, count // 2)
    return draws.draw(column, count)


class _Supply:
    """Values of one column for one task.

    The first draw is exact, and each further one may be twice as large. Values that users give in
    the same task are skipped.
    """

    def __init__(self, column: SchemaField, draws: Draws) -> None:
        self._column, self._draws = column, draws
        self._left, self._ahead = range(0), 0
        self._handed_out: list[range] = []
        self._farthest: int | None = None

    def take(self, count: int) -> list[range]:
        """Return `count` values as ranges."""
        self._left = beyond(self._left, self._farthest)
        part, self._left = self._left[:count], self._left[count:]
        taken = [part] if part else []
        if missing := count - len(part):
            asked = max(missing, self._ahead)
            drawn = values_beyond(self._draws, self._column, asked, self._farthest, least=missing)
            self._ahead = min(2 * asked, MOST_AHEAD)
            self._left = drawn[missing:]
            taken.append(drawn[:missing])
        self._handed_out += taken
        return taken

    def skip(self, given: pa.Array) -> None:
        """Never give the values in `given`, which users gave.

        Raises InvalidInputError for a value that a row of the task has got before.
        """
        low, high = (each.as_py() for each in pc.min_max(given).values())
        for values in self._handed_out:
            if not (high < min(values[0], values[-1]) or max(values[0], values[-1]) < low):
                self._refuse_repeated(given, values)
        ahead = max if spec_of(self._column).step > 0 else min
        known = () if self._farthest is None else (self._farthest,)
        self._farthest = ahead(low, high, *known)

    def _refuse_repeated(self, given: pa.Array, values: range) -> None:
        found = next((each for each in given.to_pylist() if each in values), None)
        if found is not None:
            raise InvalidInputError(
                f"A row has the value {found} in identity column {self._column.name!r}, which the"
                " table gave to another row before; give other values, or NULL to all rows."
            )


def _filled(array: pa.Array, column: SchemaField, supply: _Supply) -> pa.Array:
    missing = array.null_count
    if missing < len(array):
        supply.skip(array.drop_null())
    if not missing:
        return array
    parts = [
        # A product beyond 64 bits wraps, and the sum wraps back: each value is in range.
        np.int64(values.start) + np.int64(values.step) * np.arange(len(values), dtype=np.int64)
        for values in supply.take(missing)
    ]
    fresh = pa.array(np.concatenate(parts)).cast(storage_type(column))
    return fresh if missing == len(array) else pc.replace_with_mask(array, array.is_null(), fresh)


def _refuse_given(array: pa.Array, table: str, column: SchemaField, first_row: int) -> None:
    if array.null_count == len(array):
        return
    row = pc.index(array.is_valid(), pa.scalar(True)).as_py()
    raise InvalidInputError(
        f"Column {column.name!r} of table {table!r} is GENERATED ALWAYS AS IDENTITY, but row"
        f" {first_row + row} gives it the value {array[row]}; leave the column out, or give NULL."
    )
