"""The data source `colonnade` for Spark's Python API: `spark.read` and `df.write`.

A read is fixed to one epoch in `__init__`, which Spark calls once for each DataFrame, while it
calls `reader()` for each part of a query that uses the DataFrame. So all parts of a query, and all
later queries of the DataFrame, read the same epoch; `load()` again to see newer rows. Spark makes
the source at `load()`, or at the first action if it was told the columns by `.schema(...)`.

On Spark Connect a DataFrame is but a description, which the server resolves anew for each action.
There the option `epoch` keeps a DataFrame at its epoch; `Table.toDF()` gives it, everywhere.

There is no `pushFilters`: Spark would hand the filter of one use of a DataFrame to its other uses
as well. The option `where` is this source's way to skip data, `.schema(...)` the way to read few
columns.
"""

from __future__ import annotations

from collections.abc import MutableMapping

from pyspark.sql import types as spark
from pyspark.sql.datasource import DataSource, DataSourceStreamWriter

from colonnade.manifests.errors import ColonnadeError
from colonnade.spark_ext.errors import one_sentence
from colonnade.spark_ext.options import parse_read_options, parse_write_options
from colonnade.spark_ext.pyspark_types import refuse_uncarried, to_spark
from colonnade.spark_ext.reader import ADVICE, ColonnadeReader, PinnedRead, pin_read
from colonnade.spark_ext.streams import RefusedStreamReader, refuse_stream_writer
from colonnade.spark_ext.writer import ColonnadeWriter, plan_python_write


class ColonnadeDataSource(DataSource):
    """Reads one epoch of a table, and appends to or overwrites a table."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._outcome: PinnedRead | ColonnadeError
        try:
            self._outcome = pin_read(parse_read_options(options))
        except ColonnadeError as error:
            # Spark does not say yet whether this is a read; for a write it is no error.
            self._outcome = error

    @classmethod
    def name(cls) -> str:
        """The name for `spark.read.format` and `df.write.format`."""
        return "colonnade"

    def schema(self) -> spark.StructType:
        """All columns of the table at the epoch that is read."""
        with one_sentence():
            read = self._pinned()
            refuse_uncarried(read.table_schema, ADVICE)
            return to_spark(read.table_schema)

    def reader(self, schema: spark.StructType) -> ColonnadeReader:
        """A reader of the columns in `schema`, checked against the table."""
        with one_sentence():
            return ColonnadeReader(self._pinned(), schema)

    def writer(self, schema: spark.StructType, overwrite: bool) -> ColonnadeWriter:
        """A writer of rows with these columns, checked against the table before any is written."""
        with one_sentence():
            options = parse_write_options(self.options)
            return ColonnadeWriter(plan_python_write(options, schema, overwrite))

    def streamReader(self, schema: spark.StructType) -> RefusedStreamReader:
        """A reader that refuses: only Spark knows by now that this is a stream."""
        return RefusedStreamReader()

    def streamWriter(self, schema: spark.StructType, overwrite: bool) -> DataSourceStreamWriter:
        """Refuse. Raises what Spark shows as one sentence."""
        with one_sentence():
            refuse_stream_writer()

    def _pinned(self) -> PinnedRead:
        if isinstance(self._outcome, ColonnadeError):
            raise self._outcome
        return self._outcome
