"""Open the head of a database with up to a million RowSets and two indexed columns."""

from __future__ import annotations

import shutil
import statistics
from functools import partial
from pathlib import Path

import pyarrow as pa

import colonnade
from benchmarks.measure import Figure, seconds
from colonnade.manifests.commit.change import Change
from colonnade.manifests.ids import new_job_id, new_object_id, new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.entries import ByteCheck, ColumnStatistics, RowSetEntry
from colonnade.manifests.model.operations import AddRowSet
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import open_store
from colonnade.tableformat.predicate import Predicate, col
from colonnade.tableformat.scan.plan import rowset_filter

TARGETS_MS = {1_000: 5, 100_000: 60, 1_000_000: 600}
ONE_SEGMENT_MS = 30
EPOCH_ROWSETS = 10_000


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Read the head and all entries; in the largest database, also the entries of one key range."""
    del scale
    figures = []
    for count, target in TARGETS_MS.items():
        path = folder / f"rowsets-{count}"
        if not path.exists():
            build(path, count)
        log = Log(open_store(path))
        median = statistics.median(seconds(partial(open_all, log)) for _ in range(runs))
        figures.append(
            Figure(f"open the head with {count:,} RowSets", "ms", median * 1e3, target=target)
        )
    predicate = col("key").between(500_000_00, 500_000_50)
    found = statistics.median(seconds(partial(open_some, log, predicate)) for _ in range(runs))
    name = f"open {count:,} RowSets, predicate needs one segment"
    return [*figures, Figure(name, "ms", found * 1e3, target=ONE_SEGMENT_MS)]


def open_all(log: Log) -> int:
    """Read the head and all entries, as columns."""
    return len(log.rowsets.read_entries(only_table(log.reader.read_head())))


def open_some(log: Log, predicate: Predicate) -> int:
    """Read the head and the entries that a predicate selects."""
    table = only_table(log.reader.read_head())
    return len(log.rowsets.read(table, rowset_filter(table, predicate)))


def only_table(snapshot: Snapshot) -> TableState:
    """Return the only table of the database."""
    return next(iter(snapshot.tables.values()))


def build(path: Path, count: int) -> None:
    """Make a log of `count` RowSets that name no files, as a writer would have left it."""
    building = path.with_suffix(".building")
    shutil.rmtree(building, ignore_errors=True)
    schema = pa.schema([("key", pa.int64()), ("day", pa.date32())])
    colonnade.create(building, schema, sort_key=["key"])
    log = Log(open_store(building), checkpoint_interval=min(100, max(1, count // EPOCH_ROWSETS)))
    snapshot = log.reader.read_head()
    table = only_table(snapshot).id
    job_id = new_job_id()
    for start in range(0, count, EPOCH_ROWSETS):
        numbers = range(start, min(start + EPOCH_ROWSETS, count))
        ops = tuple(AddRowSet(table=table, rowset=entry(i, job_id)) for i in numbers)
        change = Change(
            transaction=new_transaction_id(), operation="append", parameters={}, ops=ops
        )
        snapshot = log.commit(change, snapshot)
    building.rename(path)


def entry(number: int, job_id: str) -> RowSetEntry:
    """Make the entry of a RowSet with a realistic size and its own key range."""
    low = number * 100
    return RowSetEntry(
        object=new_object_id(job_id),
        place="directory",
        rows=1_000_000 + number % 1000,
        bytes=128 * 2**20 + number,
        cuts=65_536,
        footer=ByteCheck(length=4000 + number % 500, crc32c=number * 2_654_435_761 % 2**32),
        statistics={
            1: ColumnStatistics(min=f"i:{low}", max=f"i:{low + 99}"),
            2: ColumnStatistics(min=f"d:{19_000 + number % 365}", max="d:19400"),
        },
    )
