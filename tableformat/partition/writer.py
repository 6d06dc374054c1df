"""Write rows in any order as RowSets of one partition each, with bounded memory.

Rows are collected up to a run and then divided by partition, so each row is handled once, however
many partitions there are. A few partitions stay open from run to run. The RowSets of all other
partitions end with the run. So a task with many partitions writes smaller RowSets, which compaction
merges. Sorting all rows on disk first would avoid that, but would write them twice and need the
space.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from colonnade.manifests.arrays.origins import Rows
from colonnade.manifests.model.entries import (
    PartitionField,
    PartitionValues,
    RowSetEntry,
    SortField,
)
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.partition.divide import divide
from colonnade.tableformat.rowset.task_writer import TaskWriter
from colonnade.tableformat.rowset.write.sort import sort_indices
from colonnade.tableformat.rowset.write_options import WriteOptions
from colonnade.tableformat.rowset.writer import RowSetWriter, pieces
from colonnade.tableformat.types.storage_form import to_storage


class PartitionedWriter(TaskWriter):
    """Writes the rows of one task, each RowSet with rows of one partition.

    Without `fields`, which requires a sort key, it only sorts rows, and all have one partition.
    Holds at most `run_bytes` of `options` in rows, and half as much again while a run is divided.
    With a sort key, each run becomes separate RowSets. Object ids begin with `job_id`.
    """

    def __init__(
        self,
        store: ObjectStore,
        prefix: str,
        job_id: str,
        schema: TableSchema,
        fields: Sequence[PartitionField],
        sort_key: Sequence[SortField] = (),
        options: WriteOptions | None = None,
    ) -> None:
        self._store = store
        self._prefix = prefix
        self._job_id = job_id
        self._schema = schema
        self._fields = tuple(fields)
        self._sort_key = tuple(sort_key)
        self._options = options or WriteOptions()
        self._limit_bytes = self._options.run_bytes // 2
        self._most_open = self._options.partition_limit(len(schema.fields))
        self._collected: list[pa.RecordBatch] = []
        self._collected_bytes = 0
        # The least recently used partition comes first.
        self._open: dict[PartitionValues, RowSetWriter] = {}
        self._finished: list[RowSetWriter] = []
        self._entries: list[RowSetEntry] = []
        self._origins: list[Rows] = []

    def write(self, batch: pa.RecordBatch, origins: Rows | None = None) -> None:
        """Append rows. Requires a batch that `conform` made for the schema.

        `origins` are as in `write_storage`.

        Raises InvalidInputError for a value that no block or partition can hold, and StoreError;
        the writer aborts then. Raises InvalidInputError, too, when the writer was closed or aborted
        before.
        """
        self.write_storage(to_storage(batch, self._schema), origins)

    def write_storage(self, columns: Sequence[pa.Array], origins: Rows | None = None) -> None:
        """Append rows in their storage types. `origins` numbers each row. Raises as `write` does.

        Requires that either all calls pass numbers or none does.
        """
        with self._at_work():
            arrays = [*columns] if origins is None else [*columns, pa.array(origins)]
            batch = pa.RecordBatch.from_arrays(arrays, [str(i) for i in range(len(arrays))])
            for piece, size in pieces(batch, self._limit_bytes):
                if self._collected_bytes + size > self._limit_bytes:
                    self._divide()
                self._collected.append(piece)
                self._collected_bytes += size

    def close(self) -> tuple[RowSetEntry, ...]:
        """Write the remaining rows, and return the entries of all RowSets, with their partitions.

        Raises as `write` does.
        """
        with self._at_work():
            self._divide()
            while self._open:
                self._end_oldest()
        self._usable = False
        return tuple(self._entries)

    def take_origins(self) -> list[Rows]:
        """Return the numbers of the rows of each RowSet that has ended since the last call."""
        taken, self._origins = self._origins, []
        return taken

    def _remove(self) -> None:
        self._collected.clear()
        for writer in (*self._open.values(), *self._finished):
            writer.abort()
        self._open.clear()
        self._finished.clear()
        self._entries.clear()

    def _divide(self) -> None:
        """Divide the collected rows, and pass them to the writers of their partitions."""
        if not self._collected:
            return
        chunks = [
            list(arrays) for arrays in zip(*(b.columns for b in self._collected), strict=True)
        ]
        self._collected.clear()
        self._collected_bytes = 0
        partitions, orders = self._orders(chunks)
        parts: list[list[pa.Array]] = [[] for _ in orders]
        for arrays in chunks:
            array = pa.concat_arrays(arrays)
            arrays.clear()
            for part, order in zip(parts, orders, strict=True):
                part.append(array.take(order))
        for values, part in zip(partitions, parts, strict=True):
            self._hand_over(values, part)
            part.clear()
        self._end_some()

    def _orders(
        self, chunks: Sequence[Sequence[pa.Array]]
    ) -> tuple[list[PartitionValues], list[pa.Array]]:
        """Return the partitions of a run, and the rows of each partition in order."""
        sources = {field.column for field in self._fields}
        keys = {key.column for key in self._sort_key}
        whole = {
            column.id: pa.concat_arrays(arrays)
            for column, arrays in zip(self._schema.fields, chunks, strict=False)
            if column.id in sources | keys
        }
        if not self._fields:
            everything = pa.array(np.arange(sum(len(each) for each in chunks[0])))
            return [()], [self._sorted(everything, {key: whole[key] for key in keys})]
        codes, partitions = divide(self._fields, self._schema, whole)
        # numpy sorts 16-bit numbers by radix, which is faster.
        narrow = codes.astype(np.uint16) if len(partitions) <= 2**16 else codes
        order = pa.array(np.argsort(narrow, kind="stable"))
        ends = np.cumsum(np.bincount(codes, minlength=len(partitions))).tolist()
        orders = [order.slice(a, b - a) for a, b in zip([0, *ends], ends, strict=False)]
        if self._sort_key:
            orders = [self._sorted(rows, {key: whole[key] for key in keys}) for rows in orders]
        return partitions, orders

    def _sorted(self, rows: pa.Array, keys: dict[int, pa.Array]) -> pa.Array:
        own = {column: array.take(rows) for column, array in keys.items()}
        return rows.take(sort_indices(own, self._sort_key))

    def _hand_over(self, values: PartitionValues, columns: list[pa.Array]) -> None:
        # Move the partition to the end, since it was used last.
        writer = self._open.pop(values, None) or self._begin()
        self._open[values] = writer
        width = len(self._schema.fields)
        origins = np.asarray(columns[width]) if len(columns) > width else None
        writer.write_storage(columns[:width], origins)

    def _begin(self) -> RowSetWriter:
        # No sort key, because the rows are already sorted.
        return RowSetWriter(
            self._store, self._prefix, self._job_id, self._schema, (), self._options
        )

    def _end_some(self) -> None:
        """End partitions until memory and open files are within bounds.

        With a sort key all partitions end, because a RowSet holds the sorted rows of one run.
        """
        most = 0 if self._sort_key else self._most_open
        pending = sum(writer.pending_bytes for writer in self._open.values())
        while len(self._open) > most or pending > self._limit_bytes:
            pending -= self._end_oldest()

    def _end_oldest(self) -> int:
        """End the RowSets of the least recently used partition, and return its pending bytes."""
        values = next(iter(self._open))
        writer = self._open[values]
        pending = writer.pending_bytes
        entries = writer.close()
        self._finished.append(self._open.pop(values))
        own = {"partition": values or None}
        self._entries += [entry.model_copy(update=own) for entry in entries]
        self._origins += writer.take_origins()
        return pending
