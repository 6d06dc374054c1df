"""Tables whose RowSets are in a place of one's choice, with vectors of either kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from colonnade.manifests import object_names
from colonnade.manifests.commit.change import Change
from colonnade.manifests.ids import ObjectId, new_object_id, new_transaction_id
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.codec import byte_check
from colonnade.manifests.model.deletion_vector import (
    DeletionVector,
    encode_deletion_vector,
    write_deletion_vector,
)
from colonnade.manifests.model.entries import DeletionVectorEntry
from colonnade.manifests.model.operations import AddDeletionVector
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.location import Location
from colonnade.tableformat.rowset.writer import RowSetWriter
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.conform import conform
from colonnade.tableformat.write.job import plan_write
from colonnade.tableformat.write.pipeline import write_options

JOB = "0123456789abcdef"
PLACES: dict[str, dict[str, Any]] = {
    "inline": {"inline_bytes": 2**20},
    "packed": {"inline_bytes": 0},
    "directory": {"inline_bytes": 0, "packed_bytes": 0},
}


def new(store: ObjectStore, types: dict[str, str], sort_key: Sequence[str] = ()) -> ArrowTable:
    """An empty table of a store of its own."""
    fields = tuple(SchemaField(name=name, type=text) for name, text in types.items())
    location = Location(store, "t", exists=True)
    base = create_database(store, lone_table=False)
    design = new_table("t", TableSchema(fields=fields), sort_key=sort_key)
    log = Log(store)
    job = plan_write(location, base, "append", create=design)
    return ArrowTable(location, log, commit_written(job, (), log, base))


def reopened(table: ArrowTable, store: ObjectStore) -> ArrowTable:
    log = Log(store)
    return ArrowTable(Location(store, "t", exists=True), log, log.reader.read_head())


def append(
    store: ObjectStore, table: ArrowTable, rows: pa.Table, place: str, block_rows: int = 16
) -> None:
    """Append as `ArrowTable.append` does, to a place and with blocks of one's choice."""
    base, schema, key = table._refresh(), table._state.schema, table._state.sort_key
    job = plan_write(Location(store, "t", exists=True), base, "append")
    options = replace(
        write_options(schema, key, job.settings), block_rows=block_rows, **PLACES[place]
    )
    with RowSetWriter(store, job.target.prefix, job.job_id, schema, key, options) as writer:
        writer.write(conform(rows, schema))
        entries = writer.close()
    commit_written(job, entries, Log(store), base)
    table.refresh()


def delete(
    store: ObjectStore, table: ArrowTable, rowset: int, rows: Iterable[int], inline: bool
) -> None:
    """Commit a deletion vector that replaces the one there is."""
    base = table._refresh()
    live = {each.id: each for each in Log(store).rowsets.read(table._state)}[rowset]
    before = None if live.vector is None else ObjectId(live.vector.object)
    vector = DeletionVector.of(rows)
    if inline:
        entry = write_deletion_vector(store, table._state.prefix, JOB, vector, before)
        assert entry.data is not None
    else:
        data, object_id = encode_deletion_vector(vector), new_object_id(JOB)
        name = object_names.deletion_vector_name(table._state.prefix, object_id)
        store.put(name, data, sync=False)
        entry = DeletionVectorEntry(
            object=object_id,
            cardinality=vector.cardinality,
            check=byte_check(data),
            predecessor=before,
        )
    op = AddDeletionVector(table=table._state.id, rowset=rowset, vector=entry)
    change = Change(transaction=new_transaction_id(), operation="delete", parameters={}, ops=(op,))
    Log(store).commit(change, base)
    table.refresh()


def numbers(first: int, count: int) -> pa.Table:
    return pa.table({"n": np.arange(first, first + count)})
