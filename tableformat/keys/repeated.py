"""Find keys that several live rows of a table share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.keys.key_numbers import key_numbers
from colonnade.tableformat.keys.parts import part_count, part_of
from colonnade.tableformat.rowset.deleted import read_deleted
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.write.constraints import shown_values


@dataclass(frozen=True, slots=True)
class RepeatedKey:
    """A key of several rows: its values as text, the number of rows, and the RowSets of these."""

    text: str
    rows: int
    rowsets: tuple[LiveRowSet, ...]


def repeated_keys(store: ObjectStore, view: View, key: TableSchema) -> Iterator[RepeatedKey]:
    """Yield the keys that several rows of a view share. `key` has the key columns of their table.

    Reads the key columns of all RowSets once for each `PART_ROWS` rows, and holds the keys of that
    many rows. Raises InvalidInputError for NULL or NaN in a key column. Raises CorruptionError,
    StoreError.
    """
    rowsets = view.rowsets
    parts = part_count(sum(each.row_count for each in rowsets))
    for part in range(parts):
        batches, owners = list[pa.RecordBatch](), [np.zeros(0, np.int64)]
        for at, rowset in enumerate(rowsets):
            for batch in _live_keys(store, view, key, rowset):
                if parts > 1:
                    batch = batch.filter(pa.array(part_of(batch, parts) == part))
                batches.append(batch)
                owners.append(np.full(batch.num_rows, at))
        rows = pa.Table.from_batches(batches, arrow_schema(key))
        numbers, firsts = key_numbers(rows, key)
        counts, owner = np.bincount(numbers), np.concatenate(owners)
        for number in np.flatnonzero(counts > 1).tolist():
            first = rows.slice(int(firsts[number]), 1).combine_chunks().to_batches()[0]
            where = np.unique(owner[numbers == number]).tolist()
            yield RepeatedKey(
                shown_values(first, 0, first.schema.names),
                int(counts[number]),
                tuple(rowsets[at] for at in where),
            )


def _live_keys(
    store: ObjectStore, view: View, key: TableSchema, rowset: LiveRowSet
) -> Iterator[pa.RecordBatch]:
    found = read_deleted(store, view, rowset)
    gone = np.zeros(0, np.int64) if found is None else np.asarray(found.rows.to_array(), np.int64)
    for first_row, batch in RowSetReader(store, view, rowset).read(key.fields):
        low, high = np.searchsorted(gone, (first_row, first_row + batch.num_rows))
        if low < high:
            live = np.ones(batch.num_rows, np.bool_)
            live[gone[low:high] - first_row] = False
            batch = batch.filter(pa.array(live))
        yield batch
