"""What has gone wrong in the change feeds of other formats, and in Delta's own tests of feeds."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import AddColumn, ArrowTable, NotFoundError
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.table.database import ArrowDatabase
from tests.tableformat.statements.tables import made

SCHEMA = pa.schema(
    [pa.field("k", pa.int64(), nullable=False), ("v", pa.int64()), ("s", pa.string())]
)
KEYED = pytest.mark.parametrize("keyed", [False, True])
Told = list[tuple[str, int, Any]]


def rows(*keys: int, v: int = 0) -> pa.Table:
    return pa.table({"k": keys, "v": [v] * len(keys), "s": ["a"] * len(keys)}, SCHEMA)


def told(table: ArrowTable, *bounds: Any, **how: Any) -> Told:
    return [(c["_change_type"], c["k"], c["v"]) for c in table.changes(*bounds, **how)]


def pair(k: int, old: Any, new: Any) -> Told:
    return [("update_preimage", k, old), ("update_postimage", k, new)]


@KEYED
@pytest.mark.parametrize("in_place", [False, True])
def test_rows_that_a_statement_carries_over_are_not_told(*, keyed: bool, in_place: bool) -> None:
    """Carry-over rows: a statement writes a RowSet anew, or a column of it, for one row of many."""
    table = made(MemoryStore(), SCHEMA, ["k"] if keyed else [])
    table._log.reader.limits = Limits(in_place_bytes=0 if in_place else 2**20)
    table.append(rows(*range(1000)))
    epoch = table.epoch
    table.update({"v": 1}, "k = 500")
    table.optimize().option("min-rowsets", 2).executeCompaction()
    table.delete("k = 501", count_rows=True)
    table.optimize().option("min-rowsets", 2).executeCompaction()
    table.overwrite(rows(7, v=3), "k = 7")
    seven = pair(7, 0, 3) if keyed else [("delete", 7, 0), ("insert", 7, 3)]
    expected = [*pair(500, 0, 1), ("delete", 501, 0), *seven]
    assert told(table, epoch + 1) == expected
    assert sorted(told(table, epoch + 1, net=True)) == sorted(expected)


def test_a_row_that_several_matches_delete_is_deleted_once() -> None:
    """Duplicate rows of a delete-only MERGE: a key is given twice, and two statements meet it."""
    table = made(MemoryStore(), SCHEMA, ["k"], sort_key=["k"])
    table.append(rows(1, 2, 3))
    table.delete_keys([{"k": 1}, {"k": 1}, {"k": 9}])
    first = table.epoch
    assert told(table, first) == [("delete", 1, 0)]
    with ArrowDatabase(
        table._location.store, table._log, table.refresh()._snapshot
    ).transaction() as tx:
        tx.table("t").delete("k = 2", count_rows=True)
        tx.table("t").delete_range("k >= 2 AND k < 3")
        tx.table("t").delete("k = 2")
    assert told(table.refresh(), first + 1) == [("delete", 2, 0)]


def test_of_equal_rows_as_many_are_deleted_as_went() -> None:
    """Duplicates in the target: rows are told apart by where they are, not by their values."""
    table = made(MemoryStore(), SCHEMA)
    table.append(rows(1, 1, 1))
    table.append(rows(1))
    [*_, last] = table.scan(columns=["k"]).to_pylist()
    assert last == {"k": 1}
    table.overwrite(rows(1, 1))
    found = told(table, table.epoch)
    assert found.count(("delete", 1, 0)) == 4
    assert found.count(("insert", 1, 0)) == 2


@KEYED
def test_net_changes_have_no_pair_of_equal_rows(*, keyed: bool) -> None:
    """An update there and back is no change of the range, and each epoch tells its own."""
    table = made(MemoryStore(), SCHEMA, ["k"] if keyed else [])
    table.append(rows(1, 2))
    epoch = table.epoch
    for value in (5, 6, 0):
        table.update({"v": value}, "k = 1")
        table.optimize().option("min-rowsets", 2).executeCompaction()
    assert told(table, epoch + 1) == [*pair(1, 0, 5), *pair(1, 5, 6), *pair(1, 6, 0)]
    assert told(table, epoch + 1, net=True) == []


NET: dict[tuple[bool, bool], tuple[Callable[[ArrowTable], object], Told]] = {
    (False, False): (lambda _: None, []),
    (False, True): (lambda t: t.append(rows(1, v=4)), [("insert", 1, 4)]),
    (True, False): (lambda t: t.delete("k = 1", count_rows=True), [("delete", 1, 0)]),
    (True, True): (lambda t: t.update({"v": 4}, "k = 1"), pair(1, 0, 4)),
}
"""Whether row 1 is there before and after the range; what it has become; the net change."""


@KEYED
@pytest.mark.parametrize(("before", "after"), NET)
def test_the_net_change_follows_from_what_was_before_and_what_is_after(
    *, before: bool, after: bool, keyed: bool
) -> None:
    """Whatever happened between, also to a row that came and went."""
    become, expected = NET[before, after]
    table = made(MemoryStore(), SCHEMA, ["k"] if keyed else [])
    table.append(rows(*([1, 2] if before else [2])))
    epoch = table.epoch
    if before:
        table.update({"v": 8}, "k = 1")
    table.append(rows(3))
    table.update({"v": 9}, "k = 3")
    table.optimize().option("min-rowsets", 2).executeCompaction()
    become(table)
    table.delete("k = 3", count_rows=True)
    assert told(table, epoch + 1, net=True) == expected


def test_a_key_that_is_deleted_and_inserted_again_is_one_update_of_the_range() -> None:
    """Without a key, they are two rows."""
    for key in (["k"], []):
        table = made(MemoryStore(), SCHEMA, key)
        table.append(rows(1))
        epoch = table.epoch
        table.delete("k = 1", count_rows=True)
        table.append(rows(1, v=3))
        assert told(table, epoch + 1) == [("delete", 1, 0), ("insert", 1, 3)]
        expected = pair(1, 0, 3) if key else [("delete", 1, 0), ("insert", 1, 3)]
        assert told(table, epoch + 1, net=True) == expected


class Clocked:
    """A table whose writers have clocks that the test sets, in ms since 1970 UTC."""

    def __init__(self) -> None:
        self.now = 1_667_724_000_000  # 2022-11-06 08:40 UTC
        self.store = MemoryStore(now_ms=lambda: self.now)
        create_database(self.store, lone_table=False, clock_ms=lambda: self.now)
        self.database().create_table("t", SCHEMA)

    def database(self) -> ArrowDatabase:
        log = Log(self.store, clock_ms=lambda: self.now, pause=lambda _: None)
        return ArrowDatabase(self.store, log, log.reader.read_head())

    def append(self, *keys: int) -> int:
        return self.database()["t"].append(rows(*keys))


@pytest.mark.slow
def test_times_grow_with_epochs_though_a_clock_goes_back() -> None:
    """Non-monotone commit times: a start by time would skip epochs, or a stream drop them."""
    world = Clocked()
    epochs: list[int] = []
    for step in (0, 60_000, -3_600_000, 1, -1, 7_200_000):
        world.now += step
        epochs.append(world.append(len(epochs)))
    table = world.database()["t"]
    found = table.changes(epochs[0]).to_pylist()
    times = [each["_commit_timestamp"] for each in found]
    assert times == sorted(set(times))
    for epoch, time in zip(epochs, times, strict=True):
        assert [k for _, k, _ in told(table, time)] == [*range(epochs.index(epoch), len(epochs))]
        assert [k for _, k, _ in told(table, epochs[0], time)] == [*range(epochs.index(epoch) + 1)]


def test_a_time_means_the_same_moment_in_every_zone() -> None:
    """Bounds of time around the hour that a zone has twice when summer time ends."""
    world = Clocked()
    world.append(1)
    world.now = int(dt.datetime(2022, 11, 6, 9, 42, 44, tzinfo=dt.timezone.utc).timestamp() * 1000)
    second = world.append(2)
    table = world.database()["t"]
    for zone, hour in ((-8, 1), (-7, 2), (0, 9), (7, 16)):
        there = dt.timezone(dt.timedelta(hours=zone))
        moment = dt.datetime(2022, 11, 6, hour, 42, 44, tzinfo=there)
        assert told(table, moment, moment) == [("insert", 2, 0)]
        assert told(table, moment.isoformat(), moment.isoformat()) == [("insert", 2, 0)]
    an_hour_early = dt.datetime(2022, 11, 6, 1, 42, 44, tzinfo=dt.timezone(dt.timedelta(hours=-7)))
    assert told(table, an_hour_early) == told(table, second - 1)[-len(told(table, an_hour_early)) :]
    assert told(table, "2022-11-06 09:42:44", "2022-11-06 09:42:44.000") == [("insert", 2, 0)]
    assert [k for _, k, _ in told(table, "2022-11-06")] == [1, 2]
    with pytest.raises(colonnade.InvalidInputError, match="20221106094244000"):
        table.changes("20221106094244000")


def test_times_between_two_epochs_leave_no_range() -> None:
    world = Clocked()
    for key in range(3):
        world.now += 10_000
        world.append(key)
    table = world.database()["t"]
    second = table.changes(0).to_pylist()[1]["_commit_timestamp"]
    tick = dt.timedelta(seconds=1)
    with pytest.raises(colonnade.InvalidInputError, match="have no epoch"):
        table.changes(second + tick, second + 2 * tick)
    with pytest.raises(colonnade.InvalidInputError, match="have no epoch"):
        table.changes(second + tick, second - tick)
    assert told(table, second - tick, second + tick) == [("insert", 1, 0)]


def test_a_gap_of_removed_epochs_is_refused_and_never_skipped(tmp_path: Path) -> None:
    """A kept epoch before the gap does not hide it."""
    database = colonnade.create_database(tmp_path / "db")
    table = database.create_table("t", SCHEMA)
    table.append(rows(1))
    database.refresh().tag("kept")
    kept = table.epoch
    table.append(rows(2))
    table.append(rows(3))
    database.refresh().vacuum(retention_hours=0, force=True)
    table = database.refresh()["t"]
    last = table.append(rows(4))
    with pytest.raises(NotFoundError, match=f"in epoch {kept + 1} were removed .* those of epoch"):
        table.changes("kept", inclusive="end")
    with pytest.raises(NotFoundError, match="were removed by retention"):
        table.changes("kept", "kept")
    assert told(table, last) == [("insert", 4, 0)]


@pytest.mark.slow
def test_a_vacuum_beside_a_reader_is_an_error_and_no_lost_change(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA)
    for key in range(70):
        table.append(rows(key))
    found = iter(table.changes(0))
    assert next(found)["k"] == 0
    colonnade.open(tmp_path / "t").vacuum(retention_hours=0, force=True)
    keys = [0]
    try:
        keys += [each["k"] for each in found]
    except NotFoundError:
        assert keys == [*range(len(keys))]
    else:
        assert keys == [*range(70)]


@KEYED
def test_a_range_spans_renames_drops_and_added_columns(*, keyed: bool) -> None:
    """Rows have the columns of the end, or those that are asked for; values follow ids."""
    table = made(MemoryStore(), SCHEMA, ["k"] if keyed else [])
    old = table.append(rows(1, v=1))
    table.rename_column("v", "w")
    table.update({"w": 2})
    table.drop_column("s")
    table.alter(AddColumn(SchemaField(id=1, name="s", type="int"), default=7))
    table.append([{"k": 2, "w": 3, "s": 4}])
    found = [{n: c[n] for n in ("k", "w", "s")} for c in table.changes(old)]
    assert found == [
        {"k": 1, "w": 1, "s": 7},
        {"k": 1, "w": 1, "s": 7},
        {"k": 1, "w": 2, "s": 7},
        {"k": 2, "w": 3, "s": 4},
    ]
    then = [(c["k"], c["v"], c["s"]) for c in table.changes(old, schema_epoch=old)]
    assert then == [(1, 1, "a"), (1, 1, "a"), (1, 2, "a"), (2, 3, None)]


def test_an_epoch_that_adds_a_column_and_sets_it_shows_the_row_before_without_a_value() -> None:
    """Schema evolution: the row before the update has NULL in the column that came with it."""
    table = made(MemoryStore(), SCHEMA, ["k"])
    table.append(rows(1))
    table.alter(AddColumn(SchemaField(id=1, name="more", type="string")))
    table.upsert([{"k": 1, "more": "x"}, {"k": 2, "more": "y"}])
    assert [(c["_change_type"], c["k"], c["more"]) for c in table.changes(table.epoch)] == [
        ("update_preimage", 1, None),
        ("update_postimage", 1, "x"),
        ("insert", 2, "y"),
    ]


def test_a_feed_ends_with_the_epoch_that_was_newest_when_it_was_asked_for(tmp_path: Path) -> None:
    """A trailing commit must not come and go between the plan of a read and the read."""
    table = colonnade.create(tmp_path / "t", SCHEMA, data=rows(1))
    asked = table.changes(0)
    other = colonnade.open(tmp_path / "t")
    other.append(rows(2))
    other.alter(AddColumn(SchemaField(id=1, name="more", type="int"), default=7))
    assert [each["k"] for each in asked] == [1]
    assert asked.end == table.epoch
    assert "more" not in asked.columns
    assert told(other, asked.end + 1) == [("insert", 2, 0)]


def test_a_feed_that_follows_tells_each_epoch_once_also_those_without_rows(tmp_path: Path) -> None:
    """Epochs of another table, alterations and compactions lie between those with changes."""
    database = colonnade.create_database(tmp_path / "db")
    table = database.create_table("t", SCHEMA)
    other = database.create_table("other", SCHEMA)
    table.append(rows(0))
    found = iter(table.changes(0, follow=True))
    keys = [next(found)["k"]]
    for key in range(1, 6):
        other.append(rows(key))
        table.append(rows(key))
        if key % 2:
            table.optimize().option("min-rowsets", 2).executeCompaction()
            table.alter(AddColumn(SchemaField(id=1, name=f"c{key}", type="int")))
        keys.append(next(found)["k"])
    assert keys == [*range(6)]


def test_columns_with_dots_and_quotes_in_their_names_are_told() -> None:
    inside = pa.struct([("field", pa.int32()), ("field.one", pa.int32())])
    schema = pa.schema([("id.num", pa.int64()), ("id.num`s", pa.int64()), ("in", inside)])
    table = made(MemoryStore(), schema)
    table.append(
        pa.table(
            {"id.num": [2, 4], "id.num`s": [1, 1], "in": [{"field": 1, "field.one": 2}] * 2}, schema
        )
    )
    table.update({"id.num`s": 5}, "`id.num` = 4")
    found = table.changes(0, where="`id.num` = 4 AND _change_type <> 'insert'").to_pylist()
    assert [each["id.num`s"] for each in found] == [1, 5]
    assert found[1]["in"] == {"field": 1, "field.one": 2}


@KEYED
def test_an_update_that_moves_rows_to_other_partitions_is_a_pair(*, keyed: bool) -> None:
    table = made(MemoryStore(), SCHEMA, ["k", "v"] if keyed else [], partition_by=["v"])
    table.append(pa.table({"k": [1, 2, 3], "v": [1, 1, 2], "s": ["a"] * 3}, SCHEMA))
    moved = table.update({"v": 2}, "k = 1").epoch
    assert told(table, moved) == pair(1, 1, 2)
    gone = table.delete("v = 2", count_rows=True).epoch
    assert sorted(told(table, gone)) == [("delete", 1, 2), ("delete", 3, 2)]
    again = table.overwrite_partitions(
        pa.table({"k": [2, 5], "v": [1, 3], "s": ["b", "b"]}, SCHEMA)
    )
    found = [(c["_change_type"], c["k"], c["s"]) for c in table.changes(again)]
    two = [("update_preimage", 2, "a"), ("update_postimage", 2, "b")]
    unkeyed = [("delete", 2, "a"), ("insert", 2, "b")]
    assert sorted(found) == sorted([*(two if keyed else unkeyed), ("insert", 5, "b")])


@pytest.mark.parametrize("where", ["k = 99", "v IS NULL AND k > 0", "NULL"])
def test_a_statement_that_meets_no_row_tells_nothing(where: str) -> None:
    table = made(MemoryStore(), SCHEMA)
    table.append(rows(1, 2))
    epoch = table.epoch
    table.update({"v": 7}, where)
    table.delete(where)
    assert told(table, epoch) == [("insert", 1, 0), ("insert", 2, 0)]


def test_rows_of_a_feed_can_be_stored_in_a_table_but_not_told_of_again(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA, data=rows(1, 2))
    table.delete("k = 2")
    changes = table.changes(0).to_arrow().drop_columns(["_row_handler"])
    audit = colonnade.create(tmp_path / "audit", changes.schema, data=changes)
    audit.append(changes.slice(2))
    assert [(each["_change_type"], each["k"]) for each in audit.scan().to_pylist()] == [
        ("insert", 1),
        ("insert", 2),
        ("delete", 2),
        ("delete", 2),
    ]
    with pytest.raises(colonnade.InvalidInputError, match="_change_type.*rename it"):
        audit.changes(0)
