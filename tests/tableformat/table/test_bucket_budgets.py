"""How many requests the operations of Python send to a bucket, counted at a real server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pyarrow as pa
import pytest

import colonnade
from colonnade import ArrowTable, col
from colonnade.manifests.ids import new_job_id, new_object_id
from colonnade.manifests.object_names import packed_name
from colonnade.manifests.reading.last_look import LastLook
from colonnade.manifests.store import open_store
from tests.setup.http_proxy import Proxy
from tests.setup.minio import Minio

pytestmark = pytest.mark.timeout(900)  # the first test may build the server
SCHEMA = pa.schema({f"c{number}": pa.int64() for number in range(8)})
TABLES = {"lone": 3, "base/one": 84}


def rows(count: int) -> pa.Table:
    return pa.table({name: [*range(count)] for name in SCHEMA.names}, SCHEMA)


@pytest.fixture(scope="module")
def proxy(minio: Minio) -> Iterator[Proxy]:
    made = Proxy(minio.port)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def lake(minio: Minio) -> str:
    """A lone table with a few epochs, and a table in a database that has a checkpoint."""
    url = f"s3://{minio.new_bucket()}/lake"
    colonnade.create_database(f"{url}/base", storage_options=minio.options())
    for name, epochs in TABLES.items():
        table = colonnade.create(f"{url}/{name}", SCHEMA, storage_options=minio.options())
        for _ in range(epochs):
            table.append(rows(10))
        table.append(rows(100_000))
    return url


def opened(proxy: Proxy, minio: Minio, lake: str, name: str) -> ArrowTable:
    """Open a table, and prove that what was read is its newest state."""
    options = minio.options(endpoint_url=proxy.url)
    table = colonnade.open(f"{lake}/{name}", storage_options=options)
    assert table.epoch
    return table


def rounds_of(proxy: Proxy, operation: Callable[[], object], at_most: int) -> int:
    """Return how many requests of an operation follow one another.

    A busy machine can only make them more: a thread of the client then sends its request late. So
    the operation is repeated a few times while there are more than `at_most`.
    """
    for tried in range(6):
        with proxy.counted(0.1 * 2**tried) as rounds:
            operation()
        if rounds.count <= at_most:
            break
    return rounds.count


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_a_cold_open_waits_for_three_requests_one_after_another(
    proxy: Proxy, minio: Minio, lake: str, name: str
) -> None:
    assert rounds_of(proxy, lambda: opened(proxy, minio, lake, name), 3) <= 3
    proxy.seen.clear()
    table = opened(proxy, minio, lake, name)
    shown = repr(table)
    assert table.epoch > TABLES[name]
    assert shown == repr(table)
    assert {seen.method for seen in proxy.seen} == {"GET"}
    assert len(proxy.seen) <= (22 if name == "lone" else 59)


@pytest.mark.parametrize(("name", "rounds"), [("lone", 2), ("base/one", 4)])
def test_an_open_is_proved_while_the_first_scan_reads_its_rows(
    proxy: Proxy, minio: Minio, lake: str, name: str, rounds: int
) -> None:
    options = minio.options(endpoint_url=proxy.url)

    def read() -> pa.Table:
        return colonnade.open(f"{lake}/{name}", storage_options=options).scan().to_arrow()

    assert rounds_of(proxy, read, rounds) <= rounds
    proxy.seen.clear()
    assert read().num_rows == 100_000 + 10 * TABLES[name]
    assert len(proxy.seen) <= (23 if name == "lone" else 61)


def test_a_cold_open_of_a_database_waits_for_three_requests_one_after_another(
    proxy: Proxy, minio: Minio, lake: str
) -> None:
    options = minio.options(endpoint_url=proxy.url)
    database = f"{lake}/base"
    look = partial(colonnade.open_database, database, storage_options=options)
    assert rounds_of(proxy, look, 3) <= 3
    assert look().tables() == ["one"]


def test_a_refresh_and_an_append_of_ten_rows_cost_one_and_two_requests(
    proxy: Proxy, minio: Minio, lake: str
) -> None:
    table = opened(proxy, minio, lake, "lone")
    table.append(rows(10))  # the first write of a process probes the server
    table = opened(proxy, minio, lake, "lone")
    proxy.seen.clear()
    table.refresh()
    assert [seen.method for seen in proxy.seen] == ["GET"]
    proxy.seen.clear()
    table.append(rows(10))
    assert [seen.method for seen in proxy.seen] == ["PUT", "GET"]


def test_an_append_long_after_the_last_look_costs_one_look_more(
    proxy: Proxy, minio: Minio, lake: str
) -> None:
    table = opened(proxy, minio, lake, "lone")
    table.append(rows(10))
    for _ in range(2):
        table._log.reader.last_look = LastLook(table._log.store)
        proxy.seen.clear()
        table.append(rows(10))
        assert [seen.method for seen in proxy.seen] == ["GET"] * 3 + ["PUT", "GET"]
        proxy.seen.clear()
        table.append(rows(10))
        assert [seen.method for seen in proxy.seen] == ["PUT", "GET"]


def test_an_append_of_one_large_rowset_costs_its_object_and_the_epoch(
    proxy: Proxy, minio: Minio, lake: str
) -> None:
    table = opened(proxy, minio, lake, "base/one")
    table.append(rows(10))
    table = opened(proxy, minio, lake, "base/one")
    proxy.seen.clear()
    table.append(rows(100_000))
    assert [seen.method for seen in proxy.seen].count("PUT") == 2
    assert len(proxy.seen) <= 4


@pytest.mark.parametrize("columns", [["c0"], ["c1", "c6"], list(SCHEMA.names)])
def test_a_scan_of_a_rowset_costs_two_requests_more_than_its_columns_and_two_rounds(
    proxy: Proxy, minio: Minio, lake: str, columns: list[str]
) -> None:
    url = f"{lake}/{'-'.join(columns)}"
    colonnade.create(url, SCHEMA, storage_options=minio.options()).append(rows(100_000))
    table = opened(proxy, minio, lake, "-".join(columns))
    table.refresh()
    # The look for newer epochs is made while the RowSet is opened.
    assert rounds_of(proxy, lambda: table.scan(columns).to_arrow(), 2) <= 2
    proxy.seen.clear()
    assert table.scan(columns).to_arrow().num_rows == 100_000
    asked = [seen for seen in proxy.seen if ".rowset" in seen.path]
    assert len(asked) <= len(columns) + 2
    assert len(proxy.seen) - len(asked) == 1


def test_a_delete_costs_its_reads_and_one_put(proxy: Proxy, minio: Minio, lake: str) -> None:
    url = f"{lake}/deleted"
    colonnade.create(url, SCHEMA, storage_options=minio.options()).append(rows(100_000))
    table = opened(proxy, minio, lake, "deleted")
    proxy.seen.clear()
    assert table.delete(col("c0") < 1000).rows_deleted == 1000
    methods = [seen.method for seen in proxy.seen]
    assert methods.count("PUT") == 1
    assert methods.count("GET") == len(methods) - 1 <= 6


@pytest.mark.long
def test_a_vacuum_of_100_000_objects_sends_at_most_300_requests(proxy: Proxy, minio: Minio) -> None:
    bucket = minio.new_bucket()
    url = f"s3://{bucket}/crowded"
    colonnade.create(url, SCHEMA, storage_options=minio.options()).append(rows(100_000))
    job = new_job_id()
    names = [packed_name("", new_object_id(job)) for _ in range(100_000)]
    open_store(url, minio.options()).put(names[0], b"x", sync=True)
    # A copy on the server's disk is much faster than a request.
    folder = minio.folder / "data" / bucket / "crowded"
    stored = (folder / names[0] / "xl.meta").read_bytes()
    for name in names[1:]:
        (folder / name).mkdir()
        (folder / name / "xl.meta").write_bytes(stored)
    patient = {"read_timeout": 60}  # a busy disk takes long to remove a batch
    options = minio.options(endpoint_url=proxy.url, config_kwargs=patient)
    table = colonnade.open(url, storage_options=options)
    table.append(rows(10))  # the first write of a process probes the server
    proxy.seen.clear()
    assert len(table.vacuum(0, force=True, trust_clock=True).files) == 100_000
    assert len(proxy.seen) <= 300
    assert colonnade.open(url, storage_options=options).scan().to_arrow().num_rows == 100_010
