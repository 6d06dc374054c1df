"""A table whose RowSets are lists in memory, changed through the real log by several writers.

Statements are planned on a base, and committed later. A plain dict of rows applies each statement
when it is committed. The content of the log is compared with it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests.arrays.origins import NEW, RowOrigins, encode_origins
from colonnade.manifests.commit.change import Change, DeletedRows, TableRead
from colonnade.manifests.commit.rebase.origin import write_origin
from colonnade.manifests.commit.rebase.replaced_rows import Origins
from colonnade.manifests.commit.rebase.targets import id_ranges
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.model.deletion_vector import (
    DeletionVector,
    read_deletion_vector,
    write_deletion_vector,
)
from colonnade.manifests.model.entries import ColumnReplacement, RowSetEntry
from colonnade.manifests.model.operations import (
    AddRowSet,
    AlterSchema,
    Compaction,
    CompactionInput,
    CompactionOutput,
    DropRowSet,
    ReplaceColumn,
    RowKind,
)
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot
from colonnade.manifests.store import MemoryStore, ObjectStore
from tests.log_samples import ORDERS, entry, make_log, with_orders
from tests.row_changes import RowChanges, row_changes

Row = tuple[int, int]
"""An id that stays, and a number: column 2 in its units, column 3 in its thousands."""
UNIT = {2: 1, 3: 1000}
"""What one more in a column adds to the number of a row."""
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
        self.head = self._with_third_column(with_orders(self.store, self.log))
        self.held: dict[str, list[Row]] = {}
        self.replaced: dict[str, list[int]] = {}
        self.model: dict[int, int] = {}
        self._next = 0

    def _with_third_column(self, state: Snapshot) -> Snapshot:
        schema = state.tables[ORDERS].schema
        wider = TableSchema(fields=(*schema.fields, SchemaField(id=3, name="y", type="long")))
        add = AlterSchema(table=ORDERS, table_schema=wider, schema_id=1, next_column_id=4)
        return self.log.commit(Change(new_transaction_id(), "add column", (add,)), state)

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
        return self.log.rowsets.read(at.tables[ORDERS])

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
            for number, row in enumerate(self.rows(rowset))
            if number not in gone
        }

    def rows(self, rowset: LiveRowSet) -> list[Row]:
        """The rows of a RowSet, with the columns that were replaced."""
        rows = self.held[rowset.entry.object]
        for replacement in rowset.replacements:
            for column in replacement.columns:
                values = self.replaced[replacement.object]
                rows = [
                    (i, number + (value - digit(number, column)) * UNIT[column])
                    for (i, number), value in zip(rows, values, strict=True)
                ]
        return rows

    def append(self, base: Snapshot, count: int = 3) -> Statement:
        """Add new rows."""
        rows = self.new_rows(count)
        change = Change(
            new_transaction_id(), "append", (AddRowSet(table=ORDERS, rowset=self.rowset(rows)),)
        )
        return Statement(change, base, "append", frozenset(), lambda model: model.update(rows))

    def take(
        self,
        base: Snapshot,
        kind: RowKind,
        ids: Iterable[int],
        columns: frozenset[int] | None = None,
    ) -> Statement:
        """Delete rows by their ids, having read some columns, or update them: add one to each."""
        wanted = frozenset(ids)
        chosen = {h: row for h, row in self.live(base).items() if row[0] in wanted}
        by_rowset: dict[int, BitMap] = {}
        for rowset, number in chosen:
            by_rowset.setdefault(rowset, BitMap()).add(number)
        gone = tuple(
            DeletedRows(ORDERS, rowset, kind, by_rowset[rowset.id])
            for rowset in self.rowsets(base)
            if rowset.id in by_rowset
        )
        new = self.new_rows(len(chosen) % 3) if kind == "merge" else []
        # New rows and new versions of rows, in some order, in several RowSets.
        written: list[tuple[Handler | None, Row]] = [
            (h, (i, version + 1)) for h, (i, version) in chosen.items()
        ]
        written += [(None, row) for row in new]
        written.sort(key=lambda each: (each[1][0] * 7919) % 101)
        size = len(written) % 2 + 2
        starts = range(0, 0 if kind == "delete" else len(written), size)
        parts = [written[start : start + size] for start in starts]
        ops = tuple(
            AddRowSet(table=ORDERS, rowset=self.rowset([row for _, row in part])) for part in parts
        )
        origins = tuple(
            RowOrigins.of(np.array([NEW if h is None else (h[0] << 32) + h[1] for h, _ in part]))
            for part in parts
        )

        def apply(model: dict[int, int]) -> None:
            for i, version in chosen.values():
                if kind == "delete":
                    model.pop(i, None)
                else:
                    assert model[i] == version, f"an update of row {i} was lost"
                    model[i] = version + 1
            model.update(new)

        ids = frozenset(i for i, _ in chosen.values())
        reads = (TableRead(ORDERS, columns=columns),)
        moved: dict[str, Origins] = {ORDERS: origins} if kind != "delete" and chosen else {}
        change = Change(new_transaction_id(), kind, ops, rows=gone, reads=reads, origins=moved)
        return Statement(change, base, kind, ids, apply)

    def replace(
        self,
        base: Snapshot,
        column: int,
        ids: Iterable[int],
        reads: frozenset[int] = frozenset(),
    ) -> Statement:
        """Add one to a column of rows in place, after reading that column and further ones."""
        wanted = frozenset(ids)
        ops: list[ReplaceColumn] = []
        chosen: list[Row] = []
        for rowset in self.rowsets(base):
            rows = self.rows(rowset)
            gone = self.gone(rowset)
            changed = BitMap(n for n, (i, _) in enumerate(rows) if i in wanted and n not in gone)
            if changed:
                chosen += [rows[n] for n in changed]
                values = [digit(each, column) + (n in changed) for n, (_, each) in enumerate(rows)]
                ops.append(self._replace(rowset, column, values, changed))

        def apply(model: dict[int, int]) -> None:
            for i, number in chosen:
                if i in model:
                    assert digit(model[i], column) == digit(number, column), f"lost: row {i}"
                    model[i] += UNIT[column]

        read = TableRead(ORDERS, columns=frozenset({column}) | reads)
        change = Change(new_transaction_id(), "update", tuple(ops), reads=(read,))
        return Statement(change, base, "replace", frozenset(i for i, _ in chosen), apply)

    def _replace(
        self, rowset: LiveRowSet, column: int, values: list[int], changed: BitMap
    ) -> ReplaceColumn:
        made = entry(rows=len(values))
        self.replaced[made.object] = values
        every = len(changed) == len(values)
        vector = DeletionVector(FrozenBitMap(changed))
        return ReplaceColumn(
            table=ORDERS,
            rowset=rowset.id,
            replacement=ColumnReplacement(
                columns=(column,), object=made.object, place="packed", bytes=7, footer=made.footer
            ),
            changed=None if every else write_deletion_vector(self.store, PREFIX, JOB, vector),
            predecessors=rowset.holders({column}) or None,
        )

    def compact(self, base: Snapshot, ids: Iterable[int], *, ordered: bool = False) -> Statement:
        """Rewrite RowSets one after another, or in the order of their rows' ids, as two RowSets."""
        wanted = set(ids)
        inputs = [rowset for rowset in self.rowsets(base) if rowset.id in wanted]
        rows = [
            ((index << 32) + number, row)
            for index, rowset in enumerate(inputs)
            for gone in [self.gone(rowset)]
            for number, row in enumerate(self.rows(rowset))
            if number not in gone
        ]
        origin = None
        if ordered:
            rows.sort(key=lambda each: (each[1][0] * 7919) % 10_007)
            data = encode_origins([np.array([o for o, _ in rows])])
            origin = write_origin(self.store, PREFIX, JOB, data)
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
        read = TableRead(ORDERS, overwrites=True)

        def apply(model: dict[int, int]) -> None:
            model.clear()
            model.update(rows)

        change = Change(new_transaction_id(), "overwrite", (drop, add), reads=(read,))
        return Statement(change, base, "overwrite", frozenset(self.model), apply)

    def commit(self, statement: Statement) -> Snapshot:
        """Commit a statement and compare the whole table with the model."""
        before, live = self.head, self.live(self.head)
        self.head = self.log.commit(statement.change, statement.base)
        statement.apply(self.model)
        self.check()
        if statement.kind != "compaction" and self.head.epoch == before.epoch + 1:
            self._check_changes(before, live)
        return self.head

    def _check_changes(self, before: Snapshot, live: dict[Handler, Row]) -> None:
        """The log says of each row whether it was inserted, deleted, or moved, and where to."""
        [epoch] = self.log.reader.read_epochs(self.head.epoch, 1)
        old = {row[0]: place for place, row in live.items()}
        new = {row[0]: place for place, row in self.live(self.head).items()}
        assert row_changes(self.log, before, epoch, self.head, ORDERS) == RowChanges(
            frozenset(new[i] for i in new.keys() - old.keys()),
            frozenset(old[i] for i in old.keys() - new.keys()),
            {old[i]: new[i] for i in old.keys() & new.keys() if old[i] != new[i]},
        )

    def check(self) -> None:
        """What the log says is what the model says, row by row and in its counts."""
        rows = sorted(self.live(self.head).values())
        assert rows == sorted(self.model.items())
        count = self.head.tables[ORDERS].rowsets.row_count
        assert count in (len(rows), None)


def digit(number: int, column: int) -> int:
    """What a row's number says of a column."""
    return number // 1000 if column == 3 else number % 1000


def random_statement(world: World, base: Snapshot, order: random.Random) -> Statement | None:
    """A statement of any kind on a base; None where there is nothing to do it to."""
    kind = order.choices(
        ["append", "delete", "update", "merge", "replace", "compact", "sort", "overwrite"],
        [4, 4, 4, 2, 4, 3, 3, 0.2],
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
    if kind == "replace":
        column = order.choice([2, 3])
        return world.replace(base, column, ids, frozenset(order.sample([1, 2, 3], 1)))
    return world.take(base, kind, ids)  # type: ignore[arg-type]
