"""The operations of Python work in a bucket as on a disk, also while the database is dropped."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade import ArrowDatabase, ArrowTable, col
from colonnade.manifests.errors import AlreadyExistsError, ColonnadeError, NotFoundError, StoreError
from colonnade.manifests.log.dropping import drop_database
from colonnade.manifests.log.log import Log
from colonnade.manifests.store import open_store
from colonnade.tableformat.jobs import JobRunner, Stop
from colonnade.tableformat.verify.job import VerifyJob, VerifyOutcome
from colonnade.tableformat.verify.rowset_check import check_job
from tests.cli.runner import run_command
from tests.setup.http_proxy import Proxy
from tests.setup.minio import KEY, SECRET, Minio

pytestmark = pytest.mark.timeout(900)  # the first test may build the server
ROOT = Path(__file__).resolve().parents[3]
SCHEMA = pa.schema({"id": pa.int64(), "name": pa.string()})


@pytest.fixture(scope="module")
def proxy(minio: Minio) -> Iterator[Proxy]:
    made = Proxy(minio.port)
    yield made
    made.stop()


@pytest.fixture
def place(minio: Minio, proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    yield f"s3://{minio.new_bucket()}/lake"
    proxy.plan = lambda seen: None


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": list(ids), "name": [str(each) for each in ids]}, SCHEMA)


def ids(table: ArrowTable) -> list[int]:
    found: list[int] = table.scan(columns=["id"]).to_arrow()["id"].to_pylist()
    return sorted(found)


def kept_ids(table: ArrowTable, tag: str) -> list[int]:
    found: list[int] = table.scan(columns=["id"], tag=tag).to_arrow()["id"].to_pylist()
    return sorted(found)


def test_a_table_in_a_bucket_is_written_read_changed_and_kept(place: str) -> None:
    table = colonnade.create(f"{place}/trips", SCHEMA)
    table.append(rows(1, 2, 3))
    table.append(rows(*range(100, 100_100)))
    again = colonnade.open(f"{place.replace('s3:', 's3a:')}/trips")
    assert ids(again) == [1, 2, 3, *range(100, 100_100)]
    assert again.delete(col("id") >= 100).rows_deleted == 100_000
    table.update({"name": "'x'"}, where=col("id") == 2)
    table.upsert(rows(3, 4), on=["id"])
    assert ids(again) == [1, 2, 3, 4]
    table.optimize().executeCompaction()
    assert table.scan(where=col("id") == 2).to_arrow()["name"].to_pylist() == ["x"]
    assert len(table.history()) >= 6
    assert table.verify(depth=3).is_sound
    table.restore(epoch=2)
    assert ids(table) == [1, 2, 3]


@pytest.mark.slow
def test_a_database_in_a_bucket_has_transactions_tags_and_vacuum(place: str) -> None:
    database = colonnade.create_database(place)
    for name in ("one", "two"):
        database.create_table(name, SCHEMA)
    with database.transaction() as transaction:
        transaction.table("one").append(rows(1))
        transaction.table("two").append(rows(2))
    database.tag("before")
    database.table("one").overwrite(rows(5))
    killed = open_store(place).create(f"{'a' * 16}/{'b' * 32}.rowset", sync=True)
    killed.write(b"x" * (6 << 20))
    result = database.vacuum(retention_hours=0, retain_epochs=1, force=True, trust_clock=True)
    assert result.epoch is not None
    assert any(file.name.startswith(f"{'a' * 16}/.tmp-") for file in result.files)
    assert list(open_store(place).list_unfinished()) == []
    killed.abort()
    again = colonnade.open_database(place)
    assert ids(again.table("one")) == [5]
    assert ids(again.table("two")) == [2]
    assert kept_ids(again.table("one"), "before") == [1]
    assert again.verify(depth=3).is_sound


@pytest.mark.slow
def test_a_database_in_a_bucket_is_dropped_for_good(place: str) -> None:
    database = colonnade.create_database(place)
    table = database.create_table("t", SCHEMA)
    table.append(rows(*range(100_000)))
    late = colonnade.open(f"{place}/t")
    log = Log(open_store(place))
    assert not drop_database(log, cascade=False)
    assert drop_database(log, cascade=True)
    left = [info.name for info in log.store.list("")]
    assert left
    assert all(name.startswith("_manifest/") for name in left)
    for call in (
        lambda: late.append(rows(1)),
        lambda: database.verify(depth=3),
        lambda: colonnade.verify(place),
        lambda: colonnade.open(f"{place}/t"),
        lambda: colonnade.open_database(place).create_table("u", SCHEMA),
    ):
        with pytest.raises(NotFoundError, match="was dropped in epoch .*choose another place"):
            call()
    assert drop_database(log, cascade=True), "what late writers leave is removed by another drop"
    with pytest.raises(AlreadyExistsError, match="was dropped. Its log stays"):
        ArrowDatabase.create(place)
    with pytest.raises(ColonnadeError, match="was dropped"):
        colonnade.create(place, SCHEMA)


def test_a_drop_beside_a_verification_is_not_reported_as_damage(place: str) -> None:
    database = colonnade.create_database(place)
    database.create_table("t", SCHEMA).append(rows(*range(100_000)))
    log = Log(open_store(place))

    def after_a_drop(job: VerifyJob, stop: Stop) -> VerifyOutcome:
        assert drop_database(log, cascade=True)
        return check_job(job, log.store, stop)

    with pytest.raises(NotFoundError, match="was dropped in epoch"):
        database.verify(depth=3, elsewhere=JobRunner(after_a_drop, 1))


def test_an_append_to_an_open_table_costs_one_put(place: str, proxy: Proxy) -> None:
    table = colonnade.create(place, SCHEMA)
    table.append(rows(1))
    proxy.seen.clear()
    table.append(rows(2))
    assert proxy.count("PUT") == 1
    assert proxy.count("POST") == proxy.count("DELETE") == proxy.count("HEAD") == 0


@pytest.mark.slow
def test_storage_options_reach_every_operation_and_no_text(
    minio: Minio, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [each for each in os.environ if each.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    place, options = f"s3://{minio.new_bucket()}/lake", minio.options()
    database = colonnade.create_database(place, storage_options=options)
    table = database.create_table("t", SCHEMA)
    for number in range(3):
        table.append(rows(number))
    table.optimize().executeCompaction()
    again = colonnade.open(f"{place}/t", storage_options=options)
    assert ids(again) == [0, 1, 2]
    said = f"{database!r} {again!r} {again.history()} {again.verify(depth=3)}"
    assert SECRET not in said
    with pytest.raises(StoreError, match="no credentials were found; give the storage options"):
        colonnade.open(f"{place}/t", storage_options={"endpoint_url": minio.url})


def test_the_page_about_stores_runs_as_it_stands(place: str, minio: Minio) -> None:
    (minio.folder / "data" / "bucket").mkdir()
    page = (ROOT / "docs" / "stores.md").read_text()
    _, _, section = page.partition("## S3 from Python")
    [code] = re.findall(r"^```py\n(.*?)^```$", section.partition("\n## ")[0], re.M | re.S)
    exec(compile(code, "stores.md", "exec"), {})
    options = minio.options()
    assert ids(colonnade.open("s3://bucket/lake/trips", storage_options=options)) == [1, 2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "answer"),
    [("history", "append"), ("verify", "2 rows"), ("maintain", "epoch 2")],
)
def test_the_command_line_takes_a_bucket(place: str, command: str, answer: str) -> None:
    colonnade.create(place, SCHEMA).append(rows(1, 2))
    done = run_command(command, place)
    assert done.code == 0, done.err
    assert answer in done.out
    assert SECRET not in done.out + done.err
