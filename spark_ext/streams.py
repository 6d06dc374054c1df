"""Streams, which the source in pure Python refuses in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.errors import one_sentence


class RefusedStreamReader(DataSourceStreamReader):
    """Refuses at its first call: an error before that Spark would hide behind one of its own."""

    def initialOffset(self) -> NoReturn:
        """Refuse. Raises InvalidInputError."""
        with one_sentence():
            raise InvalidInputError(
                "Colonnade tables are not read as streams: read the table by spark.read, and newer"
                " rows by an epoch or a condition."
            )

    def latestOffset(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse, as `initialOffset` does; the first call of pyspark 4.1."""
        self.initialOffset()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> NoReturn:
        """Refuse, as `initialOffset` does."""
        self.initialOffset()

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        """Refuse, as `initialOffset` does."""
        self.initialOffset()


def refuse_stream_writer() -> NoReturn:
    """Refuse `writeStream`. Raises InvalidInputError."""
    raise InvalidInputError(
        "Colonnade tables are not written by writeStream.toTable or start; write each batch in"
        " foreachBatch, with the options txnAppId and txnVersion."
    )
