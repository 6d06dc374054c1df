"""A store in a bucket: what its URLs and options mean, and how many requests it makes."""

from __future__ import annotations

import os
import pickle
import secrets

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import StoreError
from colonnade.manifests.store import open_store
from colonnade.manifests.store.bucket.requests import BucketRequests
from colonnade.manifests.store.fsspec_files import FsspecStore
from colonnade.manifests.store.near_ranges import plan_requests
from colonnade.manifests.store.s3 import S3Store
from tests.manifests.store.races import race
from tests.setup.http_proxy import Proxy
from tests.setup.minio import KEY, SECRET, Minio

pytestmark = pytest.mark.timeout(900)  # the first test may build the server


def test_a_chained_url_is_read_through_fsspec() -> None:
    assert isinstance(open_store("simplecache::memory://db"), FsspecStore)


def test_a_store_survives_the_way_to_an_executor_and_shows_no_secret(store: S3Store) -> None:
    store.put("a", b"x", sync=True)
    again = pickle.loads(pickle.dumps(store))
    assert again.get("a") == b"x"
    assert SECRET not in f"{again!r} {again.url} {again.locate('a')} {again.client.settings!r}"
    assert f"{KEY}'" not in f"{again!r} {again.client.settings!r}"


@given(
    ranges=st.lists(st.tuples(st.integers(0, 300), st.integers(0, 60)), max_size=12),
    gap=st.integers(0, 20),
    longest=st.integers(1, 50),
)
def test_near_ranges_are_one_request_and_every_byte_is_cut_out_once(
    ranges: list[tuple[int, int]], gap: int, longest: int
) -> None:
    data = bytes(secrets.token_bytes(400))
    requests = plan_requests(ranges, gap, longest)
    found = [bytearray(length) for _, length in ranges]
    filled = [0] * len(ranges)
    for request in requests:
        assert 0 < request.length <= longest
        part = data[request.offset : request.offset + request.length]
        for index, start, offset, length in request.cuts:
            found[index][start : start + length] = part[offset : offset + length]
            filled[index] += length
    assert [bytes(each) for each in found] == [data[o : o + n] for o, n in ranges]
    assert filled == [length for _, length in ranges]
    wanted = {byte for offset, length in ranges for byte in range(offset, offset + length)}
    read = sum(request.length for request in requests)
    assert read <= len(wanted) + gap * len(ranges) + sum(n for _, n in ranges)


def test_long_ranges_are_read_side_by_side(store: S3Store, proxy: Proxy) -> None:
    data = secrets.token_bytes(1 << 20) * 20
    with store.create("t/a", sync=True) as writer:
        writer.write(data)
    proxy.seen.clear()
    found = store.get_ranges("t/a", [(1, len(data) - 1), (5, 10), (0, 0)])
    assert found == [data[1:], data[5:15], b""]
    assert proxy.count("GET") in (3, 4)


def test_a_missing_bucket_is_named(minio: Minio) -> None:
    store = S3Store("s3://no-such-bucket/db", minio.options())
    for call in (
        lambda: store.get("a"),
        lambda: list(store.list("")),
        lambda: store.put_if_absent("a", b"x"),
        lambda: store.require_writable(),
    ):
        with pytest.raises(StoreError, match="no-such-bucket/.*the bucket does not exist; create"):
            call()


def test_wrong_credentials_are_named_and_not_shown(minio: Minio, bucket: str) -> None:
    for options, sentence in (
        ({"key": "canary-key"}, "does not know the access key"),
        ({"secret": "canary-secret"}, "the secret key is wrong"),
        ({"anon": True}, "permission denied; the credentials need s3:GetObject"),
    ):
        store = S3Store(f"s3://{bucket}/db", minio.options(**options))
        with pytest.raises(StoreError, match=sentence) as refused:
            store.get("a")
        assert "canary" not in refused.value.message


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "processes", "rounds"),
    [
        ("minio", 2, 20),
        pytest.param("minio", 8, 200, marks=pytest.mark.long),
        pytest.param("ceph", 8, 200, marks=pytest.mark.long),
    ],
)
def test_of_racing_processes_one_wins_each_slot(
    kind: str, processes: int, rounds: int, request: pytest.FixtureRequest
) -> None:
    server = request.getfixturevalue(kind)
    url = f"s3://{server.new_bucket()}/race-{rounds}"
    environment = {
        **os.environ,
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_ENDPOINT_URL": server.url,
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    won = race(url, environment, processes, rounds)
    store = S3Store(url, server.options())
    bodies = store.read_many([f"_manifest/{slot}" for slot in range(rounds)])
    assert [bytes(body)[:1] for body in bodies] == won  # type: ignore[arg-type]


def test_the_object_of_a_killed_probe_is_unfinished_and_can_be_removed(store: S3Store) -> None:
    left = f"_manifest/.tmp-{'0' * 16}-00000000000000000000.json"
    place = {"Bucket": store._bucket, "Key": store._prefix + left, "Body": b"x"}
    store.client.send("PutObject", place)
    assert [info.name for info in store.list_unfinished()] == [left]
    assert [info.name for info in store.list_all(lambda name: True)] == [left]
    assert list(store.list("")) == []
    store.delete_unfinished(left)
    assert list(store.list_unfinished()) == []


def test_the_folders_below_a_root_are_named_once_and_a_listing_has_pages(
    minio: Minio, bucket: str
) -> None:
    root = f"s3://{bucket}/{secrets.token_hex(4)}"
    store = S3Store(root, minio.options())
    assert list(store.folders()) == []
    for name in ("b/x", "b/y", "a/c/x", "file"):
        store.put_if_absent(name, b"bytes")
    S3Store(f"{root}x", minio.options()).put_if_absent("other/x", b"bytes")
    assert sorted(store.folders()) == ["a", "b"]
    slow = BucketRequests.folders(store.bucket, store._prefix, None)
    assert (sorted(slow.names), slow.next) == (["a", "b"], None)
