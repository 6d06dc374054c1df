"""Columns of a table, and arrays for them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import (
    SchemaField,
    TableSchema,
)
from colonnade.tableformat.types.conform import conform


def schema_of(text: str, nullable: bool = True) -> TableSchema:
    return TableSchema(fields=(SchemaField(id=1, name="a", type=text, nullable=nullable),))


def batch_of(array: pa.Array) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([array], names=["a"])


def refusal_of(array: pa.Array, schema: TableSchema) -> str:
    with pytest.raises(InvalidInputError) as caught:
        conform(batch_of(array), schema)
    return caught.value.message
