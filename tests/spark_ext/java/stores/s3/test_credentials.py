"""Credentials, certificates and checksums of S3A hold everywhere, and no secret is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.setup.certificates import PASSWORD, Authority
from tests.setup.http_proxy import Proxy
from tests.setup.minio import KEY, SECRET, Minio
from tests.spark_ext.java.stores.s3.lake import Lake, settings

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark_shell")]


def test_new_credentials_count_for_tasks_where_hadoop_keeps_no_file_system(lake: Lake) -> None:
    table = f"colonnade.`s3a://{lake.bucket}/renewed`"
    lake.shell.sql(f"CREATE TABLE {table} AS SELECT uuid() AS t FROM range(20000)")
    given = {"fs.s3a.secret.key": "wrong", "fs.s3a.impl.disable.cache": "true"}
    own = {"spark.colonnade.storage.key": KEY, "spark.colonnade.storage.secret": SECRET}
    query = f"SELECT max(t) FROM {table}"
    with settings(lake.shell, **own, **given):  # only the tasks have wrong credentials
        assert "the secret key is wrong; check the credentials" in lake.shell.refusal(query)
    assert lake.shell.sql(query)


@pytest.mark.long
def test_a_server_with_a_certificate_of_ones_own_is_trusted_by_tasks_and_planner(
    lake: Lake, tmp_path: Path
) -> None:
    authority, verify = Authority(tmp_path / "authority"), "spark.colonnade.storage.client_kwargs"
    for name, text in (("", str(authority.trust_store)), ("Password", PASSWORD)):
        call = f"setProperty('javax.net.ssl.trustStore{name}', {text!r})"
        lake.shell.run(f"spark._jvm.java.lang.System.{call}")
    (tmp_path / "server").mkdir()
    server = Minio(tmp_path / "server", authority.server)
    table = f"colonnade.`s3a://{server.new_bucket()}/t`"
    create = f"CREATE TABLE {table} AS SELECT uuid() AS t FROM range(20000)"
    given = {"fs.s3a.endpoint": server.url, "spark.colonnade.storage.patience": "1"}
    try:
        with settings(lake.shell, **given):
            assert "certificate of the server is not trusted" in lake.shell.refusal(create)
            file = json.dumps({"verify": str(authority.certificate)})
            with settings(lake.shell, **{verify: file}):
                lake.shell.sql(create)
                assert lake.shell.sql(f"SELECT count(DISTINCT t) FROM {table}") == [[20000]]
    finally:
        server.stop()


@pytest.mark.long
@pytest.mark.parametrize("algorithm", ["CRC32", "SHA256"])
def test_tasks_send_the_checksums_that_s3a_is_set_to(
    lake: Lake, proxy: Proxy, minio: Minio, algorithm: str
) -> None:
    table = f"colonnade.`s3a://{minio.new_bucket()}/t`"  # Hadoop keeps a bucket that it has opened
    given = {"fs.s3a.create.checksum.algorithm": algorithm, "fs.s3a.checksum.validation": "true"}
    with settings(lake.shell, **given):
        proxy.seen.clear()
        lake.shell.sql(f"CREATE TABLE {table} AS SELECT id, uuid() AS t FROM range(0, 50000, 1, 1)")
        sent = [each for each in proxy.seen if each.method == "PUT" and ".rowset" in each.path]
        assert sent
        for each in sent:
            name = f"x-amz-checksum-{algorithm.lower()}"
            assert name in each.headers or each.headers.get("x-amz-trailer") == name
        assert lake.shell.sql(f"SELECT count(*), sum(id) FROM {table}") == [[50000, 1249975000]]


@pytest.mark.long
def test_credentials_in_a_file_of_hadoop_reach_tasks_planner_and_python(
    lake: Lake, minio: Minio, tmp_path: Path
) -> None:
    file = f"localjceks://file{tmp_path}/keys.jceks"
    bucket = minio.new_bucket()  # Hadoop keeps what it has opened with other credentials
    url = f"s3a://{bucket}/t"
    secrets = {"fs.s3a.access.key": KEY, "fs.s3a.secret.key": SECRET}
    make = "__import__('tests.spark_ext.java.stores.credential_file', fromlist=['make']).make"
    lake.shell.run(f"{make}(spark, {file!r}, {secrets!r})")
    path = "hadoop.security.credential.provider.path"
    with settings(lake.shell, **{**dict.fromkeys(secrets), path: file}):
        lake.shell.sql(f"CREATE TABLE colonnade.`{url}` AS SELECT uuid() AS t FROM range(20000)")
        assert lake.shell.run(f"colonnade.Table.forPath(spark, '{url}').toDF().count()") == 20000
    with settings(lake.shell, **{**dict.fromkeys(secrets), path: f"{file}.missing"}):
        said = lake.shell.refusal(f"SELECT * FROM colonnade.`s3a://{bucket}/other`")
        assert said.startswith("[COLONNADE_")


def test_a_provider_without_a_counterpart_is_named_and_an_option_takes_its_place(
    lake: Lake,
) -> None:
    select = f"SELECT count(*) FROM colonnade.`s3://{lake.bucket}/provided`"
    lake.shell.sql(f"CREATE TABLE colonnade.`s3://{lake.bucket}/provided` AS SELECT 1 AS a")
    with settings(lake.shell, **{"fs.s3a.aws.credentials.provider": "com.acme.Vault"}):
        said = lake.shell.refusal(select)
        assert "names com.acme.Vault" in said
        assert "spark.colonnade.storage.key" in said
        own = {"spark.colonnade.storage.key": KEY, "spark.colonnade.storage.secret": SECRET}
        with settings(lake.shell, **own):
            assert lake.shell.sql(select) == [[1]]


def test_nothing_that_users_see_holds_a_secret(lake: Lake, minio: Minio) -> None:
    url = f"s3a://{lake.bucket}/shown"
    table = f"colonnade.`{url}`"
    lake.shell.sql(f"CREATE TABLE {table} (id BIGINT, t STRING)")
    lake.shell.sql(f"INSERT INTO {table} SELECT id, uuid() FROM range(20000)")
    wrong = {"fs.s3a.secret.key": "MARKED-ONE", "fs.s3a.session.token": "MARKED-TWO"}
    seen = [
        *lake.shell.sql(f"EXPLAIN EXTENDED SELECT * FROM {table} WHERE id > 3"),
        *lake.shell.sql(f"EXPLAIN EXTENDED DELETE FROM {table} WHERE id > 3"),
        *lake.shell.sql(f"EXPLAIN EXTENDED INSERT INTO {table} SELECT id, 'a' FROM range(3)"),
        *lake.shell.sql(f"DESCRIBE TABLE EXTENDED {table}"),
        *lake.shell.sql(f"SHOW CREATE TABLE {table}"),
        *lake.shell.sql(f"SHOW TBLPROPERTIES {table}"),
        *lake.shell.sql(f"CALL colonnade.system.history(table => '{url}')"),
        *lake.shell.sql(f"SELECT * FROM {table}.rowsets"),
        lake.shell.run(f"repr(colonnade.Table.forPath(spark, '{url}'))"),
        lake.shell.run(f"spark.table('{table}')._jdf.queryExecution().toString()"),
    ]
    with settings(lake.shell, **wrong):
        bucket = minio.new_bucket()  # Hadoop keeps what it has opened with other credentials
        statements = (
            f"SELECT count(*) FROM colonnade.`s3a://{bucket}/t`",
            f"CREATE TABLE colonnade.`s3a://{bucket}/t` AS SELECT 1 AS a",
            f"CALL colonnade.system.verify(table => '{url}')",
        )
        seen += [lake.shell.ask({"sql": statement})["error"] for statement in statements]
        own = {
            f"spark.colonnade.storage.{name}": minio.options()[name] for name in ("key", "secret")
        }
        with settings(lake.shell, **own):  # only the tasks have wrong credentials
            insert = f"CREATE TABLE colonnade.`s3a://{bucket}/t` AS SELECT uuid() FROM range(20000)"
            seen.append(lake.shell.ask({"sql": insert})["error"])
            assert "permission denied; the credentials need s3:PutObject." in seen[-1]
    log = lake.shell.run("colonnade.doctor(spark).planner_log")
    seen.append(Path(log).read_text() if Path(log).exists() else "")
    stored = [each.read_bytes() for each in (lake.folder / "shown").rglob("*") if each.is_file()]
    for marked in (SECRET, "MARKED"):
        assert not [text for text in seen if marked in str(text)]
        assert not [data for data in stored if marked.encode() in data]
