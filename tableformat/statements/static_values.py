"""Merge the static values of a statement into the table of static values.

Spec: docs/spec/static-columns.md#writers
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyroaring import FrozenBitMap

from colonnade.manifests.commit.change import (
    AddedRows,
    KeyedRows,
    KeyGuard,
    ResolvedRows,
    TableRead,
)
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.later import later
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.columns.statics import static_fields
from colonnade.manifests.model.operations import AddRowSet
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import RowSets, Snapshot, TableState
from colonnade.manifests.state.view import Statics
from colonnade.tableformat.keys.key_set import KeySet
from colonnade.tableformat.keys.static_parts import keeps_last, statics_table
from colonnade.tableformat.rowset.view.statics import read_values
from colonnade.tableformat.statements.statement import Statement, StaticValues
from colonnade.tableformat.statements.static_split import last_values
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.same_values import same_values
from colonnade.tableformat.write.constraints import shown_values

if TYPE_CHECKING:
    from colonnade.tableformat.statements.keyed import upsert
else:
    upsert = later("colonnade.tableformat.statements.keyed.upsert")


def with_static_values(
    statement: Statement, log: StatementLog, table: TableState, *, whole: bool = False
) -> Statement:
    """Return a statement on a table with what it does to the static values.

    Values that are there already cost no write, unless the `whole` is asked for: a transaction
    cannot tell at its slot whether they are still there. Values of added rows merge with those that
    are there at the slot, so concurrent writers never conflict about them. An update has computed
    its values, and conflicts. Reads static values where bounds allow one of the keys. Raises the
    errors of `evaluate_upsert`.
    """
    values = statement.static_values
    if values is None:
        return statement
    if not (whole or values.sets):
        merged = _SlotMerge(log, table, values).statement()
        return replace(statement, static_values=None, statics=merged)
    statics = statics_table(table, sets=values.sets)
    unchanged = np.zeros(values.rows.num_rows, np.bool_)
    if not whole:
        unchanged = _unchanged(log, table, statics, values.rows, sets=True)
    merged, rows = Statement("upsert", reads=()), values.rows.filter(pa.array(~unchanged))
    if rows.num_rows:
        merged = upsert.evaluate_upsert(log, statics, rows, values.job_id)
    # The table itself says how its static values merge, so its changes are compared, not these.
    keys = [replace(each, check=None) for each in merged.keys]
    if unchanged.any():
        kept = replace(values, rows=values.rows.filter(pa.array(unchanged)))
        check = partial(_check_unchanged, log, table, statics, kept)
        keys.append(KeyGuard(statics.id, lambda _: (), frozenset(), check))
    merged = replace(merged, keys=tuple(keys), keyed=None, rows_at_slot=False)
    return replace(statement, static_values=None, statics=merged)


class _SlotMerge:
    """Values of added rows, merged with the values of a state, and again with those at the slot.

    `_present` are the rows whose values the table has already; they are not written. `_written` are
    the other rows. `_version` is the state of the static values that `_result` is for.
    """

    def __init__(self, log: StatementLog, table: TableState, values: StaticValues) -> None:
        self._log, self._table, self._job_id = log, table, values.job_id
        self._planned = statics_table(table, sets=False)
        self._present, self._written = values.rows, values.rows.slice(0, 0)
        self._merge: KeyedRows | None = None
        self._version: tuple[int, RowSets] | None = None
        self._result = ResolvedRows(())

    def statement(self) -> Statement:
        """Return what the values do to the table of static values, at the state and at the slot."""
        added = self._at(self._planned).added
        operations = tuple(AddRowSet(table=self._planned.id, rowset=each.rowset) for each in added)
        keyed = KeyedRows(self._planned.id, self._resolve)
        return Statement("upsert", operations, reads=(), keyed=keyed, rows_at_slot=True)

    def _resolve(self, state: Snapshot, _: Mapping[int, FrozenBitMap]) -> ResolvedRows:
        """Merge with the values of a later state, which the statement changes in no other way.

        Raises ConflictError if the table has other columns or properties for its static values.
        """
        table = state.tables.get(self._table.id, self._table)
        if table.statics is None:
            raise self._altered()
        return self._at(statics_table(table, sets=False), state)

    def _at(self, statics: TableState, state: Snapshot | None = None) -> ResolvedRows:
        planned = self._planned
        if statics.schema != planned.schema or statics.properties != planned.properties:
            raise self._altered()
        if statics.version == self._version:
            return self._result
        unchanged = _unchanged(self._log, self._table, statics, self._present)
        if not unchanged.all():
            changed = self._present.filter(pa.array(~unchanged))
            self._written = pa.concat_tables([self._written, changed])
            self._present = self._present.filter(pa.array(unchanged))
            merged = upsert.evaluate_upsert(self._log, statics, self._written, self._job_id)
            added = (
                AddedRows(op.rowset, origins=merged.origins.get(op.rowset.object))
                for op in merged.ops
                if isinstance(op, AddRowSet)
            )
            self._merge = merged.keyed
            self._result = ResolvedRows(tuple(added), merged.rows)
        elif self._merge is not None and state is not None:
            at_slot = replace(state, tables={**state.tables, statics.id: statics})
            self._result = replace(self._merge.resolve(at_slot, {}), metrics={})
        self._version = statics.version
        return self._result

    def _altered(self) -> ConflictError:
        return ConflictError(
            f"The static columns of table {self._table.name!r}, or how they merge, have changed"
            " while their values were merged; repeat the write."
        )


def static_reads(table: TableState, columns: frozenset[int]) -> tuple[TableRead, ...]:
    """Return what a statement reads of static values, if it reads one of the columns."""
    read = columns.intersection(each.id for each in static_fields(table.schema))
    if not read or table.statics is None:
        return ()
    return (TableRead(table.statics.id, None, read),)


def agreed_values(
    table: TableState, rows: pa.Table, columns: Sequence[SchemaField], job_id: str
) -> StaticValues:
    """Return the static values that an update computes for rows: one for each partition key.

    Raises InvalidInputError that names a column and a key whose rows give it different values.
    """
    key = key_fields(table.partition_key, table.schema)
    found, numbers = last_values(rows, key, columns, nulls=True)
    for column in columns:
        last = found[column.name].combine_chunks().take(pa.array(numbers))
        same = same_values(rows[column.name].combine_chunks(), last)
        if not same.all():
            names = [each.name for each in key]
            first = rows.select(names).slice(int(np.argmin(same)), 1).combine_chunks()
            raise InvalidInputError(
                f"Static column {column.name!r} of table {table.name!r} has one value for each"
                f" partition key, but the update gives the rows of"
                f" {shown_values(first.to_batches()[0], 0, names)} different values; compute it"
                " from columns that are the same in all of them."
            )
    return StaticValues(found, job_id, sets=True)


def _unchanged(
    log: StatementLog,
    table: TableState,
    statics: TableState,
    rows: pa.Table,
    *,
    sets: bool = False,
) -> NDArray[np.bool_]:
    """Return which rows have the values that are there; NULL counts as one if it `sets` NULL."""
    columns = [each for each in static_fields(table.schema) if each.name in rows.column_names]
    if not keeps_last(statics, columns):
        return np.zeros(rows.num_rows, np.bool_)
    key = key_fields(table.partition_key, table.schema)
    schema = TableSchema(fields=key)
    wanted = KeySet.of(rows.select(schema.names), schema, repeated=True)
    held = Statics(key, log.view(statics, wanted.may_match))
    known = read_values(log.store, held, columns, wanted.may_match)
    keys = [rows[each.name].combine_chunks() for each in key]
    unchanged = np.ones(rows.num_rows, np.bool_)
    for column, there in zip(columns, known.of_keys(keys), strict=True):
        new = rows[column.name].combine_chunks()
        same = same_values(new, there)
        unchanged &= same if sets else same | np.asarray(pc.is_null(new))
    return unchanged


def _check_unchanged(
    log: StatementLog, table: TableState, planned: TableState, kept: StaticValues, now: TableState
) -> None:
    """Refuse a statement some of whose values a concurrent writer has changed meanwhile.

    It did not write them, because they were there. Reads them only if static values have changed.
    """
    if now.version == planned.version:
        return
    now = replace(now, stored_properties=planned.stored_properties)
    if not _unchanged(log, table, now, kept.rows, sets=True).all():
        raise ConflictError(
            f"A concurrent writer has changed static values of table {table.name!r} that this"
            " statement would have left as they were; run it again."
        )
