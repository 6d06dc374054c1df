"""Spark reads and writes tables in a container of Azure, through Hadoop's ABFS."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

import colonnade
from tests.setup import hadoop_azure
from tests.setup.azurite import ACCOUNT, KEY, Azurite
from tests.setup.http_proxy import Handler, Proxy
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(900)]
HOST = f"{ACCOUNT}.dfs.core.windows.net"
_LACK = "permission denied; the credentials are wrong, have expired, or lack"
READER = f"{_LACK} the role Storage Blob Data Reader, or a SAS with the permission r."
WRITER = f"{_LACK} the role Storage Blob Data Contributor, or a SAS with the permissions c and w."
REFUSALS = [
    (403, "AuthorizationPermissionMismatch", READER, WRITER),
    (401, "InvalidAuthenticationInfo", READER, WRITER),
    (409, "BlobArchived", "the server refused it (HTTP 409).", "the server refused it (HTTP 409)."),
    (400, "Odd", "the server refused it (HTTP 400).", "the server refused it (HTTP 400)."),
]
"""Statuses and code words of Azure, and what tasks say of a read and of a write."""


@pytest.fixture(scope="module")
def proxy(azurite: Azurite) -> Iterator[Proxy]:
    """A proxy before the emulator."""
    proxy = Proxy(azurite.port)
    yield proxy
    proxy.stop()


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory, proxy: Proxy) -> Iterator[SparkShell]:
    """A session with ABFS, for an account without folders at the address of the proxy."""
    settings = {
        f"fs.azure.account.key.{HOST}": KEY,
        "fs.azure.account.hns.enabled": "false",
        "fs.azure.fns.account.service.type": "BLOB",
        # The emulator is reached by its address, and speaks no TLS.
        "fs.azure.abfs.endpoint": proxy.url.removeprefix("http://"),
        "fs.azure.always.use.https": "false",
        "fs.azure.networking.library": "JDK_HTTP_URL_CONNECTION",
        # Python knows no address of emulators among Hadoop's settings.
        "spark.colonnade.storage.connection_string": Azurite.at(proxy.url)["connection_string"],
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
    assert shell.sql(f"{call}vacuum(table => '{url}', retention_hours => 0.0, force => true)")
    assert shell.sql(f"{call}verify(table => '{url}', depth => 4)") == []
    assert shell.sql(f"SELECT count(*), sum(id) FROM colonnade.`{url}`") == [
        [15000, 15000 * 14999 // 2]
    ]
    assert colonnade.open(url, azurite.options()).scan().to_arrow().num_rows == 15000


def _refuse(status: int, code: str, handler: Handler, body: bytes) -> None:
    text = f"<Error><Code>{code}</Code><Message>canary-message</Message></Error>"
    headers = [("Content-Type", "application/xml"), ("x-ms-error-code", code)]
    handler.answer(status, headers, text.encode())


@pytest.mark.parametrize(("status", "code", "read", "written"), REFUSALS)
def test_tasks_say_what_a_refusal_means_and_show_no_text_or_url_of_the_server(
    shell: SparkShell, proxy: Proxy, place: str, status: int, code: str, read: str, written: str
) -> None:
    table = f"colonnade.`{place}/refused-{code}`"
    shell.sql(f"CREATE TABLE {table} AS SELECT id, uuid() AS t FROM range(5000)")
    statements = {
        f"SELECT max(t) FROM {table}": f" could not be read: {read}",
        f"INSERT INTO {table} SELECT id, uuid() FROM range(20000)": f" be written: {written}",
    }
    proxy.plan = lambda seen: partial(_refuse, status, code) if ".rowset" in seen.path else None
    try:
        said = {statement: shell.refusal(statement) for statement in statements}
    finally:
        proxy.plan = lambda seen: None
    for statement, sentence in statements.items():
        assert said[statement].startswith(f"[COLONNADE_STORE] {place}/refused-{code}/")
        assert said[statement].endswith(sentence)
    assert shell.sql(f"SELECT count(*) FROM {table}") == [[5000]]
