"""`ArrowTable.changes`: bounds, columns, conditions, and what costs nothing."""

from __future__ import annotations

import datetime as dt
import random
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import AddColumn, ArrowTable, InvalidInputError, NotFoundError
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.store import MemoryStore
from tests.far_store import FarStore
from tests.tableformat.statements.tables import made

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.int64()), ("s", pa.string())])


ADDS = ("insert", "update_postimage")
NEW = SchemaField(id=1, name="more", type="int")


def rows(*keys: int, v: int = 0, s: str = "a") -> pa.Table:
    return pa.table({"k": keys, "v": [v] * len(keys), "s": [s] * len(keys)}, SCHEMA)


@pytest.fixture
def table(tmp_path: Path) -> ArrowTable:
    """Epochs 2 to 5: an append, an update, a deletion, another append."""
    found = colonnade.create(tmp_path / "t", SCHEMA)
    found.append(rows(1, 2, 3))
    found.update({"v": 1}, "k = 2")
    found.delete("k = 1")
    found.append(rows(4))
    return found


def told(table: ArrowTable, *bounds: Any, **how: Any) -> list[tuple[int, str, int]]:
    return [
        (row["_commit_version"], row["_change_type"], row["k"])
        for row in table.changes(*bounds, **how)
    ]


ALL = [
    *((2, "insert", k) for k in (1, 2, 3)),
    (3, "update_preimage", 2),
    (3, "update_postimage", 2),
    (4, "delete", 1),
    (5, "insert", 4),
]


@pytest.mark.parametrize(
    ("bounds", "how", "first", "last"),
    [
        ((0,), {}, 2, 5),
        ((1,), {}, 2, 5),
        ((3, 4), {}, 3, 4),
        ((3, 3), {}, 3, 3),
        ((2, 5), {"inclusive": "start"}, 2, 4),
        ((2, 5), {"inclusive": "end"}, 3, 5),
        ((2, 5), {"inclusive": "neither"}, 3, 4),
        ((4, 99), {"allow_future": True}, 4, 5),
        ((4, "2999-01-01"), {"allow_future": True}, 4, 5),
        (("2999-01-01",), {"allow_future": True}, 9, 9),
        ((6,), {"allow_future": True}, 9, 9),
    ],
)
def test_a_range_has_the_changes_of_its_epochs(
    table: ArrowTable, bounds: Any, how: Any, first: int, last: int
) -> None:
    expected = [each for each in ALL if first <= each[0] <= last]
    assert told(table, *bounds, **how) == expected


def test_a_time_begins_with_the_first_epoch_at_or_after_it_and_ends_with_the_last_before(
    table: ArrowTable,
) -> None:
    third, fifth = table.time_of(3), table.time_of(5)
    assert third is not None
    assert fifth is not None
    tick = dt.timedelta(milliseconds=1)
    after_third = [each for each in ALL if each[0] >= 4]
    assert told(table, third) == [each for each in ALL if each[0] >= 3]
    assert told(table, third + tick) == after_third
    assert told(table, third, inclusive="end") == after_third
    assert told(table, third, fifth - tick) == [e for e in ALL if 3 <= e[0] <= 4]
    assert told(table, "2001-01-01") == ALL
    now = dt.datetime.now(dt.timezone.utc)
    assert told(table, third, now) == told(table, third)


