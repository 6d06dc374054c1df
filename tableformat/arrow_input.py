"""What a user hands over to be written, as record batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from manifests.errors import InvalidInputError


def record_batches(data: Any) -> Iterator[pa.RecordBatch]:
    """Stream the rows of any Arrow-speaking object.

    An error of a reader's own source comes through as it is. Raises InvalidInputError for an
    object that offers no Arrow interface, or whose interface fails.
    """
    if isinstance(data, pa.RecordBatch):
        yield data
        return
    batches = _open(data)
    while (batch := _next(batches, data)) is not None:
        yield batch


def _open(data: Any) -> Iterator[pa.RecordBatch]:
    batches: Iterator[pa.RecordBatch]
    try:
        if isinstance(data, pa.RecordBatchReader):
            batches = data
            return batches
        if hasattr(data, "__arrow_c_stream__"):
            batches = pa.RecordBatchReader.from_stream(data)
            return batches
        if hasattr(data, "__arrow_c_array__"):
            return iter((pa.record_batch(data),))
    except (pa.ArrowException, OSError, TypeError, ValueError) as error:
        raise _unreadable(data, error) from error
    raise InvalidInputError(
        f"An object of type {type(data).__name__} offers no Arrow interface; pass a pyarrow,"
        " polars or pandas table, a record batch, or a reader."
    )


def _next(batches: Iterator[pa.RecordBatch], data: Any) -> pa.RecordBatch | None:
    try:
        return next(batches, None)
    except pa.ArrowException as error:
        raise _unreadable(data, error) from error


def _unreadable(data: Any, error: Exception) -> InvalidInputError:
    # pyarrow explains over several lines and arguments what fits into one sentence.
    reason = ", ".join(str(part) for part in error.args).partition("\n")[0].rstrip(". ")
    return InvalidInputError(
        f"The {type(data).__name__} to be written cannot be read as a table: {reason}."
    )
