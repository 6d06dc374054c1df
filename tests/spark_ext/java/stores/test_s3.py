"""Spark reads and writes tables in a bucket of a real S3 server, through S3A."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.object_names import is_immutable
from colonnade.manifests.store import open_store
from tests.setup.certificates import PASSWORD, Authority
from tests.setup.http_proxy import Fault, Handler, Proxy, Seen, reply_cut, status_before
from tests.setup.minio import KEY, SECRET, Minio
from tests.spark_ext.java.spark_shell import SparkShell

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]


class Lake:
    """A bucket of its own, and a session with the settings to reach it."""

    def __init__(self, shell: SparkShell, minio: Minio) -> None:
        self.shell = shell
        self.bucket = minio.new_bucket()
        self.folder = minio.folder / "data" / self.bucket
        self.options = minio.options()

    def keys(self, within: str) -> list[str]:
        """The keys below a folder, as the server's disk has them, without the log's."""
        found = (self.folder / within).rglob("xl.meta")
        keys = [str(path.parent.relative_to(self.folder)) for path in found]
        return sorted(key for key in keys if "/_manifest/" not in key)


@contextmanager
def settings(shell: SparkShell, **given: str | None) -> Iterator[None]:
    """Set settings of the session, or unset those that are None, and put them back at the end."""
    before = {name: shell.run(f"spark.conf.get({name!r}, None)") for name in given}
    try:
        change(shell, given)
        yield
    finally:
        change(shell, before)


def change(shell: SparkShell, settings: Mapping[str, str | None]) -> None:
    for name, value in settings.items():
        call = f"unset({name!r})" if value is None else f"set({name!r}, {value!r})"
        shell.run(f"spark.conf.{call}")


@pytest.fixture(scope="module")
def proxy(minio: Minio) -> Iterator[Proxy]:
    proxy = Proxy(minio.port)
    yield proxy
    proxy.stop()


@pytest.fixture(scope="module")
def lake(spark_shell: SparkShell, minio: Minio, proxy: Proxy) -> Iterator[Lake]:
    """The session has Hadoop's settings alone, and reaches the server through a proxy."""
    given = {
        "fs.s3a.endpoint": proxy.url,
        "fs.s3a.path.style.access": "true",
        "fs.s3a.access.key": KEY,
        "fs.s3a.secret.key": SECRET,
    }
    with settings(spark_shell, **given):
        yield Lake(spark_shell, minio)


@pytest.fixture(autouse=True)
def no_fault(proxy: Proxy) -> Iterator[None]:
    """End the fault of a test with the test."""
    yield
    proxy.plan = lambda seen: None


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
    assert lake.shell.sql(f"{call}vacuum(table => '{url}', retention_hours => 0.0)")
    assert lake.shell.sql(
        f"SELECT count(*), sum(id) FROM colonnade.`s3a://{lake.bucket}/made`"
    ) == [[15000, 3 * 12497500]]


@pytest.fixture(scope="module")
def wide(lake: Lake) -> str:
    """A table of 20 columns of 800,000 bytes in one RowSet, with a deletion vector in an object."""
    table = f"colonnade.`s3a://{lake.bucket}/wide`"
    columns = ", ".join(f"rand({i}) AS c{i}" for i in range(20))
    lake.shell.sql(f"CREATE TABLE {table} AS SELECT {columns} FROM range(0, 100000, 1, 1)")
    lake.shell.sql(f"DELETE FROM {table} WHERE c0 < 0.4")
    assert sorted(key.rpartition(".")[2] for key in lake.keys("wide")) == ["dv", "rowset"]
    return table


def test_a_scan_asks_for_the_bytes_of_its_columns_and_sends_no_other_request(
    lake: Lake, proxy: Proxy, wide: str
) -> None:
    proxy.seen.clear()
    lake.shell.sql(f"SELECT sum(c3), sum(c12) FROM {wide}")
    seen = [each for each in proxy.seen if ".rowset" in each.path]
    assert {each.method for each in seen} == {"GET"}
    assert len(seen) == 3  # the footer with the indexes, and each column
    asked = 0
    for each in seen:
        first, last = each.headers["range"].removeprefix("bytes=").split("-")
        asked += int(last) - int(first) + 1
    assert 1_500_000 < asked < 1_700_000  # a column has 780,000 bytes, all have 15 million


def looks(proxy: Proxy, ask: Callable[[], object]) -> list[str]:
    """The methods of the requests for objects of logs that a call sends."""
    proxy.seen.clear()
    ask()
    return [each.method for each in proxy.seen if "/_manifest/" in each.path]