def test_a_tag_is_a_bound(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    table = colonnade.create(tmp_path / "db" / "t", SCHEMA, data=rows(1))
    table.append(rows(2))
    database.tag("begin")
    table.append(rows(3))
    assert [each[2] for each in told(table, "begin", "begin")] == [2]
    with pytest.raises(NotFoundError, match="'nosuch' does not exist; the tags are: begin"):
        table.changes("nosuch")


@pytest.mark.parametrize(
    ("bounds", "how", "error", "message"),
    [
        ((), {}, InvalidInputError, "need a start"),
        ((4, 3), {}, InvalidInputError, "have no epoch"),
        ((3, 3), {"inclusive": "neither"}, InvalidInputError, "have no epoch"),
        ((6,), {}, NotFoundError, "the newest epoch is 5"),
        ((2, 6), {}, NotFoundError, "the newest epoch is 5"),
        ((5, 5), {"inclusive": "neither"}, InvalidInputError, "have no epoch"),
        ((5, None), {"inclusive": "end"}, NotFoundError, "the newest epoch is 5"),
        ((2, "2999-01-01"), {}, NotFoundError, "2999-01-01 is in the future, and the newest epoch"),
        (("2999-01-01",), {}, NotFoundError, "2999-01-01 is in the future, and the newest epoch"),
        ((None, 6), {"where": "_commit_version > 1"}, NotFoundError, "the newest epoch is 5"),
        ((7,), {"follow": True}, NotFoundError, "the newest epoch is 5"),
        (("2999-01-01",), {"follow": True}, NotFoundError, "the newest epoch is 5"),
        ((2,), {"follow": True, "allow_future": True}, InvalidInputError, "`allow_future` out"),
        ((0, 0), {}, InvalidInputError, "have no epoch: the first would be 1, and the last 0"),
        ((-1,), {}, InvalidInputError, "0 or more"),
        ((2.5,), {}, InvalidInputError, "whole number"),
        ((True,), {}, InvalidInputError, "whole number"),
        ((dt.datetime(2020, 1, 1),), {}, InvalidInputError, "no time zone"),
        ((2,), {"inclusive": "left"}, InvalidInputError, "'both', 'start', 'end', 'neither'"),
        ((2, 3), {"follow": True}, InvalidInputError, "leave `end` out"),
        ((2,), {"columns": ["zz"]}, NotFoundError, "'zz'"),
        ((2,), {"columns": ["k", "_change_type"]}, InvalidInputError, "comes with each change"),
        ((2,), {"where": "zz = 1"}, InvalidInputError, "'zz'"),
        ((2,), {"also": ["more"]}, InvalidInputError, "'more'"),
        ((2,), {"also": "more"}, InvalidInputError, "'more'"),
        ((2,), {"net": "yes"}, InvalidInputError, "True or False for net"),
        ((2,), {"follow": 1}, InvalidInputError, "True or False for follow"),
        ((2,), {"schema_epoch": 77}, NotFoundError, "77"),
        ((2,), {"schema_epoch": 0}, NotFoundError, "does not exist at epoch 0"),
        ((2,), {"columns": ["k", "k"]}, InvalidInputError, "more than once"),
    ],
)
def test_a_range_that_cannot_be_told_is_refused(
    table: ArrowTable, bounds: Any, how: Any, error: Any, message: str
) -> None:
    """An end before the start, bounds that leave nothing, and bounds after the newest epoch."""
    with pytest.raises(error) as found:
        told(table, *bounds, **how)
    assert message in str(found.value)


def test_removed_changes_are_refused_with_the_first_that_are_left(table: ArrowTable) -> None:
    table.vacuum(retention_hours=0, force=True)
    head = table.refresh().epoch
    table.append(rows(9))
    with pytest.raises(NotFoundError, match=r"those of epoch \d+ and later can be read") as error:
        table.changes(3)
    first = int(str(error.value).split("those of epoch ")[1].split()[0])
    assert told(table, first) == [(head + 1, "insert", 9)]
    with pytest.raises(NotFoundError):
        table.changes(first - 1)
    for bounds in (("2001-01-01",), ("2001-01-01", "2001-01-02")):
        with pytest.raises(NotFoundError, match=f"those of epoch {first} and later can be read"):
            table.changes(*bounds)


def test_a_start_of_0_that_does_not_belong_to_the_range_leaves_out_the_creation(
    tmp_path: Path,
) -> None:
    """Also in a database that has earlier epochs, of other tables."""
    database = colonnade.create_database(tmp_path / "db")
    database.create_table("other", SCHEMA)
    table = database.refresh().create_table("t", SCHEMA, data=rows(1))
    table.append(rows(2))
    assert [key for _, _, key in told(table, 0)] == [1, 2]
    assert [key for _, _, key in told(table, 0, inclusive="end")] == [2]


def test_a_table_that_was_made_again_begins_anew(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    colonnade.create(tmp_path / "db" / "t", SCHEMA, data=rows(1))
    database.drop_table("t")
    table = colonnade.create(tmp_path / "db" / "t", SCHEMA, data=rows(5))
    assert [each[1:] for each in told(table, 0)] == [("insert", 5)]
    with pytest.raises(NotFoundError, match=f"was created by epoch {table.epoch}"):
        table.changes(1)


def test_a_column_named_like_one_of_the_feed_is_refused(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", {"_Change_Type": "int"})
    with pytest.raises(InvalidInputError, match="'_Change_Type', which is the name of a column of"):
        table.changes(0)


def test_a_condition_may_name_columns_of_both(table: ArrowTable) -> None:
    assert told(table, 0, where="_change_type = 'delete'") == [(4, "delete", 1)]
    assert told(table, 0, where="_commit_version > 3 AND k < 4") == [(4, "delete", 1)]
    assert told(table, 0, where="v = 1") == [(3, "update_postimage", 2)]
    assert told(table, 0, where="NOT (_change_type LIKE 'update%' OR k > 1)") == [
        (2, "insert", 1),
        (4, "delete", 1),
    ]


def test_columns_are_chosen_and_pairs_stay_pairs(table: ArrowTable) -> None:
    found = table.changes(3, 3, columns=["s"])
    assert found.columns[:1] == ["s"]
    assert len(found.columns) == 5
    # No shown column differs, but the row does.
    assert [each["_change_type"] for each in found] == ["update_preimage", "update_postimage"]


def test_an_update_that_changes_no_value_is_not_told(table: ArrowTable) -> None:
    """Images of unchanged rows, which other feeds show for rows that a rewrite touches."""
    epoch = table.epoch
    table.update({"v": 1}, "k = 2")
    table.update({"s": "'a'"})
    table.upsert(rows(4), on="k")
    assert table.refresh().epoch > epoch
    assert told(table, epoch + 1) == []


def test_a_row_that_is_written_again_with_another_static_value_is_not_told(tmp_path: Path) -> None:
    """The value is a row of another table, so an upsert is told as an UPDATE of the value is."""
    table = colonnade.create(tmp_path / "t", SCHEMA, primary_key=["v", "k"], static=["s"])
    table.append(rows(1, 2))
    epoch = table.epoch
    table.upsert(rows(1, s="b"))
    assert table.refresh().epoch > epoch
    assert told(table, epoch + 1) == []


def test_rows_with_a_column_without_a_type_are_compared_by_the_others(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", SCHEMA.append(pa.field("none", pa.null())))
    none = pa.nulls(2)
    table.append(rows(1, 2).append_column("none", none))
    epoch = table.epoch
    table.upsert(rows(1, 2, v=3).append_column("none", none).slice(1), on="k")
    assert [each[1:] for each in told(table, epoch + 1)] == [
        ("update_preimage", 2),
        ("update_postimage", 2),
    ]


def test_compactions_and_alterations_are_not_told(table: ArrowTable) -> None:
    epoch = table.epoch
    table.optimize().option("min-rowsets", 2).executeCompaction()
    table.alter(AddColumn(NEW, default=7))
    table.rename_column("s", "text")
    assert table.refresh().epoch >= epoch + 3
    assert told(table, epoch + 1) == []
    [then] = table.changes(4, 4).to_pylist()
    assert then["s"] == "a"
    assert "more" not in then
    [now] = table.changes(4, 4, schema_epoch=table.epoch).to_pylist()
    assert (now["text"], now["more"]) == ("a", 7)
    assert [each["text"] for each in table.changes(2)] == ["a"] * 7


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("net", [False, True])
def test_other_static_values_are_told_if_it_is_asked_for(seed: int, net: bool) -> None:
    rng = random.Random(seed)
    schema = pa.schema(
        [("p", pa.int64()), ("k", pa.int64()), ("v", pa.int64()), ("owner", pa.string())]
    )
    table = made(MemoryStore(), schema, ["p", "k"], static=["owner"], partition_key=["p"])

    def some(owner: str | None) -> pa.Table:
        parts = rng.sample(range(4), 2)
        found = [
            {"p": p, "k": k, "v": rng.randrange(3), "owner": owner and f"{owner}{p}"}
            for p in parts
            for k in rng.sample(range(5), 2)
        ]
        return pa.Table.from_pylist(found, schema)

    table.append(some("a"))
    for _ in range(12):
        match rng.randrange(5):
            case 0 | 1:
                table.upsert(some(rng.choice("ab")))
            case 2:
                table.update({"owner": f"'{rng.choice('ab')}'"}, f"p = {rng.randrange(4)}")
            case 3:
                table.delete(f"k = {rng.randrange(5)}", count_rows=True)
            case 4:
                table.optimize().option("min-rowsets", 2).executeCompaction()
    last = table.refresh().epoch
    for _ in range(12):
        first = rng.randint(2, last)
        end = rng.randint(first, last)
        rows = {(r["p"], r["k"]): r for r in table.scan(epoch=first - 1).to_pylist()}
        changes = table.changes(first, end, net=net, also=["statics"]).to_pylist()
        for epoch in sorted({each["_commit_version"] for each in changes}):
            here = [each for each in changes if each["_commit_version"] == epoch]
            for each in sorted(here, key=lambda c: c["_change_type"] in ADDS):
                key = each["p"], each["k"]
                values = {name: each[name] for name in schema.names}
                if each["_change_type"] in ADDS:
                    assert key not in rows
                    rows[key] = values
                else:
                    assert rows.pop(key) == values, each
        assert rows == {(r["p"], r["k"]): r for r in table.scan(epoch=end).to_pylist()}


def test_a_backfill_is_told_if_it_is_asked_for(table: ArrowTable) -> None:
    epoch = table.epoch
    table.add_column("more", "long", "v")
    table.backfill("more", "k", where="k > 2")
    assert told(table, epoch + 1) == []
    changed = told(table, epoch + 1, also=["fills"])
    assert sorted(each[2] for each in changed if each[1] == "update_postimage") == [2, 3, 3, 4, 4]


def test_expired_rows_are_told_when_they_are_removed_if_that_is_asked_for(tmp_path: Path) -> None:
    old = dt.datetime.now(dt.timezone.utc) - dt.timedelta(days=3)
    schema = pa.schema([("k", pa.int64()), ("at", pa.timestamp("us", "UTC"))])
    table = colonnade.create(
        tmp_path / "t", schema, properties={"ttl": "1 day", "ttl.column": "at", "ttl.grace": "none"}
    )
    table.append(pa.table({"k": [1, 2], "at": [old, old + dt.timedelta(days=3)]}, schema))
    table.optimize().executeCompaction()
    assert told(table, 0) == [(2, "insert", 2)]
    every = told(table, 0, also=["expired"])
    assert [each[1:] for each in every] == [("insert", 1), ("insert", 2), ("delete", 1)]


def test_a_feed_that_follows_waits_for_later_epochs(table: ArrowTable) -> None:
    other = colonnade.open(table.path)
    timer = threading.Timer(0.2, lambda: other.append(rows(8)))
    timer.start()
    found = []
    for row in table.changes(5, follow=True):
        found.append((row["_commit_version"], row["k"]))
        if row["k"] == 8:
            break
    assert found == [(5, 4), (6, 8)]
    following = [table.changes(7, follow=True), table.changes(6, inclusive="end", follow=True)]
    other.append(rows(9))
    for each in following:
        assert next(iter(each))["k"] == 9
    with pytest.raises(InvalidInputError, match="has no end"):
        table.changes(5, follow=True).to_arrow()


def test_a_feed_that_follows_ends_with_the_drop_of_a_table_that_is_restored(tmp_path: Path) -> None:
    """The restored table begins anew. A feed that went on would leave out what it began with."""
    database = colonnade.create_database(tmp_path / "db")
    table = database.create_table("t", SCHEMA)
    table.append(rows(1))
    changes = iter(table.changes(0, follow=True))
    assert next(changes)["k"] == 1
    database.refresh().drop_table("t")
    database.refresh().restore(table.epoch)
    again = database.refresh()["t"]
    again.append(rows(2))
    with pytest.raises(NotFoundError, match=f"restored by epoch {again.epoch - 1}; read its"):
        next(changes)
    assert [each[2] for each in told(again, 0)] == [1, 2]


@pytest.mark.slow
def test_requests_follow_what_changed_and_not_the_size_of_the_table() -> None:
    costs = []
    for rowsets in (10, 200):
        far = FarStore()
        table = made(far, SCHEMA)
        for number in range(rowsets):
            table.append(rows(number))
        table._log.try_checkpoint(table.refresh()._snapshot)
        table.append(rows(1000))
        table.delete("k = 3")
        first = table.refresh().epoch - 1
        with far.counted() as cost:
            assert len(table.changes(first).to_pylist()) == 2
        costs.append(len(cost.calls))
    assert costs[0] == costs[1]
    assert costs[0] < 40
