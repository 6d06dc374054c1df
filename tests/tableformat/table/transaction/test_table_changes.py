"""What a transaction has done to a table so far, as values: nothing of it is written twice."""

from __future__ import annotations

import secrets
from dataclasses import replace

from pyroaring import BitMap

from colonnade.manifests.commit.change import DeletedRows
from colonnade.manifests.model.deletion_vector import DeletionVector
from colonnade.manifests.model.entries import DeletionVectorEntry
from colonnade.manifests.model.operations import AddRowSet, DropRowSet
from colonnade.manifests.state.snapshot import LiveRowSet, as_written
from colonnade.tableformat.statements.statement import row_statement
from colonnade.tableformat.table.transaction.table_changes import NO_ROWS, TableWork
from tests.log_samples import ORDERS, entry, table_state, vector

FIRST = 7
"""The id of the first RowSet of the transaction. The base has the RowSets 0 to 2."""

BASE = {number: replace(as_written(entry()), id=number) for number in range(3)}
BEGUN = TableWork(ORDERS, f"{ORDERS}/", FIRST, BASE)


def appended(work: TableWork, *rows: int) -> TableWork:
    added = [entry(count) for count in rows]
    return work.add(row_statement("append", table_state(), (), added, reads=(), inserted=sum(rows)))


def deleted(work: TableWork, rowset: LiveRowSet, *rows: int) -> TableWork:
    change = DeletedRows(ORDERS, rowset, "delete", BitMap(rows) if rows else None)
    return work.add(row_statement("delete", table_state(), [change], (), reads=()))


def own(work: TableWork, place: int) -> LiveRowSet:
    """A RowSet of the transaction, as its own statements see it."""
    return replace(work.added[place].rowset, id=FIRST + place)


def written(found: list[DeletionVector]) -> object:
    def write(rows: DeletionVector) -> DeletionVectorEntry:
        found.append(rows)
        return vector(rows.cardinality)

    return write


def test_deleted_rows_of_the_base_name_the_rowsets_of_the_base() -> None:
    """A RowSet may have a vector of the transaction, which no other writer knows."""
    seen = BASE[1].with_vector(vector(3))
    work = deleted(deleted(BEGUN, BASE[1], 1, 2), seen, 5)
    assert [each.rowset for each in work.rows] == [BASE[1], BASE[1]]
    assert [sorted(each.rows or ()) for each in work.rows] == [[1, 2], [5]]
    assert work.operations(written([])) == []  # type: ignore[arg-type]


def test_deleted_rows_of_an_own_rowset_become_one_vector_of_it() -> None:
    work = appended(BEGUN, 10, 10)
    work = deleted(deleted(work, own(work, 1), 1, 2), own(work, 1), 2, 9)
    vectors: list[DeletionVector] = []
    first, second = work.operations(written(vectors))  # type: ignore[arg-type]
    assert isinstance(first, AddRowSet)
    assert isinstance(second, AddRowSet)
    assert first.vector is None
    assert second.vector is not None
    assert [sorted(each.rows) for each in vectors] == [[1, 2, 9]]
    assert not work.rows


def test_an_own_rowset_without_live_rows_is_not_added() -> None:
    work = appended(BEGUN, 10, 4, 6)
    work = deleted(work, own(work, 1))
    assert [each.rowset.entry.rows for each in work.added] == [10, 6]
    work = deleted(work, own(work, 1), 5)
    assert [len(each.deleted) for each in work.added] == [0, 1]


def test_an_overwrite_forgets_what_the_transaction_did_before() -> None:
    work = deleted(appended(BEGUN, 10), BASE[0], 1)
    later = entry(5)
    overwrite = row_statement("overwrite", table_state(), (), [later], reads=(), inserted=5)
    work = work.add(replace(overwrite, overwrites_all=True))
    assert not work.rows
    drop, add = work.operations(written([]))  # type: ignore[arg-type]
    assert drop == DropRowSet(table=ORDERS, rowsets=((0, 2),))
    assert isinstance(add, AddRowSet)
    assert add.rowset == later
    assert work.reads[-1].overwrites
    assert work.added[0].deleted == NO_ROWS


def test_an_overwrite_of_a_table_of_the_transaction_still_marks_one() -> None:
    empty = TableWork(secrets.token_hex(8), "x/", 0, {})
    overwrite = row_statement("overwrite", table_state(), (), (), reads=())
    work = empty.add(replace(overwrite, overwrites_all=True))
    [drop] = work.operations(written([]))  # type: ignore[arg-type]
    assert isinstance(drop, DropRowSet)
    assert drop.rowsets == ()
