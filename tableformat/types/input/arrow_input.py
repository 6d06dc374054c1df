"""Read whatever a user passes to be written as a stream of record batches.

`record_batches` is the only way in. It imports no library: a frame of pandas or Polars can only be
there if its library is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.types.arrow_types import check_fields
from colonnade.tableformat.types.input.python_rows import columns_table, refuse_objects, rows_table
from colonnade.tableformat.types.pandas_index import frame_table, index_columns

GATHERED_ROWS = 65_536
"""The most rows in Python that are gathered into a batch."""


def record_batches(data: Any, known: pa.Schema | None = None) -> Iterator[pa.RecordBatch]:
    """Stream the rows of anything that has rows, as record batches.

    That is an object with an Arrow interface; a frame of pandas or Polars, also a lazy one; a
    dataset or scanner of Arrow; a relation of DuckDB; a list of dicts; a dict of lists; or a list
    or iterator of any of these, which may differ in the order of their columns. In an iterator, a
    dict is one row, unless all its values are lists. Holds a batch of what can be streamed, and at
    most 65,536 rows of an iterator of dicts. `known` are the columns of the table, which say what a
    dict in a map column is.

    Yields at least one batch, so that the caller learns the columns even of empty data. Data
    without rows and columns has the columns `known`. An error that the user's own reader raises
    passes through unchanged. The index of a pandas frame is a column if it has a name, and is left
    out otherwise. Raises InvalidInputError for anything else, for data whose interface fails, and
    for parts with different columns.
    """
    rows = _from_python(data, known)
    if rows is not None:
        return rows
    return _without_index(_open(data), data)


def in_memory(data: Any, known: pa.Schema | None = None) -> Any:
    """Return rows in Python as an Arrow table, so that they can be read twice; else `data` itself.

    Raises InvalidInputError.
    """
    if isinstance(data, dict) and data:
        return columns_table(data, known)
    if isinstance(data, list) and data and all(isinstance(each, dict) for each in data):
        return rows_table(data, known)
    return data


def has_rows(data: Any) -> bool:
    """Return whether `record_batches` can read an object, by its class alone."""
    return (
        isinstance(data, dict | list | Iterator | pa.RecordBatch)
        or any(_is(data, *each) for each in _BY_LIBRARY)
        or hasattr(data, "__arrow_c_stream__")
        or hasattr(data, "__arrow_c_array__")
    )


_FRAME = ("pandas", "DataFrame")
_POLARS_FRAME = ("polars", "DataFrame")
_LAZY_FRAME = ("polars", "LazyFrame")
_DATASET = ("pyarrow.dataset", "Dataset")
_SCANNER = ("pyarrow.dataset", "Scanner")
_RELATION = ("duckdb", "DuckDBPyRelation")
_BY_LIBRARY = (_FRAME, _LAZY_FRAME, _DATASET, _SCANNER, _RELATION)
"""Classes that are read by methods of their own, each by its library and its name."""


def _is(data: Any, library: str, name: str) -> bool:
    """Return whether an object has a class of a library. Does not import the library."""
    found = sys.modules.get(library)
    return found is not None and isinstance(data, getattr(found, name, ()))


def _from_python(data: Any, known: pa.Schema | None) -> Iterator[pa.RecordBatch] | None:
    """Return the rows of containers of Python; None for any other object."""
    if _is(data, *_LAZY_FRAME):
        return _joined(_frames(data), known)
    held = in_memory(data, known)
    if held is not data:
        return _without_index(held.to_reader(), data)
    # A reader of Arrow is an iterator, too.
    if isinstance(data, dict | list) or (isinstance(data, Iterator) and not _has_interface(data)):
        return _joined(iter(data), known)
    return None


def _frames(lazy: Any) -> Iterator[Any]:
    """Yield the rows of a lazy frame of Polars as frames; the first has the columns and no row."""
    yield sys.modules["polars"].DataFrame(schema=lazy.collect_schema())
    if hasattr(lazy, "collect_batches"):
        yield from lazy.collect_batches()
    else:
        yield lazy.collect(engine="streaming")


def _has_interface(data: Any) -> bool:
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


class _Rows(list[dict[str, Any]]):
    """Rows of a stream that came as one dict each."""


def _joined(parts: Iterator[Any], known: pa.Schema | None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of parts one after another, with the columns of the first in their order."""
    names: list[str] | None = None
    for part in _gathered(parts):
        table = rows_table(part, known, names or ()) if isinstance(part, _Rows) else part
        for batch in _part(table, known):
            names = batch.schema.names if names is None else names
            yield batch if batch.schema.names == names else _in_order(batch, names)
    if names is None:
        if known is None:
            raise InvalidInputError(
                "There are no rows, which would say what columns there are; give a schema."
            )
        yield _no_rows(known)


