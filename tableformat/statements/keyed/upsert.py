"""UPSERT on the primary key: each incoming row is merged with the existing row that has its key.

The rows of one key become one row, column by column. It replaces the existing row, or is new. A
batch in memory and rows that tasks have written take the same road. For a table with the keys 1
and 2, and incoming rows with the keys 2 and 3:

    evaluate    match at state 4: 2 has a row, 3 is new; write the merged row 2 and the row 3
    slot 5      state 4 still: commit both, and delete the existing row 2
    slot 6      a rival has updated row 2: withdraw the merged row 2, and merge it again
    slot 7      a rival has added row 3: withdraw the row 3, and merge it with that one

Spec: docs/spec/keys.md#merging
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyroaring import FrozenBitMap

from colonnade.manifests.arrays.bounds import BoundsTable
from colonnade.manifests.arrays.origins import NEW, RowOrigins
from colonnade.manifests.commit.change import (
    KeyedRows,
    KeyGuard,
    ResolvedRows,
    TableRead,
    origins_by_object,
)
from colonnade.manifests.errors import ConflictError, InvalidInputError, RepeatedMatchError
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.operations import AddRowSet
from colonnade.manifests.state.snapshot import LiveRowSet, RowSets, Snapshot, TableState
from colonnade.manifests.state.view import View
from colonnade.tableformat.keys.expired_rows import stored_view
from colonnade.tableformat.keys.key_parts import KeyPart, keys_of_parts
from colonnade.tableformat.keys.key_set import KeySet, key_schema
from colonnade.tableformat.keys.policy import policy_of, taken_key
from colonnade.tableformat.keys.static_parts import stored_table
from colonnade.tableformat.statements.key_guard import guard_keys
from colonnade.tableformat.statements.keyed.existing import ExistingRows, LateRows, Mask
from colonnade.tableformat.statements.keyed.incoming import (
    IncomingRows,
    Integers,
    all_columns,
    batch_rows,
    checks_merged_rows,
    left_out_columns,
    require_values,
)
from colonnade.tableformat.statements.keyed.merge import MergedRowSets, match
from colonnade.tableformat.statements.statement import RowCounts, Statement
from colonnade.tableformat.statements.static_split import StaticSplit
from colonnade.tableformat.types.default_values import default_values
from colonnade.tableformat.write.settings import WriteSettings

_NO_ROWS: Mapping[int, FrozenBitMap] = {}


def evaluate_upsert(
    log: StatementLog,
    table: TableState,
    data: pa.Table,
    job_id: str,
    settings: WriteSettings | None = None,
) -> Statement:
    """Merge rows into the rows of a table that share their keys; add rows with new keys.

    `data` has at least the columns of the primary key. It is held in memory, as are the existing
    rows of its keys. Reads the key columns where bounds and filters allow one of the keys, and then
    the other columns that the result depends on, where a row has one. Raises InvalidInputError for
    a table without a primary key, and one that names the column at fault, or a column and a key.
    Raises CorruptionError, StoreError.
    """
    if not table.primary_key:
        raise InvalidInputError(
            f"Table {table.name!r} has no primary key to upsert by; name the columns that identify"
            " a row with `on`, or give the table a primary key."
        )
    split = StaticSplit(table, job_id)
    rows = split.rows(data)
    if rows is None:
        return split.joined(Statement("upsert", reads=()))
    own = split.own
    incoming = batch_rows(log, own, rows, settings)
    upsert = Upsert(log, own, incoming, job_id, settings)
    return split.joined(keyed_statement("upsert", own, upsert))


def keyed_statement(operation: str, table: TableState, upsert: Upsert) -> Statement:
    """Return a statement that merges rows in memory, at this state and again at its slot.

    Raises the errors of `Upsert.compare`.
    """
    found = upsert.compare(table)
    return Statement(
        operation,
        tuple(AddRowSet(table=table.id, rowset=each.rowset) for each in found.added),
        rows=found.rows,
        reads=upsert.reads(at_slot=False),
        keys=(upsert.guard(),),
        counts=RowCounts(**found.metrics),
        parameters={"on": ", ".join(key_schema(table).names)},
        keyed=KeyedRows(table.id, upsert.resolve),
        compared=True,
        rows_at_slot=True,
        origins=origins_by_object(found.added),
    )


class _Part(NamedTuple):
    """Incoming keys, and the existing rows that have them."""

    incoming: KeyPart
    existing: ExistingRows


class Upsert:
    """Incoming rows that are merged with the rows of one state of their table after another.

    With `alone`, the statement overwrites all rows, so the incoming rows are merged with each other
    alone. In the rows of a MERGE of SQL (`is_merge`), no two may share a key, and columns that the
    rows lack are for new keys alone.
    """

    def __init__(
        self,
        log: StatementLog,
        table: TableState,
        incoming: IncomingRows,
        job_id: str,
        settings: WriteSettings | None = None,
        *,
        alone: bool = False,
        is_merge: bool = False,
    ) -> None:
        self._log, self._table, self._incoming = log, table, incoming
        self._alone, self._is_merge = alone, is_merge
        fields, columns, policy = table.schema.fields, incoming.columns, incoming.policy
        self._keeps_last = (
            bool(incoming.written) and all_columns(table) <= columns and policy.replaces(fields)
        )
        self._merges_all = (
            not incoming.written
            or checks_merged_rows(table, columns)
            or any(policy.mode(each).changes_alone for each in fields if each.id in columns)
        )
        self._late = [LateRows(log.store, incoming, part) for part in incoming.parts]
        self._merged = MergedRowSets(log, table, incoming, job_id, settings)
        self._begin(incoming.parts)

    def _begin(self, parts: Sequence[KeyPart]) -> None:
        """Match these keys from the first state on."""
        now_ms = self._log.now_ms
        self._parts = [_Part(each, ExistingRows(self._log.store, each, now_ms)) for each in parts]
        self._merged.begin_again()
        self._version: tuple[int, RowSets] | None = None
        self._result = ResolvedRows(())

    def resolve(self, state: Snapshot, leaving: Mapping[int, FrozenBitMap]) -> ResolvedRows:
        """Compare with the table of a later state. Raises the errors of `compare`."""
        return self.compare(state.tables.get(self._table.id, self._table), leaving)

    def compare(
        self, table: TableState, leaving: Mapping[int, FrozenBitMap] = _NO_ROWS
    ) -> ResolvedRows:
        """Merge with a state of the table, besides its rows `leaving`, which are deleted anyway.

        Keys whose rows have not moved since the last call are not merged again. Raises
        ConflictError if the table merges rows in another way. Raises InvalidInputError that names a
        column and a key, or a constraint. For a MERGE, raises RepeatedMatchError if several
        incoming rows match one existing row. Raises CorruptionError, StoreError.
        """
        if table.version == self._version:
            return self._result
        if table is not self._table:
            self._check_unaltered(table)
        found = [self._find(table, each) for each in self._incoming.parts]
        self._leave_out_late(table, [tombstones for _, tombstones in found])
        moved = [
            part.existing.follow(table, view, leaving)
            for part, (view, _) in zip(self._parts, found, strict=True)
        ]
        if self._is_merge:
            self._refuse_repeated()
        for part, keys in zip(self._parts, moved, strict=True):
            self._merge(part, keys)
        self._version, self._result = table.version, self._merged_result()
        return self._result

    def reads(self, *, at_slot: bool) -> tuple[TableRead, ...]:
        """Return the rows of the table that decide what incoming rows become: those of their keys.

        At its slot, an upsert compares them again.
        """
        if self._alone or at_slot:
            return ()
        columns = frozenset(each.id for each in key_schema(self._table).fields)
        return (TableRead(self._table.id, self._may_match, columns),)

    def guard(self) -> KeyGuard:
        """Return a guard that makes a commit fail if a concurrent writer has added a new key.

        So does a writer who has deleted one of the keys, whose rows may be late by now, and one who
        has changed how the table merges rows.
        """
        key, every = key_schema(self._table), slice(0) if self._alone else slice(None)

        def inserted() -> KeySet:
            return keys_of_parts(
                key, ((part, part.firsts[~it.is_there]) for part, it in self._parts)
            )

        def deleted() -> KeySet:
            return keys_of_parts(key, ((part, part.firsts[every]) for part in self._incoming.parts))

        guard = guard_keys(self._log.store, self._table, key, inserted, deleted)
        return replace(guard, check=self._check_unaltered)

    def _check_unaltered(self, table: TableState) -> None:
        """Raise ConflictError if a later state of the table merges rows in another way."""
        mine, table = self._table, stored_table(table)
        alike = (
            table.primary_key == mine.primary_key
            and table.schema == mine.schema
            and table.constraints == mine.constraints
            and policy_of(table) == policy_of(mine)
        )
        if not alike:
            raise ConflictError(
                f"The columns, constraints or merge modes of table {mine.name!r} have changed while"
                " rows were merged; repeat the write."
            )

    def _find(self, table: TableState, part: KeyPart) -> tuple[View, list[LiveRowSet]]:
        """Return a view of the RowSets that may have keys of a part, and those of tombstones."""
        if self._alone:
            # Without any other rows, what was deleted before does not matter either.
            return View.stored(table), []
        return stored_view(self._log, table, part.keys.may_match)

    def _leave_out_late(
        self, table: TableState, tombstones: Sequence[Sequence[LiveRowSet]]
    ) -> None:
        """Leave out rows that are older than a deletion of their key, and begin again without.

        `tombstones` are the RowSets that may have deletions of keys of each part.
        """
        late = zip(self._late, tombstones, strict=True)
        changed = [each.follow(table, rowsets) for each, rowsets in late]
        if not any(changed):
            return
        pairs = [
            (part, each.late) for part, each in zip(self._incoming.parts, self._late, strict=True)
        ]
        self._begin([part.without(late) if late.any() else part for part, late in pairs])
        for part, rows in pairs:
            self._merged.leave_out(part, np.flatnonzero(rows))

    def _refuse_repeated(self) -> None:
        """Refuse keys of several rows. Keys that match are refused first, as in a join."""
        for part, existing in self._parts:
            repeated = part.numbers[part.repeated]
            matched = repeated[existing.is_there[repeated]]
            if len(matched):
                key = part.text(int(part.firsts[matched[0]]))
                raise RepeatedMatchError(
                    "Several rows of the source of a MERGE match the row of table"
                    f" {self._table.name!r} with the key {key}; give each key once."
                )
        for part, _ in self._parts:
            if len(repeated := part.repeated):
                key = part.text(int(repeated[0]))
                raise taken_key(self._table, key, "more than one new row has")

    def _merge(self, part: _Part, moved: Mask) -> None:
        """Merge the rows of keys that have moved, and write them in the place of earlier ones."""
        incoming, existing = part
        self._require_values(incoming, incoming.firsts[~existing.is_there])
        is_first = self._version is None
        keys = self._first_keys(part) if is_first else moved
        if not keys.any():
            return
        if self._keeps_last:
            self._keep_last(incoming)
            return
        if not is_first:
            self._withdraw(incoming, keys)
        rows = incoming.rows_of(np.flatnonzero(keys))
        self._merged.leave_out(incoming, rows)
        numbers = (np.cumsum(keys) - 1)[incoming.numbers[rows]]
        self._merged.write(
            match(
                self._log.store,
                self._table,
                self._incoming,
                self._incoming.read(incoming, rows),
                numbers,
                existing.matching(keys),
            )
        )

    def _first_keys(self, part: _Part) -> Mask:
        """Return the keys that are merged first. A written row with a new key stays as it is."""
        incoming, existing = part
        keys = existing.is_there | self._merges_all
        keys[incoming.numbers[incoming.repeated]] = True
        return keys

    def _require_values(self, part: KeyPart, new: Integers) -> None:
        """Refuse rows with new keys in whose columns only a user or Spark can put values."""
        if not len(new) or self._is_merge:
            return
        require_values(self._table, self._incoming.columns, part.text(int(new[0])))
        if not self._incoming.written:
            for column in left_out_columns(self._table, self._incoming.columns):
                default_values(column, 0)

    def _keep_last(self, part: KeyPart) -> None:
        """Leave out all written rows of each key but the last one, which replaces whole rows."""
        last = np.zeros(len(part.firsts), np.int64)
        np.maximum.at(last, part.numbers, np.arange(len(part.numbers)))
        self._merged.leave_out(part, np.setdiff1d(np.arange(len(part.numbers)), last))

    def _withdraw(self, part: KeyPart, keys: Mask) -> None:
        if len(self._parts) == 1 and keys.all():
            self._merged.withdraw_all()
        else:
            self._merged.withdraw(part.key_set(part.firsts[keys]))

    def _merged_result(self) -> ResolvedRows:
        every = [each.existing for each in self._parts]
        return self._merged.result(
            [rows for each in every for rows in each.replaced(self._table.id)],
            sum(int((~each.is_there).sum()) for each in every),
            sum(each.expired_count for each in every),
            self._origins(),
        )

    def _origins(self) -> dict[str, RowOrigins]:
        """Return which existing rows the rows of the tasks replace, where they stay."""
        written = self._incoming.written
        origins = [np.full(entry.rows, NEW, np.int64) for entry in written]
        for part, existing in self._parts if written else ():
            found = existing.origins(part.numbers)
            for at in np.unique(part.places[0]).tolist():
                own = part.places[0] == at
                origins[at][part.places[1][own]] = found[own]
        # A row that is left out may have the key of the row that stays.
        for entry, own in zip(written, origins, strict=True):
            own[np.asarray(self._merged.left_out(entry).to_array(), np.int64)] = NEW
        return {
            entry.object: RowOrigins.of(own) for entry, own in zip(written, origins, strict=True)
        }

    def _may_match(self, bounds: BoundsTable) -> NDArray[np.bool_]:
        """Return a mask of the RowSets or blocks whose bounds allow one of the keys."""
        kept = np.zeros(len(bounds.rows), np.bool_)
        for part in self._incoming.parts:
            kept |= part.keys.may_match(bounds)
        return kept
