"""A statement decides what has expired by one time, on the state of its base and at its slot."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade.manifests.log.statement_log import StatementLog
from tests.clocked import HOUR_MS, MINUTE_MS, Clocked, moment

SCHEMA = pa.schema([("id", pa.int64()), ("ts", pa.timestamp("us", tz="UTC"))])
LIVES = {"ttl": "1 hour", "ttl.column": "ts"}


def filled() -> Clocked:
    """RowSet 0 expires in an hour, and RowSet 1 in two."""
    world = Clocked(SCHEMA, LIVES)
    for id in (0, 1):
        at = moment(world.now_ms + id * HOUR_MS)
        world.table.append(pa.Table.from_pylist([{"id": id, "ts": at}], SCHEMA))
    return world


def seen(log: StatementLog, world: Clocked) -> list[int]:
    return [each.id for each in log.view(world.table._state).rowsets]


def test_its_time_stays_the_same_while_the_clock_goes_on_and_the_table_changes() -> None:
    world = filled()
    log = StatementLog.begin(world.log, world.table._snapshot, world.table._state)
    begun = log.now_ms
    world.now_ms += 3 * HOUR_MS
    world.table.append(pa.Table.from_pylist([{"id": 2, "ts": moment(world.now_ms)}], SCHEMA))
    assert log.now_ms == begun
    assert seen(log, world) == [0, 1, 2]
    later = StatementLog.begin(world.log, world.table._snapshot, world.table._state)
    assert seen(later, world) == [2]


def test_it_shows_what_has_expired_only_to_a_statement_that_asks_for_it() -> None:
    world = filled()
    world.now_ms += HOUR_MS + MINUTE_MS
    log = StatementLog.begin(world.log, world.table._snapshot, world.table._state)
    assert seen(log, world) == [1]
    assert seen(log.showing_expired(), world) == [0, 1]
    assert log.showing_expired().present_ms == world.now_ms


def test_no_statement_reads_rows_that_expire_without_a_time() -> None:
    world = filled()
    with pytest.raises(AssertionError, match="no time"):
        StatementLog(world.log, None).view(world.table._state)


def test_a_table_in_which_nothing_expires_needs_no_time() -> None:
    world = Clocked(SCHEMA)
    log = StatementLog.begin(world.log, world.table._snapshot, world.table._state)
    assert (log.time, log.now_ms, log.present_ms) == (None, None, None)
    assert seen(log, world) == []
