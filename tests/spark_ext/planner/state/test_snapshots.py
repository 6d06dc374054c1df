"""The planner knows what it has read, and how lately, for all its logs of one database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from unittest.mock import patch

import pyarrow as pa
import pytest

import colonnade
from colonnade import ArrowTable
from colonnade.manifests.store import MemoryStore, StoreAddress, open_store
from colonnade.spark_ext.planner.catalog import databases
from colonnade.spark_ext.planner.messages.base import Done, Operation, Question
from colonnade.spark_ext.planner.messages.envelope import Envelope
from colonnade.spark_ext.planner.operations import OPS
from colonnade.spark_ext.planner.server import answer
from colonnade.spark_ext.planner.state.snapshots import ANY_LOOK, SNAPSHOTS, Recent, Snapshots
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
        assert snapshots.log(open_store(address)).reader.last_look.covers(first[1])
    finally:
        proxy.stop()


@pytest.fixture
def watched(minio: Minio) -> Iterator[tuple[ArrowTable, StoreAddress, Proxy]]:
    """A table in a bucket, its address behind a proxy, and the proxy."""
    url = f"s3://{minio.new_bucket()}/t"
    table = colonnade.create(url, SCHEMA, storage_options=minio.options())
    proxy = Proxy(minio.port)
    yield table, StoreAddress.of(url, minio.options(endpoint_url=proxy.url)), proxy
    proxy.stop()


@pytest.mark.slow
@pytest.mark.timeout(900)  # the first test may build the server
def test_the_requests_of_one_query_look_once_and_the_next_query_sees_every_commit_before_it(
    watched: tuple[ArrowTable, StoreAddress, Proxy],
) -> None:
    table, address, proxy = watched
    snapshots = Snapshots()
    first = snapshots.find(address, query=1)
    proxy.seen.clear()
    table.append(pa.table({"id": [1]}, SCHEMA))
    for _ in range(3):
        assert snapshots.find(address, query=1) == first
        assert snapshots.find(address, query=ANY_LOOK) == first
    assert not proxy.seen
    epoch = first[1].epoch + 1
    assert snapshots.find(address, query=2)[1].epoch == epoch
    proxy.seen.clear()
    assert snapshots.head(address, query=2)[1].epoch == epoch
    assert not proxy.seen
    # A request without a number, and one of an earlier query, look for themselves.
    for query in (None, None, 1):
        assert snapshots.find(address, query=query)[1].epoch == epoch
        assert [seen.method for seen in proxy.seen] == ["GET"]
        proxy.seen.clear()


@pytest.mark.timeout(900)
def test_a_query_sees_at_once_what_its_own_planner_has_changed(
    watched: tuple[ArrowTable, StoreAddress, Proxy],
) -> None:
    table, address, _ = watched
    snapshots = Snapshots()
    before = snapshots.find(address, query=1)[1].epoch
    table.append(pa.table({"id": [1]}, SCHEMA))
    snapshots.changed()
    assert snapshots.find(address, query=ANY_LOOK)[1].epoch == before + 1
    table.append(pa.table({"id": [2]}, SCHEMA))
    assert snapshots.find(address, query=1)[1].epoch == before + 2


@pytest.mark.timeout(900)
def test_whether_a_table_exists_costs_one_look_or_none_in_a_query_that_has_looked(
    watched: tuple[ArrowTable, StoreAddress, Proxy], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, address, proxy = watched
    monkeypatch.setattr(databases, "place", lambda path, storage: address)
    args = {"path": address.url}
    SNAPSHOTS.head(address)
    proxy.seen.clear()
    assert databases.table_exists({**args, "query": 7}) == {"yes": True}
    assert [seen.method for seen in proxy.seen] == ["GET"]
    assert databases.table_exists({**args, "query": 7}) == {"yes": True}
    assert len(proxy.seen) == 1


def test_only_operations_that_change_no_table_keep_the_looks_of_a_query() -> None:
    looking = {name for name, op in OPS.items() if issubclass(op.request, Question)}
    assert not {name for name in looking if name.startswith(("commit", "delete", "drop", "call"))}
    for name in ("load", "describe", "commit_write", "call_procedure"):
        request = OPS[name].request.model_construct
        does_nothing = Operation(OPS[name].request, Done, lambda _: Done())
        before = SNAPSHOTS._changes
        with patch.object(OPS[name].request, "model_validate", lambda args, new=request: new()):
            answer({name: does_nothing}, Envelope(id=1, op=name, args={}))
        assert (SNAPSHOTS._changes > before) == (name not in looking)


@pytest.mark.timeout(900)
def test_all_paths_of_a_table_share_a_look_and_an_own_commit_is_not_read_again(
    watched: tuple[ArrowTable, StoreAddress, Proxy],
) -> None:
    table, address, proxy = watched
    snapshots = Snapshots()
    paths = [replace(address, url=address.url.replace("s3:", scheme)) for scheme in ("s3:", "s3a:")]
    for path in paths:
        snapshots.head(path)
    proxy.seen.clear()
    first = snapshots.head(paths[0], query=1)
    assert snapshots.head(paths[1], query=1) == first
    assert [seen.method for seen in proxy.seen] == ["GET"]
    for number in range(3):
        table.append(pa.table({"id": [number]}, SCHEMA))
    snapshots.committed(first[0].store.address, table._log.reader.read_head())
    proxy.seen.clear()
    assert snapshots.head(paths[1])[1].epoch == first[1].epoch + 3
    assert [seen.method for seen in proxy.seen] == ["GET"]
    snapshots.committed(first[0].store.address, first[1])
    assert snapshots.head(paths[0])[1].epoch == first[1].epoch + 3


def test_a_commit_after_a_load_looks_no_more_than_a_session_of_one_log() -> None:
    near = MemoryStore()
    head = with_orders(near, make_log(near))
    store, snapshots = FarStore(near), Snapshots()
    assert snapshots.log(store).reader.read_head() == head
    with store.counted() as cost:
        snapshots.log(store).commit(append(), head)
    assert cost.operations == ["put_if_absent", "get"]
