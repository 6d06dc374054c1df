"""Reads and writes that go wrong: one sentence each, and nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.sql import SparkSession

import colonnade
from colonnade.manifests.model.schema import SchemaField, TableSchema
from tests.spark_ext.frames import ids, load, save

pytestmark = pytest.mark.spark


@pytest.mark.matrix
@pytest.mark.spark_compat
def test_a_task_that_fails_once_writes_its_rows_once(
    spark: SparkSession, table: colonnade.ArrowTable
) -> None:
    def fail_first(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches
        if TaskContext.get().attemptNumber() == 0:  # type: ignore[union-attr]
            raise OSError("the first attempt fails after its last row")

    rows = spark.range(10, 30).repartition(2).mapInArrow(fail_first, "id long")
    save(rows.selectExpr("id", "'x' AS name"), table.path)
    assert ids(load(spark, table.path)) == [0, 1, 2, 3, *range(10, 30)]
    assert [entry.rows_added for entry in table.history(1)] == [20]


def test_a_job_that_fails_leaves_nothing_and_the_next_one_works(
    spark: SparkSession, table: colonnade.ArrowTable
) -> None:
    def fail(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from batches
        if TaskContext.get().partitionId() == 1:  # type: ignore[union-attr]
            raise OSError("this share cannot be made")

    rows = spark.range(10, 30).repartition(2).mapInArrow(fail, "id long")
    with pytest.raises(Exception, match="this share cannot be made"):
        save(rows.selectExpr("id", "'x' AS name"), table.path, mode="overwrite")
    assert ids(load(spark, table.path)) == [0, 1, 2, 3]
    save(spark.sql("SELECT 4L AS id, 'e' AS name"), table.path)
    assert ids(load(spark, table.path)) == [0, 1, 2, 3, 4]


def test_an_overwrite_that_lost_to_another_writer_says_so_and_deletes_no_file(
    spark: SparkSession, table: colonnade.ArrowTable, error_of: Any
) -> None:
    path = table.path

    def overtaken(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        colonnade.open(path).append(pa.table({"id": [99], "name": ["theirs"]}))
        yield from batches

    rows = spark.range(30_000).coalesce(1).mapInArrow(overtaken, "id long")
    before = objects(path)
    sentence = error_of(
        lambda: save(rows.selectExpr("id", "uuid() AS name"), path, mode="overwrite")
    )
    assert sentence.startswith("[COLONNADE_CONFLICT] ")
    assert ids(load(spark, path)) == [0, 1, 2, 3, 99]
    assert objects(path) > before


def objects(path: str) -> set[Path]:
    """Everything stored beside the log."""
    return {
        each for each in Path(path).rglob("*") if each.is_file() and "_manifest" not in str(each)
    }


# One of each kind: what else options and predicates refuse is tested beside their code.
BAD_READS: list[tuple[dict[str, str], str, str]] = [
    ({"epoch": "77"}, "NOT_FOUND", "77"),
    ({"wehre": "id = 1"}, "INVALID_INPUT", "did you mean where?"),
]


@pytest.mark.parametrize(("options", "kind", "named"), BAD_READS, ids=lambda v: str(v)[:30])
def test_a_wrong_read_ends_in_one_sentence(
    spark: SparkSession,
    table: colonnade.ArrowTable,
    error_of: Any,
    options: dict[str, str],
    kind: str,
    named: str,
) -> None:
    sentence = error_of(lambda: load(spark, table.path, **options).collect())
    assert kind in sentence
    assert named in sentence


@pytest.mark.parametrize(
    ("schema", "named"),
    [
        ("name string not null", "'name' of table 'trips' at epoch 3 may hold NULL"),
        pytest.param("nope int", "'nope'", marks=pytest.mark.long),
    ],
)
def test_a_schema_that_the_table_has_not_is_refused(
    spark: SparkSession, table: colonnade.ArrowTable, error_of: Any, schema: str, named: str
) -> None:
    reader = spark.read.format("colonnade").schema(schema)
    assert named in error_of(lambda: reader.load(table.path).collect())


BAD_WRITES = [
    ("SELECT 'a' AS name", "lacks 'id'"),
    ("SELECT 1L AS id, 'a' AS name, 2 AS more", "the unknown 'more'"),
    ("SELECT 1 AS id, 'a' AS name", "'id'"),
    ("SELECT CAST(NULL AS BIGINT) AS id, 'a' AS name", "'id' is NOT NULL"),
]


@pytest.mark.parametrize(
    ("mode", "query", "named"),
    [
        ("overwrite", *BAD_WRITES[0]),
        ("append", *BAD_WRITES[-1]),
        *(pytest.param("append", *each, marks=pytest.mark.long) for each in BAD_WRITES[1:-1]),
    ],
    ids=lambda v: v[:40],
)
def test_rows_that_do_not_fit_are_refused_and_nothing_is_lost(
    spark: SparkSession,
    table: colonnade.ArrowTable,
    error_of: Any,
    mode: str,
    query: str,
    named: str,
) -> None:
    sentence = error_of(lambda: save(spark.sql(query), table.path, mode=mode))
    assert sentence.startswith("[COLONNADE_INVALID_INPUT] ")
    assert named in sentence
    assert table.refresh().epoch == 3


@pytest.mark.parametrize(
    ("query", "named"),
    [
        (
            "SELECT array(named_struct('deep', NULL)) AS v",
            "'v.element.deep' is void, and only whole columns can be",
        ),
        pytest.param(
            "SELECT INTERVAL '1' YEAR AS v",
            "'v' has the type interval year",
            marks=pytest.mark.long,
        ),
        pytest.param("SELECT 1 AS _row_handler", "reserved", marks=pytest.mark.long),
    ],
)
def test_an_impossible_table_is_not_created(
    spark: SparkSession, tmp_path: Path, error_of: Any, query: str, named: str
) -> None:
    sentence = error_of(lambda: save(spark.sql(query), tmp_path / "t"))
    assert sentence.startswith("[COLONNADE_INVALID_INPUT] ")
    assert named in sentence
    assert not (tmp_path / "t").exists()


def test_paths_that_are_no_table_are_said_to_be_none(
    spark: SparkSession, tmp_path: Path, table: colonnade.ArrowTable, error_of: Any
) -> None:
    colonnade.create_database(tmp_path / "db")
    assert "'none'" in error_of(lambda: load(spark, tmp_path / "db" / "none").collect())
    assert "is a database" in error_of(lambda: save(spark.range(1), tmp_path / "db"))
    assert "inside" in error_of(lambda: save(spark.range(1), f"{table.path}/below"))


@pytest.mark.long
def test_a_damaged_file_is_named_and_no_row_comes_back(
    spark: SparkSession, tmp_path: Path, error_of: Any
) -> None:
    save(spark.range(30_000).selectExpr("uuid() AS u").coalesce(1), tmp_path / "t")
    victim = max(objects(str(tmp_path / "t")), key=lambda path: path.stat().st_size)
    damaged = bytearray(victim.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    victim.write_bytes(damaged)
    sentence = error_of(lambda: load(spark, tmp_path / "t").selectExpr("max(u)").collect())
    assert sentence.startswith("[COLONNADE_CORRUPTION] ")
    assert victim.name in sentence


def test_a_year_month_interval_is_refused_by_name_and_can_be_left_out(
    spark: SparkSession, tmp_path: Path, error_of: Any
) -> None:
    schema = TableSchema(
        fields=(
            SchemaField(name="id", type="long"),
            SchemaField(name="age", type="interval year to month"),
        )
    )
    table = colonnade.create(tmp_path / "t", schema)
    table.append(pa.table({"id": [1], "age": pa.array([14], pa.int32())}))
    assert "'age'" in error_of(lambda: load(spark, table.path).collect())
    frame = spark.read.format("colonnade").schema("id long").load(table.path)
    assert frame.collect() == [(1,)]


@pytest.mark.matrix
@pytest.mark.spark_compat
@pytest.mark.parametrize("way", ["read", "write"])
def test_a_stream_is_refused_in_one_sentence(
    spark: SparkSession, table: colonnade.ArrowTable, tmp_path: Path, error_of: Any, way: str
) -> None:
    place = str(tmp_path / "checkpoint")
    formats = ("colonnade", "noop") if way == "read" else ("rate", "colonnade")
    source = spark.readStream.format(formats[0])
    rows = source.load(table.path) if way == "read" else source.load()
    writer = rows.writeStream.format(formats[1]).option("checkpointLocation", place)
    query = writer.option("path", table.path).start()
    try:
        text = error_of(query.processAllAvailable)
    finally:
        query.stop()
    assert {"read": "needs the jar", "write": "foreachBatch"}[way] in text


def test_a_table_by_name_says_that_it_needs_the_jar(
    spark: SparkSession, table: colonnade.ArrowTable, error_of: Any
) -> None:
    create = f"CREATE TABLE named USING colonnade OPTIONS (path '{table.path}')"
    assert "needs the jar, which colonnade.enable" in error_of(lambda: spark.sql(create))
    frame = spark.range(1)
    save = frame.write.format("colonnade").saveAsTable
    try:
        assert "needs the jar, which colonnade.enable" in error_of(lambda: save("named"))
        spark.sql("DROP TABLE IF EXISTS named")
        spark.sql("CREATE TABLE named (id BIGINT) USING colonnade")  # Spark asks no source
        text = error_of(lambda: spark.table("named").collect())
        assert "needs the jar, which colonnade.enable" in text
    finally:
        spark.sql("DROP TABLE IF EXISTS named")
