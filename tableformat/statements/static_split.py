"""Divide rows of a table with static columns: its own columns, and the static values of their keys.

Spec: docs/spec/static-columns.md#writers
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.statics import static_fields, statics_schema
from colonnade.manifests.model.columns.text_policy import text_policy
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.keys.key_set import key_numbers
from colonnade.tableformat.keys.static_parts import keeps_last, statics_table, stored_table
from colonnade.tableformat.statements.statement import Statement, StaticValues
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.conform import conform_batches
from colonnade.tableformat.types.input.arrow_input import record_batches

_MOST_HELD = 2**16
"""The rows of static values that are held before the last ones of each key are found."""


class StaticSplit:
    """Divides the rows of one statement. `own` is the table as its own rows are written.

    A table without static columns is not divided.
    """

    def __init__(self, table: TableState, job_id: str) -> None:
        self.own, self._table, self._job_id = stored_table(table), table, job_id
        self._fields = static_fields(table.schema)
        self._key = key_fields(table.partition_key, table.schema) if self._fields else ()
        self._held: list[pa.Table] = []

    def batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the own columns of rows, and hold the static values that they have.

        Rows of the partition key and static columns alone set static values, and are not yielded.
        Raises InvalidInputError for static values without the columns of the partition key, or with
        NULL in them, and for a value that does not fit its column.
        """
        for batch in batches:
            own = batch if not self._fields else self._divided(batch)
            if own is not None:
                yield own

    def rows(self, rows: pa.Table) -> pa.Table | None:
        """Return the own columns of rows; None if they only set static values.

        Raises the errors of `batches`.
        """
        if not self._fields:
            return rows
        parts = list(self.batches(rows.to_batches() or record_batches(rows)))
        return pa.Table.from_batches(parts) if parts else None

    def joined(self, statement: Statement) -> Statement:
        """Return a statement on own rows, with the static values that the rows have."""
        return replace(statement, static_values=self.static_values)

    @property
    def static_values(self) -> StaticValues | None:
        """The static values of the rows so far, or None if they had none."""
        held = self._reduced()
        return None if held is None else StaticValues(held, self._job_id)

    def _divided(self, batch: pa.RecordBatch) -> pa.RecordBatch | None:
        names = {each.name.casefold(): each for each in self._fields}
        places = [at for at, name in enumerate(batch.schema.names) if name.casefold() in names]
        if not places:
            return batch
        keys = {each.name.casefold() for each in self._key}
        others = [at for at in range(batch.num_columns) if at not in places]
        own = batch.select(others)
        self._hold(batch, [names[batch.schema.names[at].casefold()] for at in places])
        alone = all(name.casefold() in keys for name in own.schema.names)
        return None if alone else own

    def _hold(self, batch: pa.RecordBatch, columns: Sequence[SchemaField]) -> None:
        known = {name.casefold() for name in batch.schema.names}
        for each in self._key:
            if each.name.casefold() not in known:
                raise InvalidInputError(
                    f"The rows have a value for static column {columns[0].name!r} of table"
                    f" {self._table.name!r}, but no column {each.name!r}, which is in the partition"
                    " key; give every row its partition key."
                )
        self._held.append(held_values(self._table, [batch], columns))
        if sum(each.num_rows for each in self._held) > _MOST_HELD:
            whole = self._reduced()
            self._held = [] if whole is None else [whole]

    def _reduced(self) -> pa.Table | None:
        if not self._held:
            return None
        whole = pa.concat_tables(self._held, promote_options="default")
        fields = [each for each in self._fields if each.name in whole.column_names]
        last = keeps_last(statics_table(self._table, sets=False), fields)
        return last_values(whole, self._key, fields, nulls=False)[0] if last else whole


def held_values(
    table: TableState, batches: Iterable[pa.RecordBatch], columns: Sequence[SchemaField]
) -> pa.Table:
    """Return the partition keys and static columns of rows, conformed to the table.

    Raises InvalidInputError that names a column that is NULL in a key or does not fit.
    """
    ids = {*table.partition_key, *(each.id for each in columns)}
    schema = statics_schema(table.schema, table.partition_key)
    fields = tuple(each for each in schema.fields if each.id in ids)
    names = {each.name.casefold() for each in fields}
    chosen = (
        batch.select([at for at, name in enumerate(batch.schema.names) if name.casefold() in names])
        for batch in batches
    )
    wanted, policy = TableSchema(fields=fields), text_policy(table.properties)
    return pa.Table.from_batches(conform_batches(chosen, wanted, policy), arrow_schema(wanted))


def last_values(
    rows: pa.Table, key: Sequence[SchemaField], columns: Sequence[SchemaField], *, nulls: bool
) -> tuple[pa.Table, NDArray[np.int64]]:
    """Return one row for each key, and for each of `rows` the number of its key's row.

    Each column has the last value of the key, or with `nulls` also a NULL that comes last.
    """
    numbers, firsts = key_numbers(rows, TableSchema(fields=tuple(key)))
    found: dict[str, pa.Array] = {
        each.name: rows[each.name].combine_chunks().take(pa.array(firsts)) for each in key
    }
    for column in columns:
        values = rows[column.name].combine_chunks()
        there = np.asarray(pc.is_valid(values)) if not nulls else np.ones(len(values), np.bool_)
        last = np.full(len(firsts), -1, np.int64)
        last[numbers[there]] = np.flatnonzero(there)
        found[column.name] = values.take(pa.array(last, mask=last < 0))
    return pa.table(found), numbers
