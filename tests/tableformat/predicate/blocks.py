"""Random predicates over random blocks of rows, with their bounds."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.types.arrow_types import arrow_schema

SEED = 20_260_101

Row = dict[str, Any]


def make_schema(types: dict[str, str]) -> TableSchema:
    fields = (SchemaField(id=i, name=n, type=t) for i, (n, t) in enumerate(types.items(), 1))
    return TableSchema(fields=tuple(fields))


def make_batch(schema: TableSchema, rows: list[Row]) -> pa.RecordBatch:
    fields = arrow_schema(schema)
    arrays = [pa.array([row[field.name] for row in rows], field.type) for field in fields]
    return pa.RecordBatch.from_arrays(arrays, schema=fields)
