"""The data source `colonnade` for Spark's Python API: `spark.read` and `df.write`.

`__init__` fixes a read to one epoch. Spark calls it once for each DataFrame, but calls `reader()`
for each part of a query that uses the DataFrame. All queries of a DataFrame therefore read the same
epoch; `load()` again to see newer rows. Spark creates the source at `load()`, or at the first
action if `.schema(...)` declared the columns.

On Spark Connect a DataFrame is only a description, which the server resolves again for each action.
There the option `epoch` keeps a DataFrame at its epoch; `Table.toDF()` always sets it.

The source has no `pushFilters`, because Spark would apply the filter of one use of a DataFrame to
its other uses as well. Users skip data with the option `where`, and columns with `.schema(...)`.
"""

from __future__ import annotations

from collections.abc import MutableMapping

from pyspark.sql import types as spark
from pyspark.sql.datasource import DataSource, DataSourceStreamWriter

from colonnade.manifests.errors import ColonnadeError
from colonnade.spark_ext.errors import one_sentence
from colonnade.spark_ext.options.read import parse_read_options
from colonnade.spark_ext.options.write import parse_write_options, refuse_evolving
from colonnade.spark_ext.pyspark_types import refuse_uncarried, to_spark
from colonnade.spark_ext.source.reader import ADVICE, ColonnadeReader, PinnedRead, pin_read
from colonnade.spark_ext.source.streams import RefusedStreamReader, refuse_stream_writer
from colonnade.spark_ext.source.writer import ColonnadeWriter, plan_python_write


class ColonnadeDataSource(DataSource):
    """Reads one epoch of a table, and appends to or overwrites a table."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._outcome: PinnedRead | ColonnadeError
        try:
            self._outcome = pin_read(parse_read_options(options))
        except ColonnadeError as error:
            # Spark does not say yet whether this is a read; a write may create the table.
            self._outcome = error

    @classmethod
    def name(cls) -> str:
        """The name for `spark.read.format` and `df.write.format`."""
        return "colonnade"

    def schema(self) -> spark.StructType:
        """Return all columns of the table at the epoch that is read."""
        with one_sentence():
            read = self._pinned()
            refuse_uncarried(read.table_schema, ADVICE)
            return to_spark(read.table_schema)

    def reader(self, schema: spark.StructType) -> ColonnadeReader:
        """Return a reader of the columns in `schema`, which are checked against the table."""
        with one_sentence():
            return ColonnadeReader(self._pinned(), schema)

    def writer(self, schema: spark.StructType, overwrite: bool) -> ColonnadeWriter:
        """Return a writer of rows with the columns `schema`, which are checked before any write."""
        with one_sentence():
            options = parse_write_options(self.options)
            refuse_evolving(options)
            return ColonnadeWriter(plan_python_write(options, schema, overwrite))

    def streamReader(self, schema: spark.StructType) -> RefusedStreamReader:
        """Return a reader that refuses; an error raised here would not reach the user."""
        return RefusedStreamReader()

    def streamWriter(self, schema: spark.StructType, overwrite: bool) -> DataSourceStreamWriter:
        """Refuse to write a stream. Raises an error that Spark shows as one sentence."""
        with one_sentence():
            refuse_stream_writer()

    def _pinned(self) -> PinnedRead:
        if isinstance(self._outcome, ColonnadeError):
            raise self._outcome
        return self._outcome
