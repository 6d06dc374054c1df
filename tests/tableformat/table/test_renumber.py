"""RowSet ids end: a table warns long before, is refused at the end, and gets new ones."""

from __future__ import annotations

import random
from collections import Counter
from datetime import datetime, timezone
from typing import Any

import pytest

from colonnade import ArrowTable, CommitSettings
from colonnade.maintain.round import Round, _look_again
from colonnade.manifests.commit.change import Change, DeletedRows, TableRead
from colonnade.manifests.errors import ConflictError, InvalidInputError, NotFoundError
from colonnade.manifests.ids import new_object_id, new_transaction_id
from colonnade.manifests.limits import Limits
from colonnade.manifests.model.entries import ByteCheck, EntrySegment
from colonnade.manifests.model.operations import (
    AddRowSet,
    AddRowSets,
    DropRowSet,
    Operation,
    Renumber,
    Txn,
)
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.rowset_ids import ROWSET_IDS
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.tableformat.table.alteration import AlterProperties
from colonnade.tableformat.table.restore import renumber_table
from tests.log_samples import ORDERS, change, contents, entry, make_log, replay, with_orders
from tests.tableformat.table.test_restore import database, read, rows


def use_ids(table: ArrowTable, left: int) -> None:
    """Leave a table `left` ids, as if it had added and dropped RowSets for years."""
    log = table._log
    state = log.read_head()
    first = state.tables[table._state.id].next_rowset_id
    count = ROWSET_IDS - left - first
    segment = EntrySegment(
        object=new_object_id("0123456789abcdef"),
        check=ByteCheck(length=100, crc32c=1),
        rowset_count=count,
        row_count=count,
        deleted_count=0,
        byte_count=count,
        statistics={},
    )
    for operation in (
        AddRowSets(table=table._state.id, segment=segment),
        DropRowSet(table=table._state.id, rowsets=((first, first + count - 1),), kind="delete"),
    ):
        state = log.commit(Change(new_transaction_id(), "test", (operation,)), state)
    table.refresh()
    assert table._state.next_rowset_id == ROWSET_IDS - left


def test_a_table_without_ids_left_says_what_to_do_and_takes_rows_again_after_it() -> None:
    db = database()
    table = db.table("a")
    table.delete("id < 2")
    before = read(table)
    use_ids(table, left=1)
    table.append(rows(50))
    (warning,) = table.verify(1).warnings
    assert warning.startswith("Table 'a' has used 100 % of its RowSet ids, and 0 are left.")
    with pytest.raises(InvalidInputError, match="1 RowSet ids of 0 left; `colonnade renumber`"):
        table.append(rows(51))
    files = {info.name for info in table._log.store.list(table._state.prefix)}
    epoch = table.renumber()
    assert table._state.next_rowset_id == 2
    assert {info.name for info in table._log.store.list(table._state.prefix)} == files
    table.append(rows(51))
    assert read(table) == sorted([*before, (50, "x"), (51, "x")])
    assert read(table, epoch=epoch - 1) == sorted([*before, (50, "x")])
    table.delete("id = 50")
    assert table.verify(3).is_sound
    assert table.verify(1).warnings == ()
    assert "renumber" in [each.operation for each in table.history()]


