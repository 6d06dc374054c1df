"""Keep the primary key of a table: no statement adds a row whose key a live row has.

A statement is compared when it is evaluated. Concurrent writers may add rows before its slot, so
the RowSets that are new then are compared once more. Nothing is written again.
Spec: docs/spec/conflicts.md#primary-keys
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests.arrays.bounds import Keep
from colonnade.manifests.commit.change import (
    AddedRows,
    DeletedRows,
    KeyedRows,
    KeyGuard,
    ResolvedRows,
    TableRead,
    origins_by_object,
)
from colonnade.manifests.commit.rebase.targets import all_rows
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.later import later
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.operations import AddRowSet
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import RowSets, Snapshot, TableState
from colonnade.manifests.state.view import Shown, View
from colonnade.tableformat.keys.expired import are_expired, stored_view
from colonnade.tableformat.keys.find import MatchingRows, find_rows
from colonnade.tableformat.keys.policy import ON_DUPLICATE, on_duplicate
from colonnade.tableformat.statements.keyed.new_keys import (
    NewKeys,
    key_guard,
    key_schema,
    taken_key,
)
from colonnade.tableformat.statements.keyed.written_keys import WrittenKeys
from colonnade.tableformat.statements.statement import RowCounts, Statement
from colonnade.tableformat.write.settings import OnDuplicate

if TYPE_CHECKING:
    from colonnade.tableformat.statements.keyed import written_merge
else:
    written_merge = later("colonnade.tableformat.statements.keyed.written_merge")

Leaving = Mapping[int, FrozenBitMap]
"""The rows of a table that a statement deletes, by RowSet id."""


def compared(statement: Statement, log: StatementLog, table: TableState) -> Statement:
    """Return a statement that adds no row whose key is taken, at this state or at its slot.

    A plain write does with such rows what `on_duplicate_of` says; any other statement is refused.
    Returns the statement itself if the table has no primary key, or no row is added. Reads the key
    columns of the new rows, and those of the table where bounds and filters allow one of the keys.
    Raises InvalidInputError that names the table and a key; CorruptionError, StoreError.
    """
    if not _concerns(statement, table):
        return statement
    comparison = _comparison(log, table, statement)
    found = comparison.compare(table, _leaving(statement))
    after = _with(statement, table, found)
    after = replace(after, reads=(*after.reads, *comparison.reads(at_slot=True)))
    return replace(after, keyed=KeyedRows(table.id, comparison.resolve)) if found.added else after


def compared_once(statement: Statement, log: StatementLog, table: TableState) -> Statement:
    """Return a statement that adds no row whose key is taken at this state.

    A concurrent writer that adds one of the keys before the slot is a conflict. All else is as
    `compared` says.
    """
    if not _concerns(statement, table):
        return statement
    comparison = _comparison(log, table, statement)
    found = comparison.compare(table, _leaving(statement))
    after = _with(statement, table, found)
    return replace(
        after,
        rows=(*after.rows, *found.rows),
        reads=(*after.reads, *comparison.reads(at_slot=False)),
        keys=(*after.keys, comparison.guard()),
    )


def on_duplicate_of(statement: Statement, table: TableState) -> OnDuplicate:
    """Return what happens to new rows of a statement whose key is taken.

    A statement whose new rows are forms of other rows would lose these, so it is refused.
    """
    if not statement.inserts:
        return "error"
    return statement.on_duplicate or on_duplicate(table.properties.get(ON_DUPLICATE, "error"))


def _comparison(
    log: StatementLog, table: TableState, statement: Statement
) -> _Comparison | written_merge.WrittenMerge:
    if on_duplicate_of(statement, table) != "merge":
        return _Comparison(log, table, statement)
    written = [op.rowset for op in statement.ops if isinstance(op, AddRowSet)]
    return written_merge.WrittenMerge(
        log,
        table,
        written,
        statement.given,
        alone=statement.overwrites_all,
        is_merge=statement.is_merge,
    )


def _concerns(statement: Statement, table: TableState) -> bool:
    added = any(isinstance(op, AddRowSet) for op in statement.ops)
    return bool(table.primary_key) and added and not statement.compared


def _leaving(statement: Statement) -> Leaving:
    found: dict[int, FrozenBitMap] = {}
    for each in statement.rows:
        rows = all_rows(each.rowset.entry.rows) if each.rows is None else FrozenBitMap(each.rows)
        found[each.rowset.id] = found.get(each.rowset.id, FrozenBitMap()) | rows
    return found


def _with(statement: Statement, table: TableState, found: ResolvedRows) -> Statement:
    """Return a statement that adds the rows that are left."""
    others = (op for op in statement.ops if not isinstance(op, AddRowSet))
    added = (AddRowSet(table=table.id, rowset=each.rowset) for each in found.added)
    counts = RowCounts(**{**statement.counts.metrics(), **found.metrics})
    return replace(
        statement,
        ops=(*others, *added),
        lost={each.rowset.object: each.deleted for each in found.added if each.deleted},
        counts=counts,
        compared=True,
        origins={**statement.origins, **origins_by_object(found.added)},
    )


class _Comparison:
    """The rows that a statement adds, beside each other and beside the rows of their table.

    Each RowSet of the table is met once. Rows that lose stay lost: the row that had their key may
    be deleted before the slot, which is as if it had been deleted right after the statement. A row
    of the table that has expired when the statement sees it is deleted, and its key is free.
    """

    def __init__(self, log: StatementLog, table: TableState, statement: Statement) -> None:
        self._log = log
        self._table = table
        self._written = [op.rowset for op in statement.ops if isinstance(op, AddRowSet)]
        self._ignores = on_duplicate_of(statement, table) == "ignore"
        self._counts = statement.counts
        self._alone = statement.overwrites_all
        self._key = key_schema(table)
        self._keys = self._keys_as(self._key)
        self._lost: defaultdict[int, BitMap] = defaultdict(BitMap)
        self._expired: dict[Shown, BitMap] = {}
        self._met: tuple[int, RowSets] | None = None
        self._seen = frozenset[Shown]()

    def resolve(self, state: Snapshot, leaving: Leaving) -> ResolvedRows:
        """Compare the rows with those that are new in a later state of the table."""
        return self.compare(state.tables.get(self._table.id, self._table), leaving)

    def compare(self, table: TableState, leaving: Leaving) -> ResolvedRows:
        """Return the rows that are left beside a state of the table.

        Raises InvalidInputError if a key is taken, unless such rows are ignored.
        """
        if table.version == self._met or not table.primary_key:
            return self._result()  # Without a key any more, nothing is left to compare.
        first = self._met is None
        if first and self._is_surely_new(table):
            self._met = table.version
            return self._result()
        if (key := key_schema(table)) != self._key:
            # The columns have widened, so their values compare in the wider types.
            self._keys, self._seen = self._keys_as(key), frozenset()
            self._key = key
        near = self._may_have(table, self._keys.keep) if not first else View.stored(table)
        unseen = [each for each in near.rowsets if near.shows(each) not in self._seen]
        present = set(map(near.shows, near.rowsets))
        later = ((part, near.of(rowsets)) for part, rowsets in self._keys.beside(unseen))
        for part, view in self._first_look(table) if first else later:
            present.update(map(view.shows, view.rowsets))
            for found in find_rows(self._log.store, view, part.keys):
                self._look_at(part, table, found, leaving.get(found.rowset.id))
        self._expired = {each: rows for each, rows in self._expired.items() if each in present}
        self._seen, self._met = frozenset(present), table.version
        return self._result()

    def reads(self, *, at_slot: bool) -> tuple[TableRead, ...]:
        """Return the rows of the table that decide which rows are left out: those with their keys.

        A row that is refused, or added, has the same fate at the slot or at any state before.
        """
        if not self._ignores or self._alone:
            return ()
        columns = frozenset(field.id for field in self._key.fields)
        return (TableRead(self._table.id, self._keys.keep, columns),)

    def guard(self) -> KeyGuard:
        """Return a guard that fails a commit if a concurrent writer has added one of the keys."""
        return key_guard(self._log.store, self._table, self._key, self._keys.beside)

    def _keys_as(self, key: TableSchema) -> WrittenKeys:
        return WrittenKeys(self._log.store, self._table, key, self._written)

    def _is_surely_new(self, table: TableState) -> bool:
        """Return whether many rows are the only ones, and one look tells that their keys differ."""
        alone = self._alone or not table.rowsets.rowset_count
        return alone and self._keys.surely_differ

    def _first_look(self, table: TableState) -> Iterator[tuple[NewKeys, View]]:
        """Yield all new keys by parts, each with the RowSets that may have some of them."""
        for part in self._keys:
            self._compare_new(part)
            yield part, self._may_have(table, part.keys.keep)

    def _may_have(self, table: TableState, keep: Keep) -> View:
        """Return the RowSets of a state whose bounds allow some keys, with their expired rows."""
        if self._alone:
            return View.stored(table)
        return stored_view(self._log, table, keep)[0]

    def _look_at(
        self, part: NewKeys, table: TableState, found: MatchingRows, gone: FrozenBitMap | None
    ) -> None:
        """Let new rows meet the rows of a RowSet that have their keys, besides those `gone`."""
        left = found.rows if gone is None else _without(found.rows, gone)
        stays = np.isin(found.rows, left)
        now = self._log.now_ms
        expired = are_expired(self._log.store, table, found.rowset, found.rows, now)
        self._meet(part, found.keys[stays & ~expired])
        if len(rows := found.rows[stays & expired]):
            shown = found.view.shows(found.rowset)
            self._expired[shown] = self._expired.get(shown, BitMap()) | BitMap(rows)

    def _compare_new(self, part: NewKeys) -> None:
        """Compare the rows with each other: the one that arrived first stays."""
        repeated = part.repeated
        if len(repeated) and not self._ignores:
            raise self._refusal(part, int(repeated[0]), "more than one new row has")
        self._lose(part, repeated)

    def _meet(self, part: NewKeys, keys: NDArray[np.int64]) -> None:
        if len(keys) and not self._ignores:
            row = int(part.firsts[keys[0]])
            raise self._refusal(part, row, "a row of the table has")
        self._lose(part, part.rows_of(keys))

    def _lose(self, part: NewKeys, rows: NDArray[np.int64]) -> None:
        rowsets, numbers = part.places[0][rows], part.places[1][rows]
        for at in np.unique(rowsets).tolist():
            self._lost[at] |= BitMap(numbers[rowsets == at])

    def _refusal(self, part: NewKeys, row: int, who: str) -> InvalidInputError:
        return taken_key(self._table, self._key, part.shown(row), who)

    def _result(self) -> ResolvedRows:
        expired = tuple(
            DeletedRows(self._table.id, rowset, "merge", rows)
            for (rowset, *_), rows in self._expired.items()
        )
        if not self._lost:
            return ResolvedRows(tuple(map(AddedRows, self._written)), expired)
        added = [
            AddedRows(entry, FrozenBitMap(lost))
            for at, entry in enumerate(self._written)
            if len(lost := self._lost.get(at, BitMap())) < entry.rows
        ]
        inserted = self._counts.rows_inserted - sum(map(len, self._lost.values()))
        counts = replace(self._counts, rows_inserted=inserted)
        return ResolvedRows(tuple(added), expired, counts.metrics())


def _without(rows: NDArray[np.int64], gone: FrozenBitMap) -> NDArray[np.int64]:
    return np.asarray((BitMap(rows) - gone).to_array(), np.int64)
