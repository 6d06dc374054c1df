"""Read whatever a user passes to be written as a stream of record batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.types.arrow_types import check_field_names
from colonnade.tableformat.types.pandas_index import frame_table, index_columns, is_frame


def record_batches(data: Any) -> Iterator[pa.RecordBatch]:
    """Stream the rows of any object with an Arrow interface, as record batches.

    Yields at least one batch, so that the caller learns the columns even of empty data. An
    error that the user's own reader raises passes through unchanged. The index of a pandas frame
    is a column if it has a name, and is left out otherwise. Raises InvalidInputError for an object
    without an Arrow interface, and for one whose interface fails.
    """
    if isinstance(data, pa.RecordBatch):
        left_out = index_columns(data.schema)
        check_field_names(data.schema)
        yield data.drop_columns(list(left_out)) if left_out else data
        return
    reader = _open(data)
    left_out = index_columns(reader.schema)
    check_field_names(reader.schema)
    batch = _next(reader, data)
    if batch is None:
        batch = _no_rows(reader.schema)
    while batch is not None:
        yield batch.drop_columns(list(left_out)) if left_out else batch
        batch = _next(reader, data)


def _open(data: Any) -> pa.RecordBatchReader:
    try:
        if isinstance(data, pa.RecordBatchReader):
            return data
        if is_frame(data):
            return frame_table(data).to_reader()
        if isinstance(data, pa.Table):
            # The C stream, which every other object goes through, refuses some nested types.
            return data.to_reader()
        if hasattr(data, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(data)
        if hasattr(data, "__arrow_c_array__"):
            batch = pa.record_batch(data)
            return pa.RecordBatchReader.from_batches(batch.schema, (batch,))
    except (pa.ArrowException, OSError, TypeError, ValueError) as error:
        raise _unreadable(data, error) from error
    raise InvalidInputError(
        f"An object of type {type(data).__name__} offers no Arrow interface; pass a pyarrow,"
        " polars or pandas table, a record batch, or a reader."
    )


def _next(batches: pa.RecordBatchReader, data: Any) -> pa.RecordBatch | None:
    try:
        return next(batches, None)
    except pa.ArrowException as error:
        raise _unreadable(data, error) from error


def _no_rows(schema: pa.Schema) -> pa.RecordBatch:
    """Return an empty batch with these columns.

    A column gets the type null where Arrow cannot make an array of its type.
    """
    columns = []
    for field in schema:
        try:
            columns.append(pa.array([], field.type))
        except pa.ArrowException:
            columns.append(pa.nulls(0))
    return pa.RecordBatch.from_arrays(columns, schema.names)


def _unreadable(data: Any, error: Exception) -> InvalidInputError:
    # pyarrow spreads over several lines and arguments what fits into one sentence.
    reason = ", ".join(str(part) for part in error.args).partition("\n")[0].rstrip(". ")
    return InvalidInputError(
        f"The {type(data).__name__} to be written cannot be read as a table: {reason}."
    )
