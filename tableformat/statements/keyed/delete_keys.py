"""Delete the rows of a table that have one of some primary keys.

A table with a sequence remembers the keys, so that an older row that arrives later stays deleted.
Spec: docs/spec/keys.md#deleting-keys
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from pyroaring import BitMap

from colonnade.manifests.commit.change import DeletedRows, TableRead
from colonnade.manifests.commit.rebase.targets import all_rows
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.columns.text_policy import text_policy
from colonnade.manifests.model.deletion_vector import DeletionVector, hold_deletion_vector
from colonnade.manifests.model.operations import AddRowSet
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.keys.find import MatchingRows, find_rows
from colonnade.tableformat.keys.key_set import KeySet, key_numbers, key_schema
from colonnade.tableformat.keys.merged_rows import ages
from colonnade.tableformat.keys.policy import policy_of
from colonnade.tableformat.keys.static_parts import stored_table
from colonnade.tableformat.keys.tombstones import (
    Deletions,
    Integers,
    sequence_values,
    tombstone_schema,
)
from colonnade.tableformat.statements.key_guard import guard_keys
from colonnade.tableformat.statements.statement import Statement, row_statement
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.conform import conform_batches
from colonnade.tableformat.types.input.arrow_input import record_batches
from colonnade.tableformat.write.job import target_of
from colonnade.tableformat.write.pipeline import open_writer
from colonnade.tableformat.write.run import stamped
from colonnade.tableformat.write.settings import WriteSettings


def evaluate_delete_keys(
    log: StatementLog, table: TableState, data: pa.Table, job_id: str
) -> Statement:
    """Return a statement that deletes the rows whose keys `data` has.

    `data` has exactly the columns of the primary key, and the sequence of a table that has one. A
    row that is newer than its deletion stays. Reads the key columns where bounds and filters allow
    one of the keys. With a sequence, writes the keys as tombstones. Raises InvalidInputError for a
    table without a primary key or with sequences of single columns, and one that names a column
    that is missing, unknown, NULL or of another type. Raises CorruptionError, StoreError.
    """
    if not table.primary_key:
        raise InvalidInputError(
            f"Table {table.name!r} has no primary key to delete by; use delete with a condition."
        )
    sequence = row_sequence(table)
    keys = _deleted_keys(table, data, sequence)
    view = log.view(table, keys.known.may_match)
    deleted = [
        DeletedRows(table.id, each.rowset, "delete", BitMap(rows))
        for each in find_rows(log.store, view, keys.known)
        if len(rows := keys.dying(log, each))
    ]
    names = ", ".join(field.name for field in keys.key.fields)
    read = TableRead(table.id, keys.known.may_match, keys.columns)
    statement = row_statement("delete", table, deleted, reads=(read,), parameters={"keys": names})
    return statement if sequence is None else _remembering(statement, keys, log, table, job_id)


def row_sequence(table: TableState) -> SchemaField | None:
    """Return the column that says how new the rows of a table are, or None without sequences.

    Raises InvalidInputError for a table in which columns have sequences of their own. A deletion
    would then be newer than some cells of a row only. Static columns are not part of a row.
    """
    policy = policy_of(stored_table(table))
    columns = {each.id: each for each in table.schema.fields}
    if policy.remembers_deletions:
        return columns[policy.row_sequence or 0]
    for column, sequence in policy.sequences.items():
        raise InvalidInputError(
            f"Keys of table {table.name!r} cannot be deleted by delete_keys, because column"
            f" {columns[column].name!r} has the sequence {columns[sequence].name!r} of its own, and"
            " a deletion is about whole rows. Use delete with a condition."
        )
    return None


@dataclass(frozen=True, eq=False)
class _DeletedKeys:
    """The keys to delete, each once, and with a sequence how new each deletion is."""

    rows: pa.Table
    key: TableSchema
    known: KeySet
    sequence: SchemaField | None

    @property
    def columns(self) -> frozenset[int]:
        """The ids of the key columns, and of the sequence."""
        sequence = () if self.sequence is None else (self.sequence,)
        return frozenset(each.id for each in (*self.key.fields, *sequence))

    def dying(self, log: StatementLog, found: MatchingRows) -> Integers:
        """Return the rows among some of a RowSet that are not newer than their deletions."""
        if self.sequence is None:
            return found.rows
        deletions = Deletions(np.arange(self.rows.num_rows), _joined(self.rows, self.sequence))
        values = sequence_values(log.store, found.view, found.rowset, found.rows, self.sequence)
        return found.rows[deletions.compare(found.keys, pa.concat_arrays(values)) <= 0]


def _deleted_keys(table: TableState, data: pa.Table, sequence: SchemaField | None) -> _DeletedKeys:
    key = key_schema(table)
    schema = key
    if sequence is not None:
        if sequence.name.casefold() not in map(str.casefold, data.column_names):
            raise InvalidInputError(
                f"The keys lack the sequence {sequence.name!r} of table {table.name!r}, so nothing"
                " says how new their deletion is; give the column."
            )
        schema = TableSchema(fields=(*key.fields, sequence))
    batches = conform_batches(record_batches(data), schema, text_policy(table.properties))
    rows = pa.Table.from_batches(list(batches), arrow_schema(schema))
    if sequence is not None:
        # The newest deletion of each key comes first.
        newest = np.argsort(-ages(_joined(rows, sequence)), kind="stable")
        rows = rows.take(pa.array(newest))
    rows = rows.take(pa.array(key_numbers(rows, key)[1]))
    return _DeletedKeys(rows, key, KeySet.of(rows.select(key.names), key), sequence)


def _remembering(
    statement: Statement, deleted: _DeletedKeys, log: StatementLog, table: TableState, job_id: str
) -> Statement:
    """Return the statement that also adds tombstones.

    A concurrent writer who adds one of the keys is a conflict, because his row may be older.
    """
    assert deleted.sequence is not None
    guard = guard_keys(log.store, table, deleted.key, lambda: deleted.known)

    def check(after: TableState) -> None:
        if after.primary_key != table.primary_key or policy_of(after) != policy_of(table):
            raise ConflictError(
                f"The key or the sequence of table {table.name!r} has changed while its keys were"
                " deleted; repeat the deletion."
            )

    return replace(
        statement,
        ops=(*statement.ops, *_tombstones(deleted, deleted.sequence, log, table, job_id)),
        keys=(replace(guard, check=check),),
        compared=True,
    )


def _tombstones(
    deleted: _DeletedKeys, sequence: SchemaField, log: StatementLog, table: TableState, job_id: str
) -> Iterator[AddRowSet]:
    """Write the keys as RowSets without live rows. A deletion that is the oldest says nothing."""
    known = deleted.rows.filter(pc.is_valid(deleted.rows[sequence.name]))
    if not known.num_rows:
        return
    schema = tombstone_schema(table.schema)
    arrays = [
        _joined(known, each) if each.id in deleted.columns else pa.nulls(known.num_rows, field.type)
        for each, field in zip(schema.fields, arrow_schema(schema), strict=True)
    ]
    target = target_of(table, log.limits).model_copy(update={"table_schema": schema})
    with open_writer(log.store, target, job_id, WriteSettings()) as writer:
        writer.write(pa.RecordBatch.from_arrays(arrays, schema=arrow_schema(schema)))
        for entry in writer.close():
            vector = hold_deletion_vector(job_id, DeletionVector(all_rows(entry.rows)))
            yield AddRowSet(table=table.id, rowset=stamped(entry, table), vector=vector)


def _joined(rows: pa.Table, column: SchemaField) -> pa.Array:
    return rows[column.name].combine_chunks()
