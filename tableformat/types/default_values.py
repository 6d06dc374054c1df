"""The values that written rows get in a column that they leave out, without Spark. Pure.

Spec: docs/spec/types.md#defaults
"""

from __future__ import annotations

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.default import decode_value
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.types.arrow_types import storage_type
from colonnade.tableformat.types.stored_value import repeated


def default_values(column: SchemaField, rows: int) -> pa.Array:
    """Return the values of a column in rows that leave it out: its default, or NULL.

    Raises InvalidInputError that names the column if only Spark can evaluate the default.
    """
    default = column.default
    if default is None:
        return pa.nulls(rows)
    if default.value is None:
        raise InvalidInputError(
            f"Column {column.name!r} has the default {default.sql!r}, which only Spark evaluates;"
            " give the column values."
        )
    return repeated(decode_value(default.value, column), storage_type(column), rows)
