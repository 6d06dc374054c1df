"""A log of row changes and compactions, as an earlier writer left it, is read and written the same.

`python -m tests.spec.make_golden` makes the files.
Specification: docs/spec/operations.md, conflicts.md
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from pyroaring import BitMap

from colonnade.manifests.arrays.origins import NEW, RowOrigins, encode_origins, origins_of
from colonnade.manifests.commit.change import Change, DeletedRows
from colonnade.manifests.commit.rebase.origin import write_origin
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import (
    AddRowSet,
    Compaction,
    CompactionInput,
    CompactionOutput,
    CreateTable,
    Operation,
    RowKind,
    Txn,
)
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from tests.spec.golden_logs import (
    JOB,
    ORDERS,
    SCHEMA,
    GoldenLog,
    Writer,
    add,
    contents,
    copy,
    rowset,
    states,
    vector,
)


def gone(
    writer: Writer, kind: RowKind, wanted: dict[int, list[int] | None]
) -> tuple[DeletedRows, ...]:
    """Rows of RowSets of the newest state; None: all."""
    live = writer.live()
    return tuple(
        DeletedRows(ORDERS, live[number], kind, None if rows is None else BitMap(rows))
        for number, rows in wanted.items()
    )


def write(writer: Writer) -> None:
    """Write the log as today's writer does; epochs 4 and 8 are checkpoints."""

    def commit(
        name: str,
        *ops: Operation,
        rows: tuple[DeletedRows, ...] = (),
        base: Snapshot | None = None,
        origins: Sequence[RowOrigins] = (),
    ) -> None:
        metrics = {"rows_deleted": len(rows)} if rows else {}
        replaced = {ORDERS: origins} if origins else {}
        writer.commit(
            name, *ops, base=base, rows=rows, metrics=metrics, job_id=JOB, origins=replaced
        )

    orders = CreateTable(table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=12)
    commit("create_table", orders)
    partly = AddRowSet(table=ORDERS, rowset=rowset(4), vector=vector(30, 3, data="AAAA"))
    batch = Txn(table=ORDERS, app="«job»", version=7)
    commit("append", *add(rowset(1), rowset(2), rowset(3)), partly, batch)
    base = writer.state
    deleted = gone(writer, "delete", {0: [1, 3], 1: None, 2: [7]})
    moved = gone(writer, "update", {2: list(range(0, 30, 2))})
    commit("delete", rows=deleted)
    # Of 50 rows, the first 15 replace rows, in the reverse order.
    sources = origins_of(2, np.arange(28, -1, -2))
    numbers = np.concatenate([sources, np.full(35, NEW)])
    origins = [RowOrigins.of(numbers)]
    commit("update", *add(rowset(5)), rows=moved, base=base, origins=origins)
    live = writer.live()
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
        origin=write_origin(writer.store, f"{ORDERS}/", JOB, encode_origins([origin])),
    )
    later = gone(writer, "delete", {0: [0, 2]})
    last = gone(writer, "delete", {2: [29, 27, 1]})
    commit("delete", rows=later)
    commit("compaction", compaction, base=before)
    commit("delete", rows=last, base=before)
    together = Compaction(
        table=ORDERS,
        inputs=(CompactionInput(rowset=4, rows=50),),
        outputs=(CompactionOutput(rowset=rowset(8, rows=50)),),
    )
    commit("compaction", together, Txn(table=ORDERS, app="«job»", version=8))


def add_batches(snapshot: Snapshot, state: dict[str, Any]) -> None:
    state["batches"] = {t.name: dict(t.batches) for t in snapshot.tables.values()}


LOG = GoldenLog("log-v1-rows", write, partial(states, add=add_batches))


def test_every_state_of_an_earlier_log_is_read() -> None:
    assert LOG.read(LOG.store()) == LOG.expected()


def test_the_same_changes_make_the_same_bytes() -> None:
    assert contents(LOG.written()) == contents(LOG.store())


def test_a_change_of_today_is_carried_through_an_earlier_log() -> None:
    store = MemoryStore()
    copy(contents(LOG.store()), store)
    log = Log(store)
    base = log.reader.read_at(4)
    live = {each.id: each for each in log.rowsets.read(base.table("orders"))}
    rows = (DeletedRows(ORDERS, live[0], "delete", BitMap([4, 5])),)
    state = log.commit(Change(new_transaction_id(), "delete", (), rows=rows), base)
    # Of 22 rows turned around, those from the end of the first RowSet lie near the end.
    [output] = [each for each in log.rowsets.read(state.table("orders")) if each.entry.rows == 20]
    assert output.deleted_count == 5
