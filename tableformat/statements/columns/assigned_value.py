"""Values of rows as values of the column that they are assigned to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.text_policy import TextPolicy
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.predicate.values.casts import cast
from colonnade.tableformat.predicate.values.row_value import RowValue
from colonnade.tableformat.predicate.values.types import is_number
from colonnade.tableformat.types.conform import conform

ArrowFunction = Callable[[pa.RecordBatch], Any]
"""Takes rows, and returns one value for each: an Array, a ChunkedArray, or a Scalar for all."""


def assignable(value: RowValue, field: SchemaField) -> RowValue:
    """Return a computed value as Spark assigns it to a column.

    A number becomes one of the column's type, and may lose digits after the point. All else stays
    as it is. Raises InvalidInputError.
    """
    target = field.type
    if isinstance(target, str) and is_number(target) and is_number(value.text):
        return cast(value, target)
    return value


def by_function(
    function: ArrowFunction, field: SchemaField, reads: Sequence[SchemaField]
) -> RowValue:
    """Return what a function of rows computes, which gets the columns `reads` in this order."""
    names = [each.name for each in reads]

    def compute(batch: pa.RecordBatch) -> pa.Array:
        # A batch without columns keeps its number of rows.
        given = batch if batch.schema.names == names else batch.select(names)
        return function_values(function(given), batch.num_rows, field).column(0)

    return RowValue(field.type, frozenset(each.id for each in reads), compute)


def function_values(
    values: object, rows: int, target: SchemaField, policy: TextPolicy = "refuse"
) -> pa.RecordBatch:
    """Return what a function has returned for some rows, as a column of a table.

    Raises InvalidInputError that names the column if it is not one value for each row.
    """
    if isinstance(values, pa.Scalar):
        values = pa.repeat(values, rows)
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        raise InvalidInputError(
            f"The function for column {target.name!r} must return a pyarrow Array, ChunkedArray or"
            f" Scalar, not {type(values).__name__}."
        )
    if len(values) != rows:
        raise InvalidInputError(
            f"The function for column {target.name!r} returned {len(values)} values for {rows}"
            " rows; it must return one value for each row."
        )
    schema = TableSchema(fields=(target,))
    return conform(pa.table([values], names=[target.name]), schema, policy)
