"""Write files that appear under their names only when they are complete."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Literal

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from colonnade.cli.output import to_json
from colonnade.cli.rows.python_rows import python_rows
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.own_files import replacing

ExportFormat = Literal["parquet", "csv", "jsonl"]

_FIRST_DAY, _LAST_DAY = np.datetime64("0001-01-01"), np.datetime64("9999-12-31")

_GROUP_ROWS = 1_048_576
_GROUP_BYTES = 128 * 2**20
"""A row group of a Parquet file ends when it reaches either number."""


def write_file(
    path: Path, file_format: ExportFormat, schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> None:
    """Write rows to a file, which replaces any file at `path` once it is complete.

    Holds about one row group in memory. Raises InvalidInputError for a column that the format
    cannot hold, StoreError if the file cannot be written.
    """
    with replacing(path) as file:
        write_rows(file, file_format, schema, batches)


def write_rows(
    file: IO[bytes],
    file_format: ExportFormat,
    schema: pa.Schema,
    batches: Iterable[pa.RecordBatch],
) -> None:
    """Write rows to an open file. Holds and raises as `write_file`, except for StoreError."""
    try:
        _WRITERS[file_format](file, schema, batches)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowTypeError) as error:
        reason = str(error).partition("\n")[0].rstrip(". ")
        raise InvalidInputError(
            f"The rows do not fit into a {file_format} file: {reason}; leave such columns out, by"
            " --columns or in the query."
        ) from error


def _write_parquet(file: IO[bytes], schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for group in _groups(batches):
            writer.write_table(pa.Table.from_batches(group, schema), row_group_size=_GROUP_ROWS)


def _write_csv(file: IO[bytes], schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    with pa_csv.CSVWriter(file, schema) as writer:
        for batch in batches:
            _check_years(batch)
            writer.write_batch(batch)


def _write_jsonl(file: IO[bytes], schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> None:
    for batch in batches:
        file.writelines(to_json(row, indent=False) + b"\n" for row in python_rows(batch))


_WRITERS = {"parquet": _write_parquet, "csv": _write_csv, "jsonl": _write_jsonl}


def _check_years(batch: pa.RecordBatch) -> None:
    """Raise InvalidInputError for years without four digits: Arrow writes some of them wrong."""
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if pa.types.is_date(field.type) or pa.types.is_timestamp(field.type):
            days = column.to_numpy(zero_copy_only=False).astype("datetime64[D]")
            if np.any((days < _FIRST_DAY) | (days > _LAST_DAY)):
                raise InvalidInputError(
                    f"Column {field.name!r} has times outside of the years 1 to 9999, which do not"
                    " fit into a csv file; leave the column out, by --columns or in the query."
                )


def _groups(batches: Iterable[pa.RecordBatch]) -> Iterator[list[pa.RecordBatch]]:
    """Group batches until each group is large enough for a row group."""
    group: list[pa.RecordBatch] = []
    rows = size = 0
    for batch in batches:
        group.append(batch)
        rows += batch.num_rows
        size += batch.nbytes
        if rows >= _GROUP_ROWS or size >= _GROUP_BYTES:
            yield group
            group, rows, size = [], 0, 0
    if group:
        yield group
