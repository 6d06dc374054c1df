"""What is checked at the slot besides rows: reads, keys, batches, an expected epoch, all tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from pyroaring import BitMap

from colonnade.manifests.commit.change import Change, KeyGuard, RowsGone, TableRead
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import AddRowSet, SetProperties, Txn
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot
from colonnade.manifests.store import MemoryStore
from tests.log_samples import (
    ORDERS,
    TRIPS,
    append,
    change,
    contents,
    database,
    drop,
    entry,
    holds,
    live,
    make_log,
    replay,
    table,
    with_orders,
)


def opened(isolation: str | None = None, limits: Limits = LIMITS) -> tuple[Log, Snapshot]:
    """`orders` with ids 0 to 9 and 100 to 109 in two RowSets."""
    store = MemoryStore()
    log = make_log(store, limits=limits)
    state = log.commit(append(entry(low=0), entry(low=100)), with_orders(store, log))
    if isolation is not None:
        state = log.commit(change(SetProperties(table=ORDERS, set={"isolation": isolation})), state)
    return log, state


def reading(read: TableRead, *ops: AddRowSet) -> Change:
    made = ops or (AddRowSet(table=ORDERS, rowset=entry(low=500)),)
    return replace(change(*made, name="insert"), reads=(read,))


def delete_in(log: Log, state: Snapshot, index: int, to: str = ORDERS) -> Change:
    rowset = live(log, state.tables[to])[index]  # type: ignore[index]
    return replace(change(name="delete"), rows=(RowsGone(to, rowset, "delete", BitMap([1])),))


@pytest.mark.parametrize("level", [None, "snapshot", "serializable"])
def test_serializable_statements_meet_rows_that_came_where_they_read(level: str | None) -> None:
    log, base = opened(level)
    log.commit(append(entry(low=40)), base)
    log.commit(reading(TableRead(ORDERS, holds(7))), base)
    statement = reading(TableRead(ORDERS, holds(44)))
    if level == "serializable":
        with pytest.raises(ConflictError, match="Rows of table .orders. that the statement reads"):
            log.commit(statement, base)
    else:
        log.commit(statement, base)


@pytest.mark.parametrize("index", [0, 1])
def test_serializable_statements_conflict_with_deleted_rows_that_they_may_have_read(
    index: int,
) -> None:
    log, base = opened("serializable")
    log.commit(delete_in(log, base, index), base)
    statement = reading(TableRead(ORDERS, holds(105)))
    if index == 1:
        with pytest.raises(ConflictError, match=r"epoch 4 \(delete\)"):
            log.commit(statement, base)
    else:
        log.commit(statement, base)


def test_a_table_that_becomes_serializable_protects_from_then_on() -> None:
    log, base = opened()
    state = log.commit(change(SetProperties(table=ORDERS, set={"isolation": "serializable"})), base)
    log.commit(append(entry(low=40)), state)
    with pytest.raises(ConflictError):
        log.commit(reading(TableRead(ORDERS, holds(44))), base)


def test_an_overwrite_by_a_condition_conflicts_with_added_rows_that_it_may_select() -> None:
    log, base = opened()
    log.commit(append(entry(low=40)), base)
    log.commit(reading(TableRead(ORDERS, holds(105), overwrites=True)), base)
    for wanted in (holds(44), None):
        with pytest.raises(ConflictError):
            log.commit(reading(TableRead(ORDERS, wanted, overwrites=True)), base)


def test_keys_are_compared_with_rows_that_concurrent_writers_added_also_in_segments() -> None:
    log, base = opened(limits=Limits(listed_rowsets=2))
    others = [entry(low=n) for n in (20, 30, 40)]
    log.commit(append(*others), base)
    log.commit(append(entry(low=60)), log.read_head())
    seen: list[str] = []

    def meets(added: Sequence[LiveRowSet]) -> list[LiveRowSet]:
        seen.extend(each.entry.object for each in added)
        return [each for each in added if each.entry.statistics[1].min == "i:60"]

    statement = replace(append(entry(low=70)), keys=(KeyGuard(ORDERS, meets),))
    with pytest.raises(ConflictError, match="Keys that the statement inserts"):
        log.commit(statement, base)
    assert seen[:3] == [each.object for each in others]


def batch(version: int, app: str = "job") -> Change:
    return change(
        Txn(table=ORDERS, app=app, version=version),
        AddRowSet(table=ORDERS, rowset=entry()),
        name="append",
    )


def test_a_batch_lands_once_also_when_its_successor_runs_beside_it() -> None:
    log, base = opened()
    first = log.commit(batch(7), base)
    assert log.commit(batch(7), base) == first
    assert log.commit(batch(6), first) == first
    assert log.commit(batch(7, "other"), base).epoch == first.epoch + 1
    state = log.commit(batch(8), base)
    assert state.tables[ORDERS].batches == {"job": 8, "other": 7}
    assert len(live(log, state.table("orders"))) == 5


def test_batches_that_landed_in_part_are_no_success() -> None:
    log, base = opened()
    log.commit(batch(1, "a"), base)
    both = change(Txn(table=ORDERS, app="a", version=1), Txn(table=ORDERS, app="b", version=1))
    with pytest.raises(ConflictError, match="Only some of the batches"):
        log.commit(both, base)


def test_batches_are_kept_by_checkpoints() -> None:
    store = MemoryStore()
    log = make_log(store, interval=2)
    state = with_orders(store, log)
    for version in range(5):
        state = log.commit(batch(version), state)
    assert contents(log, log.read_head()) == contents(log, replay(store))
    assert log.read_head().table("orders").batches == {"job": 4}
    assert log.commit(batch(4), state).epoch == state.epoch


def test_an_expected_epoch_is_the_head_or_nothing_is_written() -> None:
    log, base = opened()
    state = log.commit(replace(append(), expect_epoch=base.epoch), base)
    for expected in (base.epoch, state.epoch + 1):
        with pytest.raises(ConflictError, match=f"expects epoch {expected}"):
            log.commit(replace(append(), expect_epoch=expected), base)
    again = replace(append(), expect_epoch=state.epoch)
    assert log.commit(again, state).epoch == log.commit(again, state).epoch


def test_a_conflict_in_one_table_leaves_all_unchanged() -> None:
    store = MemoryStore()
    log = make_log(store)
    state = log.commit(change(table(), table(TRIPS, "trips")), database(store))
    base = log.commit(change(*append().ops, *append(to=TRIPS).ops), state)
    log.commit(delete_in(log, base, 0, TRIPS), base)
    update = RowsGone(TRIPS, live(log, base.table("trips"))[0], "update", BitMap([1]))
    both = Change(
        new_transaction_id(),
        "transaction",
        append().ops,
        rows=(*delete_in(log, base, 0).rows, update),
    )
    head = log.read_head()
    with pytest.raises(ConflictError, match=r"Row 1 of RowSet 0 of table 'trips'"):
        log.commit(both, base)
    assert log.read_head() == head


def test_rows_of_a_table_that_was_dropped_or_never_was_are_refused() -> None:
    log, base = opened()
    statement = delete_in(log, base, 0)
    with pytest.raises(InvalidInputError, match=TRIPS):
        log.commit(replace(statement, rows=(replace(statement.rows[0], table=TRIPS),)), base)
    log.commit(drop(), base)
    with pytest.raises(ConflictError, match="was dropped"):
        log.commit(statement, base)
