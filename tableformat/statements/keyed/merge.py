"""UPSERT on a primary key: each row meets the row of the table that has its key.

The rows of one key become one row, column by column. It replaces the row of the table, or is new.
Which row of the table a key has is known at the slot of the statement. If a concurrent writer has
changed some of these rows, their keys are merged again there, and no other key is.
Spec: docs/spec/keys.md#merging
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyroaring import FrozenBitMap

from colonnade.manifests.commit.change import (
    KeyedRows,
    KeyGuard,
    ResolvedRows,
    TableRead,
    origins_by_object,
)
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.operations import AddRowSet
from colonnade.manifests.state.snapshot import LiveRowSet, RowSets, Snapshot, TableState
from colonnade.tableformat.keys.expired import stored_view
from colonnade.tableformat.keys.key_numbers import key_numbers
from colonnade.tableformat.keys.key_set import KeySet
from colonnade.tableformat.statements.division import Division
from colonnade.tableformat.statements.key_guard import guard_keys
from colonnade.tableformat.statements.keyed.batch import KeyedBatch, keyed_batch
from colonnade.tableformat.statements.keyed.given import left_out_columns, require_values
from colonnade.tableformat.statements.keyed.late import Late
from colonnade.tableformat.statements.keyed.meeting import meet
from colonnade.tableformat.statements.keyed.merging import Merging
from colonnade.tableformat.statements.keyed.places import KeyPlaces, Mask
from colonnade.tableformat.statements.statement import RowCounts, Statement
from colonnade.tableformat.types.chosen_rows import chosen_table_rows
from colonnade.tableformat.types.left_out import left_out
from colonnade.tableformat.write.constraints import shown_values
from colonnade.tableformat.write.expiry import expiring_table, expiry_of
from colonnade.tableformat.write.settings import WriteSettings


def evaluate_merge(
    log: StatementLog,
    table: TableState,
    data: pa.Table,
    job_id: str,
    settings: WriteSettings | None = None,
) -> Statement:
    """Merge rows into the rows of a table that share their keys; add rows with new keys.

    `data` has at least the columns of the primary key. It is held in memory, as are the rows that
    it meets. Reads the key columns where bounds and filters allow one of the keys, and then the
    other columns that the result depends on, where a row has one. Raises InvalidInputError for a
    table without a primary key, and one that names the column at fault, or a column and a key.
    Raises CorruptionError, StoreError.
    """
    if not table.primary_key:
        raise InvalidInputError(
            f"Table {table.name!r} has no primary key to upsert by; name the columns that identify"
            " a row with `on`, or give the table a primary key."
        )
    division = Division(table, job_id)
    rows = division.rows(data)
    if rows is None:
        return division.joined(Statement("upsert", reads=()))
    own = division.own
    merge = _Merge(log, own, rows, job_id, settings)
    found = merge.at(own)
    statement = Statement(
        "upsert",
        tuple(AddRowSet(table=table.id, rowset=each.rowset) for each in found.added),
        rows=found.rows,
        reads=(merge.read(),),
        keys=(merge.guard(),),
        counts=RowCounts(**found.metrics),
        parameters={"on": ", ".join(field.name for field in merge.key.fields)},
        keyed=KeyedRows(table.id, merge.resolve),
        compared=True,
        rows_at_slot=True,
        origins=origins_by_object(found.added),
    )
    return division.joined(statement)


class _Merge:
    """A batch that meets one state of its table after another."""

    def __init__(
        self,
        log: StatementLog,
        table: TableState,
        data: pa.Table,
        job_id: str,
        settings: WriteSettings | None,
    ) -> None:
        self._merging = merging = Merging(log, table, job_id, settings)
        self._log, self._table, self.key = log, table, merging.key
        rows = expiring_table(data, expiry_of(table, settings, log.present_ms))
        self._every = keyed_batch(table, rows, self.key)
        self._late = Late(merging, self._every.given)
        self._begin(self._every)
        self._every_number, self._every_key = self._numbers, self._keys

    def _begin(self, batch: KeyedBatch) -> None:
        """Meet the table with the rows of a batch, from the first state on."""
        self._batch = batch
        self._numbers, self._firsts = key_numbers(batch.rows, self.key)
        self._keys = self._key_set(self._firsts)
        now = self._log.now_ms
        self._places = KeyPlaces(self._log.store, self._keys, len(self._firsts), now)
        self._merging.withdraw_all()
        self._met: tuple[int, RowSets] | None = None
        self._result: ResolvedRows | None = None

    def _leave_out_late(self, table: TableState, rowsets: Sequence[LiveRowSet]) -> None:
        """Leave out rows that are older than a deletion of their key, and begin again without.

        `rowsets` are those of tombstones that may have one of the keys.
        """
        rows = self._every.rows
        late = self._late.rows(
            table, rowsets, self._every_key, self._every_number, partial(chosen_table_rows, rows)
        )
        if late is not None:
            left = rows.filter(pa.array(~late))
            self._begin(replace(self._every, rows=left))

    def resolve(self, state: Snapshot, leaving: Mapping[int, FrozenBitMap]) -> ResolvedRows:
        """Meet the table of a later state. Nothing else of the statement deletes rows.

        Raises ConflictError if the columns or properties of the table say something else by now.
        """
        return self.at(state.tables.get(self._table.id, self._table))

    def at(self, table: TableState) -> ResolvedRows:
        """Meet a state of the table; keys whose rows have not moved since need no work."""
        if self._result is not None and table.version == self._met:
            return self._result
        self._merging.check_unaltered(table)
        view, buried = stored_view(self._log, table, self._every_key.keep)
        self._leave_out_late(table, buried)
        moved = self._places.follow(table, view)
        first = self._met is None
        self._merge(np.ones_like(moved) if first else moved)
        self._met = table.version
        inserted = int((~self._places.is_there).sum())
        replaced = self._places.replaced(self._table.id)
        self._result = self._merging.result(replaced, inserted, self._places.expired_count)
        return self._result

    def read(self) -> TableRead:
        """Return the rows of the table that decide what the rows of the batch become."""
        columns = frozenset(field.id for field in self.key.fields)
        return TableRead(self._table.id, self._every_key.keep, columns)

    def guard(self) -> KeyGuard:
        """Return a guard that makes a commit fail if a concurrent writer has added a new key.

        So does a writer who has deleted one of the keys, whose rows may be late by now, and one who
        has changed how the table merges rows.
        """
        buried = self._every_key
        guard = guard_keys(self._log.store, self._table, self.key, self._new_keys, lambda: buried)
        return replace(guard, check=self._merging.check_unaltered)

    def _new_keys(self) -> KeySet:
        """Return the keys that the table did not have at the last state."""
        return self._key_set(self._firsts[~self._places.is_there])

    def _merge(self, keys: Mask) -> None:
        """Merge the rows of some keys, and write the results in the place of earlier ones."""
        if keys.all():
            self._merging.withdraw_all()
        elif keys.any():
            self._merging.withdraw(self._key_set(self._firsts[keys]))
        else:
            return
        rows = np.flatnonzero(keys[self._numbers])
        batch = self._batch
        if not keys.all():
            batch = replace(batch, rows=chosen_table_rows(batch.rows, rows))
        numbers = (np.cumsum(keys) - 1)[self._numbers[rows]]
        found = self._places.found(keys)
        policy = self._merging.policy
        meeting = meet(self._log.store, self._table, self.key, batch, numbers, found, policy)
        new = self._firsts[keys & ~self._places.is_there]
        if len(new):
            self._require_values(int(new[0]))
        self._merging.write(meeting)

    def _key_set(self, rows: NDArray[np.int64]) -> KeySet:
        names = [each.name for each in self.key.fields]
        return KeySet.of(self._batch.rows.select(names).take(pa.array(rows)), self.key)

    def _require_values(self, row: int) -> None:
        """Refuse new rows, such as `row`, in whose columns only a user or Spark can put values."""
        given = self._batch.given
        require_values(self._table, given, self._shown(row))
        for column in left_out_columns(self._table, given):
            left_out(column, 0)

    def _shown(self, row: int) -> str:
        names = [each.name for each in self.key.fields]
        one = self._batch.rows.select(names).slice(row, 1).combine_chunks().to_batches()[0]
        return shown_values(one, 0, names)
