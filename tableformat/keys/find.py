"""Find the live rows of a table that have one of some keys.

Only key columns are read, and of them only the blocks that may hold one of the keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyroaring import BitMap

from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.keys.kept_keys import (
    KeptKeys,
    RowSetHashes,
    RowSetKeys,
    read_all_keys,
    read_key_hashes,
)
from colonnade.tableformat.keys.key_set import KeySet
from colonnade.tableformat.progress import step
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.scan.selection import deleted_rows

_KEPT = KeptKeys()

_SMALL_ROWS = 2**14
"""The most rows of a RowSet whose keys cost no more to read than its Bloom filters."""

_NOTHING: NDArray[np.int64] = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class MatchingRows:
    """Rows of a RowSet of a view by their ascending numbers, and for each the number of its key."""

    view: View
    rowset: LiveRowSet
    rows: NDArray[np.int64]
    keys: NDArray[np.int64]


def find_rows(store: ObjectStore, view: View, keys: KeySet) -> Iterator[MatchingRows]:
    """Yield the rows of a view that have one of the keys, for each RowSet that has such rows.

    Reads the key columns where bounds and Bloom filters allow one of the keys. Raises
    CorruptionError, StoreError.
    """
    _KEPT.begin_search()
    if not view.rowsets:
        return
    with step("find keys", view.table, "RowSets", len(view.rowsets)) as advance:
        for rowset in view.rowsets:
            numbers, places = stored_rows(store, view, rowset, keys)
            if len(numbers) and (deleted := deleted_rows(store, view, rowset)):
                # Of the deleted rows, which may be millions, only those that were found.
                gone = deleted & BitMap(numbers)
                alive = ~np.isin(numbers, np.asarray(gone.to_array(), np.int64))
                numbers, places = numbers[alive], places[alive]
            if len(numbers):
                yield MatchingRows(view, rowset, numbers, places)
            advance(1)


def stored_rows(
    store: ObjectStore, view: View, rowset: LiveRowSet, keys: KeySet
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows that have one of the keys, also deleted ones, and the keys of these rows.

    Rows ascend. Reads nothing where the keys of the RowSet are kept (`kept_keys.py`), or their
    hashes say that it has none of the keys.
    """
    if view.masks_of(rowset):
        return _searched(RowSetReader(store, view, rowset), keys)
    known, reader = _KEPT.get(store, rowset, keys), None
    if known is None:
        reader = RowSetReader(store, view, rowset)
        known = _all_keys(reader, rowset, keys)
        if known is not None:
            _KEPT.keep(store, rowset, keys, known)
    if isinstance(known, RowSetKeys) and keys.ordered is not None:
        return known.find(*keys.ordered)
    if isinstance(known, RowSetHashes) and not known.may_hold(keys.hashes):
        return _NOTHING, _NOTHING
    return _searched(reader or RowSetReader(store, view, rowset), keys)


def _all_keys(
    reader: RowSetReader, rowset: LiveRowSet, keys: KeySet
) -> RowSetKeys | RowSetHashes | None:
    """Read all keys of a RowSet where that costs about as much as looking for the given ones.

    It does where each block may have one of many keys, and in a small RowSet.
    """
    whole, is_small = ((0, rowset.entry.rows),), rowset.entry.rows <= _SMALL_ROWS
    if keys.is_listed and not is_small:
        return None
    if not is_small and reader.matching_ranges(keys.fields, whole, keys.may_match) != whole:
        return None
    known = None if keys.ordered is None else read_all_keys(reader, rowset, keys.fields)
    if known is None and is_small:
        return read_key_hashes(reader, keys.fields)
    return known


def _searched(reader: RowSetReader, keys: KeySet) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rows: list[NDArray[np.int64]] = [_NOTHING]
    batches: list[pa.RecordBatch] = []
    for first_row, batch in _read(reader, keys):
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
    store: ObjectStore, view: View, rowset: LiveRowSet, keys: KeySet
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Read the key columns of the blocks of a RowSet that may hold one of the keys."""
    return _read(RowSetReader(store, view, rowset), keys)


def _read(reader: RowSetReader, keys: KeySet) -> Iterator[tuple[int, pa.RecordBatch]]:
    ids = [field.id for field in keys.fields]
    return reader.read(keys.fields, may_match=keys.may_match, pruning_columns=ids)
