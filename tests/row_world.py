"""A table whose RowSets are lists in memory, changed through the real log by several writers.

Statements are planned on a base, and committed later; what the log then says is compared with a
plain dict of rows, to which statements are applied when they are committed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from pyroaring import BitMap, FrozenBitMap

from manifests.change import Change, RowsGone, TableRead
from manifests.deletion_vector import read_deletion_vector
from manifests.entries import (
    AddRowSet,
    Compaction,
    CompactionInput,
    CompactionOutput,
    DropRowSet,
    RowKind,
    RowSetEntry,
)
from manifests.ids import new_transaction_id
from manifests.rebase.origin import write_origin
from manifests.rebase.targets import id_ranges
from manifests.snapshot import LiveRowSet, Snapshot
from manifests.store import MemoryStore, ObjectStore
from tests.log_samples import ORDERS, entry, make_log, with_orders

Row = tuple[int, int]
"""An id that stays, and how often the row was updated."""
Handler = tuple[int, int]
"""A RowSet id and a row number in it."""
PREFIX = f"{ORDERS}/"
JOB = "0" * 16


@dataclass(frozen=True)
class Statement:
    """A planned change, the rows that it takes by their ids, and what it makes of the model."""

    change: Change
    base: Snapshot
    kind: str
    takes: frozenset[int]
    apply: Callable[[dict[int, int]], None]


class World:
    """One table, its log, and the rows that every RowSet holds by its object id."""

    def __init__(self, store: ObjectStore | None = None, interval: int = 64) -> None:
        self.store = store or MemoryStore()
        self.log = make_log(self.store, interval)
        self.head = with_orders(self.store, self.log)
        self.held: dict[str, list[Row]] = {}
        self.model: dict[int, int] = {}
        self._next = 0

    def new_rows(self, count: int) -> list[Row]:
        """Rows that were never there."""
        first, self._next = self._next, self._next + count
        return [(i, 0) for i in range(first, self._next)]

    def rowset(self, rows: list[Row]) -> RowSetEntry:
        """A RowSet that holds some rows."""
        made = entry(rows=len(rows), low=min(i for i, _ in rows))
        made = made.model_copy(update={"statistics": {}})
        self.held[made.object] = rows
        return made

    def rowsets(self, at: Snapshot) -> list[LiveRowSet]:
        """The RowSets at an epoch."""
        return self.log.read_rowsets(at.tables[ORDERS])

    def gone(self, rowset: LiveRowSet) -> FrozenBitMap:
        """The rows of a RowSet that its vector deletes."""
        if rowset.vector is None:
            return FrozenBitMap()
        return read_deletion_vector(self.store, PREFIX, rowset.vector, rowset.entry.rows).rows

    def live(self, at: Snapshot) -> dict[Handler, Row]:
        """The rows of an epoch by their handlers."""
        return {
            (rowset.id, number): row
            for rowset in self.rowsets(at)
            for gone in [self.gone(rowset)]
            for number, row in enumerate(self.held[rowset.entry.object])
            if number not in gone
        }

    def append(self, base: Snapshot, count: int = 3) -> Statement:
        """Add new rows."""
        rows = self.new_rows(count)
        change = Change(
            new_transaction_id(), "append", (AddRowSet(table=ORDERS, rowset=self.rowset(rows)),)
        )
        return Statement(change, base, "append", frozenset(), lambda model: model.update(rows))

    def take(self, base: Snapshot, kind: RowKind, ids: Iterable[int]) -> Statement:
        """Delete rows by their ids, or update them: add one to each."""
        wanted = frozenset(ids)
        chosen = {h: row for h, row in self.live(base).items() if row[0] in wanted}
        by_rowset: dict[int, BitMap] = {}
        for rowset, number in chosen:
            by_rowset.setdefault(rowset, BitMap()).add(number)
        gone = tuple(
            RowsGone(ORDERS, rowset, kind, by_rowset[rowset.id])
            for rowset in self.rowsets(base)
            if rowset.id in by_rowset
        )
        moved = [(i, version + 1) for i, version in chosen.values()]
        ops = () if kind == "delete" else (AddRowSet(table=ORDERS, rowset=self.rowset(moved)),)

        def apply(model: dict[int, int]) -> None:
            for i, version in chosen.values():
                if kind == "delete":
                    model.pop(i, None)
                else:
                    assert model[i] == version, f"an update of row {i} was lost"
                    model[i] = version + 1

        ids = frozenset(i for i, _ in chosen.values())
        return Statement(Change(new_transaction_id(), kind, ops, rows=gone), base, kind, ids, apply)

    def compact(self, base: Snapshot, ids: Iterable[int], *, ordered: bool = False) -> Statement:
        """Rewrite RowSets one after another, or in the order of their rows' ids, as two RowSets."""
        wanted = set(ids)
        inputs = [rowset for rowset in self.rowsets(base) if rowset.id in wanted]
        rows = [
            ((index << 32) + number, row)
            for index, rowset in enumerate(inputs)
            for gone in [self.gone(rowset)]
            for number, row in enumerate(self.held[rowset.entry.object])
            if number not in gone
        ]
        origin = None
        if ordered:
            rows.sort(key=lambda each: (each[1][0] * 7919) % 101)
            origin = write_origin(self.store, PREFIX, JOB, np.array([o for o, _ in rows]))
        half = (len(rows) + 1) // 2
        parts = [part for part in (rows[:half], rows[half:]) if part]
        op = Compaction(
            table=ORDERS,
            inputs=tuple(
                CompactionInput(rowset=r.id, rows=r.entry.rows, vector=r.vector) for r in inputs
            ),
            outputs=tuple(
                CompactionOutput(rowset=self.rowset([row for _, row in part])) for part in parts
            ),
            origin=origin,
        )
        change = Change(new_transaction_id(), "compaction", (op,))
        return Statement(change, base, "compaction", frozenset(), lambda model: None)

    def overwrite(self, base: Snapshot) -> Statement:
        """Replace all rows by new ones."""
        rows = self.new_rows(2)
        drop = DropRowSet(table=ORDERS, rowsets=id_ranges(r.id for r in self.rowsets(base)))
        add = AddRowSet(table=ORDERS, rowset=self.rowset(rows))
        read = TableRead(ORDERS, replaces=True)

        def apply(model: dict[int, int]) -> None:
            model.clear()
            model.update(rows)

        change = Change(new_transaction_id(), "overwrite", (drop, add), reads=(read,))
        return Statement(change, base, "overwrite", frozenset(self.model), apply)

    def commit(self, statement: Statement) -> Snapshot:
        """Commit a statement and compare the whole table with the model."""
        self.head = self.log.commit(statement.change, statement.base)
        statement.apply(self.model)
        self.check()
        return self.head

    def check(self) -> None:
        """What the log says is what the model says, row by row and in its counts."""
        rows = sorted(self.live(self.head).values())
        assert rows == sorted(self.model.items())
        count = self.head.tables[ORDERS].rowsets.row_count
        assert count in (len(rows), None)


def random_statement(world: World, base: Snapshot, order: random.Random) -> Statement | None:
    """A statement of any kind on a base; None where there is nothing to do it to."""
    kind = order.choices(
        ["append", "delete", "update", "merge", "compact", "sort", "overwrite"],
        [4, 4, 4, 2, 3, 3, 0.2],
    )[0]
    rowsets, live = world.rowsets(base), sorted({i for i, _ in world.live(base).values()})
    if kind == "append" or not live:
        return world.append(base, order.randint(1, 6))
    if kind == "overwrite":
        return world.overwrite(base)
    if kind in ("compact", "sort"):
        chosen = order.sample([r.id for r in rowsets], min(len(rowsets), order.randint(1, 3)))
        return world.compact(base, chosen, ordered=kind == "sort")
    if order.random() < 0.2:
        whole = order.choice(rowsets)
        ids = [i for (rowset, _), (i, _) in world.live(base).items() if rowset == whole.id]
    else:
        ids = order.sample(live, min(len(live), order.randint(1, 4)))
    return world.take(base, kind, ids)  # type: ignore[arg-type]
