"""Where rows of a table were right before the epoch that wrote them anew.

A compaction names the former place of each row, and so does an epoch with new versions of rows. A
restore names none (`lineage.py`). Spec: docs/spec/feed.md#where-rows-were
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from pyroaring import FrozenBitMap

from colonnade.manifests.arrays.origins import NEW, Rows, origins_of, rowsets_and_rows
from colonnade.manifests.commit.rebase.compaction import Vectors
from colonnade.manifests.commit.rebase.origin import read_origin
from colonnade.manifests.commit.rebase.targets import all_rows, ids_of
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.feed.steps import Step
from colonnade.manifests.model.entries import OriginEntry
from colonnade.manifests.model.operations import (
    AddDeletionVector,
    AddRowSet,
    AddRowSets,
    Compaction,
    DropRowSet,
    ReplaceRows,
)
from colonnade.manifests.object_names import origin_name, table_prefix
from colonnade.manifests.reading.reader import LogReader


@dataclass(frozen=True, slots=True)
class Moved:
    """Where each row of a RowSet was before an epoch: RowSet * 2**32 + row, or `NEW`.

    `rewritten` says that a statement wrote the rows anew. A compaction keeps their values.
    """

    numbers: Rows
    rewritten: bool


def moves_of(reader: LogReader, step: Step) -> dict[int, Moved]:
    """Return where the rows of the added RowSets were before an epoch, by RowSet id.

    If an added RowSet is not in the result, all its rows are new, or it is restored (`lineage.py`).
    Reads an origin, and the vectors of the RowSets whose rows moved. Holds 8 bytes for each row
    that the epoch wrote. Raises CorruptionError, StoreError.
    """
    found: dict[int, Moved] = {}
    replaced: ReplaceRows | None = None
    for operation, first in step.operations():
        if isinstance(operation, Compaction):
            numbers = _compacted(reader, operation)
            ends = np.cumsum([output.rowset.rows for output in operation.outputs])
            for index, part in enumerate(np.split(numbers, ends[:-1]) if len(ends) else []):
                found[first + index] = Moved(part, rewritten=False)
        elif isinstance(operation, ReplaceRows):
            replaced = operation
    if replaced is not None:
        found.update(_replaced(reader, step, replaced))
    return found


def _compacted(reader: LogReader, op: Compaction) -> Rows:
    """Return where the rows of all outputs of a compaction were, in the order of the outputs."""
    ids = np.array([each.rowset for each in op.inputs], np.int64)
    rows = sum(output.rowset.rows for output in op.outputs)
    if op.origin is not None:
        origin = read_origin(reader.store, table_prefix(op.table), op.origin, rows)
        inputs, places = rowsets_and_rows(origin)
        sizes = np.array([each.rows for each in op.inputs], np.int64)
        if (len(inputs) and int(inputs.max()) >= len(ids)) or (places >= sizes[inputs]).any():
            raise _does_not_fit(reader, op.table, op.origin)
        return origins_of(ids[inputs], places)
    vectors = Vectors(reader.store)
    parts = [
        origins_of(each.rowset, _numbers(all_rows(each.rows) - vectors.rows(op.table, each.vector)))
        for each in op.inputs
    ]
    found = np.concatenate([np.zeros(0, np.int64), *parts])
    if len(found) != rows:
        raise CorruptionError(
            f"A compaction of table {op.table} wrote {rows} rows, but its inputs keep {len(found)}."
        )
    return found


def _replaced(reader: LogReader, step: Step, op: ReplaceRows) -> Iterator[tuple[int, Moved]]:
    """Yield each added RowSet, with the places of the rows that its rows replace."""
    deleted = deleted_rows_of(reader, step)
    ids = sorted(rowset for rowset, rows in deleted.items() if rows)
    added = list(_added(reader, step))
    origin = read_origin(
        reader.store, table_prefix(step.table), op.origin, sum(rows for _, rows in added)
    )
    at = np.flatnonzero(origin != NEW)
    indexes, places = rowsets_and_rows(origin[at])
    for index, rowset in enumerate(ids):
        here = indexes == index
        among = _numbers(deleted[rowset])
        if here.any():
            if int(places[here].max()) >= len(among):
                raise _does_not_fit(reader, step.table, op.origin)
            origin[at[here]] = origins_of(rowset, among[places[here]])
    if len(indexes) and int(indexes.max()) >= len(ids):
        raise _does_not_fit(reader, step.table, op.origin)
    first = 0
    for rowset, rows in added:
        yield rowset, Moved(origin[first : first + rows], rewritten=True)
        first += rows


def deleted_rows_of(reader: LogReader, step: Step) -> dict[int, FrozenBitMap]:
    """Return the rows that the vectors and drops of an epoch delete, by RowSet.

    Reads the vectors of these RowSets before and after the epoch. Raises CorruptionError,
    StoreError.
    """
    vectors = Vectors(reader.store)
    left: dict[int, FrozenBitMap | None] = {}
    for operation, _ in step.operations():
        if isinstance(operation, AddDeletionVector):
            left[operation.rowset] = vectors.rows(step.table, operation.vector)
        elif isinstance(operation, DropRowSet):
            left.update(dict.fromkeys(ids_of(operation.rowsets)))
    if step.earlier is None or not left:
        return {}
    before = reader.rowsets.find(step.earlier, left.keys())
    found: dict[int, FrozenBitMap] = {}
    for rowset, there in before.items():
        vector = left[rowset]
        gone = all_rows(there.entry.rows) if vector is None else vector
        found[rowset] = gone - vectors.rows(step.table, there.vector)
    return found


def _added(reader: LogReader, step: Step) -> Iterator[tuple[int, int]]:
    """Yield the RowSets that an epoch adds, without compactions, each with its number of rows."""
    for operation, first in step.operations():
        if isinstance(operation, AddRowSet):
            yield first, operation.rowset.rows
        elif isinstance(operation, AddRowSets):
            ids = range(first, first + operation.segment.rowset_count)
            found = reader.rowsets.find(step.later, ids)
            yield from ((rowset, found[rowset].entry.rows) for rowset in ids)


def _numbers(rows: FrozenBitMap) -> Rows:
    return np.asarray(rows.to_array(), np.int64)


def _does_not_fit(reader: LogReader, table: str, origin: OriginEntry) -> CorruptionError:
    name = reader.store.locate(origin_name(table_prefix(table), origin.object))
    return CorruptionError(f"{name} names rows that its epoch did not move.")
