"""Each kind of store takes its own settings of Hadoop, in Python as in the jar."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import colonnade
from colonnade.manifests.store.hdfs.address import parse_address
from colonnade.manifests.store.hdfs.settings import parse_settings
from colonnade.spark_ext.hadoop import azure, gcs, hdfs, s3
from colonnade.spark_ext.hadoop.stores import prefixes_of, secrets_of, with_hadoop

HA = {
    "dfs.nameservices": "lake",
    "dfs.ha.namenodes.lake": "a,b",
    "dfs.namenode.http-address.lake.a": "one:9870",
    "dfs.namenode.http-address.lake.b": "two:9870",
}


def test_settings_of_hdfs_lead_the_planner_to_its_namenodes() -> None:
    others = {"dfs.replication": "1", "fs.s3a.secret.key": "MARKED"}
    found = with_hadoop("hdfs://lake/db", {**HA, **others}, {"user": "ada"})
    assert found == {"hadoop_settings": HA, "user": "ada"}
    settings = parse_settings(found, parse_address("hdfs://lake/db"), {}, "me")
    assert settings.namenodes == ("http://one:9870", "http://two:9870")
    assert with_hadoop("hdfs://lake/db", {}, {}) == {}
    assert with_hadoop("webhdfs://node:9870/db", HA, {}) == {}


@pytest.mark.parametrize(
    ("url", "prefixes"),
    [
        ("s3a://lake/x", ("fs.s3a.",)),
        ("GS://lake/x", gcs.PREFIXES),
        ("abfs://c@a/x", azure.PREFIXES),
        ("hdfs://lake/x", hdfs.PREFIXES),
        ("/lake/x", ()),
        ("ftp://lake/x", ()),
    ],
)
def test_a_url_needs_the_settings_of_its_kind_alone(url: str, prefixes: tuple[str, ...]) -> None:
    assert prefixes_of(url) == prefixes
    assert all(name.startswith(prefixes) for name in secrets_of(url))


def test_the_jar_sends_the_settings_that_python_translates() -> None:
    root = Path(colonnade.__file__).parents[1]
    source = root / "spark_ext/java/src/colonnade/planner/HadoopSettings.java"
    listed = re.search(r"STORES = \{(.*?)\};", source.read_text(), re.DOTALL)
    assert listed is not None
    sent = {"fs.s3a.", *re.findall(r'"([^"]+)"', listed[1])}
    kinds = (gcs.PREFIXES, azure.PREFIXES, hdfs.PREFIXES)
    assert sent == {s3.PREFIX, *(each for kind in kinds for each in kind)}
