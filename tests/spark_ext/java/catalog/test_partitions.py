"""Partitioned tables in Spark: how they are created, written, joined, overwritten and changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.partition_layout import field_text
from colonnade.manifests.store import open_store
from tests.spark_ext.java.kept import KeptDatabase
from tests.spark_ext.java.spark_shell import SparkShell

TABLE = "colonnade.db.t"
COLUMNS = "(id BIGINT, region STRING, at TIMESTAMP)"
ROWS = (
    "SELECT id, nullif(concat('r', id % 3), 'r2') AS region,"
    " timestamp_seconds(id * 40000 - 200000) AS at FROM range(24)"
)
LAYOUT = "days(at), bucket(4, id), region"
FRAME = f'spark.sql("{ROWS}")'


@pytest.fixture(scope="module")
def database(spark_shell: SparkShell) -> Iterator[KeptDatabase]:
    kept = KeptDatabase(spark_shell, "db")
    spark_shell.sql("SET spark.sql.autoBroadcastJoinThreshold = -1")
    spark_shell.sql("SET spark.sql.shuffle.partitions = 3")
    yield kept
    spark_shell.sql("SET spark.sql.shuffle.partitions = 1")
    spark_shell.sql("RESET spark.sql.autoBroadcastJoinThreshold")
    kept.drop()


@pytest.fixture
def spark(database: KeptDatabase) -> SparkShell:
    """With an empty database `db`, and no join that would do without an exchange anyway."""
    return database.ready()


def table(spark: SparkShell, name: str = "t") -> colonnade.ArrowTable:
    return colonnade.open(spark.folder / "warehouse" / "db" / name)


def layout(spark: SparkShell, name: str = "t") -> str:
    state = table(spark, name)._state
    return ", ".join(field_text(each, state.schema) for each in state.partition_fields)


def partitions(spark: SparkShell, name: str = "t") -> list[tuple[str | None, ...]]:
    """The partition of every live RowSet."""
    found = table(spark, name)
    rowsets = Log(open_store(str(spark.folder / "warehouse" / "db"))).rowsets.read(found._state)
    return [tuple(rowset.entry.partition or ()) for rowset in rowsets]


def create(spark: SparkShell, layout: str = LAYOUT, name: str = "t") -> None:
    """A table of ROWS; `layout` may be empty."""
    by = f"PARTITIONED BY ({layout})" if layout else ""
    spark.sql(f"CREATE TABLE colonnade.db.{name} {by} AS {ROWS}")


def test_a_table_is_partitioned_as_described(spark: SparkShell) -> None:
    fields = "region, years(at), bucket(16, id), truncate(2, region)"
    spark.sql(f"CREATE TABLE {TABLE} {COLUMNS} PARTITIONED BY ({fields})")
    assert layout(spark) == fields
    described = {row[0]: row[1] for row in spark.sql(f"DESCRIBE TABLE EXTENDED {TABLE}")}
    assert "years(at)" in described.values()
    text = spark.sql(f"SHOW CREATE TABLE {TABLE}")[0][0]
    spark.sql(f"DROP TABLE {TABLE}")
    spark.sql(text)
    # Spark writes buckets as a clause of their own, after all other fields.
    assert sorted(layout(spark).split(", ")) == sorted(fields.split(", "))


ONE_NUMBER = "takes one column and at most one whole number"


@pytest.mark.parametrize(
    ("clause", "sentence"),
    [
        ("PARTITIONED BY (shuffle(id))", "Transform 'shuffle' of column 'id' is unknown"),
        ("PARTITIONED BY (days(id))", "Column 'id' of type long cannot be partitioned by days"),
        ("PARTITIONED BY (bucket(4, id, region))", ONE_NUMBER),
        ("CLUSTERED BY (id, region) INTO 4 BUCKETS", ONE_NUMBER),
        ("PARTITIONED BY (truncate(2.5, region))", ONE_NUMBER),
        ("PARTITIONED BY (truncate('2', region))", ONE_NUMBER),
        ("CLUSTERED BY (id) SORTED BY (nope) INTO 4 BUCKETS", "nope"),
        ("PARTITIONED BY (bucket(0, id))", "from 1 to 2147483647, not 0"),
    ],
)
def test_an_invalid_layout_is_refused(spark: SparkShell, clause: str, sentence: str) -> None:
    assert sentence in spark.refusal(f"CREATE TABLE {TABLE} {COLUMNS} {clause}")


def test_data_frames_create_partitioned_tables(spark: SparkShell) -> None:
    by = "F.partitioning.days('at'), F.partitioning.bucket(4, 'id')"
    spark.run(f"{FRAME}.writeTo('{TABLE}').partitionedBy({by}).create()")
    assert layout(spark) == "days(at), bucket(4, id)"
    spark.run(f"{FRAME}.write.partitionBy('region').bucketBy(4, 'id').saveAsTable('{TABLE}2')")
    assert layout(spark, "t2") == "region, bucket(4, id)"
    path = f"{spark.folder}/warehouse/db/t3"
    save = f"{FRAME}.write.format('colonnade'){{}}.save({path!r})"
    spark.run(save.format(".mode('append').partitionBy('region')"))
    assert layout(spark, "t3") == "region"
    option = ".mode('append').option('partitionBy', 'region, bucket(4, id)')"
    spark.run(save.replace("t3", "t35").format(option))
    assert layout(spark, "t35") == "region, bucket(4, id)"
    spark.run(f"{FRAME}.write.partitionBy('region').format('colonnade').save({path + '4'!r})")
    spark.run(save.replace("t3", "t34").format(".mode('append').partitionBy('region')"))
    assert len(partitions(spark, "t34")) == 6
    assert layout(spark, "t34") == "region"


def test_rows_are_parted_and_brought_together(spark: SparkShell) -> None:
    create(spark)
    found = partitions(spark)
    assert len(found) == len(set(found)) > 20
    spark.sql(f"INSERT INTO {TABLE} {ROWS}")
    again = partitions(spark)
    assert len(again) == 2 * len(found)
    assert set(again) == set(found)
    assert spark.sql(f"SELECT sum(rows), count(*) FROM {TABLE}.partitions") == [[48, len(found)]]


PREDICATES = (
    "id = 7",
    "id IN (3, 23, 61, 103)",
    "region = 'r1' AND id > 20",
    "region IS NULL",
    "at >= timestamp'1970-01-05 00:00:00'",
    "at < timestamp'1969-12-31 12:00:00' OR id = 20",
    "NOT (region = 'r0')",
)


def test_every_reader_finds_the_rows_of_every_writer(spark: SparkShell) -> None:
    """Partitioned and not, written by Spark and by Python, read by Spark and by Python."""
    for name, by in (("t", LAYOUT), ("plain", "")):
        create(spark, by, name)
        rows = table(spark, "t").scan(where="id < 24").to_arrow()
        moved = rows.set_column(0, "id", pa.array([n + 100 for n in rows["id"].to_pylist()]))
        table(spark, name).append(moved.cast(rows.schema))
    assert len(set(partitions(spark))) > 20
    for predicate in PREDICATES:
        found = [
            spark.sql(f"SELECT id FROM colonnade.db.{name} WHERE {predicate} ORDER BY id")
            for name in ("t", "plain")
        ]
        assert found[0] == found[1]
        assert found[0], predicate
    for predicate in ("id IN (3, 23, 103)", "region IS NULL", "region = 'r1' AND id > 20"):
        read = [
            sorted(table(spark, name).scan(where=predicate).to_arrow()["id"].to_pylist())
            for name in ("t", "plain")
        ]
        expected = spark.sql(f"SELECT id FROM {TABLE} WHERE {predicate} ORDER BY id")
        assert read == [[row[0] for row in expected]] * 2


def plan(spark: SparkShell, query: str) -> str:
    text: str = spark.sql(f"EXPLAIN {query}")[0][0]
    return text


def test_partitions_are_shown(spark: SparkShell) -> None:
    create(spark, "region, days(at), bucket(4, id)")
    shown = [row[0] for row in spark.sql(f"SHOW PARTITIONS {TABLE}")]
    assert len(shown) == len(partitions(spark))
    ((bucket,),) = spark.sql("SELECT colonnade.system.bucket(4, 22)")
    assert f"region=r1/at_day=1970-01-08/id_bucket={bucket}" in shown
    some = spark.sql(f"SHOW PARTITIONS {TABLE} PARTITION (region = 'r1')")
    assert [row[0] for row in some] == [each for each in shown if each.startswith("region=r1/")]
    one = f"region = 'r1', at_day = '1970-01-08', id_bucket = {bucket}"
    refused = spark.refusal(f"ALTER TABLE {TABLE} DROP PARTITION ({one})")
    assert "added and removed with its rows" in refused


@pytest.mark.spark_compat
def test_tables_that_are_bucketed_alike_are_joined_without_an_exchange(spark: SparkShell) -> None:
    for name, by in (("t", "bucket(4, id)"), ("u", "bucket(4, id)"), ("v", "bucket(5, id)")):
        create(spark, by, name)
    for other, exchanges in (("u", 0), ("v", 2)):
        query = f"SELECT a.id, b.at FROM {TABLE} a JOIN colonnade.db.{other} b ON a.id = b.id"
        assert plan(spark, query).count("Exchange hashpartitioning") == exchanges
        assert len(spark.sql(query)) == 24
    group = f"SELECT id, count(*) FROM {TABLE} GROUP BY id"
    assert "Exchange" not in plan(spark, group)
    assert len(spark.sql(group)) == 24
    # A table that had another layout before still has RowSets of that layout.
    spark.sql("CALL colonnade.system.set_partitioning('db.u', 'bucket(5, id)')")
    spark.sql(f"INSERT INTO colonnade.db.u {ROWS}")
    query = f"SELECT a.id, b.at FROM {TABLE} a JOIN colonnade.db.u b ON a.id = b.id"
    assert "Exchange hashpartitioning" in plan(spark, query)
    assert len(spark.sql(query)) == 48


def test_a_join_of_partitions_can_still_leave_some_out_while_it_runs(spark: SparkShell) -> None:
    create(spark, "region, bucket(4, id)", "t")
    create(spark, "region, bucket(4, id)", "u")
    query = (
        f"SELECT a.id FROM {TABLE} a JOIN colonnade.db.u b ON a.region = b.region AND a.id = b.id"
        " WHERE b.at < timestamp'1970-01-02 00:00:00' ORDER BY 1"
    )
    expected = spark.sql(
        "SELECT id FROM colonnade.db.u"
        " WHERE at < timestamp'1970-01-02 00:00:00' AND region IS NOT NULL ORDER BY 1"
    )
    assert spark.sql(query) == expected
    assert expected


REPLACED = "SELECT 100 AS id, 'r1' AS region, timestamp'2024-05-01 12:00:00' AS at"


@pytest.mark.parametrize("how", ["sql", "writer", "option", "session", "session by name"])
def test_partitions_that_new_rows_are_of_are_replaced(spark: SparkShell, how: str) -> None:
    create(spark, "region")
    path = f"{spark.folder}/warehouse/db/t"
    frame = f'spark.sql("{REPLACED}")'
    save = f"{frame}.write.format('colonnade').mode('overwrite')"
    if how in ("sql", "session", "session by name"):
        spark.sql("SET spark.sql.sources.partitionOverwriteMode = dynamic")
    if how == "sql":
        spark.sql(f"INSERT OVERWRITE {TABLE} {REPLACED}")
    elif how == "writer":
        spark.run(f"{frame}.writeTo('{TABLE}').overwritePartitions()")
    elif how == "option":
        spark.run(f"{save}.option('partitionOverwriteMode', 'dynamic').save({path!r})")
    elif how == "session by name":
        spark.run(f"{save}.saveAsTable('{TABLE}')")
    else:
        spark.run(f"{save}.save({path!r})")
    spark.sql("RESET spark.sql.sources.partitionOverwriteMode")
    rows = spark.sql(f"SELECT region, count(*), max(id) FROM {TABLE} GROUP BY 1 ORDER BY 1")
    assert rows == [[None, 8, 23], ["r0", 8, 21], ["r1", 1, 100]]
    spark.run(f"{save}.save({path!r})")
    assert spark.sql(f"SELECT id FROM {TABLE}") == [[100]]


def test_a_condition_replaces_all_that_it_selects_whatever_the_setting(spark: SparkShell) -> None:
    create(spark, "region")
    spark.sql("SET spark.sql.sources.partitionOverwriteMode = dynamic")
    spark.sql(f"INSERT INTO {TABLE} REPLACE WHERE true {REPLACED}")
    replaced = spark.sql(f"SELECT id FROM {TABLE}")
    spark.sql(f"INSERT INTO {TABLE} {ROWS}")
    spark.run(f"spark.sql({REPLACED!r}).writeTo('{TABLE}').overwrite(F.lit(True))")
    spark.sql("RESET spark.sql.sources.partitionOverwriteMode")
    assert replaced == spark.sql(f"SELECT id FROM {TABLE}") == [[100]]


def test_one_partition_is_named_in_a_statement(spark: SparkShell) -> None:
    create(spark, "region")
    at = "timestamp'2024-05-01 12:00:00'"
    spark.sql(f"INSERT INTO {TABLE} PARTITION (region = 'r9') VALUES (7, {at})")
    spark.sql(f"INSERT OVERWRITE {TABLE} PARTITION (region = 'r1') VALUES (8, {at})")
    rows = spark.sql(f"SELECT region, count(*) FROM {TABLE} GROUP BY 1 ORDER BY 1")
    assert rows == [[None, 8], ["r0", 8], ["r1", 1], ["r9", 1]]


def test_rows_that_change_come_to_the_partition_of_their_new_values(spark: SparkShell) -> None:
    rows = []
    for name, by in (("t", "region"), ("plain", "")):
        create(spark, by, name)
        changed = f"colonnade.db.{name}"
        where = "region IS NULL OR id < 9"
        spark.sql(f"UPDATE {changed} SET region = concat('r', id % 2) WHERE {where}")
        spark.sql(
            f"MERGE INTO {changed} t USING (SELECT id + 14 AS id, 'new' AS region FROM range(20)) s"
            " ON t.id = s.id WHEN MATCHED AND t.id > 20 THEN DELETE"
            " WHEN MATCHED THEN UPDATE SET region = s.region"
            " WHEN NOT MATCHED THEN INSERT (id, region) VALUES (s.id, s.region)"
        )
        rows.append(spark.sql(f"SELECT * FROM {changed} ORDER BY id"))
    assert rows[0] == rows[1]
    assert set(partitions(spark)) == {("s:r0",), ("s:r1",), ("s:new",)}
    stated = spark.sql(f"SELECT partition, rows - deleted_rows FROM {TABLE}.partitions")
    counts = Counter(f"region={row[1]}" for row in rows[0])
    assert dict(stated) == counts


def test_transforms_are_functions(spark: SparkShell) -> None:
    calls = {
        "bucket(16, 34L)": 2017239379 % 16,
        "bucket(2147483647, 'iceberg')": 1210000089,
        "bucket(100, 14.20BD)": (-500754589 & 0x7FFFFFFF) % 100,
        "days(timestamp_ntz'1969-12-31 23:00:00')": "1969-12-31",
        "months(date'1969-12-31')": -1,
        "years(date'2017-11-16')": 47,
        "hours(timestamp_ntz'1969-12-31 23:59:59')": -1,
        "truncate(2, 'éàü')": "éà",
        "truncate(10, -1)": -10,
        "truncate(50, 10.65BD)": "10.50",
        "days(CAST(NULL AS DATE))": None,
    }
    names = [f"CAST(colonnade.system.{call} AS STRING)" for call in calls]
    (found,) = spark.sql(f"SELECT {', '.join(names)}")
    assert found == [None if each is None else str(each) for each in calls.values()]
    assert ["colonnade.system.truncate"] in spark.sql("SHOW USER FUNCTIONS IN colonnade.system")
    assert "The partition transform days does not take string" in spark.refusal(
        "SELECT colonnade.system.days('x')"
    )
    assert "bucket(number of buckets, column)" in spark.refusal("SELECT colonnade.system.bucket(1)")
