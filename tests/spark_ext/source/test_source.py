"""What a user of `spark.read` and `df.write` gets, and what Arrow sees of it."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import colonnade
from tests.spark_ext.frames import ids, load, save

pytestmark = [pytest.mark.spark, pytest.mark.matrix]


@pytest.mark.spark_compat
def test_any_epoch_and_any_time_can_be_read(
    spark: SparkSession, table: colonnade.ArrowTable
) -> None:
    path = table.path
    assert ids(load(spark, path)) == [0, 1, 2, 3]
    assert ids(load(spark, path, versionAsOf=2)) == ids(load(spark, path, epoch="2")) == [0, 1]
    assert ids(load(spark, path, epoch=1)) == []
    colonnade.open_database(path).tag("early", 2)
    assert ids(load(spark, path, versionAsOf="early")) == [0, 1]
    moment = table.history()[1].timestamp
    assert ids(load(spark, path, timestampAsOf=moment.isoformat())) == [0, 1]
    naive_utc = moment.replace(tzinfo=None)
    assert ids(load(spark, path, timestampAsOf=str(naive_utc))) == [0, 1]


@pytest.mark.matrix
@pytest.mark.spark_compat
def test_a_dataframe_stays_at_its_epoch_in_every_part_of_every_query(
    spark: SparkSession, table: colonnade.ArrowTable
) -> None:
    frame = load(spark, table.path)
    subset = spark.read.format("colonnade").schema("id long").load(table.path)
    assert subset.count() == 4  # Spark makes the source now, since it was told the columns.
    table.append(pa.table({"id": [4], "name": ["e"]}))
    for each in (frame, subset):
        joined = each.alias("a").join(each.alias("b"), "id")
        assert ids(each) == ids(joined) == [0, 1, 2, 3]
        assert each.where("id = 1").union(each.where("id = 2")).count() == 2
    assert ids(load(spark, table.path)) == [0, 1, 2, 3, 4]


@pytest.mark.matrix
@pytest.mark.spark_compat
def test_two_filters_of_one_query_do_not_mix(
    spark: SparkSession, table: colonnade.ArrowTable
) -> None:
    low, high = (load(spark, table.path, where=text) for text in ("id < 1", "id >= 2"))
    assert ids(low.union(high)) == [0, 2, 3]
    assert low.join(high, "id").count() == 0
    whole = load(spark, table.path)
    assert (whole.where("id = 1").count(), whole.count()) == (1, 4)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("name is null or id = 0", [0, 3]),
        pytest.param("name = 'b'", [1], marks=pytest.mark.long),
        pytest.param("not (name = 'a')", [1, 2], marks=pytest.mark.long),
        pytest.param("id in (1, 3, 99)", [1, 3], marks=pytest.mark.long),
        pytest.param("id > 99", [], marks=pytest.mark.long),
    ],
)
def test_where_returns_the_rows_that_spark_would(
    spark: SparkSession, table: colonnade.ArrowTable, where: str, expected: list[int]
) -> None:
    assert ids(load(spark, table.path, where=where)) == expected
    assert ids(load(spark, table.path).where(where)) == expected


@pytest.mark.spark_compat
def test_a_schema_reads_only_its_columns_in_its_order(
    spark: SparkSession, table: colonnade.ArrowTable
) -> None:
    reader = spark.read.format("colonnade").schema("NAME string, id bigint")
    frame = reader.option("where", "id >= 2").load(table.path)
    assert frame.columns == ["NAME", "id"]
    assert sorted(frame.collect(), key=lambda row: row.id) == [("c", 2), (None, 3)]
    only_name = spark.read.format("colonnade").schema("name string").option("where", "id = 1")
    assert only_name.load(table.path).collect() == [("b",)]


def test_columns_that_are_not_asked_for_are_not_opened(spark: SparkSession, tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", pa.schema([("a", pa.int64()), ("b", pa.binary())]))
    noise = np.random.default_rng(1)
    size = 100_000
    table.append(pa.table({"a": range(size), "b": [noise.bytes(64) for _ in range(size)]}))
    [segment] = Path(table.path).glob("*/*/2.col")
    segment.write_bytes(b"")
    frame = spark.read.format("colonnade").schema("a long").load(table.path)
    assert frame.selectExpr("sum(a)").first() == (size * (size - 1) // 2,)


@pytest.mark.long
def test_many_small_rowsets_make_one_task_and_a_large_one_several(
    spark: SparkSession, tmp_path: Path
) -> None:
    small = colonnade.create(tmp_path / "small", pa.schema([("id", pa.int64())]))
    for i in range(200):
        small.append(pa.table({"id": [i]}))
    frame = load(spark, small.path)
    assert frame.rdd.getNumPartitions() == 1
    assert ids(frame) == list(range(200))

    large = colonnade.create(tmp_path / "large", pa.schema([("id", pa.int64())]))
    values = np.random.default_rng(1).integers(-(2**62), 2**62, 2**20)
    large.append(pa.table({"id": values}))
    frame = load(spark, large.path)
    assert 2 <= frame.rdd.getNumPartitions() <= 8
    assert frame.selectExpr("count(*)", "bit_xor(id)").first() == (
        2**20,
        np.bitwise_xor.reduce(values),
    )


@pytest.mark.long
def test_an_empty_table_costs_one_task(spark: SparkSession, table: colonnade.ArrowTable) -> None:
    frame = load(spark, table.path, epoch=1)
    assert frame.rdd.getNumPartitions() == 1
    assert frame.collect() == []


def test_the_first_write_creates_the_table_in_the_epoch_of_its_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    save(spark.range(3), tmp_path / "t", userMetadata="first")
    [entry] = colonnade.open(tmp_path / "t").history()
    assert (entry.epoch, entry.rows_added) == (1, 3)
    assert entry.parameters == {"mode": "Append", "userMetadata": "first"}
    save(spark.sql("SELECT CAST(NULL AS BIGINT) AS id"), tmp_path / "t")
    assert load(spark, tmp_path / "t").count() == 4


def test_metadata_of_columns_is_stored_and_read(spark: SparkSession, tmp_path: Path) -> None:
    metadata = {"unit": "«km»", "list": [1.0, 2.5], "more": {"metadata": True}}
    inner = F.col("id").alias("x", metadata=metadata)
    columns = [F.col("id").alias("id", metadata=metadata), F.struct(inner).alias("s")]
    save(spark.range(3).select(columns), tmp_path / "t")
    save(spark.range(1).selectExpr("id", "struct(id AS x) AS s"), tmp_path / "t")
    schema = load(spark, tmp_path / "t").schema
    inside = schema.jsonValue()["fields"][1]["type"]["fields"][0]
    assert schema["id"].metadata == inside["metadata"] == metadata
    assert schema["s"].metadata == {}


def test_a_path_below_a_database_is_a_table_of_it(spark: SparkSession, tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    save(spark.range(3), tmp_path / "db" / "one")
    save(spark.range(2), tmp_path / "db" / "two", mode="overwrite")
    assert database.tables() == ["one", "two"]
    assert database._snapshot.epoch == 2
    assert ids(load(spark, tmp_path / "db" / "two")) == [0, 1]


def test_an_overwrite_replaces_the_rows_and_keeps_the_columns(
    spark: SparkSession, table: colonnade.ArrowTable
) -> None:
    save(spark.sql("SELECT 'x' AS name, 7L AS ID"), table.path, mode="overwrite")
    assert load(spark, table.path).collect() == [(7, "x")]
    assert ids(load(spark, table.path, epoch=3)) == [0, 1, 2, 3]
    table.refresh()
    assert table.schema.names == ["id", "name"]
    assert not table.schema.field("id").nullable


def test_columns_are_matched_by_name_whatever_their_order(
    spark: SparkSession, tmp_path: Path
) -> None:
    save(spark.sql("SELECT 1L AS a, 2L AS b, named_struct('x', 3, 'y', 4) AS s"), tmp_path / "t")
    save(spark.sql("SELECT named_struct('y', 8, 'x', 7) AS S, 6L AS B, 5L AS a"), tmp_path / "t")
    assert load(spark, tmp_path / "t").where("a = 5").first() == (5, 6, (7, 8))


def test_an_empty_append_makes_no_epoch_but_creates_and_an_empty_overwrite_empties(
    spark: SparkSession, tmp_path: Path
) -> None:
    nothing = spark.range(0)
    save(nothing, tmp_path / "t")
    assert load(spark, tmp_path / "t").columns == ["id"]
    save(nothing, tmp_path / "t")
    save(spark.range(1), tmp_path / "t")
    save(nothing, tmp_path / "t", mode="overwrite")
    assert [e.epoch for e in colonnade.open(tmp_path / "t").history()] == [3, 2, 1]
    assert load(spark, tmp_path / "t").count() == 0


@pytest.mark.long
def test_a_write_is_cut_into_rowsets_by_rows(spark: SparkSession, tmp_path: Path) -> None:
    save(spark.range(100).coalesce(1), tmp_path / "t", maxRecordsPerFile=30)
    [entry] = colonnade.open(tmp_path / "t").history()
    assert (entry.rowsets_added, entry.rows_added) == (4, 100)


@pytest.mark.long
def test_each_task_sorts_its_rows_by_the_sort_key(spark: SparkSession, tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", pa.schema([("id", pa.int64())]), sort_key=["id desc"])
    save(spark.range(1000).coalesce(1), table.path)
    table.refresh()
    assert table.scan().to_arrow()["id"].to_pylist() == list(range(999, -1, -1))


@pytest.mark.spark_compat
def test_text_that_is_not_valid_utf8_is_replaced_where_the_table_says_so(
    spark: SparkSession, tmp_path: Path
) -> None:
    schema = pa.schema([("s", pa.string()), ("a", pa.list_(pa.string()))])
    table = colonnade.create(tmp_path / "t", schema, properties={"invalid-text": "replace"})
    bad = "CAST(unhex('61f09f9861') AS STRING)"
    save(spark.sql(f"SELECT {bad} s, array({bad}, 'ok') a"), table.path, mode="append")
    wanted = {"s": "a\ufffda", "a": ["a\ufffda", "ok"]}
    assert colonnade.open(table.path).scan().to_arrow().to_pylist() == [wanted]


@pytest.mark.spark_compat
def test_rows_with_some_of_the_columns_merge_by_the_primary_key(
    spark: SparkSession, tmp_path: Path
) -> None:
    columns = pa.schema(
        [("id", pa.int64()), pa.field("must", pa.string(), nullable=False), ("n", pa.int64())]
    )
    table = colonnade.create(
        tmp_path / "t", columns, primary_key=["id"], properties={"merge.n": "add"}
    )
    table.append(pa.table([[1, 2], ["a", "b"], [10, 20]], columns))
    rows = spark.sql("SELECT * FROM VALUES (5L, 2L) AS s(n, id)")
    writer = rows.write.format("colonnade").mode("append").option("onDuplicate", "merge")
    writer.save(table.path)
    table.refresh()
    assert table.get([1, 2]).to_pydict()["n"] == [10, 25]


def test_rows_of_one_write_get_a_time_to_live(spark: SparkSession, tmp_path: Path) -> None:
    columns = pa.schema([("id", pa.int64()), ("ends", pa.timestamp("us", "UTC"))])
    table = colonnade.create(tmp_path / "t", columns, properties={"ttl.expires": "ends"})
    own = "IF(id = 1, TIMESTAMP'2200-01-01', CAST(NULL AS TIMESTAMP)) AS ends"
    frame = spark.range(0, 3, 1, 2).selectExpr("id", own)
    save(frame, table.path, ttl="1 hour")
    table.refresh()
    later = datetime.now(timezone.utc) + timedelta(hours=2)
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == [0, 1, 2]
    assert table.scan(seen_at=later).to_arrow()["id"].to_pylist() == [1]
    with pytest.raises(Exception, match="Option ttl must be a time"):
        save(frame, table.path, ttl="soon")
