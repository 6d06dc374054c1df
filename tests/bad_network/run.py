"""Processes that append to one table of a bucket, behind a proxy that spoils their requests.

Every append has a number of its own, and every process notes what it was told. Afterwards the table
is read without the proxy, and compared with that.
"""

from __future__ import annotations

import multiprocessing
import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

import colonnade
from colonnade.manifests.errors import ColonnadeError, CommitUnknownError
from tests.manifests.store.fsspec_files.given import LIBRARIES
from tests.setup.http_proxy import (
    Fault,
    Proxy,
    Seen,
    reply_cut,
    reply_dropped,
    reply_late,
    request_dropped,
    status_after,
    status_before,
)

SCHEMA = pa.schema({"id": pa.int64()})
TIMES = {"read_timeout": 1, "connect_timeout": 1}
"""Shorter than a late answer takes, so that every late answer is given up."""


def answers(*words: tuple[int, str]) -> list[Fault]:
    """A status and a code word as the answer: after the server has done its work, and before."""
    return [answer(*each) for each in words for answer in (status_after, status_before)]


ANY: Sequence[Fault] = [
    *(reply_dropped, reply_late, reply_cut, request_dropped),
    *answers((500, "InternalError"), (503, "SlowDown"), (409, "ConditionalRequestConflict")),
]
"""What may become of any request."""

ONLY_WRITES: Sequence[Fault] = answers(
    (412, "PreconditionFailed"), (403, "AccessDenied"), (400, "ExpiredToken")
)
"""What may also become of a write. A read that is refused ends its call, and tells nothing."""


@dataclass(frozen=True)
class Told:
    """What became of each append, as its process was told, and what the table says of it.

    `done`, `failed` and `unknown` are numbers of appends. `rows` has how often the table has each.
    """

    faults: int
    requests: int
    done: frozenset[int]
    failed: frozenset[int]
    unknown: frozenset[int]
    rows: Counter[int]
    longest_s: float

    @property
    def problems(self) -> list[str]:
        """What is wrong, in sentences."""
        lost = sorted(each for each in self.done if each not in self.rows)
        doubled = sorted(each for each, times in self.rows.items() if times > 1)
        wrong = sorted(each for each in self.failed if each in self.rows)
        foreign = sorted(self.rows.keys() - self.done - self.failed - self.unknown)
        found = {"lost": lost, "doubled": doubled, "failed and there": wrong, "foreign": foreign}
        return [
            f"{len(each)} appends are {what}: {each[:9]}" for what, each in found.items() if each
        ]

    def __str__(self) -> str:
        landed = sum(each in self.rows for each in self.unknown)
        return (
            f"{self.faults:,} of {self.requests:,} requests spoilt, {len(self.done):,} appends"
            f" committed, {len(self.failed):,} refused, {len(self.unknown):,} unknown"
            f" ({landed} of them landed); the longest call took {self.longest_s:.1f} s"
        )


class Spoiling:
    """Spoils a share of the requests at random, from one seed. Counts them."""

    def __init__(self, seed: int, share: float) -> None:
        self.faults = self.requests = 0
        self._order = random.Random(seed)
        self._share = share
        self._lock = threading.Lock()

    def plan(self, seen: Seen) -> Fault | None:
        with self._lock:
            self.requests += 1
            if self._order.random() >= self._share:
                return None
            self.faults += 1
            return self._order.choice([*ANY, *(() if seen.method == "GET" else ONLY_WRITES)])


@dataclass(frozen=True)
class Way:
    """How a process reaches the table: by a URL with options, or through a library of fsspec."""

    place: str
    options: dict[str, Any]
    library: str | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `create` and `open`."""
        if self.library is None:
            return {"path": self.place, "storage_options": self.options}
        files = LIBRARIES[self.library].make(**self.options)
        return {"path": self.place, "filesystem": files}


def way(server: Any, place: str, library: str | None, proxy: Proxy | None) -> Way:
    """Return the way to a table on a server, perhaps through a proxy."""
    if library is not None:
        return Way(place, {"url": server.url if proxy is None else proxy.url}, library)
    times = {"config_kwargs": TIMES, "patience": 10}
    through = {} if proxy is None else {"endpoint_url": proxy.url, **times}
    return Way(f"s3://{place}", server.options(**through))


def run(
    server: Any,
    appends: int,
    writers: int,
    seed: int,
    share: float = 0.25,
    library: str | None = None,
) -> Told:
    """Let each process append so often, then compare the table with what they were told.

    `server` is a MinIO, unless a library of fsspec is named, which has a server of its own.
    """
    place, spoiling, proxy = f"{server.new_bucket()}/t", Spoiling(seed, share), Proxy(server.port)
    plain, spoilt = way(server, place, library, None), way(server, place, library, proxy)
    colonnade.create(schema=SCHEMA, **plain.arguments)
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(writers, context) as pool:
            proxy.plan = spoiling.plan
            each = [pool.submit(write, spoilt, number, appends) for number in range(writers)]
            parts = [told for future in each for told in future.result()]
    finally:
        proxy.stop()
    return _told(spoiling, parts, colonnade.open(**plain.arguments))


def write(way: Way, writer: int, appends: int) -> list[tuple[int, str, float]]:
    """Append one row after another. Returns the number, the outcome and the seconds of each."""
    parts, table = [], None
    for number in range(writer * appends, (writer + 1) * appends):
        began, said = time.monotonic(), "done"
        try:
            table = table or colonnade.open(**way.arguments)
            table.append(pa.table({"id": [number]}, SCHEMA))
        except CommitUnknownError:
            said = "unknown"
        except ColonnadeError:
            said = "failed"
        parts.append((number, said, time.monotonic() - began))
    return parts


def _told(
    spoiling: Spoiling, parts: Sequence[tuple[int, str, float]], table: colonnade.ArrowTable
) -> Told:
    by_outcome = {
        outcome: frozenset(number for number, said, _ in parts if said == outcome)
        for outcome in ("done", "failed", "unknown")
    }
    rows = Counter[int](table.scan().to_arrow()["id"].to_pylist())
    longest_s = max(took for _, _, took in parts)
    return Told(spoiling.faults, spoiling.requests, rows=rows, longest_s=longest_s, **by_outcome)
