"""A transaction's plan says in which order one epoch drops, creates and changes tables."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyroaring import BitMap

from colonnade.manifests.commit.change import DeletedRows
from colonnade.manifests.model.deletion_vector import DeletionVector
from colonnade.manifests.model.entries import DeletionVectorEntry
from colonnade.manifests.state.snapshot import Snapshot, as_written
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.statements.statement import row_statement
from colonnade.tableformat.table.transaction.plan import TransactionPlan
from colonnade.tableformat.table.transaction.table_changes import TableWork
from tests.log_samples import (
    ORDERS,
    TRIPS,
    database,
    entry,
    make_log,
    table,
    table_state,
    with_orders,
)

EMPTY = TransactionPlan()
BASE = replace(as_written(entry()), id=0)
DELETE = row_statement(
    "delete", table_state(), [DeletedRows(ORDERS, BASE, "delete", BitMap([3]))], (), reads=()
)
APPEND = row_statement("append", table_state(), (), [entry(10)], reads=(), inserted=10)


@pytest.fixture
def base() -> Snapshot:
    store = MemoryStore()
    return with_orders(store, make_log(store))


def no_vector(prefix: str, rows: DeletionVector) -> DeletionVectorEntry:
    raise AssertionError("no RowSet of the transaction has deleted rows")


def ops(plan: TransactionPlan, base: Snapshot) -> list[str]:
    return [each.op for each in plan.operations(base, no_vector)]


def work(table_id: str = ORDERS) -> TableWork:
    return TableWork(table_id, f"{table_id}/", 1, {0: BASE} if table_id == ORDERS else {})


def test_a_replaced_table_is_overwritten_so_that_concurrent_rows_are_a_conflict(
    base: Snapshot,
) -> None:
    dropped = EMPTY.without(ORDERS, "orders", known=True)
    assert ops(dropped, base) == ["drop_table"]
    other = dropped.with_table(table(TRIPS, "trips"))
    assert ops(other, base) == ["drop_table", "create_table"]
    replaced = dropped.with_table(table(TRIPS, "orders"))
    assert ops(replaced, base) == ["drop_rowset", "drop_table", "create_table"]


def test_a_table_is_created_before_its_rows_and_leaves_nothing_when_it_is_dropped_again() -> None:
    created = EMPTY.with_table(table(TRIPS, "trips"))
    filled = created.with_work(work(TRIPS).add(APPEND), APPEND, "trips")
    empty = database(MemoryStore())
    assert ops(filled, empty) == ["create_table", "add_rowset"]
    assert filled.written == (TRIPS,)
    gone = filled.without(TRIPS, "trips", known=False)
    assert ops(gone, empty) == []
    assert gone.done == ("create trips", "append trips", "drop trips")


def test_deleted_rows_count_as_moved_once_the_transaction_adds_rows() -> None:
    """The added rows may have been computed from the deleted ones."""
    deleted = EMPTY.with_work(work().add(DELETE), DELETE, "orders")
    assert [each.kind for each in deleted.rows()] == ["delete"]
    created = deleted.with_table(table(TRIPS, "trips"))
    moved = created.with_work(work(TRIPS).add(APPEND), APPEND, "trips")
    assert [each.kind for each in moved.rows()] == ["update"]


def test_counts_of_all_statements_are_added_and_an_earlier_plan_stays_as_it_was() -> None:
    deleted = EMPTY.with_work(work().add(DELETE), DELETE, "orders")
    appended = deleted.with_work(deleted.work[ORDERS].add(APPEND), APPEND, "orders")
    assert appended.counts["rows_deleted"] == 1
    assert appended.counts["rows_inserted"] == 10
    assert appended.counts["rowsets_touched"] == DELETE.counts.rowsets_touched
    assert TransactionPlan() == EMPTY
