"""Entries of many RowSets as arrays: the form of a segment in memory.

A `LiveRowSet` is made only on demand. A table of a million RowSets is therefore pruned and counted
without a million objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from colonnade.manifests.arrays.bounds import Bounds, BoundsTable, bounds_table
from colonnade.manifests.arrays.json_arrays import Integers
from colonnade.manifests.arrays.partitions import Partitions, concat_partitions, partitions_of
from colonnade.manifests.arrays.statistics_block import StatisticsBlock, concat_statistics
from colonnade.manifests.model.entries import ColumnReplacement, DeletionVectorEntry, RowSetEntry
from colonnade.manifests.model.operations import ReplaceColumn
from colonnade.manifests.state.amendments import LaterAmendments
from colonnade.manifests.state.replaced_columns import with_replacements
from colonnade.manifests.state.snapshot import LiveRowSet, TableState

PLACES = ("directory", "packed", "inline")

NUMBERS = (
    *("ids", "epochs", "places", "rows", "bytes", "cuts", "footer_lengths", "footer_crc32cs"),
    *("partition_layout_ids", "sort_order_ids", "unsynced"),
    *("clean_epochs", "first_written_ms", "last_written_ms"),
)
"""The numbers of an entry. `places` are indexes into PLACES. `cuts` is 0 for irregular cuts."""

UNSTATED = -1
"""The clean epoch, or the time of the rows, of an entry that does not state it."""


class Entries(Protocol):
    """Some RowSets of one table. Every array has one element for each RowSet."""

    @property
    def ids(self) -> Integers:
        """RowSet ids."""

    @property
    def epochs(self) -> Integers:
        """The epochs that added the RowSets."""

    @property
    def sort_orders(self) -> Integers:
        """The numbers of the sort orders that the RowSets were written in."""

    @property
    def rows(self) -> Integers:
        """The numbers of stored rows."""

    @property
    def byte_counts(self) -> Integers:
        """Stored bytes."""

    @property
    def deleted(self) -> Integers:
        """The numbers of rows that deletion vectors delete."""

    def bounds(self) -> BoundsTable:
        """Return the bounds and partitions for pruning."""

    def partitions(self) -> Partitions:
        """Return the partitions of the RowSets."""

    def live(self, indexes: Integers) -> list[LiveRowSet]:
        """Return the RowSets at these indexes."""

    def object_ids(self) -> list[str]:
        """Return the ids of all objects of the RowSets and their deletion vectors, in no order."""


@dataclass(frozen=True, slots=True)
class AddedEntries(Entries):
    """The RowSets of a table that are single values in the state already."""

    table: TableState

    @property
    def rowsets(self) -> Sequence[LiveRowSet]:
        """The RowSets, ordered by id."""
        return self.table.rowsets.added

    @property
    def ids(self) -> Integers:
        return np.array([r.id for r in self.rowsets], np.int64)

    @property
    def epochs(self) -> Integers:
        return np.array([r.epoch for r in self.rowsets], np.int64)

    @property
    def sort_orders(self) -> Integers:
        return np.array([r.entry.sort_order_id for r in self.rowsets], np.int64)

    @property
    def rows(self) -> Integers:
        return np.array([r.entry.rows for r in self.rowsets], np.int64)

    @property
    def byte_counts(self) -> Integers:
        return np.array([r.byte_count for r in self.rowsets], np.int64)

    @property
    def deleted(self) -> Integers:
        return np.array([r.deleted_count for r in self.rowsets], np.int64)

    def bounds(self) -> BoundsTable:
        """Return the bounds for pruning. Raises CorruptionError naming table, column and RowSet."""
        return bounds_table(
            [r.entry.statistics for r in self.rowsets],
            [r.entry.rows for r in self.rowsets],
            self.table.schema,
            lambda index: f"RowSet {self.rowsets[index].id} of table {self.table.name!r}",
            self.partitions(),
        )

    def partitions(self) -> Partitions:
        return partitions_of(rowset.entry for rowset in self.rowsets)

    def live(self, indexes: Integers) -> list[LiveRowSet]:
        return [self.rowsets[index] for index in indexes.tolist()]

    def object_ids(self) -> list[str]:
        return [name for rowset in self.rowsets for name in rowset.objects()]


@dataclass(frozen=True, slots=True, eq=False)
class EntryBlock(Entries):
    """RowSets as arrays. `objects` has 16 bytes for each RowSet.

    Four mappings hold values that few RowSets have, by index: `irregular_cuts`, `data`, `vectors`,
    `replacements`.
    """

    numbers: Mapping[str, Integers]
    objects: NDArray[np.uint8]
    irregular_cuts: Mapping[int, tuple[int, ...]]
    data: Mapping[int, str]
    vectors: Mapping[int, DeletionVectorEntry]
    replacements: Mapping[int, tuple[ColumnReplacement, ...]]
    columns: Mapping[int, StatisticsBlock]
    partitioned: Partitions

    def __len__(self) -> int:
        return len(self.objects)

    @property
    def ids(self) -> Integers:
        return self.numbers["ids"]

    @property
    def epochs(self) -> Integers:
        return self.numbers["epochs"]

    @property
    def sort_orders(self) -> Integers:
        return self.numbers["sort_order_ids"]

    @property
    def rows(self) -> Integers:
        return self.numbers["rows"]

    @property
    def byte_counts(self) -> Integers:
        counts = self.numbers["bytes"]
        if self.replacements:
            counts = counts.copy()
            for row, replacements in self.replacements.items():
                counts[row] += sum(each.bytes for each in replacements)
        return counts

    @property
    def deleted(self) -> Integers:
        counts = np.zeros(len(self), np.int64)
        for row, vector in self.vectors.items():
            counts[row] = vector.cardinality
        return counts

    def bounds(self) -> BoundsTable:
        columns: dict[int, Bounds] = {c: s.bounds() for c, s in self.columns.items()}
        return BoundsTable(self.rows, columns, self.partitioned)

    def partitions(self) -> Partitions:
        return self.partitioned

    def live(self, indexes: Integers) -> list[LiveRowSet]:
        rows = indexes.tolist()
        numbers = zip(*(self.numbers[name][indexes].tolist() for name in NUMBERS), strict=True)
        objects = self.objects[indexes].tobytes().hex()
        columns = [(c, s.statistics(indexes)) for c, s in self.columns.items()]
        found = []
        for place, (row, values) in enumerate(zip(rows, numbers, strict=True)):
            entry = dict(zip(NUMBERS, values, strict=True))
            rowset, epoch = entry.pop("ids"), entry.pop("epochs")
            entry["object"] = objects[32 * place : 32 * place + 32]
            entry["place"] = PLACES[entry.pop("places")]
            entry["cuts"] = entry["cuts"] or self.irregular_cuts[row]
            entry["footer"] = {
                "length": entry.pop("footer_lengths"),
                "crc32c": entry.pop("footer_crc32cs"),
            }
            for name in ("partition_layout_id", "sort_order_id"):
                entry[name] = entry.pop(f"{name}s")
            entry["unsynced"] = bool(entry["unsynced"])
            clean = entry.pop("clean_epochs")
            entry["clean_epoch"] = None if clean == UNSTATED else clean
            written = entry.pop("first_written_ms"), entry.pop("last_written_ms")
            entry["written_ms"] = None if UNSTATED in written else written
            entry["statistics"] = {c: s[place] for c, s in columns if s[place] is not None}
            entry["data"] = self.data.get(row)
            values = self.partitioned.keys[int(self.partitioned.index[row])][1]
            entry["partition"] = values or None
            model = RowSetEntry.model_validate(entry)
            later = self.vectors.get(row), self.replacements.get(row, ())
            found.append(LiveRowSet(rowset, epoch, model, *later))
        return found

    def object_ids(self) -> list[str]:
        return [*object_ids(self.objects), *later_objects(self.vectors, self.replacements)]

    def take(self, rows: Integers) -> EntryBlock:
        """Return the entries at these indexes, in this order."""
        place = {int(old): new for new, old in enumerate(rows)} if self._sparse else {}
        return EntryBlock(
            {name: array[rows] for name, array in self.numbers.items()},
            self.objects[rows],
            {place[old]: cuts for old, cuts in self.irregular_cuts.items() if old in place},
            {place[old]: data for old, data in self.data.items() if old in place},
            {place[old]: found for old, found in self.vectors.items() if old in place},
            {place[old]: found for old, found in self.replacements.items() if old in place},
            {column: block.take(rows) for column, block in self.columns.items()},
            self.partitioned.take(rows),
        )

    @property
    def _sparse(self) -> bool:
        return bool(self.irregular_cuts or self.data or self.vectors or self.replacements)

    def updated(
        self, dropped: Sequence[tuple[int, int]], amended: Mapping[int, LaterAmendments]
    ) -> EntryBlock:
        """Return the live entries after later changes to the RowSets of this block."""
        block = self
        if dropped:
            ranges = np.array(dropped, np.int64)
            before = np.searchsorted(ranges[:, 0], self.ids, side="right") - 1
            covered = (before >= 0) & (self.ids <= ranges[before, 1])
            if covered.any():
                block = self.take(np.flatnonzero(~covered))
        if amended:
            vectors = {k: each.vector for k, each in amended.items() if each.vector}
            replaced = {k: each.replaced for k, each in amended.items() if each.replaced}
            block = block._with_vectors(vectors)._with_columns(replaced)
        return block

    def _with_vectors(self, vectors: Mapping[int, DeletionVectorEntry]) -> EntryBlock:
        """Return the entries after rows were deleted."""
        found = np.isin(self.ids, np.fromiter(vectors, np.int64, len(vectors)))
        changed = {row: vectors[int(self.ids[row])] for row in np.flatnonzero(found).tolist()}
        return replace(self, vectors={**self.vectors, **changed}) if changed else self

    def _with_columns(self, replaced: Mapping[int, Sequence[ReplaceColumn]]) -> EntryBlock:
        """Return the entries after columns were replaced. The changed RowSets are last."""
        found = np.isin(self.ids, np.fromiter(replaced, np.int64, len(replaced)))
        if not found.any():
            return self
        changed = [
            with_replacements(rowset, replaced[rowset.id])
            for rowset in self.live(np.flatnonzero(found))
        ]
        unchanged = [] if found.all() else [self.take(np.flatnonzero(~found))]
        return concat_blocks([*unchanged, block_of(changed)])


def object_ids(objects: NDArray[np.uint8]) -> list[str]:
    """Return object ids as text, from rows of 16 bytes."""
    digits = objects.tobytes().hex()
    return [digits[at : at + 32] for at in range(0, len(digits), 32)]


def later_objects(
    vectors: Mapping[int, DeletionVectorEntry],
    replacements: Mapping[int, tuple[ColumnReplacement, ...]],
) -> Iterator[str]:
    """Yield the ids of the objects of deletion vectors and of replaced columns."""
    yield from (each.object for each in vectors.values())
    yield from (each.object for held in replacements.values() for each in held)


def block_of(rowsets: Sequence[LiveRowSet]) -> EntryBlock:
    """Arrange RowSets as arrays."""
    entries = [rowset.entry for rowset in rowsets]
    numbers = {
        "ids": [r.id for r in rowsets],
        "epochs": [r.epoch for r in rowsets],
        "places": [PLACES.index(e.place) for e in entries],
        "rows": [e.rows for e in entries],
        "bytes": [e.bytes for e in entries],
        "cuts": [e.cuts if isinstance(e.cuts, int) else 0 for e in entries],
        "footer_lengths": [e.footer.length for e in entries],
        "footer_crc32cs": [e.footer.crc32c for e in entries],
        "partition_layout_ids": [e.partition_layout_id for e in entries],
        "sort_order_ids": [e.sort_order_id for e in entries],
        "unsynced": [int(e.unsynced) for e in entries],
        "clean_epochs": [UNSTATED if e.clean_epoch is None else e.clean_epoch for e in entries],
        "first_written_ms": [e.written_ms[0] if e.written_ms else UNSTATED for e in entries],
        "last_written_ms": [e.written_ms[1] if e.written_ms else UNSTATED for e in entries],
    }
    columns = sorted({column for e in entries for column in e.statistics})
    objects = np.frombuffer(bytes.fromhex("".join(e.object for e in entries)), np.uint8)
    return EntryBlock(
        {name: np.array(numbers[name], np.int64) for name in NUMBERS},
        objects.reshape(len(entries), 16),
        {i: e.cuts for i, e in enumerate(entries) if not isinstance(e.cuts, int)},
        {i: e.data for i, e in enumerate(entries) if e.data is not None},
        {i: r.vector for i, r in enumerate(rowsets) if r.vector},
        {i: r.replacements for i, r in enumerate(rowsets) if r.replacements},
        {c: StatisticsBlock.of([e.statistics.get(c) for e in entries]) for c in columns},
        partitions_of(entries),
    )


def concat_blocks(blocks: Sequence[EntryBlock]) -> EntryBlock:
    """Concatenate the entries of several blocks. Requires: at least one block."""
    if len(blocks) == 1:
        return blocks[0]
    starts = np.cumsum([0, *map(len, blocks)]).tolist()
    columns = sorted({column for block in blocks for column in block.columns})
    lengths = [len(block) for block in blocks]
    return EntryBlock(
        {name: np.concatenate([b.numbers[name] for b in blocks]) for name in NUMBERS},
        np.concatenate([b.objects for b in blocks]),
        {
            s + i: v
            for s, b in zip(starts, blocks, strict=False)
            for i, v in b.irregular_cuts.items()
        },
        {s + i: v for s, b in zip(starts, blocks, strict=False) for i, v in b.data.items()},
        {s + i: v for s, b in zip(starts, blocks, strict=False) for i, v in b.vectors.items()},
        {s + i: v for s, b in zip(starts, blocks, strict=False) for i, v in b.replacements.items()},
        {c: concat_statistics([b.columns.get(c) for b in blocks], lengths) for c in columns},
        concat_partitions([b.partitioned for b in blocks]),
    )
