"""What a transaction has done to one table so far, as values. Does not write the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from pyroaring import FrozenBitMap

from colonnade.manifests.arrays.origins import RowOrigins, by_rowset
from colonnade.manifests.commit.change import DeletedRows, KeyGuard, TableRead
from colonnade.manifests.commit.rebase.targets import all_rows, id_ranges
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.deletion_vector import DeletionVector
from colonnade.manifests.model.entries import DeletionVectorEntry
from colonnade.manifests.model.operations import AddRowSet, DropRowSet, Operation, ReplaceColumn
from colonnade.manifests.model.tombstones import adds_tombstones
from colonnade.manifests.state.replaced_columns import with_replacement
from colonnade.manifests.state.snapshot import LiveRowSet, TableState, as_written
from colonnade.tableformat.statements.statement import Statement

NO_ROWS = FrozenBitMap()


@dataclass(frozen=True, slots=True)
class Added:
    """A RowSet that the transaction added, and the rows that it deleted from it since.

    The vector of `deleted` is written at the end, so that the RowSet itself has none. `origins` say
    which rows of the base its rows replace. A RowSet that `buries` keys has tombstones.
    """

    rowset: LiveRowSet
    deleted: FrozenBitMap
    origins: RowOrigins
    buries: bool = False


@dataclass(frozen=True, slots=True)
class TableWork:
    """The deleted rows and replaced columns of base RowSets, and the added RowSets.

    `base` are the RowSets of the table at the transaction's base, by id. `first_own` is the id that
    the transaction uses for the first RowSet that it added. With `overwritten`, all RowSets of
    `base` are dropped.
    """

    table: str
    prefix: str
    first_own: int
    base: Mapping[int, LiveRowSet]
    added: tuple[Added, ...] = ()
    rows: tuple[DeletedRows, ...] = ()
    columns: tuple[ReplaceColumn, ...] = ()
    reads: tuple[TableRead, ...] = ()
    keys: tuple[KeyGuard, ...] = ()
    overwritten: bool = False

    @classmethod
    def begin(cls, log: Log, base: TableState | None, state: TableState) -> TableWork:
        """Return no work yet on `state`; `base` is None for a table created in the transaction."""
        live = [] if base is None else log.rowsets.read(base, which="all")
        first = 0 if base is None else base.next_rowset_id
        return cls(state.id, state.prefix, first, {each.id: each for each in live})

    def add(self, statement: Statement) -> TableWork:
        """Return this work and a statement that was evaluated on its result."""
        if statement.overwrites_all:
            return self._overwrite_all(statement)
        rows, added = list(self.rows), list(self.added)
        for each in statement.rows:
            number = each.rowset.id
            if number < self.first_own:
                # The base's own RowSet, so that rows deleted earlier in the transaction do not
                # count.
                rows.append(replace(each, rowset=self.base[number]))
            else:
                place = number - self.first_own
                added[place] = _without(added[place], each)
        columns = list(self.columns)
        for op in statement.ops:
            if isinstance(op, ReplaceColumn) and op.rowset < self.first_own:
                columns.append(op)
            elif isinstance(op, ReplaceColumn):
                own = added[op.rowset - self.first_own]
                added[op.rowset - self.first_own] = replace(
                    own, rowset=with_replacement(own.rowset, op)
                )
        # A RowSet without live rows is not added, so the ids of later ones decrease.
        kept = [each for each in added if each.buries or len(each.deleted) < each.rowset.entry.rows]
        kept += [self._composed(each) for each in _added(statement)]
        return replace(
            self,
            added=tuple(kept),
            rows=tuple(rows),
            columns=tuple(columns),
            reads=(*self.reads, *statement.reads),
            keys=(*self.keys, *statement.keys),
        )

    def _composed(self, new: Added) -> Added:
        """Return a RowSet that replaces rows of the base, instead of rows that replaced them.

        A new version of a row that the transaction has inserted is a new row.
        """
        if new.origins.data is None:
            return new
        origins = new.origins.array()
        for rowset, at, rows in by_rowset(origins):
            if rowset >= self.first_own:
                origins[at] = self.added[rowset - self.first_own].origins.array()[rows]
        return replace(new, origins=RowOrigins.of(origins))

    def row_origins(self) -> tuple[RowOrigins, ...]:
        """Return which rows of the base the rows replace that `operations` add, by RowSets."""
        return tuple(each.origins.without(each.deleted) for each in self.added)

    def only(self, statement: Statement) -> TableWork | None:
        """Return the work of a statement alone, as a change of the state after this work.

        Returns None if that would not lead to the state after both: the statement replaces rows or
        columns that earlier ones wrote, or ids of RowSets change.
        """
        new = _added(statement)
        if (
            statement.overwrites_all
            or any(isinstance(op, ReplaceColumn) for op in statement.ops)
            or len(self.add(statement).added) != len(self.added) + len(new)
        ):
            return None
        return replace(
            self,
            added=tuple(new),
            rows=statement.rows,
            columns=(),
            reads=(),
            keys=(),
            overwritten=False,
        )

    def _overwrite_all(self, statement: Statement) -> TableWork:
        """Return this work with all earlier rows overwritten by the rows of a statement."""
        return replace(
            self,
            added=(*(each for each in self.added if each.buries), *_added(statement)),
            rows=(),
            columns=(),
            keys=(),
            reads=(*self.reads, TableRead(self.table, overwrites=True)),
            overwritten=True,
        )

    def operations(self, write: Callable[[DeletionVector], DeletionVectorEntry]) -> list[Operation]:
        """Return the operations besides deleted rows; `write` makes entries of deletion vectors."""
        live = sorted(number for number, each in self.base.items() if not each.has_tombstones)
        dropped = DropRowSet(table=self.table, rowsets=id_ranges(live))
        first: tuple[Operation, ...] = (dropped,) if self.overwritten else self.columns
        return [
            *first,
            *(
                AddRowSet(
                    table=self.table,
                    rowset=each.rowset.stored_entry,
                    vector=write(DeletionVector(each.deleted)) if each.deleted else None,
                )
                for each in self.added
            ),
        ]


def _without(added: Added, rows: DeletedRows) -> Added:
    if rows.rows is None:
        return replace(added, deleted=all_rows(added.rowset.entry.rows))
    return replace(added, deleted=added.deleted | FrozenBitMap(rows.rows))


def _added(statement: Statement) -> list[Added]:
    ops = (op for op in statement.ops if isinstance(op, AddRowSet))
    return [_added_by(op, statement) for op in ops]


def _added_by(op: AddRowSet, statement: Statement) -> Added:
    rowset, rows = op.rowset, op.rowset.rows
    if adds_tombstones(op):
        return Added(as_written(rowset), all_rows(rows), RowOrigins(rows), buries=True)
    lost = statement.lost.get(rowset.object, NO_ROWS)
    origins = statement.origins.get(rowset.object) or RowOrigins(rows)
    return Added(as_written(rowset), lost, origins)
