"""UPSERT on a primary key: each row meets the row of the table that has its key.

The rows of one key become one row, column by column. It replaces the row of the table, or is new.
Spec: docs/spec/keys.md#merging
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyroaring import BitMap

from colonnade.manifests.commit.change import DeletedRows, TableRead
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.identity import identity_columns
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.keys.find import find_rows
from colonnade.tableformat.keys.key_numbers import key_numbers
from colonnade.tableformat.keys.key_set import KeySet
from colonnade.tableformat.keys.policy import policy_of
from colonnade.tableformat.statements.key_guard import guard_keys
from colonnade.tableformat.statements.keyed.batch import check_new_rows, keyed_batch
from colonnade.tableformat.statements.keyed.meeting import Meeting, meet
from colonnade.tableformat.statements.statement import Statement, row_statement, write_batches
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.conform import conform
from colonnade.tableformat.write.constraints import shown_values
from colonnade.tableformat.write.identity import draws_of, identified
from colonnade.tableformat.write.settings import WriteSettings


def evaluate_merge(
    log: Log,
    table: TableState,
    data: pa.Table,
    job_id: str,
    settings: WriteSettings | None = None,
) -> Statement:
    """Merge rows into the rows of a table that share their keys; add rows with new keys.

    `data` has at least the columns of the primary key. It is held in memory, as are the rows that
    it meets. Reads the key columns where bounds and filters allow one of the
    keys, and then the other columns that the result depends on, where a row has one. Raises
    InvalidInputError for a table without a primary key, and one that names the column at fault, or
    a column and a key. Raises CorruptionError, StoreError.
    """
    if not table.primary_key:
        raise InvalidInputError(
            f"Table {table.name!r} has no primary key to upsert by; name the columns that identify"
            " a row with `on`, or give the table a primary key."
        )
    key = TableSchema(fields=key_fields(table.primary_key, table.schema))
    policy = policy_of(table)
    batch = keyed_batch(table, data, key, policy)
    numbers, firsts = key_numbers(batch.rows, key)
    keys = _keys(batch.rows, firsts, key)
    found = list(find_rows(log.store, table, log.read_rowsets(table, keys.keep), keys))
    meeting = meet(log.store, table, key, batch, numbers, found, policy)
    fresh = np.ones(len(firsts), np.bool_)
    fresh[[place for each in found for place in each.keys]] = False
    inserted = firsts[fresh]
    if len(inserted):
        check_new_rows(table, batch, _shown(batch.rows, int(inserted[0]), key))
    rows = _identified(log, table, job_id, meeting)
    added = write_batches(log, table, job_id, rows, settings)
    guard = guard_keys(log.store, table, key, lambda: _keys(batch.rows, inserted, key))
    statement = row_statement(
        "upsert",
        table,
        (DeletedRows(table.id, each.rowset, "merge", BitMap(each.rows)) for each in found),
        added,
        reads=(TableRead(table.id, keys.keep),),
        keys=(guard,),
        inserted=len(inserted),
        parameters={"on": ", ".join(field.name for field in key.fields)},
    )
    return replace(statement, compared=True)


def _keys(rows: pa.Table, chosen: NDArray[np.int64], key: TableSchema) -> KeySet:
    return KeySet.of(rows.select([each.name for each in key.fields]).take(pa.array(chosen)), key)


def _shown(rows: pa.Table, row: int, key: TableSchema) -> str:
    one = conform(rows.select([each.name for each in key.fields]).slice(row, 1), key)
    return shown_values(one, 0, one.schema.names)


def _identified(
    log: Log, table: TableState, job_id: str, meeting: Meeting
) -> Iterator[pa.RecordBatch]:
    """Yield all merged rows. New rows get values in identity columns; the others keep theirs."""
    exact = arrow_schema(table.schema)
    for batch in meeting.updated():
        yield pa.RecordBatch.from_arrays(batch.columns, schema=exact)
    if not identity_columns(table.schema):
        yield from meeting.inserted()
        return
    draws = draws_of(log, table, job_id)
    yield from identified(meeting.inserted(), table.name, table.schema, draws)
