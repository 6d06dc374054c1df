"""Run a task's share of a write: rows become RowSets that no reader sees before the commit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa
from pydantic import TypeAdapter

from colonnade.manifests.arrays.origins import RowOrigins
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.ids import TableId
from colonnade.manifests.later import later
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.columns.generated import generated_fields, sources_of
from colonnade.manifests.model.columns.identity import identity_columns
from colonnade.manifests.model.entries import PartitionField, RowSetEntry, SortField
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.store import ObjectStore, open_store
from colonnade.tableformat.progress import Advance, nothing
from colonnade.tableformat.rowset.task_writer import RowSources
from colonnade.tableformat.rowset.writer import RowSetWriter, WriteOptions
from colonnade.tableformat.write.identity import Draws, draws_at
from colonnade.tableformat.write.job import WriteJob, WriteTarget
from colonnade.tableformat.write.pipeline import RowPipeline, Step, new_rows
from colonnade.tableformat.write.settings import WriteSettings

if TYPE_CHECKING:
    from colonnade.tableformat.partition import writer as partitioned
else:
    partitioned = later("colonnade.tableformat.partition.writer")

INDEXED_COLUMNS = 32
"""The number of leading columns with statistics, besides those of keys and partitions."""


@cache
def _entries() -> TypeAdapter[tuple[RowSetEntry, ...]]:
    return TypeAdapter(tuple[RowSetEntry, ...])


def write_rows(
    job: WriteJob,
    batches: Iterable[pa.RecordBatch],
    store: ObjectStore | None = None,
    *,
    divide: Step | None = None,
    draws: Draws | None = None,
    advance: Advance = nothing,
) -> tuple[RowSetEntry, ...]:
    """Write one task's share of new rows; no reader sees them before the commit.

    They take the steps of `new_rows`, which `divide` begins. `draws` spares a look at the log.
    All else is as `write_through` says.
    """
    store = store or open_store(job.address)
    steps = new_rows(
        job.target,
        lambda: draws or _draws(job, store),
        divide=divide,
        expiry=job.expiry(),
    )
    return write_through(steps, batches, store, job.job_id, job.settings, advance)


def write_through(
    steps: RowPipeline,
    batches: Iterable[pa.RecordBatch],
    store: ObjectStore,
    job_id: str,
    settings: WriteSettings | None = None,
    advance: Advance = nothing,
    sources: RowSources | None = None,
) -> tuple[RowSetEntry, ...]:
    """Write rows as RowSets after their steps: the only way of rows that a statement adds.

    Holds about one block of every column, and with a sort key one run. `advance` is told how many
    rows were written. `sources` knows which rows they replace, and gets the origins of the written
    RowSets. Raises InvalidInputError that names a column that does not fit, or that has another
    value than it is generated to have, or a constraint that does not hold; StoreError. After any
    error, also one of `batches`, the files written so far are removed.
    """
    found: list[RowOrigins] = []
    with open_writer(store, steps.target, job_id, settings or WriteSettings()) as writer:
        for rows in steps.run(batches):
            writer.write(rows, None if sources is None else sources.take(rows.num_rows))
            found += map(RowOrigins.of, writer.take_origins())
            advance(rows.num_rows)
        entries = writer.close()
        if sources is not None:
            found += map(RowOrigins.of, writer.take_origins())
            sources.found = dict(zip((each.object for each in entries), found, strict=True))
    return entries


def _draws(job: WriteJob, store: ObjectStore) -> Draws:
    if job.create is not None:
        raise InvalidInputError(
            f"Table {job.target.name!r} has identity columns and does not exist yet, so tasks"
            " cannot take values; create it first."
        )
    return draws_at(Log(store), TableId(job.target.table), job.job_id)


def open_writer(
    store: ObjectStore, target: WriteTarget, job_id: str, settings: WriteSettings
) -> RowSetWriter | partitioned.PartitionedWriter:
    """Return a writer for one task's rows in any order; each RowSet has rows of one partition."""
    prefix, schema, sort_key = target.prefix, target.table_schema, target.sort_key
    fields = target.partition_fields
    options = target_options(target, settings)
    if fields:
        return partitioned.PartitionedWriter(
            store, prefix, job_id, schema, fields, sort_key, options
        )
    return RowSetWriter(store, prefix, job_id, schema, sort_key, options)


def stamped(entry: RowSetEntry, written_for: TableState) -> RowSetEntry:
    """Return the entry with the layout and sort order that the RowSet was written for."""
    ids = {
        "partition_layout_id": written_for.partition_layout_id,
        "sort_order_id": written_for.sort_order_id,
    }
    return entry.model_copy(update=ids)


def dated(entry: RowSetEntry, table: TableState, written_ms: int | None) -> RowSetEntry:
    """Return the entry that says when its rows were written, if that decides when they expire.

    The time is in ms since 1970 UTC. It may be None if nothing expires in the table.
    """
    lives = table.lifetimes
    if lives is None or not lives.counts_from_write:
        return entry
    assert written_ms is not None, "Rows that expire were written at a time."
    return entry.model_copy(update={"written_ms": (written_ms, written_ms)})


def target_options(target: WriteTarget, settings: WriteSettings) -> WriteOptions:
    """Return the options of the RowSet writer for the rows of a table."""
    return write_options(
        target.table_schema,
        target.sort_key,
        settings,
        target.bloom_columns,
        target.partition_fields,
        target.primary_key,
        inline_bytes=target.inline_rowset_bytes,
    )


def write_options(
    schema: TableSchema,
    sort_key: Sequence[SortField],
    settings: WriteSettings,
    bloom_columns: Sequence[int] = (),
    fields: Sequence[PartitionField] = (),
    primary_key: Sequence[int] = (),
    *,
    inline_bytes: int = LIMITS.inline_rowset_bytes,
) -> WriteOptions:
    """Return the options of the RowSet writer: a user's settings, and the indexed columns."""
    indexed = {column.id for column in schema.fields[:INDEXED_COLUMNS]}
    indexed.update(key.column for key in sort_key)
    indexed.update(field.column for field in fields)
    indexed.update(primary_key)
    indexed.update(column.id for column in identity_columns(schema))
    for column in generated_fields(schema):
        if column.id in indexed:  # a filter on what it is computed from prunes its partitions
            indexed.update(source.id for source in sources_of(column, schema))
    return WriteOptions(
        target_bytes=settings.target_bytes,
        max_records=settings.max_records,
        sync=settings.sync,
        inline_bytes=inline_bytes,
        indexed_columns=frozenset(indexed),
        bloom_columns=frozenset(bloom_columns),
    )


def encode_entries(entries: tuple[RowSetEntry, ...]) -> bytes:
    """Encode what a task reports to its driver."""
    return _entries().dump_json(entries, exclude_none=True)


def decode_entries(message: bytes) -> tuple[RowSetEntry, ...]:
    """Decode and validate what a task reported."""
    return _entries().validate_json(message)
