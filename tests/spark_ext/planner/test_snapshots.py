"""The planner knows what it has read, and how lately, for all its logs of one database."""

from __future__ import annotations

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.store import MemoryStore, StoreAddress, open_store
from colonnade.spark_ext.planner.snapshots import Recent, Snapshots
from tests.far_store import FarStore
from tests.log_samples import append, make_log, with_orders
from tests.setup.http_proxy import Proxy
from tests.setup.minio import Minio

SCHEMA = pa.schema({"id": pa.int64()})


def test_only_the_values_used_last_are_kept() -> None:
    recent: Recent[int, str] = Recent(2)
    recent.put(1, "a")
    recent.put(2, "b")
    assert recent.get(1) == "a"
    recent.put(3, "c")
    assert (recent.get(1), recent.get(2), recent.get(3)) == ("a", None, "c")
    recent.drop(3)
    assert recent.get(3) is None


@pytest.mark.timeout(900)  # the first test may build the server
def test_a_table_that_was_just_loaded_is_loaded_again_by_one_request(minio: Minio) -> None:
    url = f"s3://{minio.new_bucket()}/t"
    table = colonnade.create(url, SCHEMA, storage_options=minio.options())
    table.append(pa.table({"id": [1]}, SCHEMA))
    proxy, snapshots = Proxy(minio.port), Snapshots()
    try:
        address = StoreAddress.of(url, minio.options(endpoint_url=proxy.url))
        first = snapshots.find(address)
        for _ in range(3):
            proxy.seen.clear()
            assert snapshots.find(address) == first
            assert [seen.method for seen in proxy.seen] == ["GET"]
        table.append(pa.table({"id": [2]}, SCHEMA))
        assert snapshots.find(address)[1].epoch == first[1].epoch + 1
        assert snapshots.log(open_store(address)).last_look.covers(first[1])
    finally:
        proxy.stop()


def test_a_commit_after_a_load_looks_no_more_than_a_session_of_one_log() -> None:
    near = MemoryStore()
    head = with_orders(near, make_log(near))
    store, snapshots = FarStore(near), Snapshots()
    assert snapshots.log(store).read_head() == head
    with store.counted() as cost:
        snapshots.log(store).commit(append(), head)
    assert cost.operations == ["put_if_absent", "get"]
