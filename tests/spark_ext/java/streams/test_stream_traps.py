"""What streams of other formats do wrong in Spark. Each trap has a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import colonnade
from tests.spark_ext.java.queries.streams import HAS_CHANGES
from tests.spark_ext.java.spark_shell import SparkShell
from tests.spark_ext.java.streams.sink_road import Stream, changes_of, rows_of

pytestmark = [pytest.mark.spark, pytest.mark.spark_compat]
COLLECT = """
def collect(frame, checkpoint):
    found = []
    def take(batch, number):
        found.extend(list(row) for row in batch.collect())
    writer = frame.writeStream.foreachBatch(take).option('checkpointLocation', checkpoint)
    writer.trigger(availableNow=True).start().awaitTermination()
    return found
"""


@pytest.fixture
def spark(spark_shell: SparkShell) -> SparkShell:
    spark_shell.run(f"exec({COLLECT!r}, globals())")
    return spark_shell


@pytest.mark.skipif(not HAS_CHANGES, reason="Spark 4.1 has no CHANGES")
def test_a_stream_of_changes_in_sql_has_its_bounds_and_options(
    spark: SparkShell, tmp_path: Path
) -> None:
    table = colonnade.create(tmp_path / "t", {"id": "long", "s": "string"})
    table.append([{"id": 1, "s": "x"}])
    first = table.epoch

    def kinds(clauses: str, checkpoint: str) -> list[list[Any]]:
        text = f"SELECT id, s, _change_type FROM STREAM colonnade.`{tmp_path / 't'}` CHANGES"
        path = str(tmp_path / checkpoint)
        found: list[list[Any]] = spark.run(f"collect(spark.sql({f'{text} {clauses}'!r}), {path!r})")
        return sorted(found)

    assert kinds("", "a") == [[1, "x", "insert"]]
    table.update({"s": "'y'"}, "id = 1")
    table.delete("id = 1")
    changes = [[1, "x", "delete"], [1, "y", "delete"], [1, "y", "insert"]]
    assert kinds("", "a") == changes
    images = [[1, "x", "update_preimage"], [1, "y", "delete"], [1, "y", "update_postimage"]]
    clauses = f"FROM VERSION {first + 1} WITH (computeUpdates = 'true')"
    assert kinds(clauses, "b") == images


def test_a_batch_without_rows_that_ends_windows_moves_no_offset(
    spark: SparkShell, tmp_path: Path
) -> None:
    """A restart after such a batch reads no row again, and leaves none out."""
    table = colonnade.create(tmp_path / "t", {"id": "long"})
    window = ".withWatermark('at', '10 seconds').groupBy(F.window('at', '5 seconds')).count()"
    frame = (
        f"spark.readStream.format('colonnade').load({str(tmp_path / 't')!r})"
        f".selectExpr('timestamp_seconds(id) AS at'){window}"
        ".selectExpr('unix_seconds(window.start)', 'count')"
    )
    found = []
    for ids in ([100], [104, 123], [140], [200]):
        table.append([{"id": number} for number in ids])
        found.append(spark.run(f"collect({frame}, {str(tmp_path / 'c')!r})"))
    assert found == [[], [[100, 2]], [[120, 1]], [[140, 1]]]


def test_a_stream_that_appends_never_overwrites(spark: SparkShell, tmp_path: Path) -> None:
    """Though the table can be overwritten by a filter, and the session overwrites partitions."""
    table = colonnade.create(tmp_path / "t", {"id": "long", "k": "string"}, partition_by=["k"])
    table.append([{"id": -1, "k": "a"}])
    spark.sql("SET spark.sql.sources.partitionOverwriteMode = dynamic")
    try:
        Stream(spark, tmp_path, tmp_path / "t").run([{"id": 1, "k": "a"}], [{"id": 2, "k": "a"}])
    finally:
        spark.sql("RESET spark.sql.sources.partitionOverwriteMode")
    table = colonnade.open(tmp_path / "t")
    assert [row["id"] for row in rows_of(table)] == [-1, 1, 2]
    assert changes_of(table)[-3:] == ["append"] * 3


UPSERT = """
def upsert(rows, number):
    table = colonnade.Table.forPath(rows.sparkSession, PATH)
    table.upsert(rows, {"txnAppId": "counts", "txnVersion": number})
"""


def test_for_each_batch_upserts_once_with_options_that_name_the_batch(
    spark: SparkShell, tmp_path: Path
) -> None:
    path = str(tmp_path / "t")
    spark.sql(
        f"CREATE TABLE colonnade.`{path}` (k STRING PRIMARY KEY, id BIGINT)"
        " TBLPROPERTIES ('merge.id' = 'add')"
    )
    spark.run(f"exec({UPSERT.replace('PATH', repr(path))!r}, globals())")
    stream = Stream(spark, tmp_path, "/")
    stream.give([{"id": 1, "k": "a"}], [{"id": 2, "k": "a"}, {"id": 5, "k": "b"}])
    code = stream.code().replace(".format('colonnade')", ".foreachBatch(upsert)")
    code = code.replace(".start('/')", ".start()")
    for _ in range(2):
        spark.run(code)
        assert spark.sql(f"SELECT k, id FROM colonnade.`{path}` ORDER BY k") == [["a", 3], ["b", 5]]
        stream.forget(1)


@pytest.mark.parametrize(
    ("trigger", "sentence"),
    [
        ("continuous='1 second'", "does not support continuous processing"),
        pytest.param(
            "realTime='5 seconds'",
            "not supported in Real-time Mode",
            marks=pytest.mark.skipif(not HAS_CHANGES, reason="Spark 4.1 has no such trigger"),
        ),
    ],
)
def test_a_trigger_without_batches_is_refused(
    spark: SparkShell, tmp_path: Path, trigger: str, sentence: str
) -> None:
    colonnade.create(tmp_path / "t", {"id": "long"})
    text = spark.refused_run(
        f"spark.readStream.format('colonnade').load({str(tmp_path / 't')!r}).writeStream"
        f".format('console').outputMode('update').trigger({trigger})"
        f".option('checkpointLocation', {str(tmp_path / 'c')!r}).start().awaitTermination(60)"
    )
    assert sentence in text
