"""Spark reads and writes tables in a bucket of GCS, through Google's connector for Hadoop."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import colonnade
from tests.setup import gcs_connector
from tests.setup.gcs import FakeGcs
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory, gcs: FakeGcs) -> Iterator[SparkShell]:
    """A session with the connector, and with Hadoop's settings alone."""
    settings = {
        "fs.gs.impl": "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem",
        "fs.gs.storage.root.url": f"{gcs.url}/",
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
