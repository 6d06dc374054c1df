"""Alterations of a small table, as operations."""

from __future__ import annotations

from colonnade.manifests.model.operations import (
    AlterSchema,
)
from colonnade.manifests.model.schema import (
    SchemaField,
    TableSchema,
)
from tests.log_samples import (
    ORDERS,
    SCHEMA,
)

ID, X = SCHEMA.fields
NOTE = SchemaField(id=3, name="note", type="string")


def alter(*fields: SchemaField, schema_id: int = 1, next_id: int = 4) -> AlterSchema:
    return AlterSchema(
        table=ORDERS,
        table_schema=TableSchema(fields=fields),
        schema_id=schema_id,
        next_column_id=next_id,
    )
