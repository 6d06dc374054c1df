"""Dynamic partition overwrite: overwrite the rows of each partition that gets new rows.

Spec: docs/spec/partitions.md#overwriting-partitions
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests.arrays.bounds import BoundsTable, Keep
from colonnade.manifests.arrays.partitions import partition_of
from colonnade.manifests.commit.change import DeletedRows, TableRead
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.entries import PartitionValues, RowSetEntry
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.partition.divide import divide
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.scan.selection import deleted_rows
from colonnade.tableformat.statements.added_rows import write_added
from colonnade.tableformat.statements.statement import Statement, row_statement
from colonnade.tableformat.types.storage_form import to_storage
from colonnade.tableformat.write.settings import WriteSettings

OPERATION = "overwrite_partitions"
"""The name of this operation in the history."""


def evaluate_overwrite_partitions(
    log: StatementLog,
    table: TableState,
    batches: Iterable[pa.RecordBatch],
    job_id: str,
    settings: WriteSettings | None = None,
) -> Statement:
    """Write rows as RowSets, and return a statement that replaces all rows of their partitions.

    Raises InvalidInputError that names the column at fault, CorruptionError, StoreError.
    """
    rows = write_added(log, table, batches, job_id, settings, "overwrite")
    return rows.added_by(written_partitions(log, rows.own, rows.rowsets, {}), settings)


def written_partitions(
    log: StatementLog,
    table: TableState,
    added: Sequence[RowSetEntry],
    parameters: Mapping[str, str],
) -> Statement:
    """Return a statement that replaces all rows of some partitions by written RowSets.

    The partitions are those of `added`. `table` is the state at the job's base. Reads the columns
    of the partition fields in RowSets of an earlier layout. Raises CorruptionError, StoreError.
    """
    wanted = frozenset(entry.partition or () for entry in added)
    keep = _may_be_overwritten(table, wanted)
    deleted = []
    view = log.view(table, keep) if added else View.stored(table)
    for rowset in view.rowsets:
        rows = _overwritten_rows(log.store, table, view, rowset, wanted)
        if rows is None or rows:
            deleted.append(DeletedRows(table.id, rowset, "delete", rows))
    columns = frozenset(field.column for field in table.partition_fields)
    return row_statement(
        OPERATION,
        table,
        deleted,
        added,
        reads=(TableRead(table.id, keep, columns, overwrites=True),),
        inserted=sum(entry.rows for entry in added),
        parameters=parameters,
    )


def _may_be_overwritten(table: TableState, wanted: frozenset[PartitionValues]) -> Keep:
    """Return a function that keeps RowSets of the wanted partitions, and of other layouts.

    For a RowSet of another layout only its rows tell.
    """
    layout = table.partition_layout_id

    def keep(bounds: BoundsTable) -> NDArray[np.bool_]:
        if bounds.partitions is None:
            return np.ones(len(bounds.rows), np.bool_)
        return bounds.partitions.where(lambda key: key[0] != layout or key[1] in wanted)

    return keep


def _overwritten_rows(
    store: ObjectStore,
    table: TableState,
    view: View,
    rowset: LiveRowSet,
    wanted: frozenset[PartitionValues],
) -> FrozenBitMap | None:
    """Return the rows of a RowSet that are in the wanted partitions; None means all its rows."""
    fields = table.partition_fields
    if partition_of(rowset.entry)[0] == table.partition_layout_id or not fields:
        return None
    columns = {field.column: table.schema.by_id(field.column) for field in fields}
    sources = TableSchema(fields=tuple(columns.values()))
    found = BitMap()
    reader = RowSetReader(store, view, rowset)
    for first_row, batch in reader.read(sources.fields):
        arrays = dict(zip(columns, to_storage(batch, sources), strict=True))
        codes, partitions = divide(fields, sources, arrays)
        chosen = np.array([each in wanted for each in partitions], np.bool_)
        found |= BitMap(first_row + np.flatnonzero(chosen[codes]))
    return FrozenBitMap(found - deleted_rows(store, view, rowset))
