"""The stores that the contract is tried on. A new store that writes is one more of `STORES`.

`fsspec_files/given.py` has file systems of fsspec, each of which is tried, too.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from colonnade.manifests.store import LocalStore, MemoryStore, ObjectStore
from colonnade.manifests.store.cache.options import cache_of
from colonnade.manifests.store.cache.store import CachedStore
from colonnade.manifests.store.draft import DraftStore
from tests.faults import FaultyStore


def _parallel(store: ObjectStore) -> ObjectStore:
    store.parallel = 8
    return store


def _cached(store: ObjectStore, folder: Path) -> ObjectStore:
    cache = cache_of({"cache": str(folder)}, store.url)
    assert cache is not None
    return CachedStore(store, cache)


STORES: dict[str, Callable[[Path], ObjectStore]] = {
    "local": lambda folder: LocalStore(folder / "new" / "db"),
    "memory": lambda folder: MemoryStore(),
    "side by side": lambda folder: _parallel(MemoryStore()),
    "cached": lambda folder: _cached(MemoryStore(), folder / "cache"),
    "draft": lambda folder: DraftStore(MemoryStore()),
    "draft of local": lambda folder: DraftStore(LocalStore(folder / "new" / "db")),
    "faulty without faults": lambda folder: FaultyStore(MemoryStore()),
}
BUCKETS = {
    "minio": "s3",
    "gcs": "gs",
    "azurite": "az",
    "fake_hdfs": "hdfs",
    "hdfs": "hdfs",
    "ceph": "s3",
}
"""The servers of tests, each with its scheme."""
SLOW_TO_START = {"hdfs", "ceph"}
SERVERS = [
    pytest.param(name, marks=pytest.mark.long) if name in SLOW_TO_START else name
    for name in BUCKETS
]
SLOT = "_manifest/00000000000000000000.json"


def names(store: ObjectStore, prefix: str = "") -> list[str]:
    return sorted(info.name for info in store.list(prefix))
