"""Write the readable values of lost rows to a Parquet file, for people to examine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress

import pyarrow as pa
import pyarrow.parquet as pq

from colonnade.manifests.errors import AlreadyExistsError, StoreError
from colonnade.manifests.own_files import new_file_beside
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.tableformat.repair.reading import ReadableStretch
from colonnade.tableformat.types.arrow_types import arrow_schema

_BESIDE = pa.schema(
    [
        pa.field("_rowset", pa.int64()),
        pa.field("_row", pa.int64()),
        pa.field("_lost_columns", pa.list_(pa.string())),
        pa.field("_certain", pa.bool_()),
    ]
)
"""Columns in addition to the table's.

They say where a row was, which of its columns cannot be read, and whether it is certain that the
row was live. A name that the table already has gets more underscores.
"""


class Rescue:
    """Writes a file beside `path`, which becomes `path` when `keep` is called.

    It never replaces a file. Its name before that is random, so that no link of that name exists.

    As a context manager, it removes a file that was not kept.
    """

    def __init__(self, path: str | os.PathLike[str], table: TableState) -> None:
        self.path = os.path.abspath(path)
        if os.path.lexists(self.path):
            raise AlreadyExistsError(f"{self.path} exists already; name another file.")
        columns = [field.with_nullable(True) for field in arrow_schema(table.schema)]
        self._schema = pa.schema([*columns, *_beside(table.schema.names)])
        self._fields = table.schema.fields
        try:
            handle, self._part = new_file_beside(self.path)
        except OSError as error:
            raise StoreError(f"{self.path} could not be written: {error.strerror}.") from error
        self._file = os.fdopen(handle, "wb")
        self._writer = pq.ParquetWriter(self._file, self._schema, compression="zstd")

    def write(self, rowset: LiveRowSet, stretch: ReadableStretch) -> None:
        """Add the rows of a stretch. Raises StoreError."""
        count = len(stretch.rows)
        lost = [field.name for field in stretch.lost]
        columns = [
            stretch.arrays.get(field.id, pa.nulls(count, wanted.type))
            for field, wanted in zip(self._fields, self._schema, strict=False)
        ]
        columns += [
            pa.array([rowset.id] * count, pa.int64()),
            pa.array(stretch.rows, pa.int64()),
            pa.array([lost] * count, pa.list_(pa.string())),
            pa.array([stretch.certain] * count),
        ]
        try:
            self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))
        except OSError as error:
            raise StoreError(f"{self.path} could not be written: {error}.") from error

    def keep(self) -> None:
        """Complete the file and give it its final name. Raises StoreError."""
        try:
            self._writer.close()
            self._file.flush()
            os.fsync(self._file.fileno())
            os.link(self._part, self.path)
        except OSError as error:
            raise StoreError(f"{self.path} could not be written: {error}.") from error

    def give_up(self) -> None:
        """Remove the kept file again, because no row was lost after all."""
        with suppress(OSError):
            os.unlink(self.path)

    def __enter__(self) -> Rescue:
        return self

    def __exit__(self, *error: object) -> None:
        # `keep` has reported what failed. Without it, nothing of the file is wanted.
        with suppress(OSError), self._file:
            self._writer.close()
        os.unlink(self._part)


def _beside(names: Iterable[str]) -> Iterator[pa.Field]:
    """Yield the additional columns, with names that no column of the table has, ignoring case."""
    taken = {name.casefold() for name in names}
    for field in _BESIDE:
        name = field.name
        while name in taken:
            name = f"_{name}"
        taken.add(name)
        yield field.with_name(name)
