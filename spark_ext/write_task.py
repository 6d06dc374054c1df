"""Describe a planned write to the tasks in the JVM.

The JSON of a task has a part of the `WriteJob`, all options of RowSets that follow from the job's
settings and the table, the choices of the encodings, and the sizes of draws of identity values. So
the JVM has no constants for them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from colonnade.manifests.limits import Limits
from colonnade.manifests.model.columns.generated import generated_fields, sources_of
from colonnade.manifests.model.columns.identity import identity_columns
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.rowset import bloom_filter, ipc_stream
from colonnade.tableformat.rowset.encodings.registry import ENCODINGS
from colonnade.tableformat.rowset.write_options import MIB, WriteOptions
from colonnade.tableformat.statements.update import replacement_options
from colonnade.tableformat.write.identity import MOST_AHEAD
from colonnade.tableformat.write.job import WriteJob, WriteTarget, target_of
from colonnade.tableformat.write.pipeline import target_options

HELD_BYTES = 128 * MIB
"""The writers of several partitions in one task together hold about this much memory."""

ROWSET_ROWS = 2**32 - 1
"""A RowSet has at most this many rows, since row numbers have 32 bits."""


ENCODING = {
    "compression_level": ipc_stream.COMPRESSION_LEVEL,
    "compress_from_bytes": ipc_stream.COMPRESS_FROM_BYTES,
    "compressed_share": ipc_stream.COMPRESSED_SHARE,
    "filter_bits": bloom_filter.BITS_PER_VALUE,
    "limits": {each.name: {**each.limits} for each in ENCODINGS.values()},
}
"""How a writer compresses, and when it chooses which encoding, as a writer in Python does."""

AHEAD_SHARE = 4
"""A draw has at least one fourth of the values that a job, or a task, has taken: draws are few."""

IDENTITY_DRAWS = {
    "waiting_rows": 1024,
    "least_ahead": 1024,
    "most_ahead": MOST_AHEAD,
    "ahead_share": AHEAD_SHARE,
}
"""How many values of identity columns a task asks for."""


@dataclass(frozen=True, slots=True)
class StaticsTask:
    """How tasks report the static values that rows bring.

    The first `key` columns of `columns` are the partition key. If they are `distinct`, only the
    last of equal rows counts. `nulls` says whether NULL is a value.
    """

    columns: TableSchema
    key: int
    distinct: bool
    nulls: bool


def task_json(
    job: WriteJob,
    options: WriteOptions | None = None,
    held_bytes: int = HELD_BYTES,
    statics: StaticsTask | None = None,
) -> str:
    """Return the JSON that each task of `job` gets; `options` replace the options of the job."""
    task = _task(job, options, held_bytes)
    if statics is not None:
        plain = [each.model_copy(update={"static": None}) for each in statics.columns.fields]
        alone = {"sort_key": (), "partition_fields": (), "bloom_columns": ()}
        columns = {"table_schema": TableSchema(fields=tuple(plain))}
        target = job.target.model_copy(update={**alone, **columns})
        task["statics"] = {
            **_task(job.model_copy(update={"target": target}), None, held_bytes),
            "key_columns": statics.key,
            "distinct": statics.distinct,
            "nulls": statics.nulls,
        }
    return json.dumps(task)


def _task(job: WriteJob, options: WriteOptions | None, held_bytes: int) -> dict[str, Any]:
    target = job.target
    chosen = options or target_options(target, job.settings)
    return {
        "url": job.url,
        "prefix": target.prefix,
        "job_id": job.job_id,
        "invalid_text": target.invalid_text,
        "used_columns": _used_columns(job.target),
        "columns": target.table_schema.model_dump(mode="json")["fields"],
        "sort_key": [key.model_dump(mode="json") for key in target.sort_key],
        "partition_fields": [field.model_dump(mode="json") for field in target.partition_fields],
        "options": _options_json(chosen, len(target.table_schema.fields), held_bytes),
        "encoding": ENCODING,
        "identity_draws": IDENTITY_DRAWS,
    }


def columns_task_json(
    job: WriteJob, table: TableState, limits: Limits, fields: Sequence[SchemaField], rowsets: int
) -> str:
    """Return the JSON that each task of `job` gets to write `fields` of `rowsets` RowSets."""
    whole = target_of(table, limits)
    options = replacement_options(whole, rowsets, job.settings)
    columns = TableSchema(fields=tuple(fields))
    alone = {"table_schema": columns, "sort_key": (), "partition_fields": ()}
    target = whole.model_copy(update=alone)
    return task_json(job.model_copy(update={"target": target}), options)


def _used_columns(target: WriteTarget) -> list[str]:
    """Return the names of the columns that Spark's plan reads before a task gets the rows.

    Generated columns read them, or constraints. Tasks check the constraints that read identity
    columns, because they give these columns their values.
    """
    schema = target.table_schema
    identities = {each.id for each in identity_columns(schema)}
    early = [each for each in target.constraints if identities.isdisjoint(each.columns)]
    fields = [
        *(field for each in generated_fields(schema) for field in sources_of(each, schema)),
        *(field for each in early for field in each.fields(schema)),
    ]
    return sorted({field.name for field in fields})


def _options_json(options: WriteOptions, columns: int, held_bytes: int) -> dict[str, Any]:
    return {
        "target_bytes": options.target_bytes,
        "max_records": min(options.max_records or ROWSET_ROWS, ROWSET_ROWS),
        "block_rows": options.block_rows,
        "cut_bytes": options.cut_bytes,
        "held_bytes": held_bytes,
        "open_partitions": options.partition_limit(columns),
        "open_files": options.open_files,
        "block_bytes": options.block_bytes,
        "packed_bytes": options.packed_limit(columns),
        "one_object": options.one_object,
        "inline_bytes": options.inline_bytes,
        "sync": options.sync,
        "indexed_columns": sorted(options.indexed_columns),
        "bloom_columns": sorted(options.bloom_columns),
    }
