"""Measure 24 hours of batches of a stream, one each second, and a stream that follows them.

Each batch takes the way of a batch of Spark's sink: rows, a commit that names query and batch, and
a small compaction by `compaction.auto`. After it, the follower plans a trigger as Spark's source
does. 24 vacuums run beside them. The clock is simulated, and the store is a bucket in memory, whose
requests are counted.
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

from benchmarks.measure import Figure
from colonnade.manifests.checkpoint.reader import read_hint
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.object_names import MANIFEST
from colonnade.manifests.store import MemoryStore, PutOutcome
from colonnade.manifests.store.base import Data
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from colonnade.tableformat.compaction.auto import compact_after
from colonnade.tableformat.location import Location
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.streams.admission import Limits
from colonnade.tableformat.streams.backlog import backlog
from colonnade.tableformat.streams.leases import lease_name, renew_lease
from colonnade.tableformat.streams.source import StreamRules, TableStream
from colonnade.tableformat.streams.start import LATEST, first_offset
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.write.job import plan_write
from colonnade.tableformat.write.run import write_rows
from colonnade.tableformat.write.settings import CommitSettings
from tests.far_store import FarStore

SECONDS = 86_400
ROWS = 10
PARTS = 8
VACUUMS = 24

FLAT = 1.25
"""The most that a piece of work in the last part of a day may cost, by one in the second part."""

DAYS: Mapping[str, tuple[int, Mapping[str, str]]] = {
    "a batch each second": (1, {}),
    "a batch each ten seconds, retention.hours = 1": (10, {"retention.hours": "1"}),
}
"""What is measured: how many seconds a batch comes after the one before, and into which table."""

COSTS = (
    *(
        f"{unit} of each {work}"
        for work in ("batch", "trigger", "opening")
        for unit in ("requests", "bytes")
    ),
    "requests of each vacuum",
)
"""What must not grow with the batches that there were."""

Part: TypeAlias = Mapping[str, float]
"""The average cost of each work in a part of a day, and the sizes at the end of that part."""


class Bucket(FarStore):
    """A bucket in memory that counts requests, and the bytes of requests for whole objects."""

    def __init__(self, inner: MemoryStore) -> None:
        super().__init__(inner)
        self.bytes = 0

    def get(self, name: str, *, limit: int | None = None) -> bytes:
        data = super().get(name, limit=limit)
        self.bytes += len(data)
        return data

    def get_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        self.bytes += sum(length for _, length in ranges)
        return super().get_ranges(name, ranges)

    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        self.bytes += len(data)
        return super().put_if_absent(name, data)

    def put(self, name: str, data: Data, *, sync: bool) -> None:
        self.bytes += len(data)
        super().put(name, data, sync=sync)


class Day:
    """A table of batches, the process that writes them, and the one that follows.

    `written` counts batches, and `followed` the rows that the follower has planned to read.
    """

    def __init__(self, seconds: int, properties: Mapping[str, str]) -> None:
        self.batch_ms = 1000 * seconds
        self.now_ms = 1_700_000_000_000
        self.disk = MemoryStore(now_ms=lambda: self.now_ms)
        self._costs: defaultdict[tuple[str, str], float] = defaultdict(float)
        self._counts: Counter[str] = Counter()
        self.written = self.followed = 0
        base = create_database(self.disk, lone_table=False, clock_ms=lambda: self.now_ms)
        log = self._log()
        schema = pa.schema([("id", pa.int64()), ("v", pa.float64())])
        own = {"compaction.auto": "true", **properties}
        ArrowDatabase(log.store, log, base).create_table("t", schema, properties=own)
        self.writer, self.follower = self._log(), self._log()
        self.head = self.seen = self.known = self.writer.reader.read_head()
        self.shown = self.head.table("t")
        self.place = first_offset(self.follower, self.head, self.shown, LATEST)

    def _log(self) -> Log:
        return Log(Bucket(self.disk), clock_ms=lambda: self.now_ms)

    @contextmanager
    def _counted(self, work: str, log: Log) -> Iterator[None]:
        store = log.store
        assert isinstance(store, Bucket)
        store.trace.clear()
        bytes_before, begun = store.bytes, time.process_time()
        yield
        self._counts[work] += 1
        self._costs[work, "requests"] += len(store.trace)
        self._costs[work, "bytes"] += store.bytes - bytes_before
        self._costs[work, "ms"] += 1e3 * (time.process_time() - begun)

    def write(self) -> None:
        """Commit the next batch."""
        first = self.written * ROWS
        rows = pa.record_batch({
            "id": range(first, first + ROWS),
            "v": [number / 7 for number in range(first, first + ROWS)],
        })  # fmt: skip
        log = self.writer
        with self._counted("batch", log):
            self.head = log.reader.refresh(self.head)
            place = Location(log.store, "t", exists=True)
            batch = CommitSettings(batch=("query", self.written))
            job = plan_write(place, self.head, "append", commit=batch)
            entries = write_rows(job, [rows], log.store)
            self.head = commit_written(job, entries, log, self.head, fresh=True)
            self.head = compact_after(log, self.head, job.target.table)
        self.written += 1
        self.now_ms += self.batch_ms

    def follow(self) -> None:
        """Plan a trigger, and say how far the stream is behind after it."""
        log = self.follower
        with self._counted("trigger", log):
            self.seen = log.reader.refresh(self.seen)
            source = TableStream(log.reader, self.shown, StreamRules(), self.known)
            self.known = self.seen
            found = source.trigger(self.seen, self.place, Limits(files=1000), self.seen.epoch)
            after = renew_lease(log, self.seen, self.shown, lease_name("checkpoint"), self.place)
            self.seen, self.place = after or self.seen, found.end
            left = backlog(log.reader, self.seen, self.seen.table("t"), self.place)
        assert not left.bytes, left
        self.followed += sum(piece.rows for piece in found.pieces)

    def open(self) -> None:
        """Open the table, and read the entries of its RowSets, as a new process does."""
        log = self._log()
        with self._counted("opening", log):
            log.rowsets.read_entries(log.reader.read_head().table("t"))

    def vacuum(self) -> None:
        """Vacuum as the properties say."""
        log = self._log()
        with self._counted("vacuum", log):
            vacuum(log, VacuumRequest())

    def end_part(self) -> Part:
        """Return the part of the day that ends here."""
        counts, self._counts = self._counts, Counter()
        costs, self._costs = self._costs, defaultdict(float)
        hint = read_hint(self.disk)
        files = [info.name for info in self.disk.list(f"{MANIFEST}/")]
        marks = sum(1 for name in files if name.startswith(f"{MANIFEST}/freed-"))
        return {
            **{
                f"{unit} of each {work}": cost / counts[work]
                for (work, unit), cost in costs.items()
            },
            "RowSets": self.head.table("t").rowsets.rowset_count,
            "bytes of the root": hint[0].check.length if hint else 0,
            "files of the log": len(files) - marks,
            "marks of freed slots": marks,
        }


def parts_of_day(name: str, batches: int | None = None) -> Iterator[Part]:
    """Simulate one of `DAYS`, or its first batches alone, and yield each part as it ends.

    Raises AssertionError if the follower has not read each row once.
    """
    seconds, properties = DAYS[name]
    batches = batches or SECONDS // seconds
    day = Day(seconds, properties)
    for number in range(1, batches + 1):
        day.write()
        day.follow()
        if number % max(1, batches // 1000) == 0:
            day.open()
        if number % (batches // VACUUMS) == 0:
            day.vacuum()
        if number % (batches // PARTS) == 0:
            yield day.end_part()
    assert day.followed == day.written * ROWS, f"{day.followed} rows of {day.written * ROWS}"


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Measure each of `DAYS` once. `folder` and `runs` have no meaning here."""
    return [
        figure
        for name, (seconds, _) in DAYS.items()
        for figure in _figures(
            name, [*parts_of_day(name, round(min(1.0, scale) * SECONDS / seconds))]
        )
    ]


def _figures(name: str, parts: Sequence[Part]) -> Iterator[Figure]:
    """Compare the last part with the second one, because the first one fills an empty table."""
    _, second, *_, last = parts
    for what in COSTS:
        ratio = last[what] / second[what]
        yield Figure(f"{name}: {what}", "", last[what], second[what], ratio, FLAT)
    for what in sorted(last.keys() - {*COSTS}):
        yield Figure(f"{name}: {what}", "", last[what], second[what])
