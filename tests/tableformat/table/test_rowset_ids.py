"""RowSet ids end: a table warns long before, is refused at the end, and a copy begins anew."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from colonnade import ArrowTable
from colonnade.maintain.round import Round, _look_again
from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.ids import new_object_id, new_transaction_id
from colonnade.manifests.model.entries import ByteCheck, EntrySegment
from colonnade.manifests.model.operations import AddRowSets, DropRowSet
from colonnade.manifests.state.rowset_ids import ROWSET_IDS
from tests.tableformat.table.epochs.test_restore import database, read, rows


def use_ids(table: ArrowTable, left: int) -> None:
    """Leave a table `left` ids, as if it had added and dropped RowSets for years."""
    log = table._log
    state = log.reader.read_head()
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


def test_a_table_without_ids_left_says_what_to_do_and_its_copy_takes_rows() -> None:
    db = database()
    table = db.table("a")
    table.delete("id < 2")
    use_ids(table, left=1)
    table.append(rows(50))
    (warning,) = table.verify(1).warnings
    assert warning.startswith("Table 'a' has used 100 % of its RowSet ids, and 0 are left.")
    with pytest.raises(InvalidInputError, match="1 RowSet ids of 0 left; copy its rows into a new"):
        table.append(rows(51))
    copy = db.create_table("copy", table.scan().to_arrow().schema)
    copy.append(table.scan().to_arrow())
    copy.append(rows(51))
    assert read(copy) == sorted([*read(table), (51, "x")])
    assert copy.verify(1).warnings == ()


def test_verify_and_maintenance_warn_from_half_of_the_ids_on() -> None:
    db = database()
    table = db.table("a")
    use_ids(table, left=ROWSET_IDS // 2 + 1)
    log = table._log
    assert db.verify(1).warnings == ()
    table.append(rows(60))
    (warning,) = db.verify(1).warnings
    done = Round(datetime.now(timezone.utc), "", None)
    _look_again(done, log, log.reader.read_head())
    assert done.warnings == [warning]
    assert warning.startswith("Table 'a' has used 50 % of its RowSet ids, and 2147483648 are left.")
    assert warning in str(db.verify(1))
