"""Spark reads and writes tables in a bucket of GCS, through Google's connector for Hadoop."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

import colonnade
from tests.setup import gcs_connector
from tests.setup.gcs import FakeGcs
from tests.setup.http_proxy import Proxy, answered
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(900)]


REFUSALS = [
    (403, "forbidden", "permission denied; the credentials need storage.objects."),
    (403, "userProjectMissing", "the requester pays for this bucket; set fs.gs.requester.pays."),
    (401, "authError", "the credentials are wrong or have expired; renew them."),
    (400, "odd", "the server refused it (HTTP 400, odd)."),
]
"""Statuses and code words of GCS, and how what tasks say of them begins."""


@pytest.fixture(scope="module")
def proxy(gcs: FakeGcs) -> Iterator[Proxy]:
    """A proxy before the server."""
    proxy = Proxy(gcs.port)
    yield proxy
    proxy.stop()


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory, proxy: Proxy) -> Iterator[SparkShell]:
    """A session with the connector, and with Hadoop's settings alone."""
    settings = {
        "fs.gs.impl": "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem",
        "fs.AbstractFileSystem.gs.impl": "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFS",
        "fs.gs.storage.root.url": f"{proxy.url}/",
        "fs.gs.auth.type": "UNAUTHENTICATED",
        "fs.gs.project.id": "lake",
        # Hadoop 3.5 sets it to 64m, which the connector cannot read.
        "fs.gs.block.size": "67108864",
    }
    with SparkShell(tmp_path_factory.mktemp("spark"), [gcs_connector.jar()]) as shell:
        for name, text in settings.items():
            shell.run(f"spark.conf.set({name!r}, {text!r})")
        yield shell


def test_statements_reach_the_bucket_and_python_reads_the_same_rows(
    shell: SparkShell, gcs: FakeGcs
) -> None:
    url = f"gs://{gcs.new_bucket()}/statements"
    sql, table = shell.sql, f"colonnade.`{url}`"
    sql(f"CREATE TABLE {table} AS SELECT id, repeat('x', 50) || uuid() AS t FROM range(30000)")
    sql(f"INSERT INTO {table} SELECT id, 'later' FROM range(30000, 40000)")
    sql(f"DELETE FROM {table} WHERE id % 3 = 1")
    sql(f"UPDATE {table} SET t = 'changed' WHERE id < 900")
    rows = colonnade.open(url, gcs.options()).scan().to_arrow().to_pylist()
    changed = [row["id"] for row in rows if row["t"] == "changed"]
    assert changed == [id for id in range(900) if id % 3 != 1]
    assert sql(f"SELECT count(*), sum(id) FROM {table}") == [
        [len(rows), sum(row["id"] for row in rows)]
    ]
    assert len(rows) == 26667


def test_a_stream_into_the_bucket_has_its_checkpoint_there_too(
    shell: SparkShell, gcs: FakeGcs
) -> None:
    lake, source = f"gs://{gcs.new_bucket()}/lake", f"{shell.folder}/source"
    shell.sql(f"CREATE TABLE colonnade.`{lake}/t` (id BIGINT)")
    write = "rows.write.format('colonnade').mode('append').option('txnAppId', 'stream')"
    write += f".option('txnVersion', number).save('{lake}/t')"
    stream = f"spark.readStream.schema('id BIGINT').parquet('{source}').writeStream"
    stream += f".foreachBatch(lambda rows, number: {write})"
    stream += f".option('checkpointLocation', '{lake}/checkpoint').trigger(availableNow=True)"
    for first in (0, 5000):
        shell.run(f"spark.range({first}, {first + 5000}).write.mode('append').parquet('{source}')")
        shell.run(f"{stream}.start().awaitTermination()")
    assert shell.sql(f"SELECT count(*), count(DISTINCT id) FROM colonnade.`{lake}/t`") == [
        [10000, 10000]
    ]
    epochs = shell.sql(f"CALL colonnade.system.history(table => '{lake}/t')")
    assert len(epochs) == 3


@pytest.mark.parametrize(("status", "code", "meaning"), REFUSALS)
def test_tasks_say_what_a_refusal_means_and_show_no_text_of_the_server(
    shell: SparkShell, gcs: FakeGcs, proxy: Proxy, status: int, code: str, meaning: str
) -> None:
    url = f"gs://{gcs.new_bucket()}/refused"
    table, canary = f"colonnade.`{url}`", "canary-message"
    shell.sql(f"CREATE TABLE {table} AS SELECT id, uuid() AS t FROM range(5000)")
    error = {"code": status, "message": canary, "errors": [{"reason": code, "message": canary}]}
    fault = answered(status, json.dumps({"error": error}))
    statements = {
        f"SELECT max(t) FROM {table}": f"could not be read: {meaning}",
        f"INSERT INTO {table} SELECT id, uuid() FROM range(20000)": f"be written: {meaning}",
    }
    proxy.plan = lambda seen: fault if ".rowset" in seen.path else None
    try:
        said = {statement: shell.refusal(statement) for statement in statements}
    finally:
        proxy.plan = lambda seen: None
    for statement, sentence in statements.items():
        assert said[statement].startswith(f"[COLONNADE_STORE] {url}/")
        assert sentence in said[statement]
        assert canary not in said[statement]
    assert shell.sql(f"SELECT count(*) FROM {table}") == [[5000]]
