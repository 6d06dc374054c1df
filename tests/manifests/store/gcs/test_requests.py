"""Each call makes as few requests to a bucket of GCS as it can, with the right conditions."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from colonnade.manifests.errors import StoreError
from colonnade.manifests.store.gcs import GcsStore
from colonnade.manifests.store.gcs.upload import PART
from tests.manifests.store.bucket.requests import check_requests
from tests.setup.gcs import FakeGcs
from tests.setup.gcs_sessions import SessionProxy

pytestmark = pytest.mark.timeout(900)  # the first test may build the server
SLOT = "_manifest/00000000000000000000.json"


def test_each_call_costs_the_requests_that_it_must(store: GcsStore, proxy: SessionProxy) -> None:
    def cost(call: Any) -> list[str]:
        proxy.seen.clear()
        call()
        return [seen.method for seen in proxy.seen]

    def stream(size: int) -> None:
        with store.create(f"t/{size}", sync=True) as writer:
            writer.write(b"x" * size)

    assert cost(lambda: store.put_if_absent(SLOT, b"x")) == ["POST"]
    assert cost(lambda: store.put_if_absent(SLOT.replace("0.j", "1.j"), b"x")) == ["POST"]
    assert cost(lambda: store.put("a", b"0123456789" * 100_000, sync=True)) == ["POST"]
    assert cost(lambda: store.get("a", limit=1_000_000)) == ["GET"]
    assert cost(lambda: store.get_ranges("a", [(900_000, 9), (5, 5), (200_000, 1)])) == ["GET"] * 2
    assert cost(lambda: store.get_ranges("a", [(7, 3), (100, 1), (0, 2)])) == ["GET"]
    assert cost(lambda: stream(1000)) == ["POST"]
    assert cost(lambda: stream(PART)) == ["POST"]
    assert cost(lambda: stream(PART + 1)) == ["POST", "PUT", "PUT"]
    assert cost(lambda: list(store.list(""))) == ["GET"]
    assert cost(lambda: store.remove_many([SLOT, "a", "t/1000"])) == ["POST"]
    assert cost(lambda: store.delete("b")) == ["DELETE"]
    assert cost(store.require_writable) == []


def test_every_write_carries_the_condition_a_checksum_and_no_cache(
    store: GcsStore, proxy: SessionProxy
) -> None:
    store.put_if_absent(SLOT, b"x")
    with store.create("t/a", sync=True) as writer:
        writer.write(b"x" * (PART + 1))
    assert ["ifGenerationMatch=0" in seen.path for seen in proxy.seen if seen.method == "POST"] == [
        True,
        True,
    ]
    for name in (SLOT, "t/a"):
        found = store.bucket._client.send(
            "read", "GET", store.bucket._path(store._prefix + name), read=lambda got: got.json()
        )
        assert found["cacheControl"] == "no-store"
        assert found["crc32c"]


@pytest.mark.long
def test_more_objects_than_a_page_are_listed_and_removed_in_batches(
    store: GcsStore, gcs: FakeGcs, proxy: SessionProxy
) -> None:
    wanted = [f"t/{number:04}" for number in range(1_050)]
    past_the_proxy = GcsStore(store.url, gcs.options())
    store.together([partial(past_the_proxy.put, name, b"x", sync=False) for name in wanted])
    proxy.seen.clear()
    assert [info.name for info in store.list("t/")] == wanted
    assert proxy.count("GET") == 2
    assert store.remove_many([*wanted, "t/absent"]) == {}
    assert proxy.count("POST") == 11
    assert list(store.list("")) == []


def test_an_object_that_a_batch_does_not_remove_is_named_with_the_reason(
    store: GcsStore, proxy: SessionProxy
) -> None:
    store.put("t/a", b"x", sync=True)
    denied = json.dumps({"error": {"errors": [{"reason": "retentionPolicyNotMet"}]}})
    part = "--b\r\nContent-Type: application/http\r\nContent-ID: <response-{}>\r\n\r\n{}\r\n"
    answer = "".join(
        (
            part.format(0, f"HTTP/1.1 403 Forbidden\r\nX: y\r\n\r\n{denied}"),
            part.format(1, "HTTP/1.1 204 No Content\r\nX: y\r\n\r\n"),
            part.format(2, "HTTP/1.1 404 Not Found\r\nX: y\r\n\r\n"),
            part.format(3, "HTTP/1.1 503 Busy\r\nX: y\r\n\r\n"),
            "--b--\r\n",
        )
    ).encode()
    kind = [("Content-Type", "multipart/mixed; boundary=b")]
    proxy.plan = lambda seen: (
        (lambda handler, body: handler.answer(200, kind, answer)) if seen.method == "POST" else None
    )
    failed = store.remove_many(["t/a", "t/b", "t/c", "t/d", "t/e"])
    assert sorted(failed) == ["t/a", "t/d", "t/e"], "what has no answer may still exist"
    assert "t/a could not be removed: a retention policy" in failed["t/a"].message
    assert isinstance(failed["t/d"], StoreError)
    assert failed["t/d"].retryable


def test_a_request_tells_absent_bytes_from_an_absent_object(store: GcsStore) -> None:
    check_requests(store.bucket)
