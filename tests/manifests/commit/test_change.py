"""A change becomes one epoch, once and as a whole: its batches, its base and all its tables."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyroaring import BitMap

from colonnade.manifests.commit.change import Change, DeletedRows
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.deletion_vector import read_deletion_vector
from colonnade.manifests.model.operations import AddRowSet, RowKind, Txn
from colonnade.manifests.object_names import table_prefix
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
    live,
    make_log,
    replay,
    table,
    with_orders,
)


def opened() -> tuple[Log, Snapshot]:
    """`orders` with ids 0 to 9 and 100 to 109 in two RowSets."""
    store = MemoryStore()
    log = make_log(store)
    state = log.commit(append(entry(low=0), entry(low=100)), with_orders(store, log))
    return log, state


def delete_in(log: Log, state: Snapshot, index: int, to: str = ORDERS) -> Change:
    rowset = live(log, state.tables[to])[index]  # type: ignore[index]
    return replace(change(name="delete"), rows=(DeletedRows(to, rowset, "delete", BitMap([1])),))


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
    assert contents(log, log.reader.read_head()) == contents(log, replay(store))
    assert log.reader.read_head().table("orders").batches == {"job": 4}
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
    update = DeletedRows(TRIPS, live(log, base.table("trips"))[0], "update", BitMap([1]))
    both = Change(
        new_transaction_id(),
        "transaction",
        append().ops,
        rows=(*delete_in(log, base, 0).rows, update),
    )
    head = log.reader.read_head()
    with pytest.raises(ConflictError, match=r"Row 1 of RowSet 0 of table 'trips'"):
        log.commit(both, base)
    assert log.reader.read_head() == head


def test_rows_of_a_table_that_was_dropped_or_never_was_are_refused() -> None:
    log, base = opened()
    statement = delete_in(log, base, 0)
    with pytest.raises(InvalidInputError, match=TRIPS):
        log.commit(replace(statement, rows=(replace(statement.rows[0], table=TRIPS),)), base)
    log.commit(drop(), base)
    with pytest.raises(ConflictError, match="was dropped"):
        log.commit(statement, base)


@pytest.mark.parametrize("epochs", [0, 1, 3])
def test_a_change_that_is_sent_again_is_committed_once_by_whatever_process(epochs: int) -> None:
    log, base = opened()
    mine = append()
    landed = log.commit(mine, base)
    state = landed
    for _ in range(epochs):
        state = log.commit(append(), state)
    again = Log(log.store, pause=lambda _: None)
    assert again.commit(mine, base).epoch == landed.epoch
    assert again.reader.read_head().epoch == state.epoch
    assert replace(mine) == mine
    assert not mine.fresh


def test_the_words_and_counts_of_a_change_are_those_of_its_epoch() -> None:
    log, base = opened()
    told = replace(append(), parameters={"mode": "APPEND"}, metrics={"rows": 10})
    _, epoch = log.commit_change(told, base)
    assert epoch is not None
    assert (epoch.operation, epoch.transaction) == ("append", told.transaction)
    assert epoch.parameters == {"mode": "APPEND"}
    assert epoch.metrics == {"rows": 10}
    assert epoch.base == base.epoch


@pytest.mark.parametrize(("meanwhile", "deleted"), [(5, {3, 5, 8}), (3, None)])
def test_the_example_of_the_header_holds(meanwhile: int, deleted: set[int] | None) -> None:
    log, base = opened()
    rowset = live(log, base.table("orders"))[0]
    rival = replace(delete_in(log, base, 0), rows=(rows_of(rowset, "delete", meanwhile),))
    update = replace(append(entry(2)), rows=(rows_of(rowset, "update", 3, 8),))
    log.commit(rival, base)
    if deleted is None:
        with pytest.raises(ConflictError, match="Row 3 of RowSet 0"):
            log.commit(update, base)
        assert log.reader.read_head().epoch == base.epoch + 1
    else:
        state = log.commit(update, base)
        first, *_, added = live(log, state.table("orders"))
        assert first.vector is not None
        vector = read_deletion_vector(log.store, table_prefix(ORDERS), first.vector, 10)
        assert (state.epoch, set(vector.rows), added.entry.rows) == (base.epoch + 2, deleted, 2)


def rows_of(rowset: LiveRowSet, kind: RowKind, *rows: int) -> DeletedRows:
    return DeletedRows(ORDERS, rowset, kind, BitMap(rows))
