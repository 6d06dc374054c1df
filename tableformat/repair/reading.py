"""Read the intact parts of a damaged RowSet, stretch by stretch and column by column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.once import once
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.rowset.deleted_rows import read_deleted
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.scan.plan import cut_rows


@dataclass(frozen=True, slots=True)
class ReadableStretch:
    """The live rows between two cuts, and their columns by id.

    `arrays` have a value for each of `rows`, which are row numbers in the RowSet. A column that
    cannot be read is in `lost` instead. `certain` is False when the deletion vector cannot be read,
    so that `rows` may include deleted rows.
    """

    rows: NDArray[np.int64]
    arrays: dict[int, pa.Array]
    lost: tuple[SchemaField, ...]
    certain: bool

    @property
    def is_whole(self) -> bool:
        """Whether nothing of the stretch is lost."""
        return self.certain and not self.lost


@dataclass(frozen=True)
class DamagedRowSet:
    """Reads the intact parts of one RowSet. Raises only StoreError."""

    store: ObjectStore
    table: TableState
    rowset: LiveRowSet

    def stretches(self) -> Iterator[ReadableStretch]:
        """Yield all stretches, in row order, with what can be read of them."""
        for first, end in pairwise(cut_rows(self.rowset.entry)):
            yield self._stretch(first, end)

    def _stretch(self, first: int, end: int) -> ReadableStretch:
        alive = self._alive
        keep = np.ones(end - first, bool) if alive is None else alive[first:end]
        rows = np.flatnonzero(keep) + first
        arrays: dict[int, pa.Array] = {}
        lost: list[SchemaField] = []
        for field in self.table.schema.fields:
            array = self._column(field, first, end)
            if array is None:
                lost.append(field)
            else:
                arrays[field.id] = array.take(pa.array(rows - first))
        return ReadableStretch(rows, arrays, tuple(lost), alive is not None)

    def _column(self, field: SchemaField, first: int, end: int) -> pa.Array | None:
        if self._reader is None:
            return None
        try:
            [(_, batch)] = self._reader.read([field], [(first, end)])
            batch.validate(full=True)
        except (CorruptionError, pa.ArrowInvalid):
            return None
        return batch.column(0)

    @once
    def _reader(self) -> RowSetReader | None:
        try:
            return RowSetReader(self.store, View.stored(self.table), self.rowset)
        except CorruptionError:
            return None

    @once
    def _alive(self) -> NDArray[np.bool_] | None:
        """Whether each row is live; None when the deletion vector cannot be read."""
        rows = self.rowset.entry.rows
        try:
            deleted = read_deleted(self.store, View.stored(self.table), self.rowset)
        except CorruptionError:
            return None
        return np.ones(rows, bool) if deleted is None else deleted.keep_mask(0, rows)
