"""`colonnade.Table` and `colonnade.Database` in a Spark session."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import DecimalType, LongType, StructField, StructType, VarcharType

import colonnade
from colonnade import Database, InvalidInputError, Table
from colonnade.spark_ext import executors
from tests.tableformat.test_html import shown

pytestmark = pytest.mark.spark


def trips(spark: SparkSession, path: Path) -> Table:
    return (
        Table.create(spark)
        .location(str(path))
        .comment("one row a trip")
        .addColumn("id", "bigint", nullable=False, comment="never reused")
        .addColumn("fare", DecimalType(9, 2))
        .addColumns(StructType([StructField("zone", VarcharType(8), True, {"comment": "from"})]))
        .clusterBy("fare desc", "id")
        .property("owner", "me")
        .execute()
    )


@pytest.mark.matrix
@pytest.mark.spark_compat
def test_a_builder_makes_the_table_it_describes(spark: SparkSession, tmp_path: Path) -> None:
    table = trips(spark, tmp_path / "trips")
    state = colonnade.open(tmp_path / "trips")._state
    described = [(f.name, f.type, f.nullable, f.comment) for f in state.schema.fields]
    assert described == [
        ("id", "long", False, "never reused"),
        ("fare", "decimal(9,2)", True, None),
        ("zone", "varchar(8)", True, "from"),
    ]
    assert state.comment == "one row a trip"
    assert dict(state.properties) == {"owner": "me"}
    assert [(key.column, key.descending) for key in state.sort_key] == [(2, True), (1, False)]
    frame = table.toDF()
    assert frame.schema["id"].metadata["comment"] == "never reused"
    assert frame.count() == 0


def test_a_notebook_shows_tables_and_databases_as_it_shows_those_of_python(
    spark: SparkSession, tmp_path: Path
) -> None:
    database = colonnade.Database.create(spark, str(tmp_path / "db"))
    table = database.createTable("trips").addColumn("id", "long").execute()
    spark.range(3).write.format("colonnade").mode("append").save(table.path)
    opened = {
        table: colonnade.open(table.path),
        database: colonnade.open_database(database.path),
    }
    for handle, same in opened.items():
        texts = shown(handle)
        assert texts[0] == repr(handle)
        assert texts[1:] == shown(same)[1:]
        assert {"rows", "3", "RowSets"} <= set(texts)
    assert repr(table) == f"Table({table.path!r})"
    assert repr(database) == f"Database({database.path!r})"
    assert "Nothing is damaged." in shown(table.verify(1))
    database.dropTable("trips")
    assert "error" in shown(table)


@pytest.mark.matrix
@pytest.mark.spark_compat
def test_history_says_what_each_epoch_did(spark: SparkSession, tmp_path: Path) -> None:
    table = trips(spark, tmp_path / "trips")
    rows = spark.sql("SELECT 1L AS id, CAST(2 AS DECIMAL(9,2)) AS fare, 'x' AS zone")
    rows.write.format("colonnade").mode("append").option("userMetadata", "a note").save(table.path)
    rows.write.format("colonnade").mode("overwrite").save(table.path)
    history = table.history().collect()
    assert [(row.version, row.readVersion, row.operation) for row in history] == [
        (3, 2, "WRITE"),
        (2, 1, "WRITE"),
        (1, 0, "CREATE TABLE"),
    ]
    assert [row.userMetadata for row in history] == [None, "a note", None]
    assert history[0].operationParameters == {"mode": "Overwrite"}
    metrics = history[0].operationMetrics
    counted = [metrics[name] for name in ("numFiles", "numRemovedFiles", "numOutputRows")]
    assert counted == ["1", "1", "1"]
    assert isinstance(history[0].timestamp, datetime)
    assert [row.version for row in table.history(1).collect()] == [3]
    again = spark.read.format("colonnade").option("timestampAsOf", "2999-01-01").load(table.path)
    assert again.count() == 1


@pytest.mark.matrix
@pytest.mark.spark_compat
def test_detail_is_one_row_about_the_newest_state_of_the_table(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = trips(spark, tmp_path / "trips")
    through_arrow = colonnade.open(tmp_path / "trips")
    through_arrow.partition_by("bucket(1, id)")
    through_arrow.append(
        pa.table(
            {"id": [1, 2], "fare": pa.array([None, None], pa.decimal128(9, 2)), "zone": ["a", "b"]}
        )
    )
    [row] = table.detail().collect()
    assert (row.format, row.name, row.description) == ("colonnade", "trips", "one row a trip")
    assert (row.location, row.properties) == (str(tmp_path / "trips"), {"owner": "me"})
    assert (row.numFiles, row.numRows, row.epoch) == (1, 2, 3)
    assert row.sizeInBytes > 0
    assert row.createdAt < row.lastModified
    assert row.partitionColumns == ["bucket(1, id)"]
    assert row.clusteringColumns == ["fare", "id"]
    assert row.sortKey == ["fare desc", "id"]


def test_a_table_is_created_once(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "trips"
    assert not Table.isColonnadeTable(spark, str(path))
    trips(spark, path)
    assert Table.isColonnadeTable(spark, str(path))
    with pytest.raises(colonnade.AlreadyExistsError, match="trips"):
        trips(spark, path)
    builder = Table.createIfNotExists(spark).location(str(path)).addColumn("other", "int")
    assert builder.execute().toDF().columns == ["id", "fare", "zone"]


def test_a_builder_refuses_impossible_arguments(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(colonnade.InvalidInputError, match="location"):
        Table.create(spark).addColumn("a", "int").execute()
    where = Table.create(spark).location(str(tmp_path / "t"))
    with pytest.raises(colonnade.InvalidInputError, match="at least one column"):
        where.execute()
    where.addColumn("a", "int").clusterBy("b")
    with pytest.raises(colonnade.NotFoundError, match="'b'"):
        where.execute()
    assert not (tmp_path / "t").exists()
    for begun in (Table.create(spark).tableName("t"), Table.replace(spark).location("t")):
        with pytest.raises(colonnade.InvalidInputError, match="needs Colonnade's jar"):
            begun.addColumn("a", "int").execute()


def test_forpath_names_what_is_missing(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(colonnade.NotFoundError, match="none"):
        Table.forPath(spark, str(tmp_path / "none"))
    with pytest.raises(colonnade.NotFoundError, match="none"):
        Database.forPath(spark, str(tmp_path / "none"))


def test_a_database_creates_lists_and_drops_tables(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "shop")
    database = Database.create(spark, path)
    database.createTable("orders").addColumn("id", LongType(), nullable=False).execute()
    database.createTableIfNotExists("orders").addColumn("id", LongType()).execute()
    spark.range(2).write.format("colonnade").mode("append").save(f"{path}/customers")
    assert database.tables() == ["customers", "orders"]
    assert database.table("customers").toDF().count() == 2
    database.dropTable("customers")
    assert Database.forPath(spark, path).tables() == ["orders"]
    with pytest.raises(colonnade.NotFoundError, match="customers"):
        database.dropTable("customers")
    with pytest.raises(colonnade.AlreadyExistsError):
        Database.create(spark, path)
    assert Database.createIfNotExists(spark, path).tables() == ["orders"]


def test_a_table_is_vacuumed(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    arrow = colonnade.create(path, pa.schema([("id", pa.int64())]))
    for i in range(3):
        arrow.overwrite(pa.table({"id": [i]}))
    table = Table.forPath(spark, str(path))
    [planned] = table.vacuum(0, dryRun=True).collect()
    [done] = table.vacuum(0, force=True).collect()
    assert (planned["epoch"], done["epoch"]) == (None, 5)
    assert planned["path"] == done["path"] == str(path)
    assert planned["epochs_removed"] == done["epochs_removed"] == done["floor"] == 4
    assert table.history().collect()[0]["operation"] == "VACUUM END"
    assert [row["id"] for row in table.toDF().collect()] == [2]


@pytest.mark.parametrize("small", [-1, 2**20])
def test_a_table_is_compacted_by_executors_and_beside_them(
    spark: SparkSession, tmp_path: Path, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "DRIVER_BYTES", small)
    path = tmp_path / "t"
    arrow = colonnade.create(path, pa.schema([("id", pa.int64()), ("n", pa.int64())]))
    for i in range(9):
        arrow.append(pa.table({"id": [i, i + 100], "n": [i, -i]}))
    arrow.delete("id = 3")
    table = Table.forPath(spark, str(path))
    [row] = table.optimize().where("id < 1000").executeCompaction().collect()
    assert row["path"] == str(path)
    metrics = row["metrics"].asDict(recursive=True)
    added, removed = metrics.pop("filesAdded"), metrics.pop("filesRemoved")
    assert added == {"avg": added["totalSize"], "totalFiles": 1, "totalSize": added["totalSize"]}
    assert (removed["totalFiles"], removed["avg"] * 9) == (9, pytest.approx(removed["totalSize"]))
    assert 0 < added["totalSize"] < removed["totalSize"]
    assert metrics | {"seconds": 0} == {
        **{"numFilesAdded": 1, "numFilesRemoved": 9, "numGroups": 1, "numGroupsWaiting": 0},
        **{"numDroppedRows": 1, "numBytesCopied": 0},
        **{"conflicts": [], "seconds": 0, "epoch": 12, "reason": ""},
    }
    assert table.history(1).collect()[0]["operation"] == "OPTIMIZE"
    table.optimize().option("deleted-share", 0).executeZOrderBy("id", "n")
    assert table.toDF().count() == 17


def test_executors_find_the_damage_that_threads_find(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "shop" / "t"
    arrow = colonnade.create_database(tmp_path / "shop").create_table(
        "t", pa.schema([("text", pa.string())])
    )
    for seed in range(3):
        noise = np.random.default_rng(seed).integers(0, 2**62, 5_000)
        arrow.append(pa.table({"text": [str(number) for number in noise]}))
    table, database = (
        Table.forPath(spark, str(path)),
        Database.forPath(spark, str(tmp_path / "shop")),
    )
    assert table.verify(4).is_sound
    damaged = sorted(tmp_path.rglob("*.rowset"))[0]
    data = bytearray(damaged.read_bytes())
    data[len(data) // 3] ^= 1
    damaged.write_bytes(data)
    by_threads = colonnade.verify(path)
    for report in (table.verify(), database.verify()):
        assert report.findings == by_threads.findings
        assert (report.rows, report.bytes) == (15_000, by_threads.bytes)
        assert damaged.name in str(report)


def test_a_report_is_made_as_without_spark(spark: SparkSession, tmp_path: Path) -> None:
    lake = colonnade.create_database(tmp_path / "lake")
    lake.create_table("t", pa.schema([("n", pa.int64())])).append([{"n": 1}])
    page = Table.forPath(spark, str(tmp_path / "lake" / "t")).report()
    assert (page.path, page.epoch, page.tables) == (f"{tmp_path}/lake/t", 2, 1)
    assert Database.forPath(spark, str(tmp_path / "lake")).report(1).epoch == 2


def test_an_error_in_an_executor_is_one_sentence(
    spark: SparkSession,
    tmp_path: Path,
    error_of: Callable[[Callable[[], object]], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(executors, "DRIVER_BYTES", -1)
    path = tmp_path / "t"
    arrow = colonnade.create(path, pa.schema([("text", pa.string())]))
    for seed in range(2):
        noise = np.random.default_rng(seed).integers(0, 2**62, 10_000)
        arrow.append(pa.table({"text": [str(number) for number in noise]}))
    [damaged, _] = sorted(path.glob("*/*.rowset"))
    data = bytearray(damaged.read_bytes())
    data[len(data) // 3] ^= 1
    damaged.write_bytes(data)
    begun = Table.forPath(spark, str(path)).optimize().option("min-rowsets", 2)
    sentence = error_of(begun.executeCompaction)
    assert damaged.name in sentence
    assert "'text'" in sentence
    assert len(list(path.glob("*/*.rowset"))) == 2


@pytest.mark.matrix
@pytest.mark.spark_compat
def test_a_table_and_a_database_go_back_to_a_tag(spark: SparkSession, tmp_path: Path) -> None:
    database = Database.create(spark, str(tmp_path / "shop"))
    orders = database.createTable("orders").addColumn("id", LongType()).execute()
    two = database.tag("two", colonnade.open(orders.path).append(pa.table({"id": [1, 2]})))
    three = colonnade.open(orders.path).append(pa.table({"id": [3]}))
    database.pin("reader", 60)
    assert (database.tags(), list(database.pins())) == ({"two": two}, ["reader"])
    [row] = orders.restoreToVersion("two").collect()
    assert (row.num_removed_files, row.num_restored_files, row.restored) == (1, 0, two)
    assert orders.toDF().count() == 2
    assert [row.operation for row in orders.history(1).collect()] == ["RESTORE"]
    orders.restoreToVersion(three)
    assert orders.toDF().count() == 3
    [row] = database.restoreToVersion("two").collect()
    [detail] = orders.detail().collect()
    assert (row.table_size_after_restore, row.epoch) == (detail.sizeInBytes, detail.epoch)
    with pytest.raises(InvalidInputError, match=r"colonnade\.enable\(spark\)"):
        database.transaction()
    moment = colonnade.open(orders.path).history()[-1].timestamp
    database.restoreToTimestamp(moment)
    assert orders.toDF().count() == 0
    orders.restoreToVersion("two")
    orders.restoreToTimestamp(moment)
    assert orders.toDF().count() == 0
    database.untag("two")
    database.unpin("reader")
    assert (database.tags(), database.pins()) == ({}, {})


@pytest.mark.spark_compat
def test_the_text_of_a_time_is_read_in_the_zone_of_the_session(
    spark: SparkSession, tmp_path: Path
) -> None:
    database = Database.create(spark, str(tmp_path / "shop"))
    orders = database.createTable("orders").addColumn("id", LongType()).execute()
    colonnade.open(orders.path).append(pa.table({"id": [1]}))
    created = colonnade.open(orders.path).history()[-1].timestamp + timedelta(milliseconds=1)
    zone, before = timezone(timedelta(hours=9)), str(spark.conf.get("spark.sql.session.timeZone"))
    local = created.astimezone(zone).replace(tzinfo=None)
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        for restored in (orders, database):
            for text in (str(local), f"{created:%Y-%m-%d %H:%M:%S.%f}+00:00"):
                orders.restoreToVersion(2)
                assert orders.toDF().count() == 1
                restored.restoreToTimestamp(text)
                assert orders.toDF().count() == 0
        with pytest.raises(InvalidInputError, match="is not a time; write it like"):
            orders.restoreToTimestamp("yesterday evening")
        with pytest.raises(InvalidInputError, match="has no time zone"):
            orders.restoreToTimestamp(local)
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def test_rows_are_not_changed_without_the_jar(spark: SparkSession, tmp_path: Path) -> None:
    table = trips(spark, tmp_path / "trips")
    source = spark.range(3).alias("s")
    merge = table.alias("t").merge(source, "t.id = s.id").whenMatchedDelete()
    changes: list[Callable[[], object]] = [
        lambda: table.delete("id = 1"),
        lambda: table.update(set={"id": "1"}),
        merge.execute,
    ]
    for change in changes:
        with pytest.raises(InvalidInputError, match=r"call colonnade\.enable\(spark\)"):
            change()
    assert table.history().count() == 1
