"""What each kind of statement is in the feed: inserted, deleted and updated rows, and no others."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from colonnade import ArrowTable
from colonnade.manifests.limits import Limits
from colonnade.manifests.model.operations import ReplaceColumn
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.table.database import ArrowDatabase
from tests.tableformat.statements.tables import made

SCHEMA = pa.schema(
    [pa.field("k", pa.int64(), nullable=False), ("v", pa.int64()), ("s", pa.string())]
)
Statement = Callable[[ArrowTable], object]


def rows(*keys: int, v: int = 0) -> pa.Table:
    return pa.table({"k": keys, "v": [v] * len(keys), "s": ["a"] * len(keys)}, SCHEMA)


def transaction(*statements: Callable[[Any], object]) -> Statement:
    def run(table: ArrowTable) -> None:
        store, log = table._location.store, table._log
        with ArrowDatabase(store, log, log.reader.read_head()).transaction() as tx:
            for each in statements:
                each(tx.table("t"))

    return run


# Ten rows, 0 to 9, with v = 0, in RowSets of four. Expected: inserted, deleted and updated keys.
STATEMENTS: dict[str, tuple[Statement, str, str, str]] = {
    "append": (lambda t: t.append(rows(10, 11)), "10 11", "", ""),
    "delete": (lambda t: t.delete("k IN (1, 8)", count_rows=True), "", "1 8", ""),
    "delete of whole RowSets": (lambda t: t.delete("k < 5"), "", "0 1 2 3 4", ""),
    "delete of all": (lambda t: t.delete(), "", "0 1 2 3 4 5 6 7 8 9", ""),
    "delete of a range": (lambda t: t.delete_range("k BETWEEN 2 AND 5"), "", "2 3 4 5", ""),
    "update": (lambda t: t.update({"v": 1}, "k IN (1, 8)"), "", "", "1 8"),
    "update of all": (lambda t: t.update({"v": 1}), "", "", "0 1 2 3 4 5 6 7 8 9"),
    "update to the same values": (lambda t: t.update({"v": 0}), "", "", ""),
    "update of a key": (lambda t: t.update({"k": 20}, "k = 3"), "", "", "3 20"),
    "upsert": (lambda t: t.upsert(rows(9, 10, v=1), on="k"), "10", "", "9"),
    "upsert of the same values": (lambda t: t.upsert(rows(9, 10), on="k"), "10", "", ""),
    "overwrite where": (lambda t: t.overwrite(rows(2, v=1), "k < 3"), "2", "0 1 2", ""),
    "compaction": (
        lambda t: t.optimize().option("min-rowsets", 2).executeCompaction(),
        "",
        "",
        "",
    ),
    "rename": (lambda t: t.rename_column("s", "text"), "", "", ""),
    "added column": (lambda t: t.add_column("more", "long", "v"), "", "", ""),
    "insert and delete in a transaction": (
        transaction(lambda t: t.append(rows(10, 11)), lambda t: t.delete("k > 8", count_rows=True)),
        "",
        "9",
        "",
    ),
    "two updates in a transaction": (
        transaction(lambda t: t.update({"v": 1}, "k = 4"), lambda t: t.update({"v": 2}, "k < 6")),
        "",
        "",
        "0 1 2 3 4 5",
    ),
    "an update that a transaction takes back": (
        transaction(lambda t: t.update({"v": 1}, "k = 4"), lambda t: t.update({"v": 0}, "k = 4")),
        "",
        "",
        "",
    ),
    "update and delete in a transaction": (
        transaction(
            lambda t: t.update({"v": 1}, "k < 2"), lambda t: t.delete("k = 1", count_rows=True)
        ),
        "",
        "1",
        "0",
    ),
}


@pytest.fixture
def table() -> ArrowTable:
    found = made(MemoryStore(), SCHEMA, sort_key=["k"])
    for first in range(0, 10, 4):
        found.append(rows(*range(first, min(10, first + 4))))
    return found


def keys(text: str) -> Counter[int]:
    return Counter(map(int, text.split()))


@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_feed_of_a_statement_has_what_it_did(table: ArrowTable, statement: str) -> None:
    run, inserted, deleted, updated = STATEMENTS[statement]
    base = table.epoch
    run(table)
    assert table.refresh().epoch > base
    found: dict[str, Counter[int]] = {}
    changes = table.changes(base + 1).to_pylist()
    for row in changes:
        found.setdefault(row["_change_type"], Counter())[row["k"]] += 1
    images = found.get("update_preimage", Counter()), found.get("update_postimage", Counter())
    assert found.get("insert", Counter()) == keys(inserted)
    assert found.get("delete", Counter()) == keys(deleted)
    assert (images[0] | images[1]) == keys(updated)
    assert images[0].total() == images[1].total()
    assert table.changes(base + 1, net=True).to_pylist() == changes


def test_replaced_columns_and_moved_rows_are_told_alike(table: ArrowTable) -> None:
    base = table.epoch
    table._log.reader.limits = Limits(in_place_bytes=0)
    table.update({"v": "k"})
    [epoch] = table._log.reader.read_epochs(table.epoch, 1)
    assert {type(op) for op in epoch.ops} >= {ReplaceColumn}
    changed = table.changes(base + 1, where="_change_type = 'update_postimage'").to_pylist()
    # Row 0 keeps its value.
    assert {row["k"]: row["v"] for row in changed} == {k: k for k in range(1, 10)}


@pytest.mark.parametrize("compacted", [False, True])
@pytest.mark.parametrize("to", [2, 3, 5])
def test_a_restore_is_the_difference(table: ArrowTable, to: int, compacted: bool) -> None:
    table.update({"v": 1}, "k = 1")
    table.delete("k = 2", count_rows=True)
    if compacted:
        table.optimize().option("min-rowsets", 2).executeCompaction()
    then = {row["k"]: row["v"] for row in table.scan(epoch=to).to_pylist()}
    now = {row["k"]: row["v"] for row in table.scan().to_pylist()}
    epoch = table.restore(to)
    found = {(row["_change_type"], row["k"], row["v"]) for row in table.changes(epoch).to_pylist()}
    both = [k for k in then.keys() & now.keys() if then[k] != now[k]]
    assert found == {
        *(("insert", k, then[k]) for k in then.keys() - now.keys()),
        *(("delete", k, now[k]) for k in now.keys() - then.keys()),
        *(("update_preimage", k, now[k]) for k in both),
        *(("update_postimage", k, then[k]) for k in both),
    }


def test_rows_that_have_expired_are_in_no_change() -> None:
    schema = pa.schema([("k", pa.int64()), ("at", pa.timestamp("us", "UTC"))])
    lives = {"ttl": "1 day", "ttl.column": "at"}
    found = made(MemoryStore(), schema, properties=lives)
    now = dt.datetime.now(dt.timezone.utc)
    times = [now - dt.timedelta(days=2), now]
    found.append(pa.table({"k": [1, 2], "at": times}, schema))
    found.update({"k": 5}, "k = 2")
    assert [row["k"] for row in found.changes(0)] == [2, 2, 5]
    shown = found.changes(0, also=["expired"]).to_pylist()
    assert [row["k"] for row in shown if row["_change_type"] == "insert"] == [1, 2]
