"""Check what an epoch says of the rows that its new rows replace.

Spec: docs/spec/operations.md#replaced-rows
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from colonnade.manifests.arrays.origins import NEW, rowsets_and_rows
from colonnade.manifests.commit.rebase.origin import read_origin
from colonnade.manifests.commit.rebase.targets import ids_of
from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import (
    AddDeletionVector,
    AddRowSet,
    AddRowSets,
    DropRowSet,
    ReplaceRows,
)
from colonnade.manifests.object_names import origin_name
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.verify.findings import Finding, kind_of


def check_replaced_rows(log: LogReader, before: Snapshot, epoch: Epoch) -> Iterator[Finding]:
    """Yield what is wrong with the replaced rows of an epoch, which follows a state.

    Each of them must be a row that the epoch deletes, and only one row may replace it. Reads what
    the log says of RowSets with deleted rows, and no vector.
    """
    for op in epoch.ops:
        if not isinstance(op, ReplaceRows):
            continue
        table = before.tables[TableId(op.table)]
        name = None if op.origin.data is not None else origin_name(table.prefix, op.origin.object)
        try:
            problem = _problem(log, table, op, epoch)
        except ColonnadeError as error:
            yield Finding(kind_of(error), error.message, name, table.name)
            continue
        if problem is not None:
            what = f"Epoch {epoch.epoch} {problem} in table {table.name!r}."
            yield Finding("damage", what, name, table.name)


def _problem(log: LogReader, table: TableState, op: ReplaceRows, epoch: Epoch) -> str | None:
    places = read_origin(log.store, table.prefix, op.origin, _added(epoch, op.table))
    places = places[places != NEW]
    rowsets, rows = rowsets_and_rows(places)
    deleted = _deleted(log, table, epoch)
    if (rowsets >= len(deleted)).any() or (rows >= deleted[rowsets]).any():
        return "replaces rows that it does not delete"
    return "replaces a row twice" if len(np.unique(places)) < len(places) else None


def _added(epoch: Epoch, table: str) -> int:
    """Return how many rows an epoch adds to a table, also those that its vectors leave out."""
    rows = 0
    for op in epoch.ops:
        if isinstance(op, AddRowSet) and op.table == table:
            rows += op.rowset.rows
        elif isinstance(op, AddRowSets) and op.table == table:
            rows += op.segment.row_count
    return rows


def _deleted(log: LogReader, table: TableState, epoch: Epoch) -> NDArray[np.int64]:
    """Return how many rows the vectors and drops of an epoch delete, for each RowSet by its id."""
    after: dict[int, int | None] = {}
    for op in epoch.ops:
        if isinstance(op, AddDeletionVector) and op.table == table.id:
            after[op.rowset] = op.vector.cardinality
        elif isinstance(op, DropRowSet) and op.table == table.id:
            after.update(dict.fromkeys(ids_of(op.rowsets)))
    there = log.rowsets.find(table, after.keys())
    counts = (
        (there[rowset].entry.rows if left is None else left) - there[rowset].deleted_count
        for rowset, left in sorted(after.items())
    )
    return np.array([count for count in counts if count], np.int64)
