"""Spark reads and writes tables in a container of Azure, through Hadoop's ABFS."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import colonnade
from tests.setup import hadoop_azure
from tests.setup.azurite import ACCOUNT, KEY, Azurite
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(900)]
HOST = f"{ACCOUNT}.dfs.core.windows.net"


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory, azurite: Azurite) -> Iterator[SparkShell]:
    """A session with ABFS, for an account without folders at the emulator's address."""
    settings = {
        f"fs.azure.account.key.{HOST}": KEY,
        "fs.azure.account.hns.enabled": "false",
        "fs.azure.fns.account.service.type": "BLOB",
        # The emulator is reached by its address, and speaks no TLS.
        "fs.azure.abfs.endpoint": f"127.0.0.1:{azurite.port}",
        "fs.azure.always.use.https": "false",
        "fs.azure.networking.library": "JDK_HTTP_URL_CONNECTION",
        # Python knows no address of emulators among Hadoop's settings.
        "spark.colonnade.storage.connection_string": azurite.options()["connection_string"],
    }
    with SparkShell(tmp_path_factory.mktemp("spark"), [hadoop_azure.jar()]) as shell:
        for name, text in settings.items():
            shell.run(f"spark.conf.set({name!r}, {text!r})")
        yield shell


@pytest.fixture(scope="module")
def place(azurite: Azurite) -> str:
    """A folder of a new container."""
    return f"abfs://{azurite.new_bucket()}@{HOST}/lake"


def test_statements_reach_the_container_and_python_reads_the_same_rows(
    shell: SparkShell, azurite: Azurite, place: str
) -> None:
    sql, table = shell.sql, f"colonnade.`{place}/statements`"
    sql(f"CREATE TABLE {table} AS SELECT id, repeat('x', 50) || uuid() AS t FROM range(30000)")
    sql(f"INSERT INTO {table} SELECT id, 'later' FROM range(30000, 40000)")
    sql(f"DELETE FROM {table} WHERE id % 3 = 1")
    sql(f"UPDATE {table} SET t = 'changed' WHERE id < 900")
    sql(
        f"MERGE INTO {table} t USING (SELECT id, 'merged' AS t FROM range(39999, 40010)) s"
        " ON t.id = s.id WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
    )
    rows = colonnade.open(f"{place}/statements", azurite.options()).scan().to_arrow().to_pylist()
    for text, count, total in sql(
        f"SELECT t, count(*), sum(id) FROM {table} WHERE length(t) < 20 GROUP BY 1"
    ):
        ids = [row["id"] for row in rows if row["t"] == text]
        assert (len(ids), sum(ids)) == (count, total)
    assert sql(f"SELECT count(*) FROM {table}") == [[len(rows)]] == [[26677]]


def test_a_table_in_a_container_is_compacted_verified_vacuumed_and_appended_to(
    shell: SparkShell, azurite: Azurite, place: str
) -> None:
    url, call = f"{place}/kept", "CALL colonnade.system."
    for number in range(3):
        code = f"spark.range({number * 5000}, {number * 5000 + 5000}).write.format('colonnade')"
        shell.run(f"{code}.mode('append').save({url!r})")
    assert shell.sql(f"{call}compact(table => '{url}', options => 'min-rowsets=2')")
    assert shell.sql(f"{call}vacuum(table => '{url}', retention_hours => 0.0)")
    assert shell.sql(f"{call}verify(table => '{url}', depth => 4)") == []
    assert shell.sql(f"SELECT count(*), sum(id) FROM colonnade.`{url}`") == [
        [15000, 15000 * 14999 // 2]
    ]
    assert colonnade.open(url, azurite.options()).scan().to_arrow().num_rows == 15000
