"""UPSERT on other columns than the primary key: replace all rows that have the same key.

Incoming rows have all columns, and each key once. Of a table with two rows of the key Oslo, and
incoming rows with the keys Oslo and Bern:

    deleted    both rows with the key Oslo
    added      the row Oslo twice, and the row Bern
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyroaring import BitMap

from colonnade.manifests.arrays.origins import NEW, origins_of
from colonnade.manifests.commit.change import DeletedRows, TableRead
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.columns.identity import identity_columns
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.keys.find import find_rows
from colonnade.tableformat.keys.key_set import KeySet, key_columns
from colonnade.tableformat.keys.static_parts import refuse_static
from colonnade.tableformat.progress import step
from colonnade.tableformat.rowset.task_writer import RowSources
from colonnade.tableformat.statements.kept_identities import (
    with_identities,
    with_identity_columns,
)
from colonnade.tableformat.statements.key_guard import guard_keys
from colonnade.tableformat.statements.statement import Statement, row_statement, write_batches
from colonnade.tableformat.statements.static_split import StaticSplit
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.chosen_rows import chosen_table_rows
from colonnade.tableformat.types.conform import CONFORMED_ROWS
from colonnade.tableformat.types.input.arrow_input import record_batches
from colonnade.tableformat.write.expiry import expiry_of
from colonnade.tableformat.write.identity import open_schema
from colonnade.tableformat.write.job import target_of
from colonnade.tableformat.write.pipeline import new_rows
from colonnade.tableformat.write.settings import WriteSettings

_MOST_TAKEN = 2**30
"""The most bytes of rows that are brought into the order of the rows that they replace."""


def evaluate_upsert_on(
    log: StatementLog,
    table: TableState,
    data: pa.Table,
    on: Sequence[str],
    job_id: str,
    settings: WriteSettings | None = None,
) -> Statement:
    """Write rows that replace the rows with the same values in the columns `on`.

    When several rows of the table have one key, each of them becomes the new row. Holds `data` in
    memory. Reads the key columns of RowSets and blocks whose bounds allow one of the keys. Raises
    NotFoundError or InvalidInputError that names the column at fault, or a key that is NULL or
    occurs in two rows. Raises CorruptionError, StoreError.
    """
    split = StaticSplit(table, job_id)
    whole, rows, table = table, split.rows(data), split.own
    if rows is None:
        return split.joined(Statement("upsert", reads=()))
    named = key_columns(on, whole.schema)
    refuse_static(whole, (each.id for each in named.fields), "An upsert cannot find rows by")
    source = _to_match(log, rows, table, settings)
    keys = KeySet.of(source, key_columns(on, table.schema))
    deleted: list[DeletedRows] = []
    keys_found: list[NDArray[np.int64]] = []
    origins: list[NDArray[np.int64]] = []
    for each in find_rows(log.store, log.view(table, keys.may_match), keys):
        deleted.append(DeletedRows(table.id, each.rowset, "merge", BitMap(each.rows)))
        keys_found.append(each.keys)
        origins.append(origins_of(each.rowset.id, each.rows))
    matched = np.concatenate([np.zeros(0, np.int64), *keys_found])
    fresh = np.setdiff1d(np.arange(source.num_rows), matched)
    replaced, sources = np.concatenate([np.zeros(0, np.int64), *origins]), RowSources()
    if source.nbytes > _MOST_TAKEN and not identity_columns(table.schema):
        # Rows in another order than they came need columns of one chunk, of at most 2 GiB.
        order = np.argsort(matched, kind="stable")
        matched, replaced = matched[order], replaced[order]
    sources.add(replaced)
    sources.add(np.full(len(fresh), NEW))
    wanted = _chosen(source, matched, fresh)
    wanted = with_identities(log.plain, table, job_id, wanted, deleted, keys.schema)
    batches = wanted.to_batches(CONFORMED_ROWS)
    with step("upsert", table.name, "rows", wanted.num_rows) as advance:
        added = write_batches(log.plain, table, job_id, batches, settings, advance, sources)
    inserted = KeySet.of(chosen_table_rows(source.select(keys.schema.names), fresh), keys.schema)
    statement = row_statement(
        "upsert",
        table,
        deleted,
        added,
        reads=(TableRead(table.id, keys.may_match, frozenset(f.id for f in keys.fields)),),
        keys=(guard_keys(log.store, table, keys.schema, lambda: inserted),),
        origins=sources.found,
        inserted=len(fresh),
        parameters={"on": ", ".join(field.name for field in keys.fields)},
    )
    return split.joined(statement)


def _chosen(source: pa.Table, matched: NDArray[np.int64], fresh: NDArray[np.int64]) -> pa.Table:
    """Return the rows that replace others, and then the rest, each in the given order.

    Rows that are not in order may have at most 2 GiB of text in each column.
    """
    if (np.diff(matched) < 0).any():
        return source.take(pa.array(np.concatenate([matched, fresh])))
    return pa.concat_tables([chosen_table_rows(source, matched), chosen_table_rows(source, fresh)])


def _to_match(
    log: StatementLog, data: pa.Table, table: TableState, settings: WriteSettings | None
) -> pa.Table:
    """Return rows that have all columns: a missing one would overwrite values with NULL."""
    steps = new_rows(
        target_of(table, log.limits),
        None,
        expiry=expiry_of(table, settings, log.present_ms),
        complete=True,
    )
    rows = record_batches(with_identity_columns(data, table.schema))
    return pa.Table.from_batches(steps.to_match(rows), arrow_schema(open_schema(table.schema)))
