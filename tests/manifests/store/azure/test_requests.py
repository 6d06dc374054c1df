"""Each call makes as few requests to a container of Azure as it can, with the right conditions."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from colonnade.manifests.store.azure import AzureStore
from colonnade.manifests.store.azure.upload import PART
from tests.manifests.store.bucket.requests import check_requests
from tests.setup.azurite import Azurite
from tests.setup.http_proxy import Proxy

pytestmark = pytest.mark.timeout(900)  # the first test may install the server
SLOT = "_manifest/00000000000000000000.json"


@pytest.mark.slow
def test_each_call_costs_the_requests_that_it_must(store: AzureStore, proxy: Proxy) -> None:
    def cost(call: Any) -> list[str]:
        proxy.seen.clear()
        call()
        return [seen.method for seen in proxy.seen]

    def stream(size: int) -> None:
        with store.create(f"t/{size}", sync=True) as writer:
            writer.write(b"x" * size)

    assert cost(lambda: store.put_if_absent(SLOT, b"x")) == ["PUT"]
    assert cost(lambda: store.put_if_absent(SLOT.replace("0.j", "1.j"), b"x")) == ["PUT"]
    assert cost(lambda: store.put("a", b"0123456789" * 100_000, sync=True)) == ["PUT"]
    assert cost(lambda: store.get("a", limit=1_000_000)) == ["GET"]
    assert cost(lambda: store.get_ranges("a", [(900_000, 9), (5, 5), (200_000, 1)])) == ["GET"] * 2
    assert cost(lambda: store.get_ranges("a", [(7, 3), (100, 1), (0, 2)])) == ["GET"]
    assert cost(lambda: stream(1000)) == ["PUT"]
    assert cost(lambda: stream(PART)) == ["PUT"]
    assert cost(lambda: stream(PART + 1)) == ["PUT"] * 3
    assert cost(lambda: list(store.list(""))) == ["GET"]
    assert cost(lambda: store.remove_many([SLOT, "a", "t/1000"])) == ["POST"]
    assert cost(lambda: store.delete("b")) == ["DELETE"]
    assert cost(store.require_writable) == []


def test_every_write_carries_the_condition_and_a_checksum(store: AzureStore, proxy: Proxy) -> None:
    store.put_if_absent(SLOT, b"x")
    with store.create("t/a", sync=True) as writer:
        writer.write(b"x" * (PART + 1))
    conditions = [seen.headers.get("if-none-match") for seen in proxy.seen]
    assert conditions == ["*", None, None, "*"]
    assert all("content-md5" in seen.headers for seen in proxy.seen[:3])


@pytest.mark.long
def test_more_objects_than_a_page_are_listed_and_removed_in_batches(
    store: AzureStore, azurite: Azurite, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("colonnade.manifests.store.azure.requests._PAGE", 120)
    wanted = [f"t/{number:04}" for number in range(270)]
    past_the_proxy = AzureStore(store.url, azurite.options())
    store.together([partial(past_the_proxy.put, name, b"x", sync=False) for name in wanted])
    proxy.seen.clear()
    assert [info.name for info in store.list("t/")] == wanted
    assert proxy.count("GET") == 3
    assert store.remove_many([*wanted, "t/absent"]) == {}
    assert proxy.count("POST") == 2
    assert list(store.list("")) == []


def test_folders_of_an_account_with_folders_are_no_objects(store: AzureStore) -> None:
    store.put("t/a", b"x", sync=True)
    folder = store.bucket._blob(f"{store._prefix}t")
    folder.upload_blob(b"", metadata={"hdi_isfolder": "true"})
    assert [info.name for info in store.list("")] == ["t/a"]


def test_a_request_tells_absent_bytes_from_an_absent_object(store: AzureStore) -> None:
    check_requests(store.bucket)
