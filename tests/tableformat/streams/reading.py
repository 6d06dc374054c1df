"""Streams as tests read them: triggers one after another, whose tasks are read in Python."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

import colonnade
from colonnade import ArrowTable
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.feed.tasks import RowsTask
from colonnade.tableformat.scan.other_columns import table_with_nulls
from colonnade.tableformat.scan.plan import ScanPlan
from colonnade.tableformat.scan.run import read_plan
from colonnade.tableformat.streams.admission import Limits
from colonnade.tableformat.streams.offsets import Offset, parse_offset
from colonnade.tableformat.streams.pieces import joined
from colonnade.tableformat.streams.source import StreamRules, TableStream
from colonnade.tableformat.streams.start import first_offset
from colonnade.tableformat.table.epochs.epoch_range import Bound

Row = tuple[Any, ...]
"""The values of a row, and in a stream of changes what the feed says of it before them."""


@dataclass
class Reading:
    """A stream of a table, as a query with a checkpoint reads it. `table` returns the table anew.

    A new one with the `offset` of an old one is the query after a restart.
    """

    table: Any
    rules: StreamRules = field(default_factory=StreamRules)
    limits: Limits = field(default_factory=Limits)
    start: Bound | None = None
    offset: str | None = None
    shown: ArrowTable = field(init=False)

    def __post_init__(self) -> None:
        self.shown = self.table()

    @property
    def source(self) -> TableStream:
        state = table_with_nulls(self.shown._state)
        return TableStream(self.table()._log.reader, state, self.rules)

    def head(self) -> Snapshot:
        return self.table()._log.reader.read_head()

    def trigger(self, last: int | None = None) -> list[Row]:
        """Read what one trigger reads, and move the offset."""
        head, source = self.head(), self.source
        if self.offset is None:
            begin = first_offset(self.table()._log, head, self.shown._state, self.start)
        else:
            begin = parse_offset(self.offset)
        found = source.trigger(head, begin, self.limits, head.epoch if last is None else last)
        assert found.end.place >= begin.place
        again = [each.place for each in source.between(head, begin, found.end)]
        assert again == [each.place for each in found.pieces]
        rows = self.between(begin, found.end)
        self.offset = found.end.to_json()
        return rows

    def between(self, begin: Offset, end: Offset) -> list[Row]:
        source = self.source
        found = joined(source.between(self.head(), begin, end))
        return [row for each in found for task in each.tasks for row in self.rows(each, task)]

    def rest(self, most: int = 1000) -> Iterator[list[Row]]:
        """Read triggers until nothing is left."""
        for _ in range(most):
            before = self.offset
            rows = self.trigger()
            if self.offset == before:
                assert not rows
                return
            yield rows
        raise AssertionError("the stream comes to no end")

    def all(self) -> Counter[Row]:
        return Counter(row for rows in self.rest() for row in rows)

    def rows(self, each: Any, task: Any) -> Iterator[Row]:
        source = self.source
        names = source.shown.schema.names

        def read(plan: ScanPlan) -> list[dict[str, Any]]:
            batches = list(read_plan(source.reader.store, plan)) if plan.rowsets else []
            return pa.Table.from_batches(batches).to_pylist() if batches else []

        def shown(row: dict[str, Any], change: str) -> Row:
            about = (each.version, source.feed().name_of(change)) if self.rules.changes else ()
            return (*about, *(str(row[name]) for name in names))

        if isinstance(task, RowsTask):
            yield from (shown(row, task.change) for row in read(task.plan))
            return
        after = read(task.after)
        order = range(len(after)) if task.order is None else task.order.tolist()
        for at, before in zip(order, read(task.before), strict=True):
            if any(before[name] != after[at][name] for name in task.compared):
                yield shown(before, "update_preimage")
                yield shown(after[at], "update_postimage")


def any_limits(rng: random.Random) -> Limits:
    return Limits(
        rng.choice([None, 1, 2, 5]),
        rng.choice([None, 1, 500, 5000]),
        rng.choice([None, 1, 4, 20]),
    )


def appended(tmp_path: Path, counts: list[int], **how: Any) -> Any:
    """A table with an epoch for each of some numbers of rows, by a function that opens it."""
    table = colonnade.create(tmp_path / "t", {"k": "long", "v": "long", "s": "string"}, **how)
    first = 0
    for count in counts:
        table.append([{"k": first + i, "v": 0, "s": "x"} for i in range(count)])
        first += count
    return lambda: colonnade.open(tmp_path / "t")


def keys(rows: list[Row]) -> list[int]:
    return sorted(int(row[0]) for row in rows)
