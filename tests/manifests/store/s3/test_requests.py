"""What each call asks of a bucket of S3: how many requests, and that the requester pays."""

from __future__ import annotations

import secrets
from functools import partial

import pytest

from colonnade.manifests.store.checks import finished_name
from colonnade.manifests.store.s3 import S3Store
from colonnade.manifests.store.s3.upload import PART
from tests.manifests.store.bucket.requests import check_requests
from tests.setup.http_proxy import Proxy
from tests.setup.minio import Minio

pytestmark = pytest.mark.timeout(900)  # the first test may build the server


def test_each_call_costs_the_requests_that_it_must(store: S3Store, proxy: Proxy) -> None:
    def cost(call: object) -> list[str]:
        proxy.seen.clear()
        call()  # type: ignore[operator]
        return [seen.method for seen in proxy.seen]

    def stream(size: int) -> None:
        with store.create(f"t/{size}", sync=True) as writer:
            writer.write(b"x" * size)

    slot = "_manifest/00000000000000000000.json"
    assert cost(lambda: store.put_if_absent(slot, b"x")) == ["PUT"]
    assert cost(lambda: store.put_if_absent(slot.replace("0.j", "1.j"), b"x")) == ["PUT"]
    assert cost(lambda: store.put("a", b"0123456789" * 100_000, sync=True)) == ["PUT"]
    assert cost(lambda: store.get("a")) == ["GET"]
    assert cost(lambda: store.get("a", limit=1_000_000)) == ["GET"]
    assert cost(lambda: store.get_ranges("a", [(900_000, 9), (5, 5), (200_000, 1)])) == ["GET"] * 2
    assert cost(lambda: store.get_ranges("a", [(7, 3), (100, 1), (0, 2)])) == ["GET"]
    assert cost(lambda: stream(1000)) == ["PUT"]
    assert sorted(cost(lambda: stream(PART + 1))) == ["POST", "POST", "PUT", "PUT"]
    assert cost(lambda: list(store.list(""))) == ["GET"]
    assert cost(lambda: store.remove_many([slot, "a", "t/1000"])) == ["POST"]
    assert cost(lambda: store.delete("b")) == ["DELETE"]
    assert cost(store.require_writable) == []


@pytest.mark.slow
def test_more_objects_than_a_page_are_listed_and_removed_in_batches(
    store: S3Store, minio: Minio, proxy: Proxy
) -> None:
    wanted = [f"t/{number:04}" for number in range(1_050)]
    past_the_proxy = S3Store(store.url, minio.options())
    store.together([partial(past_the_proxy.put, name, b"x", sync=False) for name in wanted])
    proxy.seen.clear()
    assert [info.name for info in store.list("t/")] == wanted
    assert proxy.count("GET") == 2
    assert store.remove_many([*wanted, "t/absent"]) == {}
    assert proxy.count("POST") == 2
    assert list(store.list("")) == []


def test_every_call_works_where_the_requester_pays(minio: Minio, bucket: str) -> None:
    url = f"s3://{bucket}/{secrets.token_hex(4)}"
    store = S3Store(url, minio.options(requester_pays=True))
    store.put_if_absent("_manifest/00000000000000000000.json", b"x")
    store.put("a", b"xyz", sync=True)
    with store.create("b", sync=True) as long:
        long.write(b"x" * (PART + 1))
    begun = store.create("c", sync=True)
    begun.write(b"x" * (PART + 1))
    assert store.get("a") == b"xyz"
    assert store.get_ranges("a", [(0, 1), (2, 1)]) == [b"x", b"z"]
    assert store.modified_ms("b") is not None
    assert store.date_of_write("_manifest/x") is not None
    assert [finished_name(info.name) for info in store.list_unfinished()] == ["c"]
    begun.abort()
    assert store.remove_many([info.name for info in store.list("")]) == {}
    assert list(store.list("")) == []


def test_a_request_tells_absent_bytes_from_an_absent_object(store: S3Store) -> None:
    check_requests(store.bucket)
