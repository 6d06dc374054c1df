"""RowSets from which a change takes rows, followed through what others committed. Pure.

Others only ever add to the rows that are gone, so what one of their epochs took from a RowSet is
the difference of two vectors. Spec: docs/spec/conflicts.md#rows
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from pyroaring import BitMap, FrozenBitMap

from manifests.entries import (
    AddRowSet,
    AddRowSets,
    Compaction,
    CreateTable,
    DeletionVectorEntry,
    Epoch,
    Operation,
    RowKind,
)
from manifests.errors import ConflictError
from manifests.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Found:
    """A RowSet as it is at some epoch: its rows as stored, and those of them that are gone."""

    id: int
    rows: int
    gone: FrozenBitMap
    vector: DeletionVectorEntry | None


@dataclass(frozen=True, slots=True)
class Taken:
    """Rows that a statement takes from a RowSet."""

    kind: RowKind
    rows: FrozenBitMap


@dataclass(frozen=True, slots=True)
class Target:
    """A RowSet and what a change takes from it, by one statement after another."""

    found: Found
    taken: tuple[Taken, ...]

    @property
    def rows(self) -> FrozenBitMap:
        """All rows that the change takes."""
        return FrozenBitMap.union(FrozenBitMap(), *(each.rows for each in self.taken))

    def after(
        self,
        kind: RowKind,
        gone: FrozenBitMap,
        vector: DeletionVectorEntry | None,
        *,
        replaces: bool = False,
    ) -> Target:
        """The same once a statement of others left the RowSet with the rows `gone`.

        Two deletions of a row add up. Raises Overlap where both took a row and one of them
        moved it, or the change puts other rows in its place.
        """
        theirs = gone - self.found.gone
        taken = []
        for each in self.taken:
            met = each.rows & theirs
            if met and (replaces or not each.kind == kind == "delete"):
                raise Overlap(self.found.id, met)
            taken.append(Taken(each.kind, each.rows - met))
        return Target(replace(self.found, gone=gone, vector=vector), tuple(taken))


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
    numbers: dict[str, int] = {t.id: t.next_rowset_id for t in before.tables.values()}
    for operation in epoch.ops:
        table = getattr(operation, "table", "")
        if isinstance(operation, CreateTable):
            numbers[table] = 0
        first = numbers.get(table, 0)
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
