"""RowSets from which a change takes rows, followed through what others committed. Pure.

Others only ever add to the rows that are gone, so what one of their epochs took from a RowSet is
the difference of two vectors. Spec: docs/spec/conflicts.md#rows
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests.errors import ConflictError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.entries import DeletionVectorEntry
from colonnade.manifests.model.operations import (
    AddRowSet,
    AddRowSets,
    Compaction,
    Epoch,
    Operation,
    RowKind,
)
from colonnade.manifests.state.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Found:
    """A RowSet as it is at some epoch: its rows as stored, and those of them that are gone."""

    id: int
    rows: int
    gone: FrozenBitMap
    vector: DeletionVectorEntry | None


@dataclass(frozen=True, slots=True)
class Taken:
    """Rows that a statement takes from a RowSet, or (`replace`) gives other values in `columns`.

    `reads` are the columns that the statement has read of them; None: all.
    """

    kind: RowKind | Literal["replace"]
    rows: FrozenBitMap
    reads: frozenset[int] | None = None
    columns: frozenset[int] = frozenset()

    def meets(self, columns: frozenset[int], changed: FrozenBitMap) -> bool:
        """Whether it is wrong once a statement of others replaced columns of some rows."""
        if self.columns & columns:
            return True  # the segments have all rows, and only one of them can stay
        moved = self.kind in ("update", "merge")
        concerned = moved or self.reads is None or bool(self.reads & columns)
        return concerned and bool(self.rows & changed)


@dataclass(frozen=True, slots=True)
class TargetRowSet:
    """A RowSet and what a change does to its rows, by one statement after another."""

    found: Found
    taken: tuple[Taken, ...]

    @property
    def gone(self) -> tuple[Taken, ...]:
        """What the change takes, and does not replace in place."""
        return tuple(each for each in self.taken if each.kind != "replace")

    @property
    def rows(self) -> FrozenBitMap:
        """All rows that the change takes."""
        return FrozenBitMap.union(FrozenBitMap(), *(each.rows for each in self.gone))

    def with_taken(self, taken: Taken) -> TargetRowSet:
        """The same and what one more statement takes: one vector serves several of a kind."""
        *before, last = self.taken or (None,)
        if last is None or last.kind == "replace" or last.kind != taken.kind:
            return replace(self, taken=(*self.taken, taken))
        return replace(self, taken=(*before, replace(last, rows=last.rows | taken.rows)))

    def after(
        self,
        kind: RowKind,
        gone: FrozenBitMap,
        vector: DeletionVectorEntry | None,
        *,
        replaces: bool = False,
    ) -> TargetRowSet:
        """The same once a statement of others left the RowSet with the rows `gone`.

        Two deletions of a row add up, and what was deleted needs no other values. Raises Overlap
        where both took a row and one of them moved it, or the change puts other rows in its place.
        """
        theirs = gone - self.found.gone
        taken = []
        for each in self.taken:
            met = each.rows & theirs
            may_go = kind == "delete" and each.kind in ("delete", "replace")
            if met and (replaces or not may_go):
                raise Overlap(self.found.id, met)
            taken.append(replace(each, rows=each.rows - met))
        return TargetRowSet(replace(self.found, gone=gone, vector=vector), tuple(taken))

    def after_replacement(
        self, columns: frozenset[int], changed: FrozenBitMap, *, replaces: bool
    ) -> TargetRowSet:
        """The same once a statement of others replaced columns. Raises Overlap."""
        for each in self.taken:
            if (replaces and each.rows & changed) or each.meets(columns, changed):
                raise Overlap(self.found.id, (each.rows & changed) or each.rows or changed)
        return self


class Overlap(Exception):
    """Rows of a RowSet that two statements took, at least one of which moved them."""

    def __init__(self, rowset: int, rows: FrozenBitMap) -> None:
        super().__init__(rowset, rows)
        self.rowset = rowset
        self.rows = rows

    def __str__(self) -> str:
        return f"{rows_text(self.rows)} of RowSet {self.rowset}"


def rows_text(rows: FrozenBitMap) -> str:
    """Name some rows, the first of many."""
    first = [str(row) for row, _ in zip(rows, range(5), strict=False)]
    text = ", ".join(first)
    if len(rows) > len(first):
        return f"{len(rows)} rows ({text}, …)"
    return f"row {text}" if len(rows) == 1 else f"rows {text}"


def all_rows(count: int) -> FrozenBitMap:
    """The rows 0 to `count` - 1."""
    rows = BitMap()
    rows.add_range(0, count)
    return FrozenBitMap(rows)


def numbered(before: Snapshot, epoch: Epoch) -> Iterator[tuple[Operation, int]]:
    """The operations of the epoch after `before`, with the next RowSet id of each one's table."""
    numbers: dict[str, int] = {}
    for operation in epoch.ops:
        table = getattr(operation, "table", "")
        if table not in numbers:
            known = before.tables.get(TableId(table))
            numbers[table] = known.next_rowset_id if known is not None else 0
        first = numbers[table]
        yield operation, first
        numbers[table] = first + _id_count(operation)


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


def ids_of(ranges: Iterable[tuple[int, int]]) -> FrozenBitMap:
    """The RowSet ids of inclusive ranges."""
    ids = BitMap()
    for first, last in ranges:
        ids.add_range(first, last + 1)
    return FrozenBitMap(ids)


def id_ranges(ids: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Ascending ids as inclusive ranges."""
    ranges: list[tuple[int, int]] = []
    for each in ids:
        if ranges and ranges[-1][1] == each - 1:
            ranges[-1] = (ranges[-1][0], each)
        else:
            ranges.append((each, each))
    return tuple(ranges)


def conflict(operation: str, base: int, table: str, what: str, theirs: Epoch) -> ConflictError:
    """The error of a statement that met another one. `what` is what both of them were about."""
    return ConflictError(
        f"{what[0].upper()}{what[1:]} of table {table!r} changed in epoch {theirs.epoch}"
        f" ({theirs.operation}), after epoch {base} on which {operation!r} was planned; read the"
        " table again and repeat it."
    )
