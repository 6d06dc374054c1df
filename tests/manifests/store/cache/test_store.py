"""A cached store asks for immutable bytes once, and never for other bytes than are stored."""

from __future__ import annotations

import pickle
import random
import zlib
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import CorruptionError, InvalidInputError, NotFoundError
from colonnade.manifests.store import MemoryStore, open_store
from colonnade.manifests.store.cache.folder import FolderPieces
from colonnade.manifests.store.cache.options import cache_of
from colonnade.manifests.store.cache.store import CachedStore
from tests.faults import FaultyStore
from tests.setup.http_proxy import Proxy
from tests.setup.minio import Minio

NAME = "t/0123.rowset"


@pytest.fixture
def cache(tmp_path: Path) -> FolderPieces:
    found = cache_of({"cache": str(tmp_path / "cache")}, "s3://b")
    assert found is not None
    return found


def test_random_ranges_are_right_and_are_asked_for_once(cache: FolderPieces) -> None:
    order = random.Random(5)
    data = order.randbytes(3_000_000)
    inner = FaultyStore(MemoryStore())
    inner.put(NAME, data, sync=False)
    store = CachedStore(inner, cache)
    for _ in range(60):
        ranges = []
        for _ in range(order.randrange(1, 5)):
            offset = order.randrange(len(data))
            ranges.append((offset, min(len(data) - offset, order.choice((0, 9, 70_000, 1 << 21)))))
        wanted = [data[offset : offset + length] for offset, length in ranges]
        assert [*store.get_ranges(NAME, ranges)] == wanted
        asked = len(inner.trace)
        assert [*store.get_ranges(NAME, ranges)] == wanted
        assert len(inner.trace) == asked


def test_whole_objects_are_asked_for_once_and_keep_their_limit(cache: FolderPieces) -> None:
    inner = FaultyStore(MemoryStore())
    inner.put(NAME, b"abcdef", sync=False)
    store = CachedStore(inner, cache)
    assert store.get(NAME) == store.get(NAME, limit=6) == b"abcdef"
    assert len(inner.trace) == 2, "one put, one get"
    with pytest.raises(CorruptionError):
        store.get(NAME, limit=5)


def test_objects_that_change_are_never_kept(cache: FolderPieces) -> None:
    inner = MemoryStore()
    store = CachedStore(inner, cache)
    names = ("00000000000000000000", "hint", "00000000000000000007")
    for name in (f"_manifest/{each}.json" for each in names):
        for data in (b"one", b"two"):
            inner.put(name, data, sync=False)
            assert store.get(name) == data
            assert [*store.get_ranges(name, [(0, 3)])] == [data]
            assert [*store.read_many([name])] == [data]


def test_a_range_beyond_the_end_is_the_stores_error(cache: FolderPieces) -> None:
    inner = MemoryStore()
    inner.put(NAME, b"abcdef", sync=False)
    store = CachedStore(inner, cache)
    store.get_ranges(NAME, [(0, 6)])
    with pytest.raises(CorruptionError):
        store.get_ranges(NAME, [(4, 3)])
    assert [*store.get_ranges(NAME, [(6, 0)])] == [b""]
    with pytest.raises(CorruptionError):
        store.get_ranges(NAME, [(7, 0)])
    with pytest.raises(NotFoundError):
        store.get_ranges("t/none.rowset", [(0, 1)])


def test_a_forgotten_object_is_read_from_the_store(cache: FolderPieces) -> None:
    inner = MemoryStore()
    inner.put(NAME, b"wrong!", sync=False)
    store = CachedStore(inner, cache)
    assert store.get(NAME) == store.get_range(NAME, 0, 6) == b"wrong!"
    inner.put(NAME, b"right!", sync=False)
    assert store.get(NAME) == store.get_range(NAME, 0, 6) == b"wrong!"
    store.forget(NAME)
    assert store.get(NAME) == store.get_range(NAME, 0, 6) == b"right!"
    assert store.uncached is inner


