"""Read rows of one RowSet, with the static values of their partition keys."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial

import pyarrow as pa

from colonnade.manifests.arrays.bounds import BoundsFilter
from colonnade.manifests.model.deletion_vector import DeletionVector
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.rowset.deleted_rows import read_vector
from colonnade.tableformat.rowset.stored.reader import StoredReader
from colonnade.tableformat.rowset.view.statics import StaticColumns


class RowSetReader(StoredReader):
    """Reads one RowSet as `StoredReader` does, and the values of static columns in `read`."""

    def __init__(
        self, store: ObjectStore, view: View, rowset: LiveRowSet, *, whole: bool = False
    ) -> None:
        super().__init__(store, view, rowset, whole=whole)
        self._rowset, self._statics = rowset, view.statics

    def read(
        self,
        columns: Sequence[SchemaField],
        ranges: Sequence[tuple[int, int]] | None = None,
        may_match: BoundsFilter | None = None,
        pruning_columns: Collection[int] = (),
        window_bytes: int | None = None,
        *,
        in_threads: bool = False,
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield (first row, batch) for every stretch, as `StoredReader.read` says.

        Static values that the rows may have are read once, before the first batch.
        """
        statics = StaticColumns(self.store, self._statics, self._rowset, columns)
        read = (*columns, *statics.added)
        for first, batch in super().read(
            read, ranges, may_match, pruning_columns, window_bytes, in_threads=in_threads
        ):
            yield first, statics.apply(batch)


def open_stored(
    store: ObjectStore, view: View, rowset: LiveRowSet, *, whole: bool = False
) -> tuple[RowSetReader, DeletionVector | None]:
    """Open a RowSet. Return its reader, and the rows that its vector deletes.

    The caller adds the rows that the view hides (`with_hidden_rows`) where it reads. `whole` is
    as in `StoredReader`. Costs the reads of a reader and, beside them, one of a vector. Raises
    CorruptionError, StoreError.
    """
    return store.both(
        partial(RowSetReader, store, view, rowset, whole=whole),
        partial(read_vector, store, view.prefix, rowset),
    )
