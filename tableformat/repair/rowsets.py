"""Replace damaged RowSets by their readable rows, in one epoch, when told to.

The rows of a stretch between two cuts stay when all their columns can be read; other stretches are
lost to the table. When all rows can be read, the RowSet is rewritten without the damaged parts,
such as Bloom filters, statistics or dropped columns. No file is deleted, because earlier epochs
still name the old ones.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.arrays.bounds import BoundsTable
from colonnade.manifests.commit.change import Change, TableRead
from colonnade.manifests.commit.outcome import not_sent
from colonnade.manifests.commit.rebase.targets import id_ranges
from colonnade.manifests.commit.removals import removals_are_conflicts
from colonnade.manifests.errors import ConflictError, InvalidInputError, NotFoundError
from colonnade.manifests.ids import new_job_id, new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.operations import AddRowSet, DropRowSet
from colonnade.manifests.public import public
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot, TableState
from colonnade.tableformat.keys.static_parts import stored_table
from colonnade.tableformat.repair.reading import DamagedRowSet, ReadableStretch
from colonnade.tableformat.repair.rescue import Rescue
from colonnade.tableformat.rowset.read_back import check_rows, read_back
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.verify.run import find_damage
from colonnade.tableformat.write.job import target_of
from colonnade.tableformat.write.pipeline import open_writer
from colonnade.tableformat.write.run import dated, stamped
from colonnade.tableformat.write.settings import WriteSettings

OPERATION = "repair"
"""The name of a repair in the history."""


@public
@dataclass(frozen=True, slots=True)
class LostRows:
    """Rows that no later epoch has: the first and last row of a stretch, and its live rows.

    `columns` are the columns that could not be read. Without `certain`, deleted rows of the stretch
    are counted, too, because the deletion vector could not be read.
    """

    rowset: int
    first: int
    last: int
    count: int
    columns: tuple[str, ...]
    certain: bool


@public
@dataclass(frozen=True, slots=True)
class RepairResult:
    """What a repair did, or would do.

    `rescued` is the file with the readable values of lost rows.
    """

    epoch: int | None
    rowsets: tuple[int, ...]
    rows_kept: int
    lost: tuple[LostRows, ...]
    rescued: str | None

    @property
    def rows_lost(self) -> int:
        """The number of all lost rows."""
        return sum(each.count for each in self.lost)

    def to_json(self) -> dict[str, Any]:
        """Return a plain value that converts to JSON."""
        return {**asdict(self), "rows_lost": self.rows_lost}

    def __str__(self) -> str:
        ids = ", ".join(map(str, self.rowsets))
        if not self.lost:
            done = "Would rewrite" if self.epoch is None else f"Epoch {self.epoch} rewrites"
            return f"{done} RowSets {ids}; all of their {self.rows_kept} rows stay."
        done = "Would remove" if self.epoch is None else f"Epoch {self.epoch} removes"
        said = [
            f"{done} {self.rows_lost} rows from RowSets {ids}; their other {self.rows_kept} rows"
            " stay."
        ]
        for each in self.lost:
            doubt = "" if each.certain else ", deleted rows among them"
            said.append(
                f"  RowSet {each.rowset}, rows {each.first} to {each.last}: {each.count} rows lost"
                f"{doubt}; not readable: {', '.join(each.columns) or 'which rows were deleted'}."
            )
        if self.rescued is not None:
            said.append(f"The readable values of lost rows are in {self.rescued}.")
        return "\n".join(said)


def take_out(
    log: Log,
    table: TableState,
    base: Snapshot,
    rowsets: Collection[int],
    rescue: str | os.PathLike[str],
    *,
    dry_run: bool = False,
) -> tuple[Snapshot, RepairResult]:
    """Replace RowSets by their readable rows; see `ArrowTable.repair`."""
    log.store.require_writable()
    log, table = log.uncached, stored_table(table)
    with removals_are_conflicts(log.reader, OPERATION, base):
        chosen = _chosen(log, table, rowsets)
    job_id = new_job_id()
    parts = [(rowset, DamagedRowSet(log.store, table, rowset)) for rowset in chosen]
    lost: list[LostRows] = []
    kept = 0
    with (
        Rescue(rescue, table) as file,
        open_writer(log.store, target_of(table, log.limits), job_id, WriteSettings()) as out,
    ):
        for rowset, stretch in _stretches(parts):
            if stretch.is_whole:
                kept += len(stretch.rows)
                if not dry_run:
                    out.write(_batch(table, stretch))
            elif len(stretch.rows):
                lost.append(_lost(rowset, stretch))
                file.write(rowset, stretch)
        if not lost and not find_damage(log, table, chosen):
            raise InvalidInputError(
                f"RowSets {sorted(rowsets)} of table {table.name!r} are sound; there is nothing"
                " to repair."
            )
        if lost and log.reader.is_removed(base.epoch):
            # These rows may be whole in the newest epoch, which has them in other files.
            raise not_sent(f"Epoch {base.epoch}, which was to be repaired, was removed meanwhile;")
        if dry_run:
            return base, RepairResult(None, _ids(chosen), kept, tuple(lost), None)
        entries = out.close()
        check_rows(read_back(log.store, table.prefix, table.schema.fields, entries), kept)
        if lost:
            file.keep()
        try:
            snapshot = log.commit(_change(table, chosen, entries, lost, job_id), base)
        except ConflictError:
            if lost:
                file.give_up()
            raise
    rescued = file.path if lost else None
    return snapshot, RepairResult(snapshot.epoch, _ids(chosen), kept, tuple(lost), rescued)


def _chosen(log: Log, table: TableState, rowsets: Collection[int]) -> list[LiveRowSet]:
    if not isinstance(rowsets, Collection) or any(type(each) is not int for each in rowsets):
        raise InvalidInputError(f"RowSets to repair must be a list of ids, not {rowsets!r}.")
    found = log.rowsets.find(table, [each for each in rowsets if 0 <= each < 2**32])
    missing = sorted(set(rowsets).difference(found))
    if missing or not found:
        raise NotFoundError(
            f"Table {table.name!r} has no RowSet {', '.join(map(str, missing)) or 'to repair'};"
            " `verify` names those that are damaged."
        )
    return [found[each] for each in sorted(found)]


def _stretches(
    parts: Collection[tuple[LiveRowSet, DamagedRowSet]],
) -> Iterator[tuple[LiveRowSet, ReadableStretch]]:
    for rowset, damaged in parts:
        for stretch in damaged.stretches():
            yield rowset, stretch


def _batch(table: TableState, stretch: ReadableStretch) -> pa.RecordBatch:
    arrays = [stretch.arrays[field.id] for field in table.schema.fields]
    return pa.RecordBatch.from_arrays(arrays, schema=arrow_schema(table.schema))


def _lost(rowset: LiveRowSet, stretch: ReadableStretch) -> LostRows:
    return LostRows(
        rowset.id,
        int(stretch.rows[0]),
        int(stretch.rows[-1]),
        len(stretch.rows),
        tuple(field.name for field in stretch.lost),
        stretch.certain,
    )


def _ids(rowsets: Collection[LiveRowSet]) -> tuple[int, ...]:
    return tuple(rowset.id for rowset in rowsets)


def _change(
    table: TableState,
    rowsets: Collection[LiveRowSet],
    entries: Collection[RowSetEntry],
    lost: Collection[LostRows],
    job_id: str,
) -> Change:
    dropped = DropRowSet(table=table.id, rowsets=id_ranges(_ids(rowsets)))
    # Rows of several times live as long as the last of them, which purges none too early.
    times = [each.entry.written_ms for each in rowsets]
    last = max((each[1] for each in times if each is not None), default=0)
    since = 0 if table.lifetimes is None else table.lifetimes.since_ms
    written = [dated(stamped(entry, table), table, max(last, since)) for entry in entries]
    if table.range_tombstones:
        met = {"clean_epoch": min(each.clean_epoch for each in rowsets)}
        written = [entry.model_copy(update=met) for entry in written]
    said = "; ".join(f"RowSet {e.rowset} rows {e.first} to {e.last}" for e in [*lost][:100])
    return Change(
        new_transaction_id(),
        OPERATION,
        (dropped, *(AddRowSet(table=table.id, rowset=each) for each in written)),
        {"lost": said} if lost else {},
        reads=(TableRead(table.id, _nothing, overwrites=True),),
        metrics={"rows_lost": sum(each.count for each in lost), "rowsets_touched": len(rowsets)},
        job_id=job_id,
        fresh=True,
    )


def _nothing(bounds: BoundsTable) -> NDArray[np.bool_]:
    """Match no RowSet: RowSets added meanwhile are not among those that a repair replaces."""
    return np.zeros(len(bounds.rows), bool)
