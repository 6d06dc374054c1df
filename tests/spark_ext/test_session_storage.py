"""`Table` and `Database` of a Spark session open stores with options, and lose none of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import colonnade
from colonnade import Database, InvalidInputError, Table
from colonnade.manifests.errors import StoreError
from colonnade.spark_ext.session_storage import address_in
from tests.setup.minio import SECRET, Minio

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]
PREFIX = "spark.colonnade.storage."


@pytest.fixture
def lake(minio: Minio) -> str:
    """The URL of a database that does not exist yet."""
    return f"s3://{minio.new_bucket()}/lake"


@contextmanager
def settings(spark: SparkSession, minio: Minio) -> Iterator[None]:
    """Give the session the options of the server."""
    region = '{"region_name": "us-east-1"}'
    given = {"endpoint_url": minio.url, "secret": SECRET, "client_kwargs": region}
    given["key"] = minio.options()["key"]
    for name, value in given.items():
        spark.conf.set(PREFIX + name, value)
    try:
        yield
    finally:
        for name in given:
            spark.conf.unset(PREFIX + name)


def walk(spark: SparkSession, database: Database, lake: str) -> Table:
    """Use all that Python does for `Table` and `Database`, in a session without the jar."""
    made = database.createTable("t").addColumn("id", "bigint").execute()
    again = database.createTableIfNotExists("t").addColumn("id", "bigint").execute()
    assert database.tables() == ["t"]
    assert (made.path, again.path) == (f"{lake}/t", f"{lake}/t")
    return database.table("t")


@pytest.mark.long
def test_options_of_a_call_open_databases_and_tables_and_reach_the_tasks(
    spark: SparkSession, minio: Minio, lake: str
) -> None:
    options = minio.options()
    database = Database.createIfNotExists(spark, lake, options)
    table = walk(spark, database, lake)
    rows = pa.table({"id": pa.array(range(20_000), pa.int64())})
    colonnade.open(f"{lake}/t", options).append(rows)
    assert table.toDF().groupBy().sum("id").collect()[0][0] == sum(range(20_000))
    assert (
        SECRET not in repr(table) + repr(database) + table.toDF()._jdf.queryExecution().toString()
    )
    assert [row.operation for row in table.history().collect()] == ["WRITE", "CREATE TABLE"]
    assert table.detail().collect()[0]["name"] == "t"
    colonnade.open(f"{lake}/t", options).append(rows)
    assert table.optimize().option("min-rowsets", 2).executeCompaction().count() == 1
    assert table.verify().is_sound
    assert database.verify().is_sound
    table.restoreToVersion(2)
    table.vacuum(0, force=True)
    assert Table.forPath(spark, f"{lake}/t", options).toDF().count() == 20_000
    assert Table.isColonnadeTable(spark, f"{lake}/t", options)
    assert not Table.isColonnadeTable(spark, f"{lake}/u", options)
    lone = Table.createIfNotExists(spark, options).location(f"{lake}-lone").addColumn("a", "int")
    assert lone.execute().toDF().count() == 0
    assert lone.execute().toDF().columns == ["a"]
    database.dropTable("t")
    assert Database.forPath(spark, lake, options).tables() == []


def test_settings_of_the_session_open_databases_and_tables(
    spark: SparkSession, minio: Minio, lake: str
) -> None:
    with settings(spark, minio):
        table = walk(spark, Database.create(spark, lake), lake)
        assert table.toDF().count() == 0
        assert Table.forPath(spark, f"{lake}/t").history().count() == 1
        wrong = {"secret": "not the secret"}
        with pytest.raises(StoreError) as refused:
            Table.forPath(spark, f"{lake}/t", wrong)
        assert SECRET not in str(refused.value)


def test_a_statement_in_sql_that_would_lose_the_options_of_a_call_is_refused(
    spark: SparkSession, minio: Minio, lake: str
) -> None:
    options = minio.options()
    database = Database.create(spark, lake, options)
    table = walk(spark, database, lake)
    for call in (
        lambda: table.delete("id = 1"),
        lambda: table.merge(table.toDF(), "true").whenNotMatchedInsertAll().execute(),
        database.transaction,
    ):
        with pytest.raises(InvalidInputError, match="set them in the session, as") as refused:
            call()
        assert SECRET not in str(refused.value)


def test_settings_of_hadoop_count_for_each_store_and_hadoops_own_defaults_do_not(
    spark: SparkSession,
) -> None:
    for url in ("gs://lake/db", "abfss://lake@acc.dfs.core.windows.net/db", "hdfs://node/db"):
        assert address_in(spark, url).storage_options == {}
    given = {
        "fs.gs.auth.type": "UNAUTHENTICATED",
        "fs.azure.account.key.acc.dfs.core.windows.net": SECRET,
        "dfs.nameservices": "lake",
    }
    for name, value in given.items():
        spark.conf.set(name, value)
    try:
        found = [
            address_in(spark, url).storage_options
            for url in (
                "gs://lake/db",
                "abfss://lake@acc.dfs.core.windows.net/db",
                "hdfs://lake/db",
            )
        ]
    finally:
        for name in given:
            spark.conf.unset(name)
    settings = {"dfs.nameservices": "lake"}
    assert found == [{"token": "anon"}, {"account_key": SECRET}, {"hadoop_settings": settings}]
