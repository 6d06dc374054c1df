"""Write the rows of one task as RowSets.

Rows are collected up to the next cut, encoded column by column and released. With a sort key, rows
are collected up to a run instead and sorted. Each run becomes one or more RowSets.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from colonnade.manifests.arrays.origins import Rows
from colonnade.manifests.ids import new_object_id
from colonnade.manifests.model.columns.void import stored_columns
from colonnade.manifests.model.entries import RowSetEntry, SortField
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.rowset.column import column_of
from colonnade.tableformat.rowset.stored_block import StoredBlock
from colonnade.tableformat.rowset.task_writer import RowSources, TaskWriter
from colonnade.tableformat.rowset.write.output import RowSetOutput, drained
from colonnade.tableformat.rowset.write.sort import sort_indices
from colonnade.tableformat.rowset.write_options import WriteOptions
from colonnade.tableformat.types.storage_form import to_storage

__all__ = ["RowSetWriter", "WriteOptions", "pieces"]


class RowSetWriter(TaskWriter):
    """Writes the rows of one task.

    Holds about one cut of every column, and at most the bytes of a packed RowSet. With a sort key
    it holds one run, and twice its largest column. Object ids begin with `job_id`.
    """

    def __init__(
        self,
        store: ObjectStore,
        prefix: str,
        job_id: str,
        schema: TableSchema,
        sort_key: Sequence[SortField] = (),
        options: WriteOptions | None = None,
    ) -> None:
        self._store = store
        self._prefix = prefix
        self._job_id = job_id
        self._schema = schema
        self._places = stored_columns(schema)
        self._columns = [column_of(schema.fields[at]) for at in self._places]
        self._sort_key = tuple(sort_key)
        self._options = options or WriteOptions()
        self._limit_bytes = self._options.run_bytes if self._sort_key else self._options.cut_bytes
        # The byte size is kept beside each batch, because Arrow computes it at every call.
        self._pending: deque[tuple[pa.RecordBatch, int]] = deque()
        self._pending_rows = 0
        self._pending_bytes = 0
        self._output: RowSetOutput | None = None
        self._finished: list[RowSetOutput] = []
        self._entries: list[RowSetEntry] = []
        # The numbers of rows that wait, those of the present RowSet, and those of all before it.
        self._sources: RowSources | None = None
        self._own: list[Rows] = []
        self._origins: list[Rows] = []

    def write(self, batch: pa.RecordBatch, origins: Rows | None = None) -> None:
        """Append rows. Requires a batch that `conform` made for the schema.

        `origins` are as in `write_storage`.

        Raises InvalidInputError for a value that no block can hold, and StoreError; the writer
        aborts then. Raises InvalidInputError, too, when the writer was closed or aborted before.
        """
        self.write_storage(to_storage(batch, self._schema), origins)

    def write_storage(self, columns: Sequence[pa.Array], origins: Rows | None = None) -> None:
        """Append rows whose columns already have their storage types. Raises as `write` does.

        `origins` numbers each row. Requires that either all calls pass numbers or none does.
        """
        with self._at_work():
            if origins is not None:
                self._sources = self._sources or RowSources()
                self._sources.add(origins)
            names = [str(column.id) for column in self._columns]
            stored = pa.RecordBatch.from_arrays([columns[at] for at in self._places], names)
            for piece, size in pieces(stored, self._limit_bytes):
                self._collect(piece, size)

    def write_stored(self, columns: Sequence[Sequence[StoredBlock]], rows: int) -> None:
        """Append a stretch of another RowSet from its stored blocks (`RowSetOutput.add_stored`).

        Requires a writer without a sort key and without a limit of rows. Raises as `write` does.
        """
        with self._at_work():
            self._flush()
            stored = [columns[at] for at in self._places]
            (self._output or self._begin_rowset()).add_stored(stored, rows)
            self._end_if_full()

    @property
    def pending_bytes(self) -> int:
        """The decoded bytes of the rows that wait for the next cut."""
        return self._pending_bytes

    def close(self) -> tuple[RowSetEntry, ...]:
        """Write the remaining rows, and return the entries of all RowSets, which may be none.

        Raises as `write` does.
        """
        with self._at_work():
            self._flush()
            self._end_rowset()
        self._usable = False
        return tuple(self._entries)

    def take_origins(self) -> list[Rows]:
        """Return the numbers of the rows of each RowSet that has ended since the last call."""
        taken, self._origins = self._origins, []
        return taken

    def _remove(self) -> None:
        self._pending.clear()
        if self._output is not None:
            self._finished.append(self._output)
            self._output = None
        for output in self._finished:
            output.abort()
        self._finished.clear()
        self._entries.clear()

    def _collect(self, piece: pa.RecordBatch, size: int) -> None:
        if self._pending_bytes + size > self._limit_bytes:
            self._flush()
        self._pending.append((piece, size))
        self._pending_rows += piece.num_rows
        self._pending_bytes += size
        if not self._sort_key:
            while self._pending_rows >= self._cut_rows():
                self._add_cut(self._take(self._cut_rows()))

    def _flush(self) -> None:
        """Write all pending rows."""
        if not self._pending_rows:
            return
        if not self._sort_key:
            self._add_cut(self._take(self._pending_rows))
            return
        self._add_run(self._take(self._pending_rows))

    def _add_run(self, chunks: list[list[pa.Array]]) -> None:
        """Sort one run of rows and write it. Rows of different runs are not in order."""
        keys = {field.column for field in self._sort_key}
        by_id = {
            column.id: pa.concat_arrays(arrays)
            for column, arrays in zip(self._columns, chunks, strict=True)
            if column.id in keys
        }
        order = sort_indices(by_id, self._sort_key)
        del by_id
        size = sum(array.nbytes for arrays in chunks for array in arrays)
        rows = self._rowset_rows(size, len(order))
        cut_rows = min(
            self._cut_rows(), max(1, len(order) * self._options.cut_bytes // max(size, 1))
        )
        columns: Iterable[pa.Array] = map(drained, chunks)
        if rows < len(order):
            columns = list(columns)
        origins = None if self._sources is None else self._sources.take(len(order))
        for start in range(0, len(order), rows):
            output = self._begin_rowset()
            if origins is not None:
                self._own.append(origins[np.asarray(order.slice(start, rows))])
            output.add_sorted(columns, order.slice(start, rows), cut_rows)
            self._end_rowset()

    def _rowset_rows(self, size: int, rows: int) -> int:
        """Return how many rows of a run each RowSet gets.

        A run becomes one RowSet, unless that would exceed the target size or the limit of rows.
        """
        # Stored rows usually take at most half of their decoded bytes.
        fitting: int = rows * 2 * self._options.target_bytes // max(size, 1)
        if fitting < rows:
            cut = self._options.block_rows
            rows = min(rows, max(fitting // cut, 1) * cut)
        return min(rows, self._options.max_records or rows)

    def _take(self, rows: int) -> list[list[pa.Array]]:
        """Remove the first pending rows, and return the arrays of each column."""
        chunks: list[list[pa.Array]] = [[] for _ in self._columns]
        self._pending_rows -= rows
        while rows:
            batch, size = self._pending.popleft()
            if batch.num_rows > rows:
                rest, batch = batch.slice(rows), batch.slice(0, rows)
                taken = batch.nbytes
                self._pending.appendleft((rest, size - taken))
                size = taken
            rows -= batch.num_rows
            self._pending_bytes -= size
            for arrays, array in zip(chunks, batch.columns, strict=True):
                arrays.append(array)
        if not self._pending:
            self._pending_bytes = 0
        return chunks

    def _cut_rows(self) -> int:
        """Return the most rows that the next cut may have."""
        limit, rows = self._options.max_records, self._options.block_rows
        if limit is None:
            return rows
        return min(rows, limit - (self._output.rows if self._output else 0))

    def _add_cut(self, chunks: list[list[pa.Array]]) -> None:
        rows = sum(len(array) for array in chunks[0])
        (self._output or self._begin_rowset()).add_cut(chunks, rows)
        if self._sources is not None:
            self._own.append(self._sources.take(rows))
        self._end_if_full()

    def _end_if_full(self) -> None:
        output, options = self._output, self._options
        assert output is not None
        if output.byte_count >= options.target_bytes or output.rows == options.max_records:
            self._end_rowset()

    def _begin_rowset(self) -> RowSetOutput:
        object_id = new_object_id(self._job_id)
        self._output = RowSetOutput(
            self._store, self._prefix, object_id, self._columns, self._options
        )
        return self._output

    def _end_rowset(self) -> None:
        if self._output is None:
            return
        self._entries.append(self._output.finish())
        if self._sources is not None:
            self._origins.append(np.concatenate(self._own))
            self._own.clear()
        self._finished.append(self._output)
        self._output = None


def pieces(batch: pa.RecordBatch, limit_bytes: int) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Divide a batch into pieces of at most `limit_bytes`, each with its size in bytes.

    A larger row becomes its own piece.
    """
    if not batch.num_rows:
        return
    size = batch.nbytes
    if batch.num_rows == 1 or size <= limit_bytes:
        yield batch, size
        return
    half = batch.num_rows // 2
    yield from pieces(batch.slice(0, half), limit_bytes)
    yield from pieces(batch.slice(half), limit_bytes)
