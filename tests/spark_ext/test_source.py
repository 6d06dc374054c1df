"""What a user of `spark.read` and `df.write` gets, and what Arrow sees of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

import colonnade
from manifests.schema import ArrayType, MapType, SchemaField, StructType, TableSchema
from spark_ext.types import MAX_TIME_DIGITS
from tests.strategies import PRIMITIVES, identical, make_batch

pytestmark = pytest.mark.spark

UNCARRIED = ("interval year", "interval month", "char(", "time(9)")
"""Year-month intervals are refused, char(n) comes back padded, time(9) is newer than Spark 4.2."""


def load(spark: SparkSession, path: Path | str, **options: Any) -> DataFrame:
    return spark.read.format("colonnade").options(**options).load(str(path))


def save(frame: DataFrame, path: Path | str, mode: str = "append", **options: Any) -> None:
    frame.write.format("colonnade").mode(mode).options(**options).save(str(path))


def ids(frame: DataFrame) -> list[int]:
    return sorted(row.id for row in frame.select("id").collect())


@pytest.fixture
def table(tmp_path: Path) -> colonnade.ArrowTable:
    """Ids 0, 1 in epoch 2 and 2, 3 in epoch 3; epoch 1 made the empty table."""
    made = colonnade.create(
        tmp_path / "trips",
        pa.schema([pa.field("id", pa.int64(), nullable=False), pa.field("name", pa.string())]),
    )
    made.append(pa.table({"id": [0, 1], "name": ["a", "b"]}))
    made.append(pa.table({"id": [2, 3], "name": ["c", None]}))
    return made


# ---- types ------------------------------------------------------------------------------------


def every_type() -> TableSchema:
    names = [text for text in PRIMITIVES if not text.startswith(UNCARRIED)]
    plain = [SchemaField(id=i, name=f"c{i}", type=text) for i, text in enumerate(names, 1)]
    start = len(names) + 1
    nested = (
        SchemaField(id=start, name="c", type="varchar(5)"),
        SchemaField(
            id=start + 1,
            name="list",
            type=ArrayType(
                element=SchemaField(id=start + 2, name="element", type="decimal(38,10)")
            ),
        ),
        SchemaField(
            id=start + 3,
            name="pairs",
            type=MapType(
                key=SchemaField(id=start + 4, name="key", type="string", nullable=False),
                value=SchemaField(
                    id=start + 5,
                    name="value",
                    type=StructType(
                        fields=(
                            SchemaField(id=start + 6, name="x y", type="variant"),
                            SchemaField(id=start + 7, name="d", type="double", nullable=False),
                        )
                    ),
                ),
            ),
        ),
    )
    return TableSchema(fields=(*plain, *nested))


@pytest.mark.spark_compat
def test_every_type_goes_through_spark_and_back_to_the_bit(
    spark: SparkSession, tmp_path: Path
) -> None:
    schema = every_type()
    before = colonnade.create(tmp_path / "before", schema)
    for seed in range(4):
        before.append(make_batch(schema, 50, seed))
    after = colonnade.create(tmp_path / "after", schema)
    save(load(spark, before.path).coalesce(1), after.path)
    rows = [table.scan().to_arrow().combine_chunks() for table in (before, after)]
    one, two = (table.to_batches()[0] for table in rows)
    for name in one.schema.names:
        assert identical(one.column(name), two.column(name)), name


@pytest.mark.spark_compat
def test_values_that_spark_made_are_the_values_that_spark_reads(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = spark.sql("""
        SELECT * FROM VALUES
        (1, 1.5D, -0.0D, 'ä', X'00ff', DATE'0001-01-01', TIMESTAMP'1969-12-31 23:59:59.999999',
         TIMESTAMP_NTZ'9999-12-31 23:59:59', INTERVAL '-1' SECOND, map('k', array(1, NULL))),
        (2, double('NaN'), double('-Infinity'), '', X'', DATE'9999-12-31',
         TIMESTAMP'2026-03-29 02:30:00', NULL, INTERVAL '9' SECOND, map()),
        (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
        AS t(id, d, z, s, b, day, ts, ntz, took, m)""")
    save(rows, tmp_path / "t")
    again = load(spark, tmp_path / "t")
    assert again.dtypes == rows.dtypes
    assert sorted(map(repr, again.collect())) == sorted(map(repr, rows.collect()))


@pytest.mark.spark_compat
@pytest.mark.parametrize("digits", [7, 9])
def test_a_time_finer_than_microseconds_is_carried_or_refused_by_name(
    spark: SparkSession, tmp_path: Path, error_of: Any, digits: int
) -> None:
    times = SchemaField(name="at", type=f"time({digits})")
    schema = TableSchema(fields=(SchemaField(name="id", type="long"), times))
    table = colonnade.create(tmp_path / "t", schema)
    rows = pa.table({"id": [1], "at": pa.array([86_399_999_999_900], pa.time64("ns"))})
    table.append(rows)
    if digits > MAX_TIME_DIGITS:
        sentence = error_of(lambda: load(spark, table.path).collect())
        assert f"Column 'at' has the type time({digits})" in sentence
        frame = spark.read.format("colonnade").schema("id long").load(table.path)
        assert frame.collect() == [(1,)]
    else:
        save(load(spark, table.path), table.path)
        both = table.scan(["at"]).to_arrow()["at"].cast(pa.int64())
        assert both.to_pylist() == [86_399_999_999_900] * 2


def test_a_char_column_pads_and_compares_as_spark_does(spark: SparkSession, tmp_path: Path) -> None:
    schema = TableSchema(fields=(SchemaField(name="c", type="char(3)"),))
    colonnade.create(tmp_path / "t", schema)
    save(spark.sql("SELECT 'ab' AS c"), tmp_path / "t")
    frame = load(spark, tmp_path / "t")
    assert frame.where("c = 'ab'").count() == frame.where("c = 'ab '").count() == 1
    assert frame.first() == ("ab ",)


# ---- reading ----------------------------------------------------------------------------------


@pytest.mark.spark_compat
def test_any_epoch_and_any_time_can_be_read(
    spark: SparkSession, table: colonnade.ArrowTable
) -> None:
    path = table.path
    assert ids(load(spark, path)) == [0, 1, 2, 3]
    assert ids(load(spark, path, versionAsOf=2)) == ids(load(spark, path, epoch="2")) == [0, 1]
    assert ids(load(spark, path, epoch=1)) == []
    moment = table.history()[1].timestamp
    assert ids(load(spark, path, timestampAsOf=moment.isoformat())) == [0, 1]
    naive_utc = moment.replace(tzinfo=None)
    assert ids(load(spark, path, timestampAsOf=str(naive_utc))) == [0, 1]


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
        ("name = 'b'", [1]),
        ("name is null or id = 0", [0, 3]),
        ("not (name = 'a')", [1, 2]),
        ("id in (1, 3, 99)", [1, 3]),
        ("id > 99", []),
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
    [segment] = Path(table.path).glob("*/2.col")
    segment.write_bytes(b"")
    frame = spark.read.format("colonnade").schema("a long").load(table.path)
    assert frame.selectExpr("sum(a)").first() == (size * (size - 1) // 2,)


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


def test_an_empty_table_costs_one_task(spark: SparkSession, table: colonnade.ArrowTable) -> None:
    frame = load(spark, table.path, epoch=1)
    assert frame.rdd.getNumPartitions() == 1
    assert frame.collect() == []


# ---- writing ----------------------------------------------------------------------------------


@pytest.mark.spark_compat
def test_the_first_write_creates_the_table_in_the_epoch_of_its_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    save(spark.range(3), tmp_path / "t", userMetadata="first")
    [entry] = colonnade.open(tmp_path / "t").history()
    assert (entry.epoch, entry.rows_added) == (1, 3)
    assert entry.parameters == {"mode": "Append", "userMetadata": "first"}
    save(spark.sql("SELECT CAST(NULL AS BIGINT) AS id"), tmp_path / "t")
    assert load(spark, tmp_path / "t").count() == 4


@pytest.mark.spark_compat
def test_a_path_below_a_database_is_a_table_of_it(spark: SparkSession, tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    save(spark.range(3), tmp_path / "db" / "one")
    save(spark.range(2), tmp_path / "db" / "two", mode="overwrite")
    assert database.tables() == ["one", "two"]
    assert database.snapshot.epoch == 2
    assert ids(load(spark, tmp_path / "db" / "two")) == [0, 1]


@pytest.mark.spark_compat
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


def test_a_write_is_cut_into_rowsets_by_rows(spark: SparkSession, tmp_path: Path) -> None:
    save(spark.range(100).coalesce(1), tmp_path / "t", maxRecordsPerFile=30)
    [entry] = colonnade.open(tmp_path / "t").history()
    assert (entry.rowsets_added, entry.rows_added) == (4, 100)


def test_each_task_sorts_its_rows_by_the_sort_key(spark: SparkSession, tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", pa.schema([("id", pa.int64())]), sort_key=["id desc"])
    save(spark.range(1000).coalesce(1), table.path)
    table.refresh()
    assert table.scan().to_arrow()["id"].to_pylist() == list(range(999, -1, -1))


# ---- what goes wrong --------------------------------------------------------------------------


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


@pytest.mark.spark_compat
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


@pytest.mark.spark_compat
def test_an_overwrite_that_lost_to_another_writer_says_so_and_deletes_no_file(
    spark: SparkSession, table: colonnade.ArrowTable, error_of: Any
) -> None:
    path = table.path

    def overtaken(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        colonnade.open(path).append(pa.table({"id": [99], "name": ["theirs"]}))
        yield from batches

    rows = spark.range(300_000).coalesce(1).mapInArrow(overtaken, "id long")
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


BAD_READS: list[tuple[dict[str, str], str, str]] = [
    ({"epoch": "77"}, "NOT_FOUND", "77"),
    ({"timestampAsOf": "1999-01-01"}, "NOT_FOUND", "1999"),
    ({"epoch": "1", "timestampAsOf": "2026-01-01"}, "INVALID_INPUT", "epoch and timestampAsOf"),
    ({"versionAsOf": "1", "epoch": "1"}, "INVALID_INPUT", "versionAsOf and epoch"),
    ({"wehre": "id = 1"}, "INVALID_INPUT", "did you mean where?"),
    ({"where": "nope = 1"}, "INVALID_INPUT", "nope"),
    ({"where": "id ="}, "INVALID_INPUT", "id ="),
    ({"where": "name > 1"}, "INVALID_INPUT", "name"),
]


@pytest.mark.spark_compat
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
        ("nope int", "'nope'"),
        ("id int", "'id' of table 'trips' at epoch 3 has the type long, not int"),
        ("name string not null", "'name' of table 'trips' at epoch 3 may hold NULL"),
    ],
)
def test_a_schema_that_the_table_has_not_is_refused(
    spark: SparkSession, table: colonnade.ArrowTable, error_of: Any, schema: str, named: str
) -> None:
    reader = spark.read.format("colonnade").schema(schema)
    assert named in error_of(lambda: reader.load(table.path).collect())


BAD_WRITES = [
    ("SELECT 1L AS id", "lacks 'name'"),
    ("SELECT 1L AS id, 'a' AS name, 2 AS more", "the unknown 'more'"),
    ("SELECT 1 AS id, 'a' AS name", "'id'"),
    ("SELECT 1L AS id, 'a' AS name, 2L AS ID", "more than once"),
    ("SELECT CAST(NULL AS BIGINT) AS id, 'a' AS name", "'id' is NOT NULL"),
]


@pytest.mark.spark_compat
@pytest.mark.parametrize("mode", ["append", "overwrite"])
@pytest.mark.parametrize(("query", "named"), BAD_WRITES, ids=lambda v: v[:40])
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
        ("SELECT NULL AS v", "'v' has the Spark type void"),
        (
            "SELECT array(named_struct('deep', NULL)) AS v",
            "'v.element.deep' has the Spark type void",
        ),
        ("SELECT INTERVAL '1' YEAR AS v", "'v' has the type interval year"),
        ("SELECT 1 AS v, 2 AS V", "same name"),
        ("SELECT 1 AS _epoch", "reserved"),
    ],
)
def test_a_table_that_cannot_be_is_not_created(
    spark: SparkSession, tmp_path: Path, error_of: Any, query: str, named: str
) -> None:
    sentence = error_of(lambda: save(spark.sql(query), tmp_path / "t"))
    assert sentence.startswith("[COLONNADE_INVALID_INPUT] ")
    assert named in sentence
    assert not (tmp_path / "t").exists()


@pytest.mark.spark_compat
def test_paths_that_are_no_table_are_said_to_be_none(
    spark: SparkSession, tmp_path: Path, table: colonnade.ArrowTable, error_of: Any
) -> None:
    colonnade.create_database(tmp_path / "db")
    assert "[COLONNADE_NOT_FOUND]" in error_of(lambda: load(spark, tmp_path / "none").collect())
    assert "'none'" in error_of(lambda: load(spark, tmp_path / "db" / "none").collect())
    assert "is a database" in error_of(lambda: load(spark, tmp_path / "db").collect())
    assert "is a database" in error_of(lambda: save(spark.range(1), tmp_path / "db"))
    assert "inside" in error_of(lambda: save(spark.range(1), f"{table.path}/below"))


@pytest.mark.spark_compat
def test_a_damaged_file_is_named_and_no_row_comes_back(
    spark: SparkSession, tmp_path: Path, error_of: Any
) -> None:
    save(spark.range(300_000).selectExpr("uuid() AS u").coalesce(1), tmp_path / "t")
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
