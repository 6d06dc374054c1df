"""Find the live rows of a table that have one of some keys.

Only key columns are read, and of them only the blocks that may hold one of the keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.keys.key_set import KeySet
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.scan.selection import deleted_rows


@dataclass(frozen=True, slots=True)
class MatchingRows:
    """Live rows of a RowSet by their ascending numbers, and for each the number of its key."""

    rowset: LiveRowSet
    rows: NDArray[np.int64]
    keys: NDArray[np.int64]


def find_rows(
    store: ObjectStore, table: TableState, rowsets: Iterable[LiveRowSet], keys: KeySet
) -> Iterator[MatchingRows]:
    """Yield the live rows that have one of the keys, for each RowSet that has such rows.

    Reads the key columns where bounds and Bloom filters allow one of the keys. Raises
    CorruptionError, StoreError.
    """
    for rowset in rowsets:
        numbers, places = stored_rows(store, table.prefix, rowset, keys)
        if len(numbers) and (deleted := deleted_rows(store, table, rowset)):
            alive = ~np.isin(numbers, np.asarray(deleted.to_array(), np.int64))
            numbers, places = numbers[alive], places[alive]
        if len(numbers):
            yield MatchingRows(rowset, numbers, places)


def stored_rows(
    store: ObjectStore, prefix: str, rowset: LiveRowSet, keys: KeySet
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows that have one of the keys, also deleted ones, and the keys of these rows."""
    rows: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    batches: list[pa.RecordBatch] = []
    for first_row, batch in read_keys(store, prefix, rowset, keys):
        maybe = keys.candidates(batch)
        if len(maybe):
            rows.append(first_row + maybe)
            batches.append(batch.take(pa.array(maybe)))
    if not batches:
        return rows[0], rows[0]
    # All blocks at once: looking for the keys has a cost that does not depend on the rows.
    place = keys.find(pa.concat_batches(batches))
    hits = np.flatnonzero(place >= 0)
    return np.concatenate(rows)[hits], place[hits]


def read_keys(
    store: ObjectStore, prefix: str, rowset: LiveRowSet, keys: KeySet
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Read the key columns of the blocks of a RowSet that may hold one of the keys."""
    return RowSetReader(store, prefix, rowset).read(
        keys.fields, keep=keys.keep, keep_columns=[field.id for field in keys.fields]
    )
