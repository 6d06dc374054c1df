"""Our clients of GCS and Azure beside gcsfs and adlfs, on a network where each answer takes 20 ms.

A ratio is the time through the library over that of our client.
"""

from __future__ import annotations

import itertools
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

import colonnade
from benchmarks.measure import Figure, in_turn, median_ratio
from benchmarks.stores.slow_network import SlowNetwork
from colonnade.manifests.store import ObjectStore, StoreAddress, open_store
from tests.manifests.store.fsspec_files.given import LIBRARIES
from tests.setup.azurite import Azurite
from tests.setup.gcs import FakeGcs
from tests.setup.http_proxy import Proxy, status_after

DELAY_S = 0.02
TARGET = 1.3
EPOCHS = 20
ROWS = pa.table({"id": range(10), "name": [f"n{i}" for i in range(10)]})

Opened = Callable[[str], StoreAddress]
"""Returns the address of a path, over connections of its own at each call."""


class Kind(NamedTuple):
    """A kind of bucket: its server, and how our client and a library reach it at a URL.

    `commits_by` is the method of the request that makes an object.
    """

    server: Callable[[Path], Any]
    commits_by: str
    ours: Callable[[str], Opened]
    theirs: Callable[[str], Opened]


_NUMBERS = itertools.count(1)


def _url(scheme: str, options: Callable[[str], dict[str, Any]]) -> Callable[[str], Opened]:
    def at(url: str) -> Opened:
        # Another patience is another client.
        return lambda path: StoreAddress.of(
            f"{scheme}://{path}", {**options(url), "patience": 25 + next(_NUMBERS) / 1000}
        )

    return at


def _files(library: str) -> Callable[[str], Opened]:
    def at(url: str) -> Opened:
        make = LIBRARIES[library].make
        return lambda path: StoreAddress.of(
            path, filesystem=make(url, max_paths=1000 + next(_NUMBERS))
        )

    return at


KINDS = {
    "GCS": Kind(FakeGcs, "POST", _url("gs", lambda url: {"endpoint_url": url}), _files("gcsfs")),
    "Azure": Kind(Azurite, "PUT", _url("az", Azurite.at), _files("adlfs")),
}


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Measure commits, opens over new connections, and a commit that is answered by 503."""
    del scale
    figures = []
    for name, kind in KINDS.items():
        with _server(kind, folder) as server:
            figures += _far(name, kind, server, runs)
            figures.append(_lost(name, kind, server))
    return figures


@contextmanager
def _server(kind: Kind, folder: Path) -> Iterator[Any]:
    with tempfile.TemporaryDirectory(dir=folder) as data:
        server = kind.server(Path(data))
        try:
            yield server
        finally:
            server.stop()


def _far(name: str, kind: Kind, server: Any, runs: int) -> list[Figure]:
    network = SlowNetwork(server.port, DELAY_S)
    try:
        sides = [kind.ours(network.url), kind.theirs(network.url)]
        bucket = server.new_bucket()
        with network.fast():
            tables = []
            for number, side in enumerate(sides):
                table = colonnade.create(side(f"{bucket}/{number}"), ROWS.schema)
                for _ in range(EPOCHS):
                    table.append(ROWS)
                tables.append(table)
        commits = [partial(table.append, ROWS) for table in tables]
        opens = [partial(_cold, side, f"{bucket}/{number}") for number, side in enumerate(sides)]
        opened = _figure(f"{name}: open over new connections, and scan", opens, runs)
        return [_figure(f"{name}: append of 10 rows to an open table", commits, 2 * runs), opened]
    finally:
        network.stop()


def _cold(side: Opened, path: str) -> None:
    colonnade.open(side(path)).scan().to_arrow()


def _lost(name: str, kind: Kind, server: Any) -> Figure:
    proxy = Proxy(server.port)
    bucket = server.new_bucket()
    try:
        works = []
        for number, side in enumerate((kind.ours(proxy.url), kind.theirs(proxy.url))):
            store = open_store(side(f"{bucket}/{number}"))
            store.require_writable()
            works.append(partial(_put, store, proxy, kind.commits_by))
        return _figure(f"{name}: commit that lands, and is answered by 503", works, 1)
    finally:
        proxy.stop()


def _put(store: ObjectStore, proxy: Proxy, method: str) -> None:
    proxy.once(status_after(503, "ServerBusy"), method)
    if store.put_if_absent(f"a/{next(_NUMBERS)}", b"x" * 1000).name == "UNKNOWN":
        raise AssertionError("a commit has been lost")


def _figure(measure: str, works: Sequence[Callable[[], object]], runs: int) -> Figure:
    times = in_turn(works, runs)
    ours, theirs = (statistics.median(each) for each in times)
    ratio = median_ratio(times[1], times[0])
    print(f"  {measure}: {ours:.3f} s, {theirs:.3f} s through the library, {ratio:.2f}", flush=True)
    return Figure(measure, "s", ours, theirs, ratio, TARGET)
