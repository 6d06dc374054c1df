"""Simulate maintenance of a table that grows by small appends: bytes written, RowSets to read.

The picker is the real one, but a RowSet is only a size and a key range. A round of maintenance runs
after every `EVERY` appends.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.measure import Figure
from colonnade.manifests.compaction.facts import CompactionFacts
from colonnade.manifests.compaction.picker import plan_compaction
from colonnade.manifests.compaction.plan import CompactionGroup
from colonnade.manifests.compaction.policy import CompactionPolicy
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.entries import SortField
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import TableState

APPENDS = 100_000
EVERY = 100
SHOWN = (100, 1_000, 3_000, 10_000, 30_000, 60_000, 100_000)
BYTES_A_ROW = 40
_SAMPLES = 64
_KEYS = 2**40


@dataclass(frozen=True)
class Point:
    """The table after some appends and a round of maintenance. Bytes are stored bytes.

    `amplification` is the bytes that appends and maintenance wrote for each appended byte. `before`
    and `after` count the RowSets that a scan reads before and after the round, and `ideal` those of
    one bulk load. `depth` is the number of RowSets of a sorted table that may hold one key, as the
    mean over keys.
    """

    appends: int
    appended: int
    amplification: float
    before: int
    after: int
    ideal: int
    depth: float | None


@dataclass
class SimulatedTable:
    """RowSets as [id, bytes, first key, last key], and the bytes that were written for them."""

    policy: CompactionPolicy
    is_sorted: bool
    appended: int = 0
    written: int = 0
    next_id: int = 0
    rowsets: dict[int, tuple[int, int, int]] = field(default_factory=dict)

    def append(self, size: int, first: int, last: int) -> None:
        """Add a RowSet, as a writer does."""
        self.appended += size
        self._add(size, first, last)

    def maintain(self) -> None:
        """Run one round of maintenance, group by group."""
        for group in plan_compaction(self._state(), 0, self.facts(), self.policy).groups:
            self._replace(group)

    def facts(self) -> CompactionFacts:
        """Return the facts of the table that the picker reads."""
        ids = np.fromiter(self.rowsets, np.int64, len(self.rowsets))
        size, first, last = np.array(list(self.rowsets.values()), np.int64).reshape(-1, 3).T
        rows = np.maximum(1, size // BYTES_A_ROW)
        keys = (first, last) if self.is_sorted else (None, None)
        return CompactionFacts(ids, rows, np.zeros_like(ids), size, *keys)

    def depth(self, order: random.Random) -> float:
        """Return how many RowSets may hold a key, as the mean over random keys."""
        _, first, last = np.array(list(self.rowsets.values()), np.int64).reshape(-1, 3).T
        keys = [order.randrange(_KEYS) for _ in range(200)]
        return float(np.mean([((first <= key) & (key <= last)).sum() for key in keys]))

    def _add(self, size: int, first: int, last: int) -> None:
        self.rowsets[self.next_id] = (size, first, last)
        self.next_id += 1
        self.written += size

    def _replace(self, group: CompactionGroup) -> None:
        gone = [self.rowsets.pop(rowset) for rowset in group.rowsets]
        total = sum(size for size, _, _ in gone)
        count = max(1, round(total / self.policy.target_bytes))
        # The keys of a RowSet are spread evenly over its range, and each output gets a part of it.
        keys = np.sort(np.concatenate([np.linspace(a, b, _SAMPLES) for _, a, b in gone]))
        for part in np.array_split(keys, count):
            self._add(total // count, int(part[0]), int(part[-1]))

    def _state(self) -> TableState:
        key = (SortField(column=1),) if self.is_sorted else ()
        schema = TableSchema(fields=())
        return TableState(TableId("0" * 16), "simulated", schema, 0, 1, (key,), {}, None, 0, 0)


def simulate(
    appends: int, policy: CompactionPolicy, *, is_sorted: bool, every: int = EVERY, seed: int = 1
) -> Iterator[Point]:
    """Grow a table; yield a point after every round. Sizes are log-normal, 1 KB to 100 MB."""
    order = random.Random(seed)
    table = SimulatedTable(policy, is_sorted)
    for number in range(1, appends + 1):
        size = min(100_000_000, max(1_000, int(order.lognormvariate(11, 2.5))))
        ends = sorted((order.randrange(_KEYS), order.randrange(_KEYS)))
        table.append(size, *ends)
        if number % every == 0:
            before = len(table.rowsets)
            table.maintain()
            yield Point(
                number,
                table.appended,
                table.written / table.appended,
                before,
                len(table.rowsets),
                -(-table.appended // policy.target_bytes),
                table.depth(order) if is_sorted and number in SHOWN else None,
            )


def curve(points: list[Point]) -> str:
    """Format some of the points as a table."""
    lines = [
        "  appends   appended  written/appended  RowSets before  after  bulk load  a key meets"
    ]
    lines += [
        f"{p.appends:>9,}  {p.appended / 1e9:>6.1f} GB  {p.amplification:>16.2f}"
        f"  {p.before:>14,}  {p.after:>5,}  {p.ideal:>9,}"
        f"  {'' if p.depth is None else format(p.depth, '11.1f')}".rstrip()
        for p in points
        if p.appends in SHOWN
    ]
    return "\n".join(lines)


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Simulate 100,000 appends to a table without and with a sort key; print both curves."""
    del folder, scale, runs
    figures = []
    for is_sorted in (False, True):
        kind = "sorted table" if is_sorted else "table"
        points = list(simulate(APPENDS, CompactionPolicy(), is_sorted=is_sorted))
        print(f"\n{kind}, maintained after every {EVERY} appends\n\n{curve(points)}\n", flush=True)
        last = points[-1]
        extra = max(p.after - p.ideal for p in points)
        figures += [
            Figure(f"{kind}: bytes written for each byte appended, 100,000 appends", "ratio",
                   last.amplification),
            Figure(f"{kind}: RowSets after maintenance beside those of a bulk load", "RowSets",
                   last.after, last.ideal, last.after / last.ideal),
            Figure(f"{kind}: most RowSets above those of a bulk load, in any round", "RowSets",
                   extra),
        ]  # fmt: skip
    return figures
