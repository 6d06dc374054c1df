"""Rows and values that expired long enough ago are purged, and none before."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from colonnade.manifests.errors import ConflictError
from colonnade.manifests.ids import TableId
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.tableformat.compaction.commit import commit_job
from colonnade.tableformat.compaction.job import plan_job
from colonnade.tableformat.compaction.optimize import Choices, plan_table
from colonnade.tableformat.compaction.purge import purge_table
from colonnade.tableformat.compaction.run import run_job
from colonnade.tableformat.table.alteration import AlterProperties
from tests.clocked import HOUR_MS, MINUTE_MS, Clocked, NotingStore, moment

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("ts", pa.timestamp("us", tz="UTC")),
        ("note", pa.string()),
        ("parts", pa.list_(pa.struct([("n", pa.int64()), ("t", pa.string())]))),
    ]
)


def rows(first: int, count: int, start_ms: int, step_ms: int = 0) -> pa.Table:
    ids = range(first, first + count)
    times = [moment(start_ms + step_ms * each) for each in range(count)]
    parts = [[{"n": each, "t": str(each)}] for each in ids]
    notes = [f"n{each}" for each in ids]
    return pa.table({"id": ids, "ts": times, "note": notes, "parts": parts}, SCHEMA)


def stored(world: Clocked) -> list[LiveRowSet]:
    world.table.refresh()
    return world.log.rowsets.read(world.table._state)


def read_of(store: NotingStore, objects: list[str]) -> list[str]:
    """Return the reads of some objects of RowSets."""
    return [name for name in store.read if any(each in name for each in objects)]


def purge(world: Clocked) -> None:
    head = world.log.reader.read_head()
    purge_table(world.log, head, TableId(world.table._state.id))


def ids(world: Clocked) -> list[int]:
    return sorted(world.table.scan(["id"]).to_arrow()["id"].to_pylist())


def stored_ids(world: Clocked) -> list[int]:
    """The ids of all rows that are stored, also those that have expired."""
    return sorted(world.table.scan(["id"], seen_at="1970-01-01").to_arrow()["id"].to_pylist())


def compact(world: Clocked) -> None:
    options = {"min-rowsets": 2, "deleted-share": 0}
    begun = world.table.optimize()
    for name, value in options.items():
        begun = begun.option(name, value)
    begun.executeCompaction()


def test_a_wholly_expired_rowset_is_dropped_after_its_grace_without_a_read_of_data() -> None:
    store = NotingStore()
    given = {"ttl": "1 hour", "ttl.column": "ts", "ttl.grace": "2 hours"}
    world = Clocked(SCHEMA, given, store=store, limits=replace(LIMITS, inline_rowset_bytes=0))
    start = world.now_ms
    world.table.append(rows(0, 1000, start))
    world.table.append(rows(1000, 1000, start + HOUR_MS))
    world.now_ms = start + 3 * HOUR_MS - 1
    purge(world)
    assert len(stored(world)) == 2, "its grace is not over"
    world.now_ms = start + 3 * HOUR_MS
    objects = [each.entry.object for each in stored(world)]
    assert ids(world) == [], "a query reads no data of it either"
    assert not read_of(store, objects)
    assert stored_ids(world) == [*range(2000)]
    assert read_of(store, objects)
    store.read.clear()
    before = world.log.reader.read_head().epoch
    purge(world)
    assert len(stored(world)) == 1
    assert world.table.epoch == before + 1
    assert world.table.history(1)[0].operation == "expire"
    assert not read_of(store, objects)
    assert stored_ids(world) == [*range(1000, 2000)]


def test_a_purge_whose_clock_moves_reads_no_rowset_that_expires_as_a_whole() -> None:
    store = NotingStore()
    given = {"ttl": "1 hour", "ttl.column": "ts", "ttl.grace": "none", "ttl.purge.share": "0"}
    world = Clocked(SCHEMA, given, store=store, limits=replace(LIMITS, inline_rowset_bytes=0))
    start = world.now_ms
    for number in range(30):
        world.table.append(rows(10 * number, 10, start + number * MINUTE_MS))
    objects = [each.entry.object for each in stored(world)]
    world.now_ms = start + HOUR_MS

    def later() -> int:
        world.now_ms += MINUTE_MS
        return world.now_ms

    moving = Log(store, clock_ms=later, pause=lambda _: None)
    store.read.clear()
    purge_table(moving, moving.reader.read_head(), TableId(world.table._state.id))
    dropped = 30 - len(stored(world))
    assert 0 < dropped < (world.now_ms - start - HOUR_MS) // MINUTE_MS < 30, "it has moved between"
    assert not read_of(store, objects)


def test_rows_are_deleted_where_many_have_expired_and_left_out_of_new_rowsets() -> None:
    given = {"ttl": "1 hour", "ttl.column": "ts", "ttl.grace": "none"}
    world = Clocked(SCHEMA, given)
    start = world.now_ms
    world.table.append(rows(0, 600, start, MINUTE_MS))
    world.now_ms = start + 2 * HOUR_MS
    purge(world)
    assert len(stored_ids(world)) == 600, "a tenth is too few"
    world.now_ms = start + 5 * HOUR_MS
    purge(world)
    assert stored_ids(world) == ids(world) == [*range(241, 600)]
    compact(world)
    assert [each.entry.rows for each in stored(world)] == [359]
    world.table.alter(AlterProperties(remove=("ttl", "ttl.column", "ttl.grace")))
    assert ids(world) == [*range(241, 600)]


def test_expired_rows_are_left_out_of_rowsets_that_are_rewritten_anyway() -> None:
    world = Clocked(SCHEMA, {"ttl": "1 hour", "ttl.column": "ts", "ttl.grace": "1 hour"})
    start = world.now_ms
    world.table.append(rows(0, 600, start, MINUTE_MS))
    world.table.append(rows(600, 600, start, MINUTE_MS))
    world.now_ms = start + 2 * HOUR_MS
    compact(world)
    assert len(stored(world)) == 1
    assert len(stored_ids(world)) == 1198, "only what expired an hour ago is gone"
    assert len(ids(world)) == 1200 - 2 * 61


@pytest.mark.slow
def test_expired_values_are_written_as_null_after_their_grace() -> None:
    given = {"ttl.note": "1 hour", "ttl.parts": "2 hours", "ttl.column": "ts", "ttl.grace": "none"}
    for sort_key in ((), ("id",)):
        world = Clocked(SCHEMA, given, sort_key=sort_key)
        start = world.now_ms
        world.table.append(rows(0, 5000, start, 1000))
        world.table.append(rows(5000, 5000, start, 1000))
        world.now_ms = start + 2 * HOUR_MS + 600_000
        expected = world.table.scan().to_arrow()
        compact(world)
        assert len(stored(world)) == 1
        found = world.table.scan(seen_at="1970-01-01").to_arrow()
        assert found.sort_by("id") == expected.sort_by("id")
        assert found["parts"].null_count == 2 * 601
        world.table.verify()


@pytest.mark.slow
def test_a_compaction_keeps_when_each_row_was_written() -> None:
    for sort_key in ((), ("id",)):
        world = Clocked(SCHEMA, {"ttl": "1 hour", "ttl.note": "30 minutes"}, sort_key=sort_key)
        start = world.now_ms
        for number in range(4):
            world.now_ms = start + (number + 1) * 10 * MINUTE_MS
            world.table.append(rows(1000 * number, 1000, 0))
        compact(world)
        (one,) = stored(world)
        assert one.entry.written_ms is not None
        low, high = one.entry.written_ms
        assert high - low == 30 * MINUTE_MS
        world.now_ms = start + 55 * MINUTE_MS
        notes = world.table.scan(["id", "note"]).to_arrow().filter(pc.field("note").is_null())
        assert sorted(notes["id"].to_pylist()) == [*range(2000)]
        world.now_ms = start + 75 * MINUTE_MS
        assert ids(world) == [*range(1000, 4000)]
        world.table.append(rows(9000, 10, 0))
        compact(world)
        assert ids(world) == [*range(1000, 4000), *range(9000, 9010)]
        world.now_ms = start + 85 * MINUTE_MS
        assert ids(world) == [*range(2000, 4000), *range(9000, 9010)]
        assert not world.table.verify().findings


def test_rows_of_one_time_need_no_column_for_it() -> None:
    world = Clocked(SCHEMA, {"ttl": "1 hour"})
    with world.database.transaction() as both:
        both.table("t").append(rows(0, 100, 0))
        both.table("t").append(rows(100, 100, 0))
    compact(world)
    (one,) = stored(world)
    assert one.entry.written_ms is not None
    assert len({*one.entry.written_ms}) == 1
    world.now_ms += HOUR_MS + MINUTE_MS
    assert ids(world) == []


def test_a_purge_of_values_fails_if_the_time_to_live_changes_meanwhile() -> None:
    world = Clocked(SCHEMA, {"ttl.note": "1 hour", "ttl.column": "ts", "ttl.grace": "none"})
    for number in range(8):
        world.table.append(rows(10 * number, 10, world.now_ms))
    world.now_ms += 2 * HOUR_MS
    head = world.log.reader.read_head()
    state = head.tables[TableId(world.table._state.id)]
    plan, _ = plan_table(world.log, head, state, Choices())
    job = plan_job(world.log, head, plan, plan.groups[0])
    outcome = run_job(job, world.store)
    world.table.alter(AlterProperties({"ttl.note": "9 hours"}))
    with pytest.raises(ConflictError, match="time to live of table 't' has changed"):
        commit_job(world.log, head, job, outcome, fresh=True)
    assert world.table.scan(["note"]).to_arrow()["note"].null_count == 0
