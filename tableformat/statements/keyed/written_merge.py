"""Merge rows that tasks have written already with the rows of the table that share their keys.

A new row with a new key stays where it was written. All rows of any other key are read again,
merged, and written as one row; the rows that the tasks wrote are left out. Where new rows replace
whole rows, the last one of each key stays, and none is read.
Spec: docs/spec/keys.md#merging
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyroaring import FrozenBitMap

from colonnade.manifests.arrays.bounds import BoundsTable
from colonnade.manifests.arrays.origins import NEW, RowOrigins
from colonnade.manifests.commit.change import KeyGuard, ResolvedRows, TableRead
from colonnade.manifests.errors import RepeatedMatchError
from colonnade.manifests.ids import job_id_of
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.state.snapshot import LiveRowSet, RowSets, Snapshot, TableState, as_written
from colonnade.manifests.state.view import View
from colonnade.tableformat.keys.expired import stored_view
from colonnade.tableformat.keys.key_set import KeySet
from colonnade.tableformat.scan.selection import read_numbered
from colonnade.tableformat.statements.keyed.batch import KeyedBatch
from colonnade.tableformat.statements.keyed.given import (
    Given,
    all_columns,
    checks_merged_rows,
    open_columns,
    require_values,
)
from colonnade.tableformat.statements.keyed.late import Late
from colonnade.tableformat.statements.keyed.meeting import meet
from colonnade.tableformat.statements.keyed.merging import Merging
from colonnade.tableformat.statements.keyed.new_keys import (
    NewKeys,
    key_guard,
    new_keys,
    taken_key,
)
from colonnade.tableformat.statements.keyed.places import KeyPlaces, Mask
from colonnade.tableformat.types.arrow_types import arrow_schema


class WrittenMerge:
    """Written RowSets that meet one state of their table after another.

    `given` are the ids of the columns that the rows were given values in; None means all. With
    `alone`, the statement overwrites all rows, so the new rows meet each other alone. In the rows
    of a MERGE, no two may share a key, and columns that are not given are for new keys alone.
    Holds the keys of all new rows.
    """

    def __init__(
        self,
        log: StatementLog,
        table: TableState,
        written: Sequence[RowSetEntry],
        given: Given | None,
        *,
        alone: bool,
        is_merge: bool = False,
    ) -> None:
        self._log, self._table, self._written, self._alone = log, table, written, alone
        self._is_merge = is_merge
        self._merging = merging = Merging(log, table, job_id_of(written[0].object), None, written)
        every = all_columns(table)
        # Tasks have given identity columns values, which only new rows take.
        self._given = every if given is None else given & every
        self._shape = open_columns(table.schema, self._given)
        self._replaces = every <= self._given and merging.policy.replaces(table.schema.fields)
        self._changes_alone = checks_merged_rows(table, self._given) or any(
            merging.policy.mode(field).changes_alone
            for field in table.schema.fields
            if field.id in self._given
        )
        parts = new_keys(log.store, table, merging.key, written)
        self._every = [(part, Late(merging, self._given)) for part in parts]
        self._begin([part for part, _ in self._every])

    def _begin(self, parts: Sequence[NewKeys]) -> None:
        """Meet the table with these keys, from the first state on."""
        self._parts = [
            (part, KeyPlaces(self._log.store, part.keys, len(part.firsts), self._log.now_ms))
            for part in parts
        ]
        self._merging.begin_again()
        self._met: tuple[int, RowSets] | None = None

    def _leave_out_late(self, table: TableState, found: Sequence[Sequence[LiveRowSet]]) -> None:
        """Leave out rows that are older than a deletion of their key, and begin again without.

        `found` has the RowSets of tombstones that may have keys of each part.
        """
        late = []
        for (part, known), buried in zip(self._every, found, strict=True):
            read = partial(self._read, part)
            late.append(known.rows(table, buried, part.keys, part.numbers, read))
        if all(each is None for each in late):
            return
        parts = [part for part, _ in self._every]
        gone = [known.late for _, known in self._every]
        key = self._merging.key
        pairs = list(zip(parts, gone, strict=True))
        self._begin([part.without(mask, key) for part, mask in pairs])
        for part, mask in pairs:
            self._lose(part, np.flatnonzero(mask))

    def resolve(self, state: Snapshot, leaving: Mapping[int, FrozenBitMap]) -> ResolvedRows:
        """Meet the table of a later state. Raises ConflictError if it merges in another way."""
        return self.compare(state.tables.get(self._table.id, self._table), leaving)

    def compare(self, table: TableState, leaving: Mapping[int, FrozenBitMap]) -> ResolvedRows:
        """Meet a state of the table, besides its rows that the statement deletes anyway.

        Keys whose rows have not moved since are not merged again. Raises InvalidInputError that
        names a column and a key, or a constraint. For a MERGE, raises RepeatedMatchError if several
        new rows match one row of the table. Raises CorruptionError, StoreError.
        """
        if table.version != self._met:
            self._merging.check_unaltered(table)
            # Without any other rows, what was deleted before does not matter either.
            found = [
                (View.stored(table), list[LiveRowSet]())
                if self._alone
                else stored_view(self._log, table, part.keys.keep)
                for part, _ in self._every
            ]
            self._leave_out_late(table, [buried for _, buried in found])
            moved = [
                places.follow(table, view, leaving)
                for (_, places), (view, _) in zip(self._parts, found, strict=True)
            ]
            if self._is_merge:
                self._refuse_repeated()
            for (part, places), keys in zip(self._parts, moved, strict=True):
                self._meet(part, places, keys)
            self._met = table.version
        every = [places for _, places in self._parts]
        return self._merging.result(
            [each for places in every for each in places.replaced(self._table.id)],
            sum(int((~places.is_there).sum()) for places in every),
            sum(places.expired_count for places in every),
            self._origins(),
        )

    def _origins(self) -> dict[str, RowOrigins]:
        """Return which rows of the table the rows of the tasks replace, where they stay."""
        origins = [np.full(entry.rows, NEW, np.int64) for entry in self._written]
        for part, places in self._parts:
            found = places.origins(part.numbers)
            for at in np.unique(part.places[0]).tolist():
                own = part.places[0] == at
                origins[at][part.places[1][own]] = found[own]
        # A row that is left out may have the key of the row that stays.
        for entry, own in zip(self._written, origins, strict=True):
            own[np.asarray(self._merging.lost(entry).to_array(), np.int64)] = NEW
        return {
            entry.object: RowOrigins.of(own)
            for entry, own in zip(self._written, origins, strict=True)
        }

    def reads(self, *, at_slot: bool) -> tuple[TableRead, ...]:
        """Return the rows of the table that decide what new rows become: those with their keys.

        At its slot, a merge meets them again.
        """
        if self._alone or at_slot:
            return ()
        columns = frozenset(field.id for field in self._merging.key.fields)
        return (TableRead(self._table.id, self._keep, columns),)

    def _keep(self, bounds: BoundsTable) -> NDArray[np.bool_]:
        """Return a mask of the RowSets or blocks whose bounds allow one of the keys."""
        kept = np.zeros(len(bounds.rows), np.bool_)
        for part, _ in self._every:
            kept |= part.keys.keep(bounds)
        return kept

    def guard(self) -> KeyGuard:
        """Return a guard that makes a commit fail if a concurrent writer has added a new key.

        So does a writer who has deleted one of the keys, whose rows may be late by now, and one who
        has changed how the table merges rows.
        """
        merging = self._merging
        return key_guard(
            self._log.store,
            self._table,
            merging.key,
            lambda rowsets: [(part, rowsets) for part, _ in self._parts],
            merging.check_unaltered,
            heeds_deletions=not self._alone,
        )

    def _refuse_repeated(self) -> None:
        """Refuse keys of several new rows. Keys that match are refused first, as in a join."""
        for part, places in self._parts:
            repeated = part.numbers[part.repeated]
            matched = repeated[places.is_there[repeated]]
            if len(matched):
                key = part.shown(int(part.firsts[matched[0]]))
                raise RepeatedMatchError(
                    "Several rows of the source of a MERGE match the row of table"
                    f" {self._table.name!r} with the key {key}; give each key once."
                )
        for part, _ in self._parts:
            if len(repeated := part.repeated):
                shown = part.shown(int(repeated[0]))
                who = "more than one new row has"
                raise taken_key(self._table, self._merging.key, shown, who)

    def _meet(self, part: NewKeys, places: KeyPlaces, keys: Mask) -> None:
        """Merge the rows of keys that have moved."""
        new = part.firsts[~places.is_there]
        if len(new) and not self._is_merge:
            require_values(self._table, self._given, part.shown(int(new[0])))
        first = self._met is None
        if first:
            keys = places.is_there | self._changes_alone
            keys[part.numbers[part.repeated]] = True
        if not keys.any():
            return
        if self._replaces:
            self._keep_last(part)
            return
        if not first:
            self._merging.withdraw(_key_set(part, keys))
        rows = part.rows_of(np.flatnonzero(keys))
        self._lose(part, rows)
        batch = KeyedBatch(self._read(part, rows), self._shape, self._given)
        numbers = (np.cumsum(keys) - 1)[part.numbers[rows]]
        merging = self._merging
        found = places.found(keys)
        self._merging.write(
            meet(self._log.store, self._table, merging.key, batch, numbers, found, merging.policy)
        )

    def _keep_last(self, part: NewKeys) -> None:
        last = np.zeros(len(part.firsts), np.int64)
        np.maximum.at(last, part.numbers, np.arange(len(part.numbers)))
        self._lose(part, np.setdiff1d(np.arange(len(part.numbers)), last))

    def _lose(self, part: NewKeys, rows: NDArray[np.int64]) -> None:
        rowsets, numbers = part.places[0][rows], part.places[1][rows]
        for at in np.unique(rowsets).tolist():
            self._merging.lose(self._written[at], numbers[rowsets == at])

    def _read(self, part: NewKeys, rows: NDArray[np.int64]) -> pa.Table:
        """Return written rows with all columns, in order of arrival."""
        rowsets, numbers = part.places[0][rows], part.places[1][rows]
        batches = [
            batch
            for at in np.unique(rowsets).tolist()
            for _, batch in read_numbered(
                self._log.store,
                View.stored(self._table),
                as_written(self._written[at]),
                numbers[rowsets == at],
                self._shape,
            )
        ]
        return pa.Table.from_batches(batches, arrow_schema(self._shape))


def _key_set(part: NewKeys, keys: Mask) -> KeySet:
    return KeySet.of(part.rows.take(pa.array(part.firsts[keys])), part.keys.schema)
