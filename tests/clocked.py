"""A table whose clock a test moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import pyarrow as pa

from colonnade.manifests.clock import DAY_MS
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import MemoryStore, ObjectStore
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.table import ArrowTable

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
NOON_MS = 20_000 * DAY_MS + DAY_MS // 2


def moment(ms: int) -> datetime:
    """Return a time in ms since 1970 as a datetime in UTC."""
    return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=ms)


class NotingStore(MemoryStore):
    """Objects in memory. `read` has the name of each object that was read."""

    def __init__(self) -> None:
        super().__init__(now_ms=lambda: NOON_MS)
        self.read: list[str] = []

    def get(self, name: str, *, limit: int | None = None) -> bytes:
        self.read.append(name)
        return super().get(name, limit=limit)

    def get_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        self.read.append(name)
        return super().get_ranges(name, ranges)


class Clocked:
    """A database with the table `t`. Its machines and its store have the time `now_ms`.

    `design` is given to `create_table`.
    """

    def __init__(
        self,
        schema: pa.Schema,
        properties: Mapping[str, str] | None = None,
        *,
        store: ObjectStore | None = None,
        limits: Limits = LIMITS,
        **design: Any,
    ) -> None:
        self.now_ms = NOON_MS
        self.store = store or MemoryStore(now_ms=lambda: self.now_ms)
        self.log = Log(
            self.store, clock_ms=lambda: self.now_ms, pause=lambda _: None, limits=limits
        )
        head = create_database(self.store, lone_table=False, clock_ms=lambda: self.now_ms)
        self.database = ArrowDatabase(self.store, self.log, head)
        self.table = self.database.create_table(
            "t", schema, properties=dict(properties or {}), **design
        )

    def reopened(self) -> ArrowTable:
        """Return the table as another writer of the same time has it."""
        log = Log(self.store, clock_ms=lambda: self.now_ms, pause=lambda _: None)
        return ArrowDatabase(self.store, log, log.reader.read_head()).table("t")
