"""Refuse streams, which the source in pure Python does not support, in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.errors import one_sentence


class RefusedStreamReader(DataSourceStreamReader):
    """Refuses at its first call: Spark would replace any earlier error by one of its own."""

    def initialOffset(self) -> NoReturn:
        """Refuse. Raises InvalidInputError."""
        with one_sentence():
            raise InvalidInputError(
                "A stream that reads a Colonnade table needs the jar, which colonnade.enable(spark)"
                " adds to a session."
            )

    def latestOffset(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse, as `initialOffset` does; pyspark 4.1 calls this method first."""
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
        "A stream writes to a Colonnade table in a session with the jar, which"
        " colonnade.enable(spark) adds; without it, write each batch in foreachBatch, with the"
        " options txnAppId and txnVersion."
    )
