"""The live rows of the RowSets of a job, stretch by stretch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.model.columns.internal import WRITTEN, written_at
from colonnade.manifests.model.regions import Mask
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.compaction.job import CompactionJob
from colonnade.tableformat.jobs import Stop
from colonnade.tableformat.predicate import evaluate
from colonnade.tableformat.predicate.regions import named_by_id, region_predicate
from colonnade.tableformat.rowset.adapt import absent_values
from colonnade.tableformat.rowset.column import column_of
from colonnade.tableformat.rowset.deleted_rows import read_deleted
from colonnade.tableformat.rowset.read_back import Contents
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.stored_block import Stretch
from colonnade.tableformat.rowset.write_options import MIB
from colonnade.tableformat.scan.plan import cut_rows
from colonnade.tableformat.types.storage_form import from_storage

Rows = NDArray[np.int64]

WINDOW_BYTES = 32 * MIB
"""The approximate stored bytes that are read ahead over all RowSets read side by side."""


@dataclass(frozen=True, slots=True)
class InputRowSet:
    """A RowSet of a job. `deleted_rows` are their numbers in it, and `cuts` bound its stretches.

    `deleted_counts` has the number of deleted rows of each stretch.
    """

    index: int
    rowset: LiveRowSet
    masks: Sequence[Mask]
    reader: RowSetReader
    fields: Sequence[SchemaField]
    deleted_rows: Rows
    cuts: Rows
    deleted_counts: Rows
    stop: Stop

    @property
    def rows(self) -> Rows:
        """The number of rows of each stretch, including deleted rows."""
        return self.cuts[1:] - self.cuts[:-1]

    def stretches(
        self,
        wanted: NDArray[np.bool_],
        window_bytes: int = WINDOW_BYTES,
        bloom_columns: Sequence[int] = (),
    ) -> Iterator[Stretch]:
        """Yield the wanted stretches, undecoded, with the Bloom filters of some columns.

        Raises CancelledError between two stretches once a stop is requested.
        """
        ranges = None
        if not wanted.all():
            numbers = np.flatnonzero(wanted)
            ranges = [(int(self.cuts[i]), int(self.cuts[i + 1])) for i in numbers]
        for each in self.reader.read_stored(self.fields, ranges, window_bytes, bloom_columns):
            self.stop.check()
            yield each

    def live_rows(self, stretch: Stretch) -> Rows:
        """Return the live rows of a stretch, by their number in the RowSet."""
        rows: Rows = np.arange(stretch.first_row, stretch.first_row + stretch.rows)
        return np.delete(rows, self._deleted_of(stretch)) if len(self.deleted_rows) else rows

    def decode(self, stretch: Stretch) -> list[pa.Array]:
        """Return the live rows of a stretch, as columns in their storage types."""
        arrays = self._without_expired(self.reader.decode(self.fields, stretch))
        deleted = self._deleted_of(stretch)
        if not len(deleted):
            return arrays
        left = pa.array(np.delete(np.arange(stretch.rows), deleted))
        return [array.take(left) for array in arrays]

    @property
    def is_plain(self) -> bool:
        """Whether stored stretches may be copied: no value is purged, and no column is hidden."""
        return not self.masks and WRITTEN.id not in {f.id for f in self.fields}

    def _without_expired(self, arrays: list[pa.Array]) -> list[pa.Array]:
        """Return columns with NULL for the values that the masks of the RowSet purge."""
        place = {field.id: at for at, field in enumerate(self.fields)}
        for mask in self.masks:
            region, at = mask.region, place.get(mask.column)
            if at is None:
                continue
            known = [self._time(each, arrays, place) for each in region.columns]
            named = TableSchema(fields=tuple(map(named_by_id, region.columns)))
            gone = evaluate(region_predicate(region), from_storage(known, named)).fill_null(False)
            if gone.true_count:
                numbers = np.arange(len(gone))
                arrays[at] = arrays[at].take(pa.array(numbers, mask=gone.to_numpy(False)))
        return arrays

    @staticmethod
    def _time(
        column: SchemaField, arrays: Sequence[pa.Array], place: Mapping[int, int]
    ) -> pa.Array:
        """Return the column that says when values expire. Rows of one time have no column of it."""
        at = place.get(column.id)
        return absent_values(column_of(column), len(arrays[0])) if at is None else arrays[at]

    def _deleted_of(self, stretch: Stretch) -> Rows:
        """Return the deleted rows of a stretch, counted from its first row."""
        if not len(self.deleted_rows):
            return self.deleted_rows
        end = stretch.first_row + stretch.rows
        low, high = np.searchsorted(self.deleted_rows, (stretch.first_row, end))
        return self.deleted_rows[low:high] - stretch.first_row

    def batches(self, window_bytes: int = WINDOW_BYTES) -> Iterator[tuple[Rows, list[pa.Array]]]:
        """Yield the numbers and the columns of all live rows, about a block at a time."""
        for stretch in self.stretches(self.deleted_counts < self.rows, window_bytes):
            yield self.live_rows(stretch), self.decode(stretch)

    def origin(self, rows: Rows) -> Rows:
        """Return the origin of each row: one number of its RowSet in the job and its row there."""
        return (self.index << 32) + rows


@dataclass(frozen=True, slots=True)
class Inputs:
    """The RowSets of a job. `contents` collects the footer statistics of those that were opened."""

    job: CompactionJob
    store: ObjectStore
    stop: Stop
    contents: Contents = field(default_factory=Contents)

    def _fields(self, index: int) -> tuple[SchemaField, ...]:
        """Return the columns of a RowSet, whose rows were written then if it does not say it."""
        fields, written = self.job.target.table_schema.fields, self.job.written
        return tuple(written_at(written[index]) if f == WRITTEN else f for f in fields)

    def open(self) -> Iterator[InputRowSet]:
        """Yield the RowSets in the order of their group; each is opened at its turn.

        Reads a footer and a deletion vector for each. Raises CorruptionError, StoreError.
        """
        view = self.job.view
        for index, rowset in enumerate(view.rowsets):
            fields, masks = self._fields(index), view.masks_of(rowset)
            found = read_deleted(self.store, view, rowset)
            numbers = () if found is None else found.rows.to_array()
            deleted: Rows = np.asarray(numbers, np.int64)
            reader = RowSetReader(self.store, view, rowset)
            self.contents.add(rowset.entry, reader.statistics(fields))
            cuts = np.array(cut_rows(rowset.entry), np.int64)
            before = np.searchsorted(deleted, cuts)
            counts = before[1:] - before[:-1]
            yield InputRowSet(
                index, rowset, masks, reader, fields, deleted, cuts, counts, self.stop
            )
