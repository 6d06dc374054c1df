"""Data from outside becomes data of a table, or is refused by name.

Everything that is written passes here once, so the layers below may rely on exact types, on NOT
NULL, on lengths and on valid text.
Spec: docs/spec/types.md
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

import pyarrow as pa

from manifests.errors import InvalidInputError
from manifests.schema import SchemaField, TableSchema
from tableformat.arrow_types import arrow_schema
from tableformat.conversion import convert, match_fields
from tableformat.text_form import has_lengths
from tableformat.value_checks import check_values, is_constrained

CONFORMED_ROWS = 65_536
"""Of a larger batch so many rows are converted at a time, so that memory stays bounded."""


def conform(data: pa.RecordBatch | pa.Table, schema: TableSchema) -> pa.RecordBatch:
    """The same rows with exactly the Arrow schema of `schema`, every value kept or refused.

    Columns are found by name, exactly or but for case, in any order, in any physical form. A char
    is filled up with spaces. A batch that conforms is returned unchanged; a table of several chunks
    is copied into one.

    Requires: at most 2 GiB of text in each column; pass larger tables in slices.
    Raises: InvalidInputError that names the column for one missing, extra or given twice, for
    another type, a value that the type cannot hold exactly, and NULL where it is not allowed.
    """
    target = arrow_schema(schema)
    batch = _one_batch(data) if isinstance(data, pa.Table) else data
    if not batch.schema.equals(target, check_metadata=True) or _has_lengths(schema):
        order = match_fields(batch.schema.names, schema.names, "The data")
        columns = [
            convert(batch.column(index), field, field.name)
            for index, field in zip(order, schema.fields, strict=True)
        ]
        batch = pa.RecordBatch.from_arrays(columns, schema=target)
    for index, field in _constrained(schema):
        check_values(batch.column(index), field, field.name)
    return batch


def conform_batches(
    batches: Iterable[pa.RecordBatch], schema: TableSchema
) -> Iterator[pa.RecordBatch]:
    """Conform batches, large ones in pieces, so that memory stays bounded. Raises as `conform`."""
    for batch in batches:
        # An empty batch is checked like any other.
        for start in range(0, max(1, batch.num_rows), CONFORMED_ROWS):
            yield conform(batch.slice(start, CONFORMED_ROWS), schema)


@lru_cache(maxsize=256)
def _constrained(schema: TableSchema) -> tuple[tuple[int, SchemaField], ...]:
    return tuple((i, field) for i, field in enumerate(schema.fields) if is_constrained(field))


@lru_cache(maxsize=256)
def _has_lengths(schema: TableSchema) -> bool:
    return any(map(has_lengths, schema.fields))


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        try:
            columns.append(column.combine_chunks())
        except pa.ArrowException as error:
            raise InvalidInputError(
                f"Column {name!r} does not fit into one batch; pass the table in smaller slices."
            ) from error
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)
