"""A Spark driver that waits to be killed, for test_killed.py: `python victim.py MOMENT ROWS PATH`.

It writes ids from 0 up to ROWS to the table at PATH in two tasks, and stands still for ever

    writing    in one task, which has sent all its rows but not their end
    before     in the committing process, before it puts the epoch
    after      there, after the epoch was put and before Spark learns of it

In the last two cases it then says so by the file `PATH.halted`.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import SparkSession
from pyspark.sql import types as spark_types
from pyspark.sql.datasource import WriterCommitMessage

from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.store import LocalStore, PutOutcome
from colonnade.spark_ext.options.write import parse_write_options
from colonnade.spark_ext.source.source import ColonnadeDataSource
from colonnade.spark_ext.source.writer import ColonnadeWriter, plan_python_write


class HaltingWriter(ColonnadeWriter):
    """Commits as its parent does, but stops before or after the PUT of the epoch."""

    moment: str
    marker: Path

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        put = LocalStore.put_if_absent
        moment, marker = self.moment, self.marker

        def halting_put(store: LocalStore, name: str, data: bytes) -> PutOutcome:
            if name == epoch_name(0):
                return put(store, name, data)
            if moment == "after":
                assert put(store, name, data) is PutOutcome.CREATED
            marker.touch()
            while True:
                signal.pause()

        LocalStore.put_if_absent = halting_put  # type: ignore[assignment, method-assign]
        super().commit(messages)


class HaltingSource(ColonnadeDataSource):
    """Colonnade's own source with that writer."""

    @classmethod
    def name(cls) -> str:
        return "halting"

    def writer(self, schema: spark_types.StructType, overwrite: bool) -> HaltingWriter:
        options = dict(self.options)
        moment = options.pop("moment")
        write = parse_write_options(options)
        writer = HaltingWriter(plan_python_write(write, schema, overwrite))
        writer.moment, writer.marker = moment, Path(f"{write.path}.halted")
        return writer


def never_end(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """All rows, but no end of them in the first task."""
    yield from batches
    while TaskContext.get().partitionId() == 0:  # type: ignore[union-attr]
        signal.pause()


def main(moment: str, count: int, path: str) -> None:
    """Overwrite while writing, otherwise append."""
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.memory", "1g").getOrCreate()
    rows = spark.range(0, count, 1, 2)
    if moment == "writing":
        rows = rows.mapInArrow(never_end, "id long").selectExpr("id", "rand() AS noise")
        rows.write.format("colonnade").mode("overwrite").save(path)
    else:
        spark.dataSource.register(HaltingSource)
        write = rows.selectExpr("id", "rand() AS noise").write.format("halting")
        write.option("moment", moment).mode("append").save(path)
    raise AssertionError("the driver was to be killed")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3])
