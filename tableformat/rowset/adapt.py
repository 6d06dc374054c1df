"""From a column as a RowSet stores it to the column as the table has it now. Pure.

A RowSet has the columns that the table had when the RowSet was written. If the table got a column
later, each row of the RowSet has the same value in it: NULL. This module is the only place in
Python that says so; its counterpart in Java is `colonnade.read.Adapt`.
Spec: docs/spec/operations.md#altering-tables
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.rowset.block_statistics import Statistics
from colonnade.tableformat.rowset.column import StoredColumn


def adapt(parts: Sequence[pa.Array], column: StoredColumn, rows: int) -> pa.Array:
    """Return `rows` rows of a column of the table, from its decoded blocks in row order.

    No blocks mean that the RowSet does not have the column. Copies only several blocks.
    """
    if not parts:
        return absent_values(column, rows)
    return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)


def absent_values(column: StoredColumn, rows: int) -> pa.Array:
    """Return the values of a column in rows of a RowSet that does not have the column."""
    return pa.nulls(rows, column.type)


def absent_statistics(column: StoredColumn, rows: int) -> Statistics:
    """Return the statistics of a column in rows of a RowSet that does not have the column."""
    return Statistics(nulls=rows)


def may_be_absent(field: SchemaField) -> bool:
    """Return whether RowSets may lack a column, because it takes the value of absent columns."""
    return field.nullable
