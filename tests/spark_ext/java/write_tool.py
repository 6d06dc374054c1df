"""Writes rows through the task writer in a JVM without Spark, and as the Python writer would."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa

from manifests.entries import RowSetEntry, SortField
from manifests.schema import TableSchema
from manifests.store import LocalStore, ObjectStore
from spark_ext.types import to_spark
from tableformat.arrow_types import arrow_schema
from tableformat.rowset_reader import RowSetReader
from tableformat.write_job import Target, WriteJob, decode_entries
from tableformat.write_settings import WriteSettings

JOB = "0123456789abcdef"
PREFIX = "t/"


class WriteTool:
    """One JVM that writes what it is told to; as a context manager it ends with the block."""

    def __init__(self, class_path: str, folder: Path, before: Sequence[str] = ()) -> None:
        """`before` is a command that runs the JVM, as `nice` would."""
        source = Path(__file__).with_name("WriteRows.java")
        compile_it = ["javac", "--release", "17", "-cp", class_path, "-d", str(folder), str(source)]
        subprocess.run(compile_it, check=True, capture_output=True, text=True)
        command = [*before, "java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:-UsePerfData"]
        command += ["--add-opens=java.base/java.nio=ALL-UNNAMED"]
        command += ["-cp", f"{folder}{os.pathsep}{class_path}", "colonnade.write.WriteRows"]
        environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
        self._rows = folder / "rows.arrow"
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self.pid = self._process.pid

    def __enter__(self) -> WriteTool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()

    def answer(
        self,
        url: Path | str,
        schema: TableSchema,
        *batches: pa.RecordBatch,
        key: Sequence[SortField] = (),
        settings: WriteSettings | None = None,
        row_schema: str | None = None,
        **request: Any,
    ) -> dict[str, Any]:
        """What the writer makes of some rows: its report, or an error."""
        with pa.OSFile(str(self._rows), "wb") as sink:
            # The schema without labels, since batches may have others than the table.
            first = pa.schema([field.remove_metadata() for field in batches[0].schema])
            with pa.ipc.new_stream(sink, first) as writer:
                for batch in batches:
                    writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=first))
        request |= {
            "job": job_of(url, schema, key, settings).model_dump_json(),
            "schema": row_schema or to_spark(schema).json(),
            "arrow": str(self._rows),
        }
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the JVM did not survive"
        return dict(json.loads(line))

    def write(
        self, url: Path | str, schema: TableSchema, *batches: pa.RecordBatch, **how: Any
    ) -> tuple[RowSetEntry, ...]:
        """The entries of rows that must be written without an error."""
        answer = self.answer(url, schema, *batches, **how)
        assert "entries" in answer, answer
        return decode_entries(answer["entries"].encode())

    def error(
        self, url: Path | str, schema: TableSchema, *batches: pa.RecordBatch, **how: Any
    ) -> str:
        """The sentence with which rows are refused."""
        answer = self.answer(url, schema, *batches, **how)
        assert "error" in answer, answer
        # The driver may lack the classes of the jar.
        assert answer["class"].startswith("java."), answer
        return str(answer["error"])


def job_of(
    url: Path | str,
    schema: TableSchema,
    key: Sequence[SortField] = (),
    settings: WriteSettings | None = None,
) -> WriteJob:
    """A planned append to a table of that schema."""
    return WriteJob(
        url=str(url),
        target=Target(table=JOB, name="t", prefix=PREFIX, table_schema=schema, sort_key=tuple(key)),
        mode="append",
        create=None,
        create_database=False,
        base=0,
        transaction=JOB * 2,
        job=JOB,
        settings=settings or WriteSettings(),
        parameters={},
    )


def read(url: Path | str, schema: TableSchema, entries: Sequence[RowSetEntry]) -> pa.RecordBatch:
    """The rows of RowSets as the Python reader sees them."""
    store: ObjectStore = LocalStore(url)
    found = [
        batch
        for entry in entries
        for _, batch in RowSetReader(store, PREFIX, entry).read(schema.fields)
    ]
    table = pa.Table.from_batches(found, arrow_schema(schema))
    return pa.concat_batches(table.combine_chunks().to_batches() or [table.schema.empty_table()])
