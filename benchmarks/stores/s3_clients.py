"""Clients of S3 that do the same work on one MinIO server.

Needs s3fs and obstore, which Colonnade does not: `pip install s3fs obstore`.
"""

from __future__ import annotations

import importlib
import itertools
import os
import statistics
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.measure import Figure, in_turn, median_ratio
from colonnade.manifests.store.s3 import S3Store
from tests.setup.minio import KEY, SECRET, Minio

SMALL = 50
PART = 8 << 20
Works = dict[str, Callable[[], object]]


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Return the medians of each work, in milliseconds for one call."""
    del scale
    with _server(folder) as server:
        sides = {"colonnade": _ours(server), "s3fs": _s3fs(server), "obstore": _obstore(server)}
        return [
            _figure(name, [each[name] for each in sides.values()], runs)
            for name in sides["colonnade"]
        ]


def _figure(name: str, works: list[Callable[[], object]], runs: int) -> Figure:
    calls = SMALL if "4 KiB" in name else 1

    def repeated(work: Callable[[], object]) -> Callable[[], object]:
        return lambda: [work() for _ in range(calls)]

    times = in_turn([repeated(work) for work in works], runs)
    ours, s3fs, obstore = (statistics.median(each) * 1000 / calls for each in times)
    ratio = median_ratio(times[0], times[1])
    beside = {"s3fs": s3fs, "obstore": obstore}
    return Figure(name, "ms", ours, s3fs, ratio, beside=beside)


@contextmanager
def _server(folder: Path) -> Iterator[Minio]:
    with tempfile.TemporaryDirectory(dir=folder) as data:
        server = Minio(Path(data))
        try:
            yield server
        finally:
            server.stop()


def _names() -> Callable[[], str]:
    numbers = itertools.count()
    return lambda: f"t/{next(numbers)}"


def _ours(server: Minio) -> Works:
    store, name = S3Store(f"s3://{server.new_bucket()}", server.options()), _names()
    whole = os.urandom(PART) * 8
    store.put("small", whole[:4096], sync=True)
    _stream(store, "large", whole)
    return {
        "put 4 KiB if absent": lambda: store.put_if_absent(name(), whole[:4096]),
        "get 4 KiB": lambda: store.get("small"),
        "64 ranges of 1 MiB": lambda: store.get_ranges("large", _ranges()),
        "write 64 MiB in parts": lambda: _stream(store, name(), whole),
    }


def _ranges() -> list[tuple[int, int]]:
    return [(number << 20, 1 << 20) for number in range(64)]


def _stream(store: S3Store, name: str, data: bytes) -> None:
    with store.create(name, sync=True) as writer:
        writer.write(data)


def _s3fs(server: Minio) -> Works:
    files: Any = importlib.import_module("s3fs").S3FileSystem(**server.options())
    bucket, name = server.new_bucket(), _names()
    whole = os.urandom(PART) * 8
    files.pipe_file(f"{bucket}/small", whole[:4096])
    files.pipe_file(f"{bucket}/large", whole)
    starts = [offset for offset, _ in _ranges()]
    ends = [offset + length for offset, length in _ranges()]
    paths = [f"{bucket}/large"] * len(starts)
    return {
        "put 4 KiB if absent": lambda: files.pipe_file(
            f"{bucket}/{name()}", whole[:4096], mode="create"
        ),
        "get 4 KiB": lambda: files.cat_file(f"{bucket}/small"),
        "64 ranges of 1 MiB": lambda: files.cat_ranges(paths, starts, ends),
        "write 64 MiB in parts": lambda: files.pipe_file(
            f"{bucket}/{name()}", whole, chunksize=PART
        ),
    }


def _obstore(server: Minio) -> Works:
    obstore: Any = importlib.import_module("obstore")
    kind: Any = importlib.import_module("obstore.store").S3Store
    store = kind(
        server.new_bucket(),
        endpoint=server.url,
        access_key_id=KEY,
        secret_access_key=SECRET,
        region="us-east-1",
        client_options={"allow_http": True},
    )
    name, pool, whole = _names(), ThreadPoolExecutor(16), os.urandom(PART) * 8
    obstore.put(store, "small", whole[:4096])
    obstore.put(store, "large", whole)

    def read(part: tuple[int, int]) -> bytes:
        return bytes(obstore.get_range(store, "large", start=part[0], length=part[1]))

    return {
        "put 4 KiB if absent": lambda: obstore.put(
            store, name(), whole[:4096], mode="create", use_multipart=False
        ),
        "get 4 KiB": lambda: bytes(obstore.get(store, "small").bytes()),
        "64 ranges of 1 MiB": lambda: list(pool.map(read, _ranges())),
        "write 64 MiB in parts": lambda: obstore.put(
            store, name(), whole, chunk_size=PART, max_concurrency=4, use_multipart=True
        ),
    }
