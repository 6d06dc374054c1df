"""Keep the primary key of a table unique: no statement adds a row whose key a live row has.

A statement is compared when it is evaluated. Concurrent writers may add rows before its slot, so
the RowSets that are new then are compared once more. Nothing is written again. For a table with the
key 1, and incoming rows with the keys 1, 2 and 2, the property `onDuplicate` says

    error     the statement is refused, with the key 2
    ignore    the row with the key 1, and the second one with the key 2, are left out
    merge     the rows of each key become one row: see `upsert.py`

Spec: docs/spec/conflicts.md#primary-keys
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests.arrays.bounds import BoundsFilter
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
from colonnade.manifests.ids import job_id_of
from colonnade.manifests.later import later
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.operations import AddRowSet
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet, RowSets, Snapshot, TableState
from colonnade.manifests.state.view import RowSetView, View
from colonnade.tableformat.keys.expired_rows import are_expired, stored_view
from colonnade.tableformat.keys.find import MatchingRows, find_rows
from colonnade.tableformat.keys.key_parts import KeyPart, WrittenKeys
from colonnade.tableformat.keys.key_set import key_schema
from colonnade.tableformat.keys.policy import on_duplicate, taken_key
from colonnade.tableformat.statements.statement import RowCounts, Statement
from colonnade.tableformat.write.settings import OnDuplicate

if TYPE_CHECKING:
    from colonnade.tableformat.statements.keyed import incoming, upsert
else:
    incoming = later("colonnade.tableformat.statements.keyed.incoming")
    upsert = later("colonnade.tableformat.statements.keyed.upsert")

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
    return on_duplicate(table.properties, statement.on_duplicate)


def _comparison(
    log: StatementLog, table: TableState, statement: Statement
) -> _Comparison | upsert.Upsert:
    if on_duplicate_of(statement, table) != "merge":
        return _Comparison(log, table, statement)
    written = [op.rowset for op in statement.ops if isinstance(op, AddRowSet)]
    return upsert.Upsert(
        log,
        table,
        incoming.written_rows(log.store, table, written, statement.incoming_columns),
        job_id_of(written[0].object),
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
    """The rows that a statement adds, compared with each other and with the rows of their table.

    Each RowSet of the table is compared once. A row that is left out stays out: the row that had
    its key may be deleted before the slot, which is as if it had been deleted right after the
    statement. A row of the table that had expired at the time of the statement is deleted, and its
    key is free.
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
        self._left_out: defaultdict[int, BitMap] = defaultdict(BitMap)
        self._expired: dict[RowSetView, BitMap] = {}
        self._version: tuple[int, RowSets] | None = None
        self._compared = frozenset[RowSetView]()

    def resolve(self, state: Snapshot, leaving: Leaving) -> ResolvedRows:
        """Compare the rows with those that are new in a later state of the table."""
        return self.compare(state.tables.get(self._table.id, self._table), leaving)

    def compare(self, table: TableState, leaving: Leaving) -> ResolvedRows:
        """Return the rows that can be added to a state of the table.

        Raises InvalidInputError if a key is taken, unless such rows are ignored.
        """
        if table.version == self._version or not table.primary_key:
            return self._result()  # Without a key any more, nothing is left to compare.
        first = self._version is None
        if first and self._is_surely_new(table):
            self._version = table.version
            return self._result()
        if (key := key_schema(table)) != self._key:
            # The columns have widened, so their values compare in the wider types.
            self._keys, self._compared = self._keys_as(key), frozenset()
            self._key = key
        near = self._may_have(table, self._keys.may_match) if not first else View.stored(table)
        new = [each for each in near.rowsets if near.of_rowset(each) not in self._compared]
        present = set(map(near.of_rowset, near.rowsets))
        later = ((part, near.of(rowsets)) for part, rowsets in self._keys.near(new))
        for part, view in self._all_parts(table) if first else later:
            present.update(map(view.of_rowset, view.rowsets))
            for found in find_rows(self._log.store, view, part.keys):
                self._compare_with(part, table, found, leaving.get(found.rowset.id))
        self._expired = {each: rows for each, rows in self._expired.items() if each in present}
        self._compared, self._version = frozenset(present), table.version
        return self._result()

    def reads(self, *, at_slot: bool) -> tuple[TableRead, ...]:
        """Return the rows of the table that decide which rows are left out: those with their keys.

        A row that is refused, or added, has the same fate at the slot or at any state before.
        """
        if not self._ignores or self._alone:
            return ()
        columns = frozenset(field.id for field in self._key.fields)
        return (TableRead(self._table.id, self._keys.may_match, columns),)

    def guard(self) -> KeyGuard:
        """Return a guard that fails a commit if a concurrent writer has added one of the keys."""

        def holding(rowsets: Sequence[LiveRowSet]) -> list[LiveRowSet]:
            found: list[LiveRowSet] = []
            for part, near in self._keys.near(rowsets) if rowsets else ():
                rows = find_rows(self._log.store, View.stored(self._table, near), part.keys)
                found += (each.rowset for each in rows)
            return found

        columns = frozenset(field.id for field in self._key.fields)
        return KeyGuard(self._table.id, holding, columns)

    def _keys_as(self, key: TableSchema) -> WrittenKeys:
        return WrittenKeys(self._log.store, self._table, key, self._written)

    def _is_surely_new(self, table: TableState) -> bool:
        """Return whether many rows are the only ones, and one look tells that their keys differ."""
        alone = self._alone or not table.rowsets.rowset_count
        return alone and self._keys.surely_differ

    def _all_parts(self, table: TableState) -> Iterator[tuple[KeyPart, View]]:
        """Compare the rows of each part; yield its keys with the RowSets that may have some."""
        for part in self._keys:
            self._compare_new(part)
            yield part, self._may_have(table, part.keys.may_match)

    def _may_have(self, table: TableState, may_match: BoundsFilter) -> View:
        """Return the RowSets of a state whose bounds allow some keys, with their expired rows."""
        if self._alone:
            return View.stored(table)
        return stored_view(self._log, table, may_match)[0]

    def _compare_with(
        self, part: KeyPart, table: TableState, found: MatchingRows, gone: FrozenBitMap | None
    ) -> None:
        """Compare new rows with the rows of a RowSet that have their keys, besides those `gone`."""
        left = found.rows if gone is None else _without(found.rows, gone)
        stays = np.isin(found.rows, left)
        now = self._log.now_ms
        expired = are_expired(self._log.store, table, found.rowset, found.rows, now)
        self._take(part, found.keys[stays & ~expired])
        if len(rows := found.rows[stays & expired]):
            key = found.view.of_rowset(found.rowset)
            self._expired[key] = self._expired.get(key, BitMap()) | BitMap(rows)

    def _compare_new(self, part: KeyPart) -> None:
        """Compare the rows with each other: the one that arrived first stays."""
        repeated = part.repeated
        if len(repeated) and not self._ignores:
            key = part.text(int(repeated[0]))
            raise taken_key(self._table, key, "more than one new row has")
        self._leave_out(part, repeated)

    def _take(self, part: KeyPart, keys: NDArray[np.int64]) -> None:
        """Refuse or leave out the rows of keys that rows of the table have."""
        if len(keys) and not self._ignores:
            key = part.text(int(part.firsts[keys[0]]))
            raise taken_key(self._table, key, "a row of the table has")
        self._leave_out(part, part.rows_of(keys))

    def _leave_out(self, part: KeyPart, rows: NDArray[np.int64]) -> None:
        rowsets, numbers = part.places[0][rows], part.places[1][rows]
        for at in np.unique(rowsets).tolist():
            self._left_out[at] |= BitMap(numbers[rowsets == at])

    def _result(self) -> ResolvedRows:
        expired = tuple(
            DeletedRows(self._table.id, rowset, "merge", rows)
            for (rowset, *_), rows in self._expired.items()
        )
        if not self._left_out:
            return ResolvedRows(tuple(map(AddedRows, self._written)), expired)
        added = [
            AddedRows(entry, FrozenBitMap(rows))
            for at, entry in enumerate(self._written)
            if len(rows := self._left_out.get(at, BitMap())) < entry.rows
        ]
        inserted = self._counts.rows_inserted - sum(map(len, self._left_out.values()))
        counts = replace(self._counts, rows_inserted=inserted)
        return ResolvedRows(tuple(added), expired, counts.metrics())


def _without(rows: NDArray[np.int64], gone: FrozenBitMap) -> NDArray[np.int64]:
    return np.asarray((BitMap(rows) - gone).to_array(), np.int64)