def _part(part: Any, known: pa.Schema | None) -> Iterator[pa.RecordBatch]:
    if not has_rows(part):
        raise InvalidInputError(
            f"The data is a list of {type(part).__name__}; rows are given as dicts by column, as"
            " Arrow data, or as frames."
        )
    return record_batches(part, known)


def _gathered(parts: Iterator[Any]) -> Iterator[Any]:
    """Yield parts; dicts that are rows are yielded many at a time."""
    rows = _Rows()
    for part in parts:
        is_row = isinstance(part, dict) and not _is_columns(part)
        if rows and (not is_row or len(rows) == GATHERED_ROWS):
            yield rows
            rows = _Rows()
        if is_row:
            rows.append(part)
        else:
            yield part
    if rows:
        yield rows


def _is_columns(part: dict[Any, Any]) -> bool:
    """Return whether a dict in a stream has lists of values, and is not one row."""
    return bool(part) and all(
        isinstance(each, list | pa.Array | pa.ChunkedArray) or hasattr(each, "__array__")
        for each in part.values()
    )


def _in_order(batch: pa.RecordBatch, names: list[str]) -> pa.RecordBatch:
    if sorted(batch.schema.names) != sorted(names):
        others = sorted({*batch.schema.names} ^ {*names})
        raise InvalidInputError(
            f"A later part of the data has other columns than its first part: {others[:20]}; give"
            " each part the same columns."
        )
    return batch.select(names)


def _without_index(batches: pa.RecordBatchReader, data: Any) -> Iterator[pa.RecordBatch]:
    left_out = index_columns(batches.schema)
    check_fields(batches.schema)
    batch = _next(batches, data)
    if batch is None:
        batch = _no_rows(batches.schema)
    while batch is not None:
        yield batch.drop_columns(list(left_out)) if left_out else batch
        batch = _next(batches, data)


def _open(data: Any) -> pa.RecordBatchReader:
    try:
        if (reader := _by_library(data)) is not None:
            return reader
        if isinstance(data, pa.RecordBatchReader):
            return data
        if isinstance(data, pa.RecordBatch):
            return pa.RecordBatchReader.from_batches(data.schema, (data,))
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
        " polars or pandas table, a record batch, a reader, a list of dicts, or a dict of lists."
    )


def _by_library(data: Any) -> pa.RecordBatchReader | None:
    """Open what has no Arrow interface, or one that would hold all rows."""
    if _is(data, *_FRAME):
        return frame_table(data).to_reader()
    if _is(data, *_POLARS_FRAME):
        for column in data.get_columns():
            refuse_objects(column.name, column)
    if _is(data, *_DATASET):
        return data.scanner().to_reader()
    if _is(data, *_SCANNER):
        return data.to_reader()
    if _is(data, *_RELATION):
        # The second is the name that the first has in older versions.
        read = getattr(data, "to_arrow_reader", None) or data.fetch_arrow_reader
        return read(GATHERED_ROWS)
    return None


def _next(batches: Iterator[pa.RecordBatch], data: Any) -> pa.RecordBatch | None:
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
