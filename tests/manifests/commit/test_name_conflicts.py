"""Names of tables, tags and pins are compared with the newest state."""

from __future__ import annotations

from dataclasses import replace

import pytest

from colonnade.manifests.commit.name_conflicts import check_kept, check_names
from colonnade.manifests.errors import AlreadyExistsError, ConflictError, NotFoundError
from colonnade.manifests.model.operations import (
    DropConsumer,
    Lease,
    Operation,
    Pin,
    RenameTable,
    Restore,
    SetConsumer,
    Tag,
    Unpin,
    Untag,
)
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from tests.log_samples import ORDERS, TRIPS, change, database, drop, make_log, table, with_orders


def test_a_name_is_given_once() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = database(store)
    log.commit(change(table()), base)
    for snapshot in (base, log.reader.read_head()):
        with pytest.raises(AlreadyExistsError, match="'orders'"):
            log.commit(change(table(TRIPS, "orders")), snapshot)


@pytest.mark.parametrize(
    "operation", [table(TRIPS, "ORDERS"), RenameTable(table=TRIPS, name="Orders")]
)
def test_a_name_differs_by_more_than_case_from_one_that_was_given_meanwhile(
    operation: Operation,
) -> None:
    store = MemoryStore()
    log = make_log(store)
    base = database(store)
    if isinstance(operation, RenameTable):
        base = log.commit(change(table(TRIPS, "trips")), base)
    head = log.commit(change(table()), base)
    with pytest.raises(ConflictError, match="'orders' was created meanwhile, and '(ORD|Ord)"):
        log.commit(change(operation), base)
    assert log.commit(change(operation), head).epoch == head.epoch + 1


def test_a_database_of_a_lone_table_takes_no_second_table() -> None:
    store = MemoryStore()
    log = make_log(store)
    state = log.commit(change(table()), database(store, lone_table=True))
    with pytest.raises(AlreadyExistsError, match="lone table 'orders'"):
        log.commit(change(table(TRIPS, "trips")), state)
    state = log.commit(change(drop().ops[0], table(TRIPS, "trips")), state)
    assert state.table_names() == {TRIPS: "trips"}


def test_a_table_that_a_concurrent_writer_has_made_again_is_a_conflict() -> None:
    store = MemoryStore()
    log = make_log(store)
    dropped = log.commit(drop(), with_orders(store, log))
    head = log.commit(change(table(name="again")), dropped)
    with pytest.raises(ConflictError, match="'orders' was made again meanwhile, as 'again'"):
        check_names((table(),), dropped, head)


def test_a_table_gets_no_name_that_another_one_has_and_keeps_its_own() -> None:
    store = MemoryStore()
    log = make_log(store)
    head = log.commit(change(table(TRIPS, "trips")), with_orders(store, log))
    check_names((RenameTable(table=ORDERS, name="orders"),), head, head)
    with pytest.raises(AlreadyExistsError, match="'trips' exists already; choose another name"):
        check_names((RenameTable(table=ORDERS, name="trips"),), head, head)
    check_names((*drop(TRIPS).ops, RenameTable(table=ORDERS, name="trips")), head, head)


@pytest.fixture
def head() -> Snapshot:
    """Epoch 9 with the floor 4, and a tag and a pin of epoch 5."""
    state = replace(database(MemoryStore()), epoch=9, floor=4, tags={"t": 5})
    pin = Pin(name="p", epoch=5, until_ms=7)
    return replace(state, pins={"p": pin}, consumers={"c": consumer("c", 6)})


def consumer(name: str, seen: int, before: int | None = None, until_ms: int = 9) -> SetConsumer:
    return SetConsumer(
        name=name, source=ORDERS, seen=seen, before=before, until_ms=until_ms, keep_ms=9
    )


@pytest.mark.parametrize(
    ("operation", "error", "text"),
    [
        (Tag(name="t", epoch=6), AlreadyExistsError, "'t' exists already, for epoch 5"),
        (Pin(name="p", epoch=6, until_ms=9), AlreadyExistsError, "'p' exists already, for epoch 5"),
        (Untag(name="u"), NotFoundError, "Tag 'u' does not exist"),
        (Unpin(name="q"), NotFoundError, "Pin 'q' does not exist"),
        (Tag(name="u", epoch=3), NotFoundError, "are 4 to 9"),
        (Restore(table=ORDERS, epoch=3), NotFoundError, "are 4 to 9"),
        (Lease(job=ORDERS, epoch=3, until_ms=9), ConflictError, "Epoch 3 was removed by retention"),
        (consumer("c", 8), AlreadyExistsError, "'c' exists already, and has read up to epoch 6"),
        (consumer("c", 8, 5), ConflictError, "'c' has read up to epoch 6 meanwhile"),
        (consumer("d", 8, 5), ConflictError, "'d' was removed meanwhile"),
        (consumer("d", 3), NotFoundError, "epoch 3, which retention has removed"),
        (DropConsumer(name="d"), NotFoundError, "'d' does not exist; the consumers are: c"),
    ],
)
def test_what_the_newest_state_contradicts_is_refused(
    head: Snapshot, operation: Operation, error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        check_kept((operation,), head, lambda state, epoch: epoch >= state.floor)


def test_a_pin_is_renewed_names_are_removed_and_a_lease_of_a_removed_epoch_ends(
    head: Snapshot,
) -> None:
    over = Lease(job=ORDERS, epoch=3, until_ms=0)
    fitting = (Pin(name="p", epoch=5, until_ms=9), Untag(name="t"), Unpin(name="p"), over)
    check_kept((consumer("c", 8, 6), consumer("d", 8)), head, lambda state, epoch: True)
    check_kept((consumer("c", 3, 6, until_ms=0),), head, lambda state, epoch: True)
    check_kept(fitting, head, lambda state, epoch: epoch >= state.floor)
