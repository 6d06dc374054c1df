"""A log of row changes and compactions, as an earlier writer left it, is read and written the same.

`python -m tests.spec.test_golden_rows` makes the files; existing ones are never edited.
Specification: docs/spec/operations.md, conflicts.md
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
from pyroaring import BitMap

from manifests.change import Change, RowsGone
from manifests.ids import new_transaction_id
from manifests.log import Log, create_database
from manifests.operations import (
    AddRowSet,
    Compaction,
    CompactionInput,
    CompactionOutput,
    CreateTable,
    Operation,
    RowKind,
    Txn,
)
from manifests.rebase.origin import write_origin
from manifests.snapshot import Snapshot
from manifests.store import LocalStore, MemoryStore, ObjectStore
from tests.spec.test_golden_log import (
    INTERVAL,
    ORDERS,
    SCHEMA,
    add,
    contents,
    counted_ids,
    rowset,
    states,
    vector,
)

GOLDEN = Path(__file__).parent / "golden" / "log-v1-rows"
JOB = "00000000000000aa"


class Writer:
    """Commits changes to a log whose ids and times count up."""

    def __init__(self, store: ObjectStore) -> None:
        ticks = itertools.count(1_700_000_000_000, 1000)
        self.log = Log(
            store, clock_ms=lambda: next(ticks), checkpoint_interval=INTERVAL, engine="golden"
        )
        self.state = create_database(
            store, lone_table=False, clock_ms=lambda: next(ticks), engine="golden"
        )

    def commit(
        self, name: str, *ops: Operation, rows: tuple[RowsGone, ...] = (), base: Snapshot | None
    ) -> None:
        metrics = {"rows_deleted": len(rows)} if rows else {}
        change = Change(new_transaction_id(), name, ops, rows=rows, metrics=metrics, job=JOB)
        self.state = self.log.commit(change, base or self.state)

    def gone(self, kind: RowKind, wanted: dict[int, list[int] | None]) -> tuple[RowsGone, ...]:
        """Rows of RowSets of the newest state; None: all."""
        live = {each.id: each for each in self.log.read_rowsets(self.state.table("orders"))}
        return tuple(
            RowsGone(ORDERS, live[number], kind, None if rows is None else BitMap(rows))
            for number, rows in wanted.items()
        )


def write_log(store: ObjectStore) -> None:
    """Write the log as today's writer does; epochs 4 and 8 are checkpoints."""
    writer = Writer(store)
    orders = CreateTable(table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=12)
    writer.commit("create_table", orders, base=None)
    partly = AddRowSet(table=ORDERS, rowset=rowset(4), vector=vector(30, 3, data="AAAA"))
    batch = Txn(table=ORDERS, app="«job»", version=7)
    writer.commit("append", *add(rowset(1), rowset(2), rowset(3)), partly, batch, base=None)
    base = writer.state
    deleted = writer.gone("delete", {0: [1, 3], 1: None, 2: [7]})
    moved = writer.gone("update", {2: list(range(0, 30, 2))})
    writer.commit("delete", rows=deleted, base=None)
    writer.commit("update", *add(rowset(5)), rows=moved, base=base)
    live = {each.id: each for each in writer.log.read_rowsets(writer.state.table("orders"))}
    read = [
        CompactionInput(rowset=i, rows=live[i].entry.rows, vector=live[i].vector) for i in (0, 2)
    ]
    before = writer.state
    # 8 rows of the first and 14 of the other are left, and turned around.
    left = [r for r in range(10) if r not in (1, 3)]
    right = [r for r in range(30) if r % 2 and r != 7]
    origin = np.array([*left, *((1 << 32) + r for r in right)])[::-1]
    two = [rowset(6, rows=20), rowset(7, rows=2, place="inline", data="QUJD", bytes=3)]
    compaction = Compaction(
        table=ORDERS,
        inputs=tuple(read),
        outputs=tuple(CompactionOutput(rowset=each) for each in two),
        origin=write_origin(store, f"{ORDERS}/", JOB, origin),
    )
    later = writer.gone("delete", {0: [0, 2]})
    last = writer.gone("delete", {2: [29, 27, 1]})
    writer.commit("delete", rows=later, base=None)
    writer.commit("compaction", compaction, base=before)
    writer.commit("delete", rows=last, base=before)
    together = Compaction(
        table=ORDERS,
        inputs=(CompactionInput(rowset=4, rows=50),),
        outputs=(CompactionOutput(rowset=rowset(8, rows=50)),),
    )
    writer.commit("compaction", together, Txn(table=ORDERS, app="«job»", version=8), base=None)


def written() -> MemoryStore:
    """The log as today's writer makes it."""
    store = MemoryStore()
    with counted_ids():
        write_log(store)
    return store


def golden() -> ObjectStore:
    return LocalStore(str(GOLDEN / "whole"))


def described(store: ObjectStore) -> dict[str, object]:
    """Every state, with what only states of such a log have."""
    log = Log(store)
    found = states(store, 0)
    for number, state in found.items():
        snapshot = log.read_at(int(number))
        state["batches"] = {t.name: dict(t.batches) for t in snapshot.tables.values()}
    return found


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert described(golden()) == json.loads((GOLDEN / "states.json").read_text("utf-8"))


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(written()) == contents(golden())


def test_a_change_of_today_is_carried_through_an_earlier_log() -> None:
    store = MemoryStore()
    for name, data in contents(golden()).items():
        store.put(name, data, sync=False)
    log = Log(store)
    base = log.read_at(4)
    live = {each.id: each for each in log.read_rowsets(base.table("orders"))}
    rows = (RowsGone(ORDERS, live[0], "delete", BitMap([4, 5])),)
    state = log.commit(Change(new_transaction_id(), "delete", (), rows=rows), base)
    # Of 22 rows turned around, those from the end of the first RowSet lie near the end.
    [output] = [each for each in log.read_rowsets(state.table("orders")) if each.entry.rows == 20]
    assert output.vector is not None
    assert output.vector.cardinality == 5


def make() -> None:
    """Write the files; refuses to touch existing ones."""
    GOLDEN.mkdir(parents=True)
    store = written()
    for name, data in contents(store).items():
        golden().put(name, data, sync=False)
    text = json.dumps(described(store), indent=1, ensure_ascii=False)
    (GOLDEN / "states.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    make()
