"""Spark reads and writes tables in a bucket of a real S3 server, through S3A."""

from __future__ import annotations

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.store import open_store
from tests.setup.http_proxy import Proxy
from tests.spark_ext.java.stores.s3.lake import Lake, python_rows, settings

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark_shell")]


def test_statements_that_write_reach_the_bucket_and_python_reads_the_same_rows(lake: Lake) -> None:
    sql, url = lake.shell.sql, f"{lake.bucket}/statements"
    table = f"colonnade.`s3a://{url}`"
    sql(f"CREATE TABLE {table} AS SELECT id, repeat('x', 50) || uuid() AS t FROM range(30000)")
    sql(f"INSERT INTO {table} SELECT id, 'later' FROM range(30000, 40000)")
    sql(f"DELETE FROM {table} WHERE id % 3 = 1")
    sql(f"UPDATE {table} SET t = 'changed' WHERE id < 900")
    sql(
        f"MERGE INTO {table} t USING (SELECT id, 'merged' AS t FROM range(39999, 40010)) s"
        " ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    code = "spark.range(7).selectExpr('id', \"'saved' AS t\").write.format('colonnade')"
    lake.shell.run(f"{code}.mode('append').save('s3://{url}')")
    found = sql(f"SELECT t, count(*), sum(id) FROM {table} WHERE length(t) < 20 GROUP BY 1")
    rows = colonnade.open(f"s3://{url}", lake.options).scan().to_arrow().to_pylist()
    for text, count, total in found:
        ids = [row["id"] for row in rows if row["t"] == text]
        assert (len(ids), sum(ids)) == (count, total)
    assert {text: count for text, count, _ in found}["merged"] == 11
    assert sql(f"SELECT count(*) FROM {table}") == [[len(rows)]]
    assert lake.keys("statements")


@pytest.mark.long
def test_a_table_that_python_made_is_appended_to_compacted_and_verified(lake: Lake) -> None:
    url = f"s3://{lake.bucket}/made"
    schema = pa.schema([("id", pa.int64()), ("day", pa.string())])
    colonnade.create(url, schema, storage_options=lake.options)
    for _ in range(3):
        lake.shell.sql(f"INSERT INTO colonnade.`{url}` SELECT id, 'd' FROM range(5000)")
    call = "CALL colonnade.system."
    assert lake.shell.sql(f"{call}compact(table => '{url}', options => 'min-rowsets=2')")
    assert lake.shell.sql(f"{call}verify(table => '{url}', depth => 4)") == []
    assert lake.shell.sql(f"{call}vacuum(table => '{url}', retention_hours => 0.0, force => true)")
    assert lake.shell.sql(
        f"SELECT count(*), sum(id) FROM colonnade.`s3a://{lake.bucket}/made`"
    ) == [[15000, 3 * 12497500]]


def test_an_object_that_is_missing_or_cut_fails_the_query_with_its_name(
    lake: Lake, proxy: Proxy
) -> None:
    url = f"s3://{lake.bucket}/lost"
    lake.shell.sql(f"CREATE TABLE colonnade.`{url}` AS SELECT uuid() AS t FROM range(5000)")
    [key] = [key for key in lake.keys("lost") if key.endswith(".rowset")]
    store = open_store(url, lake.options)
    name = key.removeprefix("lost/")
    data = store.get(name)
    store.delete(name)
    query = f"SELECT max(t) FROM colonnade.`{url}`"
    assert f"{url}/{name} is missing, though the log names it." in lake.shell.refusal(query)
    store.put(name, data[:-1], sync=True)
    assert f"{url}/{name} is truncated: " in lake.shell.refusal(query)


def test_a_task_that_fails_leaves_no_object_no_folder_and_no_upload(
    lake: Lake, proxy: Proxy
) -> None:
    table = f"colonnade.`s3://{lake.bucket}/failed`"
    lake.shell.sql(f"CREATE TABLE {table} (id BIGINT, t STRING)")
    before, sent = lake.keys("failed"), proxy.count("PUT")
    late = "IF(id = 59999, raise_error('too late'), repeat(uuid(), 30))"
    code = f"spark.range(60000).selectExpr('id', \"{late} AS t\").write.format('colonnade')"
    code += f".option('maxRecordsPerFile', 20000).mode('append').save('s3://{lake.bucket}/failed')"
    assert "too late" in lake.shell.refused_run(code)
    assert proxy.count("PUT") > sent + 1
    assert lake.keys("failed") == before
    assert lake.shell.sql(f"SELECT count(*) FROM {table}") == [[0]]


def test_tables_open_in_python_with_the_settings_of_the_session(lake: Lake) -> None:
    run, url = lake.shell.run, f"s3a://{lake.bucket}/python"
    database = f"colonnade.Database.create(spark, '{url}')"
    run(f"{database}.createTable('t').addColumn('id', 'bigint').execute().path")
    table = f"colonnade.Table.forPath(spark, '{url}/t')"
    lake.shell.sql(f"INSERT INTO colonnade.`{url}/t` SELECT id FROM range(100)")
    assert run(f"{table}.toDF()") == [[each] for each in range(100)]
    run(f"{table}.delete('id >= 90')")
    run(f"{table}.update('id = 3', {{'id': '1000'}})")
    rows = "spark.range(85, 95).toDF('n')"
    run(f"{table}.merge({rows}, 'id = n').whenNotMatchedInsert(values={{'id': 'n'}}).execute()")
    assert run(f"{table}.toDF().count()") == 95
    operations = [row[0] for row in run(f"{table}.history().select('operation')")]
    assert operations == ["MERGE", "UPDATE", "DELETE", "WRITE", "CREATE TABLE"]
    run(f"{table}.vacuum(0, force=True)")
    assert run(f"{table}.verify().is_sound")
    assert run(f"colonnade.Database.forPath(spark, '{url}').tables()") == ["t"]


@pytest.mark.long
def test_the_session_catalog_has_tables_at_a_location_in_a_bucket(lake: Lake) -> None:
    sql, url = lake.shell.sql, f"s3a://{lake.bucket}/located"
    sql(f"CREATE TABLE located (id BIGINT) USING colonnade LOCATION '{url}'")
    try:
        sql("INSERT INTO located SELECT id FROM range(10)")
        sql("DELETE FROM located WHERE id = 4")
        assert sql("SELECT count(*), sum(id) FROM located") == [[9, 41]]
        assert sql(f"SELECT count(*) FROM colonnade.`s3://{lake.bucket}/located`") == [[9]]
        assert [row[0] for row in sql("SELECT operation FROM located.history")][:1] == ["DELETE"]
    finally:
        sql("DROP TABLE located")
    sql(f"CREATE TABLE located USING colonnade LOCATION 's3://{lake.bucket}/located'")
    assert sql("SELECT count(*) FROM located VERSION AS OF 2") == [[10]]
    sql("DROP TABLE located")


@pytest.mark.long
def test_transactions_tags_and_earlier_versions_work_in_a_bucket(lake: Lake) -> None:
    sql, url = lake.shell.sql, f"s3a://{lake.bucket}/shop"
    call = "CALL colonnade.system."
    lake.shell.run(f"colonnade.Database.create(spark, '{url}').path")
    for name in ("orders", "lines"):
        sql(f"CREATE TABLE colonnade.`{url}/{name}` (id BIGINT)")
    sql(f"{call}begin(database => '{url}')")
    sql(f"INSERT INTO colonnade.`{url}/orders` VALUES (1)")
    sql(f"INSERT INTO colonnade.`{url}/lines` VALUES (1), (2)")
    assert python_rows(lake, f"{url}/orders") == 0
    ((epoch,),) = sql(f"{call}commit()")
    assert python_rows(lake, f"{url}/orders") == 1
    sql(f"{call}begin(database => '{url}')")
    sql(f"DELETE FROM colonnade.`{url}/lines`")
    sql(f"{call}rollback()")
    sql(f"{call}tag(name => 'first', database => '{url}')")
    sql(f"INSERT INTO colonnade.`{url}/lines` VALUES (3)")
    count = f"SELECT count(*) FROM colonnade.`{url}/lines`"
    assert sql(f"{count} VERSION AS OF 'first'") == sql(f"{count} VERSION AS OF {epoch}") == [[2]]
    sql(f"{call}restore(table => '{url}/lines', tag => 'first')")
    assert sql(count) == [[2]]
    assert sql(f"{call}repair(table => '{url}/lines', dry_run => true)") is not None
    assert [row[0] for row in sql(f"{call}tags(database => '{url}')")] == ["first"]


def test_a_catalog_has_its_warehouse_in_a_bucket(lake: Lake) -> None:
    sql, name = lake.shell.sql, "spark.sql.catalog.lake"
    warehouse = f"s3a://{lake.bucket}/warehouse/"
    given = {name: "colonnade.catalog.ColonnadeCatalog", f"{name}.warehouse": warehouse}
    with settings(lake.shell, **given):
        assert sql("SHOW DATABASES IN lake") == []
        sql("CREATE DATABASE lake.sales")
        sql("CREATE TABLE lake.sales.orders AS SELECT id FROM range(30)")
        sql("CREATE TABLE lake.t (id BIGINT)")
        sql("INSERT INTO lake.t SELECT id FROM lake.sales.orders WHERE id < 10")
        assert sql("SHOW DATABASES IN lake") == [["default"], ["sales"]]
        assert [row[1] for row in sql("SHOW TABLES IN lake.sales")] == ["orders"]
        sql("ALTER TABLE lake.sales.orders RENAME TO lake.sales.sold")
        assert python_rows(lake, f"{warehouse}sales/sold") == 30
        assert "NOT_EMPTY" in lake.shell.refusal("DROP DATABASE lake.sales")
        sql("DROP TABLE lake.sales.sold")
        sql("DROP DATABASE lake.sales")
        assert sql("SHOW DATABASES IN lake") == [["default"]]
        assert sql("SELECT count(*) FROM lake.t") == [[10]]
        assert not lake.keys("warehouse/sales")
