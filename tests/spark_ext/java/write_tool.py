"""Writes rows through the task writer in a JVM without Spark, and as the Python writer would."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from colonnade.manifests.model.columns.bloom import bloom_columns
from colonnade.manifests.model.columns.text_policy import TextPolicy
from colonnade.manifests.model.entries import PartitionField, RowSetEntry, SortField
from colonnade.manifests.model.schema import TableSchema, assign_ids
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import LocalStore, ObjectStore, StoreAddress
from colonnade.spark_ext.pyspark_types import to_spark
from colonnade.spark_ext.write_task import HELD_BYTES, task_json
from colonnade.tableformat.rowset.column import column_of
from colonnade.tableformat.rowset.encodings.encoding import BlockEntry
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.stored.column_segments import ColumnSegments
from colonnade.tableformat.rowset.writer import RowSetWriter
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.statements.task_reports import decode_report
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.arrow_types import arrow_schema, schema_from_arrow
from colonnade.tableformat.write.job import WriteJob, WriteTarget, plan_write
from colonnade.tableformat.write.pipeline import target_options, write_options
from colonnade.tableformat.write.settings import WriteSettings
from tests.spark_ext.java.json_process import JsonProcess

JOB = "0123456789abcdef"
PREFIX = "t/"
PLACES = {
    "inline": {"inline_bytes": 2**20},
    "packed": {"inline_bytes": 0},
    "directory": {"inline_bytes": 0, "packed_bytes": 0, "one_object": False},
    "one object": {"inline_bytes": 0, "packed_bytes": 0, "one_object": True},
}


def stated(place: str) -> str:
    """The place that the log states for one of `PLACES`."""
    return "packed" if place == "one object" else place


class WriteTool(JsonProcess):
    """One JVM that writes what it is told to."""

    def __init__(
        self, class_path: str, folder: Path, before: Sequence[str] = (), heap: str = "512m"
    ) -> None:
        """`before` is a command that runs the JVM, as `nice` would."""
        command = [*before, "java", f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:-UsePerfData"]
        command += ["--add-opens=java.base/java.nio=ALL-UNNAMED"]
        command += ["-cp", class_path, "colonnade.write.WriteRows"]
        environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
        self._rows = folder / "rows.arrow"
        super().__init__(command, stderr=subprocess.DEVNULL, env=environment)

    def answer(
        self,
        url: Path | str,
        schema: TableSchema,
        *batches: pa.RecordBatch,
        key: Sequence[SortField] = (),
        partitioned_by: Sequence[PartitionField] = (),
        settings: WriteSettings | None = None,
        row_schema: str | None = None,
        invalid_text: TextPolicy = "refuse",
        options: Mapping[str, Any] | None = None,
        **request: Any,
    ) -> dict[str, Any]:
        """What the writer makes of some rows for a new table: its report, or an error.

        `options` override the options that the job implies.
        """
        job = job_of(url, schema, key, settings, partitioned_by, invalid_text)
        return self.answer_job(job, *batches, row_schema=row_schema, options=options, **request)

    def answer_job(
        self,
        job: WriteJob,
        *batches: pa.RecordBatch,
        row_schema: str | None = None,
        options: Mapping[str, Any] | None = None,
        **request: Any,
    ) -> dict[str, Any]:
        """What the writer makes of some rows for a planned job: its report, or an error.

        `options` override the options that the job implies.
        """
        with pa.OSFile(str(self._rows), "wb") as sink:
            # The schema has no labels, since the labels of batches may differ from the table's.
            first = pa.schema([field.remove_metadata() for field in batches[0].schema])
            with pa.ipc.new_stream(sink, first) as writer:
                for batch in batches:
                    writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=first))
        given = dict(options or {})
        held_bytes = given.pop("held_bytes", HELD_BYTES)
        chosen = target_options(job.target, job.settings)
        request |= {
            "job": task_json(job, replace(chosen, **given), held_bytes),
            "schema": row_schema or to_spark(job.target.table_schema).json(),
            "arrow": str(self._rows),
        }
        return self.ask(request)

    def write(
        self, url: Path | str, schema: TableSchema, *batches: pa.RecordBatch, **how: Any
    ) -> tuple[RowSetEntry, ...]:
        """The entries of rows that must be written without an error."""
        return entries_of(self.answer(url, schema, *batches, **how))

    def append(self, table: ArrowTable, rows: pa.Table, **how: Any) -> None:
        """Append rows to a table in one epoch, as Spark does; the JVM writes them."""
        table.refresh()
        job = plan_write(table._location, table._snapshot, "append")
        batches = rows.combine_chunks().to_batches() or [
            pa.RecordBatch.from_pylist([], rows.schema)
        ]
        entries = entries_of(self.answer_job(job, *batches, **how))
        commit_written(job, entries, table._log, table._snapshot)
        table.refresh()

    def error(
        self, url: Path | str, schema: TableSchema, *batches: pa.RecordBatch, **how: Any
    ) -> str:
        """Return the sentence of the error that refuses the rows."""
        answer = self.answer(url, schema, *batches, **how)
        assert "error" in answer, answer
        # The driver may lack the classes of the jar.
        assert answer["class"].startswith(("java.", "org.apache.spark.")), answer
        return str(answer["error"])


def entries_of(answer: Mapping[str, Any]) -> tuple[RowSetEntry, ...]:
    """The entries in a report; fails if the writer answers with an error."""
    assert "entries" in answer, answer
    return decode_report(answer["entries"]).rowsets


def filtered(schema: TableSchema) -> tuple[int, ...]:
    """Every other column that can have Bloom filters."""
    properties = {f"bloom-filter-enabled.column.{name}": "true" for name in schema.names[1::2]}
    return bloom_columns(properties, schema)


def job_of(
    url: Path | str,
    schema: TableSchema,
    key: Sequence[SortField] = (),
    settings: WriteSettings | None = None,
    partitioned_by: Sequence[PartitionField] = (),
    invalid_text: TextPolicy = "refuse",
) -> WriteJob:
    """A planned append to a table of that schema."""
    return WriteJob(
        address=StoreAddress(str(url)),
        target=WriteTarget(
            table=JOB,
            name="t",
            prefix=PREFIX,
            table_schema=schema,
            sort_key=tuple(key),
            partition_layout_id=1 if partitioned_by else 0,
            partition_fields=tuple(partitioned_by),
            bloom_columns=filtered(schema),
            invalid_text=invalid_text,
        ),
        mode="append",
        create=None,
        create_database=False,
        base=0,
        transaction=JOB * 2,
        job_id=JOB,
        settings=settings or WriteSettings(),
        parameters={},
    )


def read(url: Path | str, schema: TableSchema, entries: Sequence[RowSetEntry]) -> pa.RecordBatch:
    """The rows of RowSets as the Python reader sees them."""
    store: ObjectStore = LocalStore(url)
    found = [
        batch
        for entry in entries
        for _, batch in RowSetReader(store, View.written(PREFIX), as_written(entry)).read(
            schema.fields
        )
    ]
    table = pa.Table.from_batches(found, arrow_schema(schema))
    return pa.concat_batches(table.combine_chunks().to_batches() or [table.schema.empty_table()])


def by_python(
    url: Path, schema: TableSchema, *rows: pa.RecordBatch, **options: Any
) -> tuple[RowSetEntry, ...]:
    """Write the rows by the Python writer."""
    chosen = write_options(schema, (), WriteSettings(), filtered(schema))
    chosen = replace(chosen, **options)
    with RowSetWriter(LocalStore(url), PREFIX, JOB, schema, (), chosen) as writer:
        for batch in rows:
            writer.write(batch)
        return writer.close()


def blocks(url: Path, schema: TableSchema, entry: RowSetEntry) -> list[list[BlockEntry]]:
    """Return what the index knows about the blocks of each column, except their stored bytes.

    Arrow counts the bits of a slice in whole bytes of where it comes from, so that even the decoded
    size depends on it.
    """
    segments = ColumnSegments(LocalStore(url), PREFIX, as_written(entry))
    found = []
    for field in schema.fields:
        [opened] = segments.open([column_of(field)])
        assert opened is not None
        found.append(
            [replace(each, length=0, crc32c=0, decoded=0) for each in opened.index.entries]
        )
    return found


def one_column(array: pa.Array) -> tuple[TableSchema, pa.RecordBatch]:
    batch = pa.record_batch([array], ["a"])
    return assign_ids(schema_from_arrow(batch.schema), 1)[0], batch
