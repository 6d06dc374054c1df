"""RowSet ids end: a table warns long before, is refused at the end, and gets new ones."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from colonnade import ArrowTable, CommitSettings
from colonnade.maintain.round import Round, _look_again
from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.ids import new_object_id, new_transaction_id
from colonnade.manifests.model.entries import ByteCheck, EntrySegment
from colonnade.manifests.model.operations import AddRowSets, DropRowSet
from colonnade.manifests.state.rowset_ids import ROWSET_IDS
from colonnade.tableformat.table.alteration import AlterProperties
from colonnade.tableformat.table.restore import renumber_table
from tests.tableformat.table.test_restore import database, read, rows


def use_ids(table: ArrowTable, left: int) -> None:
    """Let a table have so many ids left, as if RowSets had come and gone for years."""
    log = table.log
    state = log.read_head()
    first = state.tables[table.state.id].next_rowset_id
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
        AddRowSets(table=table.state.id, segment=segment),
        DropRowSet(table=table.state.id, rowsets=((first, first + count - 1),), kind="delete"),
    ):
        state = log.commit(Change(new_transaction_id(), "test", (operation,)), state)
    table.refresh()
    assert table.state.next_rowset_id == ROWSET_IDS - left


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
    files = {info.name for info in table.log.store.list(table.state.prefix)}
    epoch = table.renumber()
    assert table.state.next_rowset_id == 2
    assert {info.name for info in table.log.store.list(table.state.prefix)} == files
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
    log = table.log
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
    before = table.state
    table.renumber()
    after = table.state
    assert after.batches == {"job": 7}
    assert (after.id, after.name, after.schema) == (before.id, before.name, before.schema)
    assert (after.properties, after.comment) == (before.properties, before.comment)
    assert after.next_column_id == before.next_column_id
    count = len(read(table))
    table.append(rows(70), commit=CommitSettings(batch=("job", 7)))
    assert len(read(table)) == count


def test_rows_that_came_meanwhile_are_not_lost_by_new_ids() -> None:
    db = database()
    table = db.table("a")
    base, state = table.snapshot, table.state
    db.table("a").append(rows(80))
    with pytest.raises(ConflictError):
        renumber_table(table.log, base, state, None)
    assert (80, "x") in read(db.table("a"))
