"""RowSets that are written and read in every place."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.schema import TableSchema, assign_ids
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.writer import RowSetWriter, WriteOptions
from colonnade.tableformat.types.arrow_types import arrow_schema, schema_from_arrow

JOB = "0123456789abcdef"
PLACES = {
    "inline": {"inline_bytes": 2**20},
    "packed": {"inline_bytes": 0},
    "directory": {"inline_bytes": 0, "packed_bytes": 0},
    "one object": {"inline_bytes": 0, "packed_bytes": 0, "one_object": True},
}


def write(
    store: ObjectStore, schema: TableSchema, *rows: pa.RecordBatch, key: Any = (), **options: Any
) -> tuple[RowSetEntry, ...]:
    with RowSetWriter(store, "t/", JOB, schema, key, WriteOptions(**options)) as writer:
        for batch in rows:
            writer.write(batch)
        return writer.close()


def read(
    store: ObjectStore, schema: TableSchema, entries: tuple[RowSetEntry, ...], **options: Any
) -> pa.Table:
    found = [
        batch
        for entry in entries
        for _, batch in RowSetReader(store, View.written("t/"), as_written(entry)).read(
            schema.fields, **options
        )
    ]
    return pa.Table.from_batches(found, arrow_schema(schema))


def one_column(array: pa.Array) -> tuple[TableSchema, pa.RecordBatch]:
    batch = pa.record_batch([array], ["a"])
    return assign_ids(schema_from_arrow(batch.schema), 1)[0], batch