def test_a_bucket_is_cached_only_with_the_option(tmp_path: Path) -> None:
    assert not isinstance(open_store("s3://bucket/k"), CachedStore)
    store = open_store("s3://bucket/k", {"cache": str(tmp_path)})
    assert isinstance(store, CachedStore)
    again = pickle.loads(pickle.dumps(store))
    assert isinstance(again, CachedStore)
    assert again.url == store.url
    with pytest.raises(InvalidInputError, match="absolute path"):
        open_store("s3://bucket/k", {"cache": "here"})


def table_on(minio: Minio, port: int, folder: Path) -> tuple[str, dict[str, object]]:
    """Create a table of 50,000 rows; return its URL and options of a cache, all through `port`."""
    options = {**minio.options(), "endpoint_url": f"http://127.0.0.1:{port}"}
    url = f"s3://{minio.new_bucket()}/t"
    rows = pa.table({"a": [*range(50_000)], "b": [f"text {n % 977}" for n in range(50_000)]})
    colonnade.create(url, rows.schema, storage_options=options).append(rows)
    return url, {**options, "cache": str(folder)}


def test_a_repeated_query_asks_a_bucket_only_for_the_head(minio: Minio, tmp_path: Path) -> None:
    proxy = Proxy(minio.port)
    try:
        url, options = table_on(minio, int(proxy.url.rpartition(":")[2]), tmp_path)
        rows = colonnade.open(url, options).scan().to_arrow()
        table = colonnade.open(url, options)
        table.refresh()
        proxy.seen.clear()
        assert table.scan(["a"], "a < 70").to_arrow().equals(rows.slice(0, 70).select(["a"]))
        assert all("/_manifest/" in each.path for each in proxy.seen)
        assert len(proxy.seen) <= 2
        proxy.seen.clear()
        assert colonnade.open(url, options).scan().to_arrow().equals(rows)
        assert all("/_manifest/" in each.path for each in proxy.seen)
    finally:
        proxy.stop()


def test_damage_in_the_cache_itself_costs_only_a_request(minio: Minio, tmp_path: Path) -> None:
    url, options = table_on(minio, minio.port, tmp_path)
    table = colonnade.open(url, options)
    rows = table.scan().to_arrow()
    kept = [path for path in tmp_path.rglob("*-*") if path.is_file()]
    assert kept
    for path in kept:
        path.write_bytes(path.read_bytes()[:-3] + b"xxx")
    assert table.scan().to_arrow().equals(rows)


def test_wrong_bytes_from_the_store_do_not_stay_in_the_cache(minio: Minio, tmp_path: Path) -> None:
    url, options = table_on(minio, minio.port, tmp_path)
    table = colonnade.open(url, options)
    rows = table.scan().to_arrow()
    kept = {path: path.read_bytes() for path in tmp_path.rglob("*-*") if path.is_file()}
    for path, stored in kept.items():
        spoiled = stored[8:-3] + b"xxx"
        path.write_bytes(b"CLNP" + zlib.crc32(spoiled).to_bytes(4, "big") + spoiled)
    # A scan that opens RowSets ahead of its plan opens damaged ones again, and may meet no damage.
    for _ in range(6):
        with suppress(CorruptionError):
            table.scan().to_arrow()
    assert table.scan().to_arrow().equals(rows)
    assert any(path.exists() and path.read_bytes() == kept[path] for path in kept)


def test_verify_reads_the_store_and_not_the_cache(minio: Minio, tmp_path: Path) -> None:
    url, options = table_on(minio, minio.port, tmp_path)
    table = colonnade.open(url, options)
    rows = table.scan().to_arrow()
    store = open_store(url, options).uncached
    [data] = [info.name for info in store.list("") if not info.name.startswith("_manifest")][:1]
    bytes_of = store.get(data)
    store.put(data, bytes_of[:50] + bytes([bytes_of[50] ^ 1]) + bytes_of[51:], sync=False)
    assert table.scan().to_arrow().equals(rows), "the cache still has the sound bytes"
    assert table.verify(4).findings
