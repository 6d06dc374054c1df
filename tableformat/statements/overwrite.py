"""Overwrite all rows, the rows that meet a condition, or those of the partitions of the new rows.

Spec: docs/spec/partitions.md#overwriting-partitions
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests.arrays.bounds import BoundsFilter, BoundsTable
from colonnade.manifests.arrays.partitions import partition_of
from colonnade.manifests.commit.change import DeletedRows, TableRead
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.columns.statics import stored_schema
from colonnade.manifests.model.entries import PartitionValues, RowSetEntry
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet, TableState, as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.keys.static_parts import refuse_static
from colonnade.tableformat.partition.divide import divide
from colonnade.tableformat.predicate import BoundPredicate, Predicate, bind, evaluate, from_json
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.scan.selection import deleted_rows, select_rows
from colonnade.tableformat.statements.append import write_added
from colonnade.tableformat.statements.delete import find_rows
from colonnade.tableformat.statements.statement import Statement, row_statement
from colonnade.tableformat.types.storage_form import to_storage
from colonnade.tableformat.write.job import WriteJob
from colonnade.tableformat.write.settings import WriteSettings


def evaluate_overwrite(
    log: StatementLog,
    table: TableState,
    batches: Iterable[pa.RecordBatch],
    job_id: str,
    settings: WriteSettings | None = None,
) -> Statement:
    """Write rows as RowSets, and return a statement that replaces all rows of the table by them.

    Raises the errors of `evaluate_append`.
    """
    rows = write_added(log, table, batches, job_id, settings, "overwrite")
    return replace(rows.statement("overwrite", settings), overwrites_all=True)


def evaluate_overwrite_where(
    log: StatementLog,
    table: TableState,
    batches: Iterable[pa.RecordBatch],
    where: Predicate,
    job_id: str,
    settings: WriteSettings | None = None,
    text: str | None = None,
) -> Statement:
    """Write rows as RowSets, and return a statement that replaces the rows that meet `where`.

    Reads the columns of the condition in RowSets that the log's bounds do not decide. `text` is the
    condition for the history and for errors.

    Raises InvalidInputError that names the column at fault, or when a new row does not meet the
    condition. Raises CorruptionError, StoreError.
    """
    columns = bind(where, table.schema).column_ids
    refuse_static(table, columns, "The condition of an overwrite cannot name")
    check = partial(_checked, where=bind(where, stored_schema(table.schema)), text=text)
    rows = write_added(log, table, batches, job_id, settings, "overwrite", condition=check)
    described = {} if text is None else {"where": text}
    return rows.added_by(_statement(log, rows.own, where, rows.rowsets, described), settings)


def written_overwrite(
    job: WriteJob, entries: Sequence[RowSetEntry], log: StatementLog, table: TableState
) -> Statement:
    """Return a statement that replaces the rows that meet the job's condition by written RowSets.

    `entries` are the RowSets that tasks wrote, and `table` is the state at the job's base. Reads
    the columns of the condition in all RowSets that bounds do not decide, the new ones included.
    Raises the errors of `evaluate_overwrite_where`.
    """
    where = from_json(job.where)
    written = [as_written(entry, number) for number, entry in enumerate(entries)]
    inside = select_rows(log.store, View.stored(table, written), where)
    outside = sum(entry.rows for entry in entries) - sum(each.count for each in inside)
    if outside:
        raise _outside_error(outside, job.parameters.get("where"))
    return _statement(log, table, where, entries, job.parameters)


def _statement(
    log: StatementLog,
    table: TableState,
    where: Predicate,
    added: Sequence[RowSetEntry],
    parameters: Mapping[str, str],
) -> Statement:
    deleted, read = find_rows(log, table, where)
    return row_statement(
        "overwrite",
        table,
        deleted,
        added,
        reads=(replace(read, overwrites=True),),
        inserted=sum(entry.rows for entry in added),
        parameters=parameters,
    )


def _checked(
    batches: Iterable[pa.RecordBatch], where: BoundPredicate, text: str | None
) -> Iterator[pa.RecordBatch]:
    for rows in batches:
        outside = rows.num_rows - evaluate(where, rows).true_count
        if outside:
            raise _outside_error(outside, text)
        yield rows


def _outside_error(count: int, text: str | None) -> InvalidInputError:
    return InvalidInputError(
        f"{count} of the new rows do not meet the condition {text or 'where'} of the rows that"
        " they overwrite; append them, or widen the condition."
    )


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
    may_match = _may_be_overwritten(table, wanted)
    deleted = []
    view = log.view(table, may_match) if added else View.stored(table)
    for rowset in view.rowsets:
        rows = _overwritten_rows(log.store, table, view, rowset, wanted)
        if rows is None or rows:
            deleted.append(DeletedRows(table.id, rowset, "delete", rows))
    columns = frozenset(field.column for field in table.partition_fields)
    return row_statement(
        "overwrite_partitions",
        table,
        deleted,
        added,
        reads=(TableRead(table.id, may_match, columns, overwrites=True),),
        inserted=sum(entry.rows for entry in added),
        parameters=parameters,
    )


def _may_be_overwritten(table: TableState, wanted: frozenset[PartitionValues]) -> BoundsFilter:
    """Return a function that keeps RowSets of the wanted partitions, and of other layouts.

    For a RowSet of another layout only its rows tell.
    """
    layout = table.partition_layout_id

    def may_match(bounds: BoundsTable) -> NDArray[np.bool_]:
        if bounds.partitions is None:
            return np.ones(len(bounds.rows), np.bool_)
        return bounds.partitions.where(lambda key: key[0] != layout or key[1] in wanted)

    return may_match


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