def test_verify_and_maintenance_warn_from_half_of_the_ids_on() -> None:
    db = database()
    table = db.table("a")
    use_ids(table, left=ROWSET_IDS // 2 + 1)
    log = table._log
    assert db.verify(1).warnings == ()
    table.append(rows(60))
    (warning,) = db.verify(1).warnings
    done = Round(datetime.now(timezone.utc), "", None)
    _look_again(done, log, log.read_head())
    assert done.warnings == [warning]
    assert warning.startswith("Table 'a' has used 50 % of its RowSet ids, and 2147483648 are left.")
    assert warning in str(db.verify(1))


def test_a_renumbered_table_keeps_its_batches_and_its_design() -> None:
    db = database()
    table = db.table("a")
    table.alter(AlterProperties({"owner": "us"}))
    table.append(rows(70), commit=CommitSettings(batch=("job", 7)))
    before = table._state
    table.renumber()
    after = table._state
    assert after.batches == {"job": 7}
    assert (after.id, after.name, after.schema) == (before.id, before.name, before.schema)
    assert (after.properties, after.comment) == (before.properties, before.comment)
    assert after.next_column_id == before.next_column_id
    count = len(read(table))
    table.append(rows(70), commit=CommitSettings(batch=("job", 7)))
    assert len(read(table)) == count


def ids(table: ArrowTable) -> list[int]:
    head = table._log.read_head()
    return table._log.read_entries(head.tables[table._state.id]).ids.tolist()


def test_rows_that_are_added_meanwhile_get_new_ids_too(monkeypatch: pytest.MonkeyPatch) -> None:
    db = database()
    table = db.table("a")
    table.delete("id < 2")
    base, state = table._snapshot, table._state
    for number in range(80, 84):
        db.table("a").append(rows(number))
    before = read(db.table("a"))
    # The renumbering is planned once, however many appends it meets.
    looks: list[str] = []
    real = LogReader.read_rowsets

    def watched(log: LogReader, at: TableState, *more: Any, **named: Any) -> list[LiveRowSet]:
        looks.append(at.name)
        return real(log, at, *more, **named)

    monkeypatch.setattr(LogReader, "read_rowsets", watched)
    renumber_table(table._log, base, state, None)
    assert looks == ["a"]
    assert read(db.table("a")) == before
    assert ids(table) == list(range(len(ids(table))))
    assert db.verify(3).is_sound


def test_rows_that_are_deleted_meanwhile_make_a_renumbering_begin_again() -> None:
    db = database()
    table = db.table("a")
    base, state = table._snapshot, table._state
    db.table("a").append(rows(80))
    db.table("a").delete("id = 1 or id = 80")
    before = read(db.table("a"))
    renumber_table(table._log, base, state, None)
    assert read(db.table("a")) == before
    assert ids(table) == list(range(len(ids(table))))
    with pytest.raises(ConflictError, match="Table 'a' was changed by epoch"):
        renumber_table(table._log, base, state, CommitSettings(expect_epoch=base.epoch))


def test_a_dropped_table_is_not_renumbered() -> None:
    db = database()
    table = db.table("a")
    base, state = table._snapshot, table._state
    db.drop_table("a")
    with pytest.raises(NotFoundError, match="was dropped meanwhile"):
        renumber_table(table._log, base, state, None)


def test_an_append_that_meets_a_renumbering_commits_and_a_delete_is_told_why_not() -> None:
    db = database()
    table = db.table("a")
    log, base = table._log, table._snapshot
    live = log.read_rowsets(base.tables[table._state.id])
    db.table("a").renumber()
    count = len(read(db.table("a")))
    added = live[0].entry.model_copy(update={"object": "f" * 32})
    mine = Change(new_transaction_id(), "append", (AddRowSet(table=table._state.id, rowset=added),))
    after = log.commit(mine, base)
    assert len(log.read_rowsets(after.tables[table._state.id])) == len(live) + 1
    gone = DeletedRows(table=table._state.id, rowset=live[0], kind="delete", rows=None)
    with pytest.raises(ConflictError, match="RowSets of table 'a' got new ids by epoch"):
        log.commit(Change(new_transaction_id(), "delete", (), rows=(gone,)), base)
    assert count == len(read(table, epoch=after.epoch - 1))
    fresh = db.table("a")
    fresh.delete("id = 3")  # a statement looks again by itself
    assert 3 not in {row[0] for row in read_ids(fresh)}


def read_ids(table: ArrowTable) -> list[tuple[int, ...]]:
    return [(number,) for number in table.scan(columns=["id"]).to_arrow()["id"].to_pylist()]


def test_a_serializable_insert_does_not_take_renumbered_rows_for_new_ones() -> None:
    db = database()
    table = db.table("a")
    table.alter(AlterProperties({"isolation": "serializable"}))
    log, base = table._log, table._refresh()
    key = table._state.id
    entry = log.read_rowsets(base.tables[key])[0].entry.model_copy(update={"object": "e" * 32})
    mine = Change(
        new_transaction_id(),
        "insert",
        (AddRowSet(table=key, rowset=entry),),
        reads=(TableRead(key),),
    )
    db.table("a").renumber()
    assert log.commit(mine, base).epoch == base.epoch + 2


def test_a_table_with_more_applications_than_an_epoch_can_name_is_renumbered() -> None:
    db = database()
    table = db.table("a")
    log, state = table._log, table._refresh()
    for start in (0, 50_000):
        batches = (
            Txn(table=table._state.id, app=f"application-{number:020}", version=number)
            for number in range(start, start + 50_000)
        )
        state = log.commit(Change(new_transaction_id(), "test", tuple(batches)), state)
    state = log.try_checkpoint(state)
    before = read(table)
    epoch = table.renumber()
    after = log.read_head().tables[table._state.id]
    assert log.store.get(epoch_name(epoch)).__len__() < 2**20
    assert after.batches["application-00000000000000099999"] == 99_999
    assert read(table) == before


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, 3))]
)
def test_a_renumbering_beside_anything_loses_and_doubles_nothing(seed: int) -> None:
    """Changes are planned on old epochs, renumberings among them, in tiny segments."""
    order = random.Random(seed)
    log = make_log(limits=Limits(listed_rowsets=2, segment_rowsets=3), interval=5)
    state = with_orders(log.store, log)
    states, expected = [state], dict[str, str | None]()
    done = Counter[str]()
    for _ in range(150):
        base = order.choice(states[-4:])
        live = log.read_rowsets(base.table("orders"))
        kind = order.choice(["append", "append", "delete", "renumber"])
        made = [entry() for _ in range(order.randrange(1, 5))]
        ops: list[Operation] = [AddRowSet(table=ORDERS, rowset=each) for each in made]
        gone: list[LiveRowSet] = []
        if kind == "delete":
            ops, gone = [], order.sample(live, min(len(live), 2))
            ops = [DropRowSet(table=ORDERS, rowsets=((r.id, r.id),), kind="delete") for r in gone]
        elif kind == "renumber":
            again = [
                r.amendments.vector and r.amendments.vector.model_copy(update={"predecessor": None})
                for r in live
            ]
            pairs = zip(live, again, strict=True)
            added = [AddRowSet(table=ORDERS, rowset=r.stored_entry, vector=v) for r, v in pairs]
            ops = [Renumber(table=ORDERS), *added]
        try:
            states.append(log.commit(change(*ops), base))
        except ConflictError:
            done["refused"] += 1
            continue
        done[kind] += 1
        if kind == "append":
            expected.update((each.object, None) for each in made)
        for each in gone:
            del expected[each.entry.object]
        found = log.read_rowsets(log.read_head().table("orders"))
        assert sorted(r.entry.object for r in found) == sorted(expected)
        if kind == "renumber":
            assert [r.id for r in found] == list(range(len(found)))
    assert min(done[kind] for kind in ("append", "delete", "renumber", "refused")) > 3
    assert contents(log, replay(log.store)) == contents(log, states[-1])
