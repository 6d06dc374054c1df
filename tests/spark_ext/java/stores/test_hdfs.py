"""Spark reads and writes tables on Hadoop's own HDFS, and its planner reaches them over WebHDFS."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import colonnade
from tests.setup.hdfs import Hdfs
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def place(spark_shell: SparkShell, hdfs: Hdfs) -> Iterator[str]:
    """A folder of HDFS. Its HTTP address is a setting of Hadoop, as in `hdfs-site.xml`."""
    name = "dfs.namenode.http-address"
    spark_shell.run(f"spark.conf.set({name!r}, '127.0.0.1:{hdfs.port}')")
    yield f"hdfs://{hdfs.new_bucket()}"
    spark_shell.run(f"spark.conf.unset({name!r})")


def test_statements_reach_hdfs_and_python_reads_the_same_rows(
    spark_shell: SparkShell, hdfs: Hdfs, place: str
) -> None:
    sql, table = spark_shell.sql, f"colonnade.`{place}/statements`"
    sql(f"CREATE TABLE {table} AS SELECT id, repeat('x', 50) || uuid() AS t FROM range(30000)")
    sql(f"INSERT INTO {table} SELECT id, 'later' FROM range(30000, 40000)")
    sql(f"DELETE FROM {table} WHERE id % 3 = 1")
    sql(f"UPDATE {table} SET t = 'changed' WHERE id < 900")
    sql(
        f"MERGE INTO {table} t USING (SELECT id, 'merged' AS t FROM range(39999, 40010)) s"
        " ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    found = colonnade.open(f"{place}/statements", hdfs.options())
    rows = found.scan().to_arrow().to_pylist()
    for text, count, total in sql(
        f"SELECT t, count(*), sum(id) FROM {table} WHERE length(t) < 20 GROUP BY 1"
    ):
        ids = [row["id"] for row in rows if row["t"] == text]
        assert (len(ids), sum(ids)) == (count, total)
    assert sql(f"SELECT count(*) FROM {table}") == [[len(rows)]] == [[26677]]


def test_a_table_on_hdfs_is_compacted_verified_vacuumed_and_dropped(
    spark_shell: SparkShell, hdfs: Hdfs, place: str
) -> None:
    url, call = f"{place}/kept", "CALL colonnade.system."
    for number in range(3):
        code = f"spark.range({number * 5000}, {number * 5000 + 5000}).write.format('colonnade')"
        spark_shell.run(f"{code}.mode('append').save({url!r})")
    assert spark_shell.sql(f"{call}compact(table => '{url}', options => 'min-rowsets=2')")
    assert spark_shell.sql(f"{call}verify(table => '{url}', depth => 4)") == []
    assert spark_shell.sql(f"{call}vacuum(table => '{url}', retention_hours => 0.0, force => true)")
    summed = f"SELECT count(*), sum(id) FROM colonnade.`{url}`"
    assert spark_shell.sql(summed) == [[15000, 15000 * 14999 // 2]]
    over_http = f"webhdfs://127.0.0.1:{hdfs.port}/{url.split('/', 3)[3]}"
    assert colonnade.open(over_http).scan().to_arrow().num_rows == 15000
    spark_shell.sql(f"INSERT INTO colonnade.`{over_http}` SELECT id FROM range(15000, 15010)")
    assert spark_shell.sql(f"SELECT count(*) FROM colonnade.`{over_http}`") == [[15010]]
