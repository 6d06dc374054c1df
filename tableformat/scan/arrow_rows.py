"""Rows that are read when they are asked for, in the forms that libraries of Python take."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.later import later

if TYPE_CHECKING:
    from colonnade.tableformat.engines import polars_frame as frames
else:
    frames = later("colonnade.tableformat.engines.polars_frame")


class ArrowRows(ABC):
    """Rows with Arrow columns. Each call of a method reads them again."""

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """The Arrow schema of the rows."""

    @abstractmethod
    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Iterate over the rows as record batches, in bounded memory."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """Read all rows into memory."""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterate over the rows as dicts by column, holding about one block of every column.

        Raises InvalidInputError that names the column for a value outside of Python's range.
        """
        for batch in self.to_batches():
            yield from python_rows(batch)

    def to_reader(self) -> pa.RecordBatchReader:
        """Stream the rows, holding about as much as `to_batches`."""
        return pa.RecordBatchReader.from_batches(self.schema, self.to_batches())

    def to_pandas(self, **options: Any) -> Any:
        """Read all rows into a pandas frame; `options` go to `pyarrow.Table.to_pandas`."""
        return self.to_arrow().to_pandas(**options)

    def to_polars(self) -> Any:
        """Read all rows into a Polars frame. Raises ImportError if Polars is not installed."""
        return frames.frame_of(self.to_arrow())

    def to_pylist(self) -> list[dict[str, Any]]:
        """Read all rows into memory as dicts by column.

        Raises InvalidInputError that names the column for a value outside of Python's range.
        """
        return [row for batch in self.to_arrow().to_batches() for row in python_rows(batch)]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the rows to any library that supports the Arrow C stream interface."""
        return self.to_reader().__arrow_c_stream__(requested_schema)


def python_rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    """Return rows as dicts by column.

    Raises InvalidInputError that names the column for a value outside of Python's range.
    """
    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            columns.append(column.to_pylist())
        except (OverflowError, ValueError) as error:
            raise InvalidInputError(
                f"Column {name!r} has a value that Python cannot hold ({error}); read the rows into"
                " Arrow by to_arrow, or by get with a list of keys, or leave out the column."
            ) from error
    if not columns:
        return [{} for _ in range(batch.num_rows)]
    return [dict(zip(batch.schema.names, row, strict=True)) for row in zip(*columns, strict=True)]
