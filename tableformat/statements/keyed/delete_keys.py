"""Delete the rows of a table that have one of some primary keys.

Spec: docs/spec/keys.md#deleting-keys
"""

from __future__ import annotations

import pyarrow as pa
from pyroaring import BitMap

from colonnade.manifests.commit.change import DeletedRows
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.text_policy import text_policy
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.keys.find import find_rows
from colonnade.tableformat.keys.key_numbers import key_numbers
from colonnade.tableformat.keys.key_set import KeySet
from colonnade.tableformat.keys.policy import policy_of
from colonnade.tableformat.statements.keyed.new_keys import key_schema
from colonnade.tableformat.statements.statement import Statement, row_statement
from colonnade.tableformat.types.arrow_input import record_batches
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.conform import conform_batches


def evaluate_delete_keys(log: Log, table: TableState, data: pa.Table) -> Statement:
    """Return a statement that deletes the rows whose keys `data` has. Other keys have no effect.

    `data` has exactly the columns of the primary key. Reads these columns where bounds and filters
    allow one of the keys. Raises InvalidInputError for a table without a primary key or with a
    sequence, and one that names a column that is missing, unknown, NULL or of another type. Raises
    CorruptionError, StoreError.
    """
    if not table.primary_key:
        raise InvalidInputError(
            f"Table {table.name!r} has no primary key to delete by; use delete with a condition."
        )
    _refuse_sequences(table)
    key = key_schema(table)
    batches = conform_batches(record_batches(data), key, text_policy(table.properties))
    rows = pa.Table.from_batches(list(batches), arrow_schema(key))
    keys = KeySet.of(rows.take(pa.array(key_numbers(rows, key)[1])), key)
    deleted = [
        DeletedRows(table.id, each.rowset, "delete", BitMap(each.rows))
        for each in find_rows(log.store, table, log.read_rowsets(table, keys.keep), keys)
    ]
    names = ", ".join(field.name for field in key.fields)
    return row_statement("delete", table, deleted, parameters={"keys": names})


def _refuse_sequences(table: TableState) -> None:
    sequences = set(policy_of(table).sequences.values())
    for column in table.schema.fields:
        if column.id in sequences:
            raise InvalidInputError(
                f"Keys of table {table.name!r} cannot be deleted by delete_keys, because the table"
                f" has the sequence {column.name!r}: an older row that arrives later would bring a"
                " deleted key back. Use delete with a condition."
            )
