"""Damaged marks of freed slots are named by verify, written anew by repair, and lose nothing."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import cache

import pyarrow as pa
import pytest

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.object_names import FREED, HINT
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.verify.run import verify
from tests.tableformat.repair.damaged import repair_as_planned

SLOTS = 2
BLOCKS = range(6)


TICKS = itertools.count(1000)
"""A clock on which each epoch has another time, so that it has ended when a vacuum looks."""


def open_log(store: MemoryStore) -> Log:
    return Log(store, clock_ms=lambda: next(TICKS), checkpoint_interval=4, pause=lambda _: None)


def make() -> tuple[MemoryStore, list[str], list[int]]:
    """A database that two vacuums freed slots of; its marks, and the ids in its table."""
    made, marks, ids = make_once()
    store = MemoryStore(now_ms=lambda: 0)
    # Epoch 0 is first, because all later epochs need it.
    for info in sorted(made.list(""), key=lambda each: each.name):
        store.put(info.name, made.get(info.name), sync=True)
    return store, list(marks), list(ids)


@cache
def make_once() -> tuple[MemoryStore, list[str], list[int]]:
    store = MemoryStore(now_ms=lambda: 0)
    created = create_database(store, lone_table=False, slot_block=SLOTS)
    db = ArrowDatabase(store, open_log(store), created)
    table = db.create_table("a", pa.schema([("id", pa.int64())]))
    for turn in range(2):
        for number in range(5):
            table.append(pa.table({"id": [10 * turn + number]}))
        db.vacuum(0, force=True, trust_clock=True)
    table.append(pa.table({"id": [99]}))
    marks = sorted(info.name for info in store.list(FREED))
    assert len(marks) == len(BLOCKS)
    return store, marks, [*range(5), *range(10, 15), 99]


def spoil(store: MemoryStore, marks: list[str], blocks: Iterable[int], how: str) -> list[str]:
    """Damage the marks of some blocks, and return their names."""
    spoilt = [marks[block] for block in blocks]
    for name, other in [(each, marks[marks.index(each) - 1]) for each in spoilt][::-1]:
        data = store.get(name)
        changed = {
            "cut": data[:-9],
            "flipped": bytes([*data[:20], data[20] ^ 1, *data[21:]]),
            "another block's": store.get(other),
        }
        store.put(name, changed[how], sync=True)
    return spoilt


def check(store: MemoryStore, ids: list[int]) -> None:
    """Every way to open the database finds the rows, and vacuum goes on."""
    for hint in (True, False):
        if not hint:
            store.delete(HINT)
        assert verify(open_log(store), 4).findings == ()
        log = open_log(store)
        db = ArrowDatabase(store, log, log.read_head())
        assert sorted(db.table("a").scan().to_arrow()["id"].to_pylist()) == ids
        db.table("a").append(pa.table({"id": [1000]}))
        ids = [*ids, 1000]
        db.vacuum(0, force=True, trust_clock=True)


@pytest.mark.parametrize("how", ["cut", "flipped", "another block's"])
@pytest.mark.parametrize("blocks", [{0}, {2}, {3}, {5}, {0, 5}, {1, 2, 3}, {*BLOCKS} - {5}])
@pytest.mark.parametrize("hint", [True, False])
@pytest.mark.sampled(14)
def test_damaged_marks_are_named_one_by_one_and_written_anew(
    hint: bool, blocks: set[int], how: str
) -> None:
    store, marks, ids = make()
    spoilt = spoil(store, marks, sorted(blocks), how)
    if not hint:
        store.delete(HINT)
    if hint or 5 not in blocks:
        report = verify(open_log(store), 4)
        assert [(each.kind, each.file) for each in report.findings] == [
            ("damage", name) for name in spoilt
        ]
        assert all("`repair` writes this mark anew." in each.problem for each in report.findings)
    before = {name: store.get(name) for name in marks if name not in spoilt}
    assert repair_as_planned(open_log(store)).marks == tuple(spoilt)
    assert before == {name: store.get(name) for name in before}
    assert repair_as_planned(open_log(store)).marks == ()
    check(store, ids)


def test_marks_that_are_all_damaged_are_written_anew_while_the_hint_leads_to_the_floor() -> None:
    store, marks, ids = make()
    spoil(store, marks, BLOCKS, "cut")
    assert repair_as_planned(open_log(store)).marks == tuple(marks)
    check(store, ids)


def test_a_mark_is_not_written_anew_where_no_floor_behind_its_block_is_known() -> None:
    store, marks, _ = make()
    spoil(store, marks, BLOCKS, "cut")
    store.delete(HINT)
    before = {info.name: store.get(info.name) for info in store.list("")}
    report = verify(open_log(store), 4)
    assert {each.file for each in report.findings} >= set(marks)
    assert any("restore the file from a backup" in each.problem for each in report.findings)
    with pytest.raises(CorruptionError, match="Nothing that can be read tells a floor"):
        repair_as_planned(open_log(store))
    assert before == {info.name: store.get(info.name) for info in store.list("")}


def test_a_mark_of_a_block_above_the_floor_is_named_and_left_alone() -> None:
    store, marks, _ = make()
    name = marks[0].replace("0" * 20, f"{40:020d}")
    store.put(name, b"{}", sync=True)
    [found] = verify(open_log(store), 1).findings
    assert (found.kind, found.file) == ("damage", name)
    with pytest.raises(CorruptionError, match="restore the file from a backup"):
        repair_as_planned(open_log(store))
    assert store.get(name) == b"{}"


def test_marks_of_another_database_are_no_findings() -> None:
    store, marks, ids = make()
    store.put(f"{FREED}{'0' * 16}-{0:020d}.json", b"{}", sync=True)
    assert verify(open_log(store), 4).findings == ()
    assert repair_as_planned(open_log(store)).marks == ()
    check(store, ids)
    assert marks
