"""Find deleted and inserted rows that have the same primary key: they are updates of a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
from pyroaring import FrozenBitMap

from colonnade.manifests.arrays.origins import RowOrigins, Rows, by_rowset, origins_of
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.feed.difference import Difference, Updated
from colonnade.tableformat.feed.shown_types import read_shown
from colonnade.tableformat.keys.key_set import key_numbers
from colonnade.tableformat.keys.parts import part_count, part_of
from colonnade.tableformat.scan.selection import Selection, selected_numbers
from colonnade.tableformat.types.arrow_types import arrow_schema


def with_same_keys(store: ObjectStore, found: Difference) -> Difference:
    """Return a difference in which an inserted row with the key of a deleted row is an update.

    Reads the columns of the key of the deleted and of the inserted rows, if there are both.
    Compares about two million keys at once, and reads the columns once for each such part. Raises
    CorruptionError, StoreError.
    """
    if not found.key or not found.deleted or not found.inserted:
        return found
    key = TableSchema(fields=key_fields(found.key, found.shown))
    rows = sum(map(len, (*found.deleted.values(), *found.inserted.values())))
    parts = part_count(rows)
    pairs = [_pairs(store, found, key, part, parts) for part in range(parts)]
    old, new = (np.concatenate(each) for each in zip(*pairs, strict=True))
    if not len(new):
        return found
    origins = dict(_origins(found, old, new))
    others = tuple(each for each in found.updated if each.rowset.id not in origins)
    return replace(
        found,
        deleted=_without(found.deleted, old),
        inserted=_without(found.inserted, new),
        updated=(*others, *origins.values()),
    )


def _pairs(
    store: ObjectStore, found: Difference, key: TableSchema, part: int, parts: int
) -> tuple[Rows, Rows]:
    """Return deleted rows and inserted rows with the same keys, of one part of all keys."""
    removed, old = _keys(store, found.removed(), key, part, parts)
    added, new = _keys(store, found.added(), key, part, parts)
    codes, _ = key_numbers(pa.concat_tables([removed, added]), key)
    first, second = codes[: len(old)], codes[len(old) :]
    _, here, there = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    return old[here], new[there]


def _keys(
    store: ObjectStore, selections: Iterable[Selection], key: TableSchema, part: int, parts: int
) -> tuple[pa.Table, Rows]:
    """Read the keys of selected rows of one part, and their numbers."""
    schema = arrow_schema(key)
    batches = [pa.RecordBatch.from_pylist([], schema)]
    numbers: list[Rows] = [np.zeros(0, np.int64)]
    for each in selections:
        chosen = selected_numbers(store, each)
        for rows, batch in read_shown(store, each.view, each.rowset, chosen, key):
            chosen = np.flatnonzero(part_of(batch, parts) == part)
            batches.append(batch.take(pa.array(chosen)))
            numbers.append(origins_of(each.rowset.id, rows[chosen]))
    columns = [pa.chunked_array([b.column(i) for b in batches]) for i in range(len(key.fields))]
    return pa.Table.from_arrays(columns, names=list(key.names)), np.concatenate(numbers)


def _without(rows: Mapping[int, FrozenBitMap], gone: Rows) -> dict[int, FrozenBitMap]:
    left = dict(rows)
    for rowset, _, numbers in by_rowset(gone):
        left[rowset] -= FrozenBitMap(numbers)
    return {rowset: each for rowset, each in left.items() if each}


def _origins(found: Difference, old: Rows, new: Rows) -> Iterable[tuple[int, Updated]]:
    known = {each.rowset.id: each for each in found.updated}
    rowsets = {each.id: each for each in found.after.rowsets}
    for rowset, at, rows in by_rowset(new):
        there = known.get(rowset)
        none = RowOrigins(rowsets[rowset].entry.rows)
        numbers = (none if there is None else there.origins).array()
        numbers[rows] = old[at]
        yield rowset, Updated(rowsets[rowset], RowOrigins.of(numbers), None)