def test_a_query_looks_once_at_the_log_of_its_table(lake: Lake, proxy: Proxy, wide: str) -> None:
    url = f"s3a://{lake.bucket}/wide"
    frame = f"spark.read.format('colonnade').load('{url}')"
    query = f"SELECT sum(c3) FROM {wide} WHERE c4 IN (SELECT max(c4) FROM {wide})"
    given = f"spark.sql('SELECT sum(c3) FROM {{t}}', t={frame})"
    lake.shell.sql(query)
    assert looks(proxy, lambda: lake.shell.sql(query)) == ["GET"]
    # The DataFrame is loaded before the query begins.
    assert looks(proxy, lambda: lake.shell.run(given)) == ["GET"] * 2


def test_every_query_sees_what_was_committed_before_it(lake: Lake) -> None:
    url = f"s3://{lake.bucket}/seen"
    table = f"colonnade.`s3a://{lake.bucket}/seen`"
    count, insert = f"SELECT count(*) FROM {table}", f"INSERT INTO {table} VALUES (1)"
    other = colonnade.create(url, pa.schema([("id", pa.int64())]), storage_options=lake.options)
    for number in range(0, 6, 2):
        assert lake.shell.sql(count) == [[number]]
        other.append(pa.table({"id": [number]}))
        assert lake.shell.sql(count) == [[number + 1]]
        lake.shell.sql(insert)
    # A DataFrame that was analyzed before a commit of its own session shows it, too.
    lake.shell.run(f"globals().update(held=spark.sql('{count}'))")
    lake.shell.sql(insert)
    assert lake.shell.run("held") == [[7]]
    cached = f"spark.sql('CACHE TABLE kept AS SELECT * FROM {table}')"
    lake.shell.run(cached)
    lake.shell.sql(insert)
    assert lake.shell.sql("SELECT count(*) FROM kept") == [[8]]
    lake.shell.run("spark.catalog.dropTempView('kept')")


def test_an_append_looks_once_and_commits_by_one_put(lake: Lake, proxy: Proxy) -> None:
    url = f"s3a://{lake.bucket}/small"
    append = f"spark.range(10).write.format('colonnade').mode('append').save('{url}')"
    for _ in range(2):
        lake.shell.run(append)
    assert looks(proxy, lambda: lake.shell.run(append)) == ["GET", "PUT", "GET"]


def late_reads(lake: Lake, proxy: Proxy, query: str) -> list[float]:
    """When a query asks for each range of bytes, if each answer comes half a second late."""
    starts: list[float] = []

    def late(handler: Handler, body: bytes) -> None:
        starts.append(time.monotonic())
        time.sleep(0.5)
        handler.answer(*handler.pass_on(body))

    proxy.plan = lambda seen: None if "/_manifest/" in seen.path else late
    lake.shell.sql(query)
    return starts


def test_a_scan_of_k_columns_is_two_round_trips_of_k_and_two_requests(
    lake: Lake, proxy: Proxy, wide: str
) -> None:
    starts = late_reads(lake, proxy, f"SELECT sum(c1), sum(c8), sum(c17) FROM {wide}")
    assert len(starts) == 5  # the footer, the deletion vector, and each column
    assert sum(each - min(starts) < 0.5 for each in starts) == 2
    assert max(starts) - min(starts) < 1


def test_a_task_opens_its_rowsets_side_by_side(lake: Lake, proxy: Proxy) -> None:
    table = f"colonnade.`s3a://{lake.bucket}/several`"
    code = "spark.range(0, 12000, 1, 1).selectExpr('id', 'uuid() AS t').write.format('colonnade')"
    save = f"mode('append').save('s3a://{lake.bucket}/several')"
    lake.shell.run(f"{code}.option('maxRecordsPerFile', 2000).{save}")
    # Each of the six has less than a megabyte, so it comes whole with its footer.
    starts = late_reads(lake, proxy, f"SELECT count(DISTINCT t) FROM {table}")
    assert len(starts) == 6
    assert max(starts) - min(starts) < 0.5


@pytest.mark.long
def test_a_large_rowset_is_one_request_for_each_column_whatever_happened_before(
    lake: Lake, proxy: Proxy
) -> None:
    table = f"colonnade.`s3a://{lake.bucket}/large`"
    columns = ", ".join(f"rand({i}) AS c{i}" for i in range(6))
    lake.shell.sql(f"CREATE TABLE {table} AS SELECT {columns} FROM range(0, 1000000, 1, 1)")
    assert len(lake.keys("large")) == 1
    query = "SELECT " + ", ".join(f"sum(c{i})" for i in range(6)) + f" FROM {table}"
    expected = lake.shell.sql(query)

    def requests() -> int:
        proxy.seen.clear()
        assert lake.shell.sql(query) == expected
        return sum(".rowset" in each.path for each in proxy.seen)

    assert requests() == 7
    for _ in range(12):  # tasks that end early and late give back the requests that they may hold
        assert requests() == 7
        assert len(lake.shell.sql(f"SELECT * FROM {table} LIMIT 3")) == 3
    cut: list[Seen] = []

    def plan(seen: Seen) -> Fault | None:
        first, last = seen.headers.get("range", "bytes=0-0").removeprefix("bytes=").split("-")
        if cut or int(last) - int(first) < 7_000_000:
            return None
        cut.append(seen)
        return reply_cut

    proxy.plan = plan
    assert 8 <= requests() <= 9
    assert cut


