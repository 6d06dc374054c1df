"""Bad buckets and credentials: one clear sentence, and nothing half done."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import NotFoundError, StoreError
from colonnade.manifests.store import PutOutcome
from colonnade.manifests.store.s3 import S3Store
from colonnade.manifests.store.s3.upload import PART
from tests.setup.http_proxy import Proxy, Seen, status_before
from tests.setup.minio import Minio

pytestmark = pytest.mark.timeout(900)  # the first test may build the server
LONG = pytest.mark.long
SLOT = "_manifest/00000000000000000000.json"
SCHEMA = pa.schema({"id": pa.int64()})
DENIED = status_before(403, "AccessDenied")
EXPIRED = status_before(400, "ExpiredToken")


@pytest.fixture
def fair(proxy: Proxy) -> Iterator[Proxy]:
    """A proxy that spoils nothing before and after the test."""
    proxy.plan = lambda seen: None
    yield proxy
    proxy.plan = lambda seen: None


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": ids}, SCHEMA)


def ids_of(table: Any) -> list[int]:
    return sorted(table.scan().to_arrow()["id"].to_pylist())


@pytest.mark.parametrize(
    ("write", "needed"),
    [
        (lambda store: store.put_if_absent(SLOT, b"x"), "s3:PutObject"),
        (lambda store: store.put("b", b"x", sync=True), "s3:PutObject"),
        (lambda store: _stream(store, 10), "s3:PutObject"),
        (lambda store: _stream(store, PART + 1), "s3:PutObject"),
        (lambda store: store.delete("a"), "s3:DeleteObject"),
        (lambda store: list(store.list_unfinished()), "s3:ListBucketMultipartUploads"),
    ],
)
def test_a_missing_permission_is_named_and_reading_goes_on(
    store: S3Store, fair: Proxy, write: Callable[[S3Store], object], needed: str
) -> None:
    store.put("a", b"x", sync=True)
    fair.plan = lambda seen: DENIED if seen.method != "GET" or "uploads" in seen.path else None
    with pytest.raises(StoreError, match=f"permission denied; the credentials need {needed}[.]"):
        write(store)
    assert store.get("a") == b"x"
    assert [info.name for info in store.list("")] == ["a"]


def _stream(store: S3Store, size: int) -> None:
    with store.create("t/a", sync=True) as writer:
        writer.write(b"x" * size)


def test_a_table_is_read_without_the_permission_to_write(
    store: S3Store, fair: Proxy, minio: Minio
) -> None:
    options = minio.options(endpoint_url=fair.url, max_concurrency=7)
    table = colonnade.create(store.url, SCHEMA, storage_options=options)
    table.append(rows(1, 2))
    fair.plan = lambda seen: None if seen.method in ("GET", "HEAD") else DENIED
    again = colonnade.open(store.url, storage_options=options)
    with pytest.raises(StoreError, match="the credentials need s3:PutObject"):
        again.append(rows(3))
    assert ids_of(colonnade.open(store.url, storage_options=options)) == [1, 2]


def test_a_table_is_read_and_written_without_the_permission_to_list(
    store: S3Store, fair: Proxy, minio: Minio
) -> None:
    options = minio.options(endpoint_url=fair.url, max_concurrency=8)
    table = colonnade.create(store.url, SCHEMA, storage_options=options)

    def plan(seen: Seen) -> Any:
        return DENIED if "list-type=2" in seen.path else None

    fair.plan = plan
    table.append(rows(1))
    assert ids_of(colonnade.open(store.url, storage_options=options)) == [1]
    with pytest.raises(StoreError, match="the credentials need s3:ListBucket[.]"):
        table.vacuum(0, force=True, trust_clock=True)
    assert ids_of(table) == [1]


@pytest.mark.parametrize("size", [10, 3 * PART])
def test_credentials_that_expire_half_way_leave_no_object(
    store: S3Store, fair: Proxy, size: int
) -> None:
    writer = store.create("t/a", sync=True)
    writer.write(b"x" * (size // 2))
    fair.plan = lambda seen: EXPIRED
    expired = pytest.raises(StoreError, match="the credentials have expired; renew them")
    with expired as refused, writer:
        writer.write(b"x" * (size - size // 2))
    assert not refused.value.retryable
    fair.plan = lambda seen: None
    assert list(store.list("")) == []
    for left in store.list_unfinished():
        store.delete_unfinished(left.name)
    assert list(store.list_unfinished()) == []


@pytest.mark.slow
def test_credentials_that_expire_at_a_commit_leave_the_table_as_it_was(
    store: S3Store, fair: Proxy, minio: Minio
) -> None:
    options = minio.options(endpoint_url=fair.url, max_concurrency=9)
    table = colonnade.create(store.url, SCHEMA, storage_options=options)
    table.append(rows(1))
    fair.plan = lambda seen: EXPIRED if seen.method == "PUT" else None
    with pytest.raises(StoreError, match="the credentials have expired; renew them"):
        table.append(rows(2))
    fair.plan = lambda seen: None
    assert ids_of(colonnade.open(store.url, storage_options=options)) == [1]
    table.append(rows(3))
    assert ids_of(table) == [1, 3]


@pytest.mark.slow
@pytest.mark.parametrize(
    "make", [Minio.versioned_bucket, Minio.locked_bucket], ids=["versioned", "with object lock"]
)
def test_a_bucket_that_keeps_old_versions_works_as_any_other(
    minio: Minio, make: Callable[[Minio], str]
) -> None:
    url, options = f"s3://{make(minio)}/db", minio.options()
    store = S3Store(url, options)
    assert store.put_if_absent("t/a", b"1") is PutOutcome.CREATED
    assert store.put_if_absent("t/a", b"2") is PutOutcome.EXISTS
    _stream(S3Store(f"{url}/s", options), PART + 1)
    store.delete("t/a")
    assert store.remove_many(["s/t/a"]) == {}
    assert list(store.list("")) == []
    assert store.put_if_absent("t/a", b"3") is PutOutcome.CREATED
    assert store.get("t/a") == b"3"
    table = colonnade.create(f"{url}/table", SCHEMA, storage_options=options)
    table.append(rows(1, 2))
    table.overwrite(rows(3))
    table.vacuum(0, force=True, trust_clock=True)
    assert ids_of(colonnade.open(f"{url}/table", storage_options=options)) == [3]


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_clock_that_is_an_hour_wrong_is_named_and_nothing_is_written(
    store: S3Store, hours: int
) -> None:
    store.put("t/a", b"x", sync=True)
    now = datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
    wrong = now + datetime.timedelta(hours=hours)
    uses: tuple[Callable[[], object], ...] = (
        lambda: store.get("t/a"),
        lambda: store.put("t/b", b"x", sync=True),
        lambda: store.put_if_absent(SLOT, b"x"),
        lambda: _stream(store, 10),
    )
    with patch("botocore.auth.get_current_datetime", lambda: wrong):
        for use in uses:
            with pytest.raises(StoreError, match="the clock of this machine is wrong") as refused:
                use()
            assert not refused.value.retryable
    assert [info.name for info in store.list("")] == ["t/a"]


ODD = ("a b", "100%", "a%20b", "a+b", "ü/日本語 \U0001f40d", "it's&=;@,!", "a/", "x.y/..z")


@pytest.mark.parametrize(
    "path", ["a b%20+100%/ü日\U0001f40d/'&=;@,!/..z/", *(pytest.param(p, marks=LONG) for p in ODD)]
)
def test_a_key_of_any_letters_is_one_place_for_all_operations(minio: Minio, path: str) -> None:
    url, options = f"s3://{minio.new_bucket()}/{path}", minio.options()
    table = colonnade.create(url, SCHEMA, storage_options=options)
    for part in (range(50_000), range(50_000, 100_000)):
        table.append(rows(*part))
    table.delete("id >= 10 AND id < 99990")
    table.optimize().option("min-rowsets", 2).executeCompaction()
    table.vacuum(0, retain_epochs=1, force=True, trust_clock=True)
    plain = url.rstrip("/")
    for each in (plain, f"{plain}/", plain.replace("s3:", "s3a:")):
        assert ids_of(colonnade.open(each, options)) == [*range(10), *range(99_990, 100_000)]
    assert table.verify(depth=3).is_sound
    with pytest.raises(NotFoundError):
        colonnade.open(f"{plain}x", options)
