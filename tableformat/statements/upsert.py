"""UPSERT: rows replace those with the same key, and are added where there are none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyroaring import BitMap

from manifests.change import KeyGuard, RowsGone, TableRead
from manifests.entries import RowSetEntry
from manifests.log import Log
from manifests.snapshot import LiveRowSet, TableState
from manifests.store import ObjectStore
from tableformat.arrow_types import arrow_schema
from tableformat.conform import CONFORMED_ROWS, conform, conform_batches
from tableformat.keys import KeySet, key_columns
from tableformat.rowset_reader import RowSetReader
from tableformat.selection import gone_rows
from tableformat.statements.statement import Statement, row_statement, write_batches
from tableformat.write_settings import WriteSettings


def evaluate_upsert(
    log: Log,
    table: TableState,
    data: pa.Table,
    on: Sequence[str],
    job: str,
    settings: WriteSettings | None = None,
) -> Statement:
    """Write rows that take the place of those with the same values in the columns `on`.

    Where several rows of the table have a key, each of them becomes the new row. Holds `data` in
    memory; reads the key columns of RowSets and blocks whose bounds the keys meet. Raises
    NotFoundError or InvalidInputError naming the column at fault, also for a key that is NULL or
    stands in two rows; CorruptionError, StoreError.
    """
    source = _conformed(data, table)
    keys = KeySet.of(source, key_columns(on, table.schema))
    gone: list[RowsGone] = []
    sources: list[NDArray[np.int64]] = []
    for rowset in log.read_rowsets(table, keys.keep):
        rows, found = _find(log.store, table, rowset, keys)
        if len(rows):
            gone.append(RowsGone(table.id, rowset, "merge", BitMap(rows)))
            sources.append(found)
    matched = np.concatenate([np.zeros(0, np.int64), *sources])
    fresh = np.setdiff1d(np.arange(source.num_rows), matched)
    wanted = source.take(pa.array(np.concatenate([matched, fresh])))
    added = write_batches(log.store, table, job, wanted.to_batches(CONFORMED_ROWS), settings)
    inserted = KeySet.of(source.take(pa.array(fresh)), keys.schema)
    return row_statement(
        "upsert",
        "merge",
        table,
        gone,
        added,
        reads=(TableRead(table.id, keys.keep, frozenset(f.id for f in keys.fields)),),
        keys=(KeyGuard(table.id, lambda others: _holding(log.store, table, others, inserted)),),
        inserted=len(fresh),
        parameters={"on": ", ".join(field.name for field in keys.fields)},
    )


def _conformed(data: pa.Table, table: TableState) -> pa.Table:
    parts = list(conform_batches(data.to_batches(), table.schema))
    if not parts:
        empty = pa.RecordBatch.from_pylist([], data.schema)
        parts = [conform(empty, table.schema)]
    return pa.Table.from_batches(parts, arrow_schema(table.schema))


def _find(
    store: ObjectStore, table: TableState, rowset: LiveRowSet, keys: KeySet
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The live rows with one of the keys, and for each the row of the source that has it."""
    rows: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
    found = list(rows)
    for first_row, batch in _read_keys(store, table.prefix, rowset.entry, keys):
        place = keys.find(batch)
        hits = np.flatnonzero(place >= 0)
        rows.append(first_row + hits)
        found.append(place[hits])
    numbers, sources = np.concatenate(rows), np.concatenate(found)
    if len(numbers) and (gone := gone_rows(store, table, rowset)):
        alive = ~np.isin(numbers, np.asarray(gone.to_array(), np.int64))
        numbers, sources = numbers[alive], sources[alive]
    return numbers, sources


def _holding(
    store: ObjectStore, table: TableState, entries: Sequence[RowSetEntry], keys: KeySet
) -> list[RowSetEntry]:
    """Those of some RowSets that hold one of the keys, deleted rows included."""
    return [
        entry
        for entry in entries
        if len(keys.codes[-1])
        and any((keys.find(b) >= 0).any() for _, b in _read_keys(store, table.prefix, entry, keys))
    ]


def _read_keys(
    store: ObjectStore, prefix: str, entry: RowSetEntry, keys: KeySet
) -> Iterator[tuple[int, pa.RecordBatch]]:
    return RowSetReader(store, prefix, entry).read(
        keys.fields, keep=keys.keep, keep_columns=[field.id for field in keys.fields]
    )
