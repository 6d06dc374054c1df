"""Values of identity columns in an upsert: a replaced row keeps its value, a new row gets one.

Spec: docs/spec/types.md#identity-columns
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from colonnade.manifests.commit.change import DeletedRows
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.columns.identity import identity_columns, spec_of
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.state.view import View
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.types.arrow_types import arrow_schema, storage_type
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.conform import CONFORMED_ROWS
from colonnade.tableformat.write.identity import draws_of, identified


def with_identity_columns(data: pa.Table, schema: TableSchema) -> pa.Table:
    """Return rows of an upsert with NULL in the identity columns that they leave out."""
    names = {name.casefold() for name in data.column_names}
    for column in identity_columns(schema):
        if column.name.casefold() not in names:
            data = data.append_column(column.name, pa.nulls(data.num_rows))
    return data


def with_identities(
    log: Log,
    table: TableState,
    job_id: str,
    rows: pa.Table,
    replaced: Sequence[DeletedRows],
    keys: TableSchema,
) -> pa.Table:
    """Return the rows of an upsert with a value in each identity column.

    The first rows replace those of `replaced`, in order. Each keeps the value of the row that it
    replaces, unless it brings another value. All further rows are new. Reads the identity columns
    of the replaced rows. Raises the errors of `identified`, except for a value of a replaced row in
    a key column.
    """
    columns = identity_columns(table.schema)
    if not columns:
        return rows
    first = sum(len(each.rows or ()) for each in replaced)
    matched, fresh = rows.slice(0, first), rows.slice(first)
    for column in columns:
        place = matched.schema.get_field_index(column.name)
        given = matched.column(place)
        if column.id in {field.id for field in keys.fields}:
            continue
        if spec_of(column).always and given.null_count < len(given):
            raise InvalidInputError(
                f"Column {column.name!r} of table {table.name!r} is GENERATED ALWAYS AS IDENTITY,"
                " and a replaced row keeps its value; leave the column out, or give NULL."
            )
        kept = pc.coalesce(given, _kept(log, table, column, replaced))
        matched = matched.set_column(place, matched.schema.field(place), kept)
    batches = fresh.to_batches(CONFORMED_ROWS)
    draws = draws_of(log, table, job_id)
    new = list(identified(batches, table.name, table.schema, draws))
    target = arrow_schema(table.schema)
    kept_rows = pa.Table.from_arrays(matched.columns, schema=target)
    return pa.concat_tables([kept_rows, pa.Table.from_batches(new, target)])


def _kept(
    log: Log, table: TableState, column: SchemaField, replaced: Sequence[DeletedRows]
) -> pa.ChunkedArray:
    """Return the values of a column in the replaced rows, in order."""
    found, view = list[pa.Array](), View.stored(table)
    for each in replaced:
        assert each.rows is not None, "An upsert names the rows that it replaces."
        numbers = np.asarray(each.rows.to_array(), np.int64)
        for first, batch in RowSetReader(log.store, view, each.rowset).read((column,)):
            within = numbers[(numbers >= first) & (numbers < first + batch.num_rows)]
            if len(within):
                found.append(batch.column(0).take(pa.array(within - first)))
    return pa.chunked_array(found, storage_type(column))
