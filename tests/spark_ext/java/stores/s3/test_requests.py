"""What Spark requests of a bucket: how often, which bytes, and which requests wait for others."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.object_names import is_immutable
from tests.setup.http_proxy import Fault, Handler, Proxy, Seen, reply_cut
from tests.spark_ext.java.stores.s3.lake import Lake, settings

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark_shell")]


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
