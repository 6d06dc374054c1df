"""Let Spark find the data source `colonnade` by name.

Spark imports every top-level module called `pyspark_*` when it first meets a format that is not
built in. One import that fails hides the Python data sources of all packages. This module
therefore imports only pyspark's own base classes, and loads the real source at its first use.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from importlib import import_module

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)
from pyspark.sql.types import StructType


class DefaultSource(DataSource):
    """A proxy that loads `ColonnadeDataSource` of `colonnade.spark_ext.source` at its first use."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._source: DataSource = import_module(
            "colonnade.spark_ext.source.source"
        ).ColonnadeDataSource(options)

    @classmethod
    def name(cls) -> str:
        """The name for `spark.read.format` and `df.write.format`."""
        return "colonnade"

    def schema(self) -> StructType | str:
        """The columns of the table."""
        return self._source.schema()

    def reader(self, schema: StructType) -> DataSourceReader:
        """A reader of these columns."""
        return self._source.reader(schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """A writer of rows with these columns."""
        return self._source.writer(schema, overwrite)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """A reader of these columns as a stream."""
        return self._source.streamReader(schema)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        """A writer of a stream of rows with these columns."""
        return self._source.streamWriter(schema, overwrite)
