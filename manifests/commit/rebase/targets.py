"""RowSets whose rows a change deletes, followed through concurrent epochs. Pure.

Concurrent epochs only ever delete further rows. So the rows of a RowSet that an epoch deleted are
the difference of two vectors. Spec: docs/spec/conflicts.md#rows
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests.commit.conflict_table import Kind, Rule, rule
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.entries import DeletionVectorEntry
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import (
    AddRowSet,
    AddRowSets,
    AlterSchema,
    Compaction,
    Operation,
    RowKind,
)
from colonnade.manifests.state.snapshot import Snapshot, TableState


@dataclass(frozen=True, slots=True)
class RowSetAt:
    """A RowSet as of some epoch: its number of stored rows, its deleted rows and their vector."""

    id: int
    rows: int
    deleted: FrozenBitMap
    vector: DeletionVectorEntry | None


@dataclass(frozen=True, slots=True)
class ChangedRows:
    """Rows of a RowSet that a statement deletes, or (`replace`) whose `columns` it replaces.

    `reads` are the columns that the statement has read of the rows; None: all.
    """

    kind: RowKind | Literal["replace"]
    rows: FrozenBitMap
    reads: frozenset[int] | None = None
    columns: frozenset[int] = frozenset()

    def meets(self, columns: frozenset[int], changed: FrozenBitMap) -> bool:
        """Return whether a concurrent writer's new values of columns conflict with this change.

        `changed` are the rows that got other values.
        """
        if self.columns & columns:
            return True  # each column segment has all rows, and only one of the two can stay
        of_any = rule(self.kind, Kind.REPLACE) is Rule.SAME_ROW
        concerned = of_any or self.reads is None or bool(self.reads & columns)
        return concerned and bool(self.rows & changed)


@dataclass(frozen=True, slots=True)
class TargetRowSet:
    """A RowSet, and what the statements of a change do to its rows, in order."""

    found: RowSetAt
    changes: tuple[ChangedRows, ...]

    @property
    def deletions(self) -> tuple[ChangedRows, ...]:
        """The changes that delete rows, without those that replace columns in place."""
        return tuple(each for each in self.changes if each.kind != "replace")

    @property
    def rows(self) -> FrozenBitMap:
        """All rows that the change deletes."""
        parts = [each.rows for each in self.deletions]
        return parts[0] if len(parts) == 1 else FrozenBitMap.union(FrozenBitMap(), *parts)

    def with_change(self, new: ChangedRows) -> TargetRowSet:
        """Add what one more statement does. One vector serves several statements of a kind."""
        *before, last = self.changes or (None,)
        if last is None or last.kind == "replace" or last.kind != new.kind:
            return replace(self, changes=(*self.changes, new))
        return replace(self, changes=(*before, replace(last, rows=last.rows | new.rows)))

    def after(
        self,
        kind: RowKind,
        deleted: FrozenBitMap,
        vector: DeletionVectorEntry | None,
        *,
        overwrites: bool = False,
    ) -> TargetRowSet:
        """Return the target after a concurrent statement, which leaves `deleted` as deleted rows.

        Two deletions of a row add up, and a deleted row needs no new values. Raises Overlap if both
        deleted a row and one of them moved it, or if the change overwrites the row.
        """
        theirs = deleted - self.found.deleted
        changes = []
        for each in self.changes:
            met = each.rows & theirs
            if met and (overwrites or rule(each.kind, kind) is Rule.SAME_ROW):
                raise Overlap(self.found.id, met)
            changes.append(replace(each, rows=each.rows - met))
        return TargetRowSet(replace(self.found, deleted=deleted, vector=vector), tuple(changes))

    def after_replacement(
        self, columns: frozenset[int], changed: FrozenBitMap, *, overwrites: bool
    ) -> TargetRowSet:
        """Return the target after a concurrent statement replaced columns in the rows `changed`.

        Raises Overlap if a change of this target was computed from the replaced values, or
        overwrites such a row.
        """
        met = [
            each
            for each in self.changes
            if (overwrites and each.rows & changed) or each.meets(columns, changed)
        ]
        if met:
            same = FrozenBitMap.union(*(each.rows & changed for each in met))
            rows = same or met[0].rows or changed
            raise Overlap(self.found.id, rows, of_columns_only=not same)
        return self


class Overlap(Exception):
    """Two statements changed a RowSet in ways that cannot be joined.

    Both deleted the same rows and at least one of them moved them, or one replaced columns.
    `of_columns_only` says that only the replaced columns are in the way: the rows that change are
    not the same.
    """

    def __init__(self, rowset: int, rows: FrozenBitMap, *, of_columns_only: bool = False) -> None:
        super().__init__(rowset, rows)
        self.rowset = rowset
        self.rows = rows
        self.of_columns_only = of_columns_only

    def __str__(self) -> str:
        text = rows_text(self.rows)
        return f"{text[0].upper()}{text[1:]} of RowSet {self.rowset}"


def rows_text(rows: FrozenBitMap) -> str:
    """Return a text for an error that names rows: "row 7", or the count and the first five."""
    first = [str(row) for row, _ in zip(rows, range(5), strict=False)]
    text = ", ".join(first)
    if len(rows) > len(first):
        return f"{len(rows)} rows ({text}, …)"
    return f"row {text}" if len(rows) == 1 else f"rows {text}"


def all_rows(count: int) -> FrozenBitMap:
    """Return the rows 0 to `count` - 1."""
    rows = BitMap()
    rows.add_range(0, count)
    return FrozenBitMap(rows)


def numbered(before: Snapshot, epoch: Epoch) -> Iterator[tuple[Operation, int]]:
    """Yield each operation of the epoch after `before`, and the RowSet id that it begins at.

    That is the id of the first RowSet that the operation adds, if it adds any.
    """
    numbers: dict[str, int] = {}
    for operation in epoch.ops:
        table = getattr(operation, "table", "")
        if table not in numbers:
            known = before.tables.get(TableId(table))
            numbers[table] = known.next_rowset_id if known is not None else 0
        yield operation, numbers[table]
        numbers[table] += _id_count(operation)


def _id_count(operation: Operation) -> int:
    match operation:
        case AddRowSet():
            return 1
        case AddRowSets():
            return operation.segment.rowset_count
        case Compaction():
            return len(operation.outputs)
        case _:
            return 0


def with_columns_of(epoch: Epoch, before: TableState) -> TableState:
    """Return a table before an epoch with the columns that it has after it.

    An epoch that widens a column may add RowSets of the wider type.
    """
    for op in epoch.ops:
        if isinstance(op, AlterSchema) and op.table == before.id:
            before = replace(before, schema=op.table_schema)
    return before


def ids_of(ranges: Iterable[tuple[int, int]]) -> FrozenBitMap:
    """Return the RowSet ids in inclusive ranges."""
    ids = BitMap()
    for first, last in ranges:
        ids.add_range(first, last + 1)
    return FrozenBitMap(ids)


def id_ranges(ids: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Return ids, which must ascend, as inclusive ranges that are not adjacent."""
    ranges: list[tuple[int, int]] = []
    for each in ids:
        if ranges and ranges[-1][1] == each - 1:
            ranges[-1] = (ranges[-1][0], each)
        else:
            ranges.append((each, each))
    return tuple(ranges)


def conflict(
    operation: str,
    base: int,
    happened: str,
    theirs: Epoch,
    error: type[ConflictError] = ConflictError,
) -> ConflictError:
    """Return the error for two conflicting statements. `happened` says what changed, of a table."""
    return error(
        f"{happened} in epoch {theirs.epoch} ({theirs.operation}), but {operation!r} was planned on"
        f" epoch {base}; read the table again and repeat it."
    )
