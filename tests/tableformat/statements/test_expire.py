"""Statements that delete what has expired, from bounds or from the columns of times alone."""

from __future__ import annotations

import pyarrow as pa

from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.tableformat.statements.expire import evaluate_drop, evaluate_expire
from tests.clocked import HOUR_MS, MINUTE_MS, Clocked, moment

SCHEMA = pa.schema([("id", pa.int64()), ("gone", pa.timestamp("us"))])


def rows(first: int, count: int, start_ms: int) -> pa.Table:
    times = [moment(start_ms + MINUTE_MS * n).replace(tzinfo=None) for n in range(count)]
    return pa.table({"id": range(first, first + count), "gone": times}, SCHEMA)


def every(_: LiveRowSet) -> bool:
    return True


def test_whole_rowsets_are_dropped_and_rows_of_others_deleted_by_number() -> None:
    world = Clocked(SCHEMA, {"ttl.expires": "gone"})
    start = world.now_ms
    world.table.append(rows(0, 10, start - HOUR_MS))
    world.table.append(rows(10, 90, start - HOUR_MS))
    world.table.append(rows(100, 10, start + HOUR_MS))
    table = world.table._state
    dropped = evaluate_drop(world.log, table, start)
    assert dropped is not None
    assert dropped.operation == "expire"
    assert [(each.rowset.id, each.rows) for each in dropped.rows] == [(0, None)]
    expired = evaluate_expire(world.log, table, start, every)
    assert expired is not None
    assert [(each.rowset.id, [*(each.rows or ())]) for each in expired.rows] == [(1, [*range(61)])]
    assert evaluate_expire(world.log, table, start, lambda each: each.id != 1) is None
    assert evaluate_drop(world.log, table, start - 2 * HOUR_MS) is None


def test_rows_that_are_deleted_already_are_not_deleted_again() -> None:
    world = Clocked(SCHEMA, {"ttl.expires": "gone"})
    start = world.now_ms + HOUR_MS
    world.table.append(rows(0, 90, start - HOUR_MS + MINUTE_MS))
    world.table.delete("id <= 30")
    cutoff = start - HOUR_MS // 2
    assert evaluate_expire(world.log, world.table._state, cutoff, every) is None
    later = evaluate_expire(world.log, world.table._state, cutoff + 2 * MINUTE_MS, every)
    assert later is not None
    assert later.counts.rows_deleted == 1