def test_a_repeated_query_asks_the_bucket_for_nothing_but_the_head(
    lake: Lake, proxy: Proxy, wide: str, tmp_path: Path
) -> None:
    query = f"SELECT sum(c1), sum(c8) FROM {wide} WHERE c2 > 0.1"
    options = {**lake.options, "endpoint_url": proxy.url, "cache": str(tmp_path)}
    with settings(lake.shell, **{"spark.colonnade.storage.cache": str(tmp_path)}):
        first = lake.shell.sql(query)
        proxy.seen.clear()
        assert lake.shell.sql(query) == first
        names = [each.path.removeprefix(f"/{lake.bucket}/wide/") for each in proxy.seen]
        assert names
        assert not [name for name in names if is_immutable(name)]
        table = colonnade.open(f"s3://{lake.bucket}/wide", options)
        proxy.seen.clear()
        assert table.scan(["c1", "c2", "c8"]).to_arrow().num_rows > 50_000
        assert not [each for each in proxy.seen if ".rowset" in each.path], "both share the folder"
    with settings(lake.shell, **{"spark.colonnade.storage.cache": "here"}):
        assert "must be the absolute path of a local folder" in lake.shell.refusal(query)


def test_new_credentials_count_for_tasks_where_hadoop_keeps_no_file_system(
    lake: Lake, wide: str
) -> None:
    given = {"fs.s3a.secret.key": "wrong", "fs.s3a.impl.disable.cache": "true"}
    own = {"spark.colonnade.storage.key": KEY, "spark.colonnade.storage.secret": SECRET}
    query = f"SELECT sum(c1) FROM {wide}"
    with settings(lake.shell, **own, **given):  # only the tasks have wrong credentials
        assert "permission denied; check the credentials" in lake.shell.refusal(query)
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


def test_an_object_that_the_server_refuses_fails_the_statement_and_nothing_stays(
    lake: Lake, proxy: Proxy
) -> None:
    table = f"colonnade.`s3://{lake.bucket}/refused`"
    lake.shell.sql(f"CREATE TABLE {table} (id BIGINT, t STRING)")
    before = lake.keys("refused")
    proxy.always(status_before(403, "AccessDenied"), "PUT", ".rowset")
    said = lake.shell.refusal(f"INSERT INTO {table} SELECT id, uuid() FROM range(20000)")
    assert said.startswith(f"[COLONNADE_STORE] s3://{lake.bucket}/refused/")
    assert "permission denied" in said
    assert lake.keys("refused") == before
    assert lake.shell.sql(f"SELECT count(*) FROM {table}") == [[0]]


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
    assert operations == ["merge", "update", "delete", "append", "create_table"]
    run(f"{table}.vacuum(0)")
    assert run(f"{table}.verify().is_sound")
    assert run(f"colonnade.Database.forPath(spark, '{url}').tables()") == ["t"]


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


@pytest.mark.long
def test_the_session_catalog_has_tables_at_a_location_in_a_bucket(lake: Lake) -> None:
    sql, url = lake.shell.sql, f"s3a://{lake.bucket}/located"
    sql(f"CREATE TABLE located (id BIGINT) USING colonnade LOCATION '{url}'")
    try:
        sql("INSERT INTO located SELECT id FROM range(10)")
        sql("DELETE FROM located WHERE id = 4")
        assert sql("SELECT count(*), sum(id) FROM located") == [[9, 41]]
        assert sql(f"SELECT count(*) FROM colonnade.`s3://{lake.bucket}/located`") == [[9]]
        assert [row[0] for row in sql("SELECT operation FROM located.history")][:1] == ["delete"]
    finally:
        sql("DROP TABLE located")
    sql(f"CREATE TABLE located USING colonnade LOCATION 's3://{lake.bucket}/located'")
    assert sql("SELECT count(*) FROM located VERSION AS OF 2") == [[10]]
    sql("DROP TABLE located")


def python_rows(lake: Lake, url: str) -> int:
    """The rows of a table, as Python counts them without Spark."""
    return colonnade.open(url, lake.options).scan().to_arrow().num_rows


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
            assert "permission denied; check the credentials" in seen[-1]
    log = lake.shell.run("colonnade.doctor(spark).planner_log")
    seen.append(Path(log).read_text() if Path(log).exists() else "")
    stored = [each.read_bytes() for each in (lake.folder / "shown").rglob("*") if each.is_file()]
    for marked in (SECRET, "MARKED"):
        assert not [text for text in seen if marked in str(text)]
        assert not [data for data in stored if marked.encode() in data]


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
