"""Bad buckets, credentials and clocks from Spark: one clear sentence, and nothing half done."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from botocore.exceptions import ClientError

from colonnade.manifests.store.s3.failures import classify
from tests.setup.http_proxy import Fault, Proxy, Seen, status_before
from tests.setup.minio import Minio
from tests.spark_ext.java.stores.s3.lake import Lake, python_rows, settings

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark_shell")]
EXPIRED = status_before(400, "ExpiredToken")
DENIED = status_before(403, "AccessDenied")
WORDS = {
    "NoSuchBucket": 404,
    "InvalidAccessKeyId": 403,
    "SignatureDoesNotMatch": 403,
    "ExpiredToken": 400,
    "TokenRefreshRequired": 400,
    "InvalidToken": 400,
    "RequestTimeTooSkewed": 403,
    "PermanentRedirect": 301,
    "AuthorizationHeaderMalformed": 400,
    "IllegalLocationConstraintException": 400,
    "AccessDenied": 403,
    "MadeUpWord": 400,
}
"""Code words of S3, and the status that each comes with."""


def made(lake: Lake, name: str) -> str:
    """Make a table whose rows lie in one object. Returns its name in SQL."""
    table = f"colonnade.`s3a://{lake.bucket}/{name}`"
    lake.shell.sql(f"CREATE TABLE {table} AS SELECT id, uuid() AS t FROM range(5000)")
    return table


def said_by_python(code: str, status: int) -> str:
    answer = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    failure = classify("GetObject", ClientError(answer, "GetObject"))
    assert failure is not None
    return failure.reason


def test_tasks_say_of_each_code_word_of_the_server_what_python_says(
    lake: Lake, proxy: Proxy
) -> None:
    query = f"SELECT max(t) FROM {made(lake, 'words')}"
    for code, status in WORDS.items():
        proxy.always(status_before(status, code), "GET", ".rowset")
        said = lake.shell.refusal(query)
        assert said.startswith(f"[COLONNADE_STORE] s3://{lake.bucket}/words/"), said
        # A region is set in one way for S3A, and in another way for Python.
        reason, _, _ = said_by_python(code, status).partition("; give client_kwargs")
        assert f" could not be read: {reason}" in said
        assert "canary" not in said
        assert len(said) < 300


def test_an_insert_without_the_permission_to_write_names_it_and_reading_goes_on(
    lake: Lake, proxy: Proxy
) -> None:
    table = made(lake, "refused")
    before = lake.keys("refused")
    proxy.plan = lambda seen: None if seen.method in ("GET", "HEAD") else DENIED
    needed = "permission denied; the credentials need s3:PutObject."
    said = lake.shell.refusal(f"INSERT INTO {table} SELECT id, uuid() FROM range(20000)")
    assert said.startswith(f"[COLONNADE_STORE] s3://{lake.bucket}/refused/")
    assert needed in said
    # Rows that fit into the epoch are written by the planner alone.
    assert needed in lake.shell.refusal(f"INSERT INTO {table} VALUES (1, 'a')")
    assert lake.shell.sql(f"SELECT count(*) FROM {table}") == [[5000]]
    assert lake.keys("refused") == before


def test_a_table_is_read_and_written_without_the_permission_to_list(
    lake: Lake, proxy: Proxy
) -> None:
    table = made(lake, "unlisted")
    proxy.plan = lambda seen: DENIED if "list-type=2" in seen.path else None
    lake.shell.sql(f"INSERT INTO {table} SELECT id, uuid() FROM range(20000)")
    assert lake.shell.sql(f"SELECT count(*), count(DISTINCT t) FROM {table}") == [[25000, 25000]]
    url = f"s3a://{lake.bucket}/unlisted"
    vacuum = (
        f"CALL colonnade.system.vacuum(table => '{url}', retention_hours => 0.0, force => true)"
    )
    assert "the credentials need s3:ListBucket." in lake.shell.refusal(vacuum)


def _second_object(name: str) -> Callable[[Seen], Fault | None]:
    """Credentials that expire after the first object of a table was written."""
    written: list[Seen] = []

    def plan(seen: Seen) -> Fault | None:
        if seen.method == "PUT" and f"/{name}/" in seen.path and ".rowset" in seen.path:
            written.append(seen)
        # The answer to a HEAD request has no code word that would tell what is wrong.
        return EXPIRED if len(written) > 1 and seen.method != "HEAD" else None

    return plan


def _commit(name: str) -> Callable[[Seen], Fault | None]:
    """Credentials that expire when the epoch is committed."""
    return lambda seen: EXPIRED if seen.method == "PUT" and "_manifest/0" in seen.path else None


@pytest.mark.parametrize("when", [pytest.param(_second_object, marks=pytest.mark.long), _commit])
def test_credentials_that_expire_half_way_leave_the_table_as_it_was(
    lake: Lake, proxy: Proxy, when: Callable[[str], Callable[[Seen], Fault | None]]
) -> None:
    name = f"expired{when.__name__}"
    table, url = made(lake, name), f"s3a://{lake.bucket}/{name}"
    before = lake.keys(name)
    rows = "spark.range(0, 9000, 1, 1).selectExpr('id', 'uuid() AS t')"
    write = f"{rows}.write.format('colonnade').option('maxRecordsPerFile', 3000).mode('append')"
    proxy.plan = when(name)
    assert "the credentials have expired; renew them." in lake.shell.refused_run(
        f"{write}.save('{url}')"
    )
    proxy.plan = lambda seen: None
    assert lake.shell.sql(f"SELECT count(*) FROM {table}") == [[5000]]
    lake.shell.run(f"colonnade.Table.forPath(spark, '{url}').vacuum(0, force=True)")
    assert lake.keys(name) == before


def test_a_clock_that_is_wrong_is_named_by_the_planner(lake: Lake, proxy: Proxy) -> None:
    table = made(lake, "skewed")
    proxy.plan = lambda seen: status_before(403, "RequestTimeTooSkewed")
    for statement in (f"SELECT max(t) FROM {table}", f"INSERT INTO {table} VALUES (1, 'a')"):
        assert "the clock of this machine is wrong by more than" in lake.shell.refusal(statement)
    proxy.plan = lambda seen: None
    assert lake.shell.sql(f"SELECT count(*) FROM {table}") == [[5000]]


def test_a_bucket_that_is_missing_and_a_server_that_is_not_there_are_named(
    lake: Lake, minio: Minio
) -> None:
    missing = "colonnade.`s3a://there-is-no-such-bucket/t`"
    for statement in (
        f"SELECT * FROM {missing}",
        f"CREATE TABLE {missing} (id BIGINT)",
        f"CREATE TABLE {missing} AS SELECT uuid() AS t FROM range(20000)",
        f"INSERT INTO {missing} VALUES (1)",
    ):
        assert "the bucket does not exist; create it first" in lake.shell.refusal(statement)
    nobody = {"fs.s3a.endpoint": "http://127.0.0.1:9", "spark.colonnade.storage.patience": "1"}
    with settings(lake.shell, **nobody):
        said = lake.shell.refusal(f"SELECT * FROM colonnade.`s3a://{minio.new_bucket()}/t`")
        assert "the server cannot be reached; check endpoint_url and the network." in said


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(Minio.versioned_bucket, id="versioned", marks=pytest.mark.long),
        pytest.param(Minio.locked_bucket, id="with object lock"),  # which is versioned, too
    ],
)
def test_a_bucket_that_keeps_old_versions_works_as_any_other(
    lake: Lake, minio: Minio, make: Callable[[Minio], str]
) -> None:
    url = f"s3a://{make(minio)}/t"
    table = f"colonnade.`{url}`"
    lake.shell.sql(f"CREATE TABLE {table} AS SELECT id, uuid() AS t FROM range(20000)")
    lake.shell.sql(f"DELETE FROM {table} WHERE id % 2 = 0")
    lake.shell.sql(f"INSERT OVERWRITE {table} SELECT id, 'again' FROM {table} WHERE id < 10000")
    lake.shell.run(f"colonnade.Table.forPath(spark, '{url}').vacuum(0, force=True)")
    assert lake.shell.sql(f"SELECT count(*), sum(id) FROM {table}") == [[5000, 25_000_000]]
    assert python_rows(lake, url) == 5000


def test_a_key_of_any_letters_is_one_place_for_planner_and_tasks(lake: Lake) -> None:
    url = f"s3a://{lake.bucket}/a b%20+100%/ü日/'&=;@,!"
    lake.shell.sql(f"CREATE TABLE colonnade.`{url}/` AS SELECT uuid() AS t FROM range(5000)")
    for each in (url, f"{url}/", url.replace("s3a:", "s3:")):
        assert lake.shell.sql(f"SELECT count(DISTINCT t) FROM colonnade.`{each}`") == [[5000]]
    assert python_rows(lake, url) == 5000
    for part in ("..", "a//b", "a?b"):
        said = lake.shell.refusal(f"CREATE TABLE colonnade.`s3a://{lake.bucket}/{part}/t` (a INT)")
        assert said.startswith("[COLONNADE_"), said


def test_a_place_that_something_else_uses_is_refused_and_stays_as_it_is(lake: Lake) -> None:
    url = f"s3a://{lake.bucket}/parquet"
    lake.shell.run(f"spark.range(10).write.parquet('{url}')")
    before = lake.keys("parquet")
    said = lake.shell.refusal(f"CREATE TABLE colonnade.`{url}` (id BIGINT)")
    assert said.startswith("[COLONNADE_")
    assert url.removeprefix("s3a:") in said
    assert lake.keys("parquet") == before
