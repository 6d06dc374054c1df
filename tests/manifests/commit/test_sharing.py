"""Appends that wait for a turn at the same time share an epoch, and nothing else changes."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.turns import wait_for_turn
from colonnade.manifests.errors import (
    CommitUnknownError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
    StoreError,
)
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.members import changes_of, find_change, transactions_of
from colonnade.manifests.model.operations import DropDatabase, SetComment
from colonnade.manifests.object_names import MANIFEST, epoch_name
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import LocalStore, MemoryStore
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.examples_of import examples
from tests.log_samples import (
    ORDERS,
    append,
    change,
    contents,
    drop,
    entry,
    live,
    make_log,
    overwrite,
    replay,
    with_orders,
)
from tests.manifests.commit.together import commit_together, epochs_of
from tests.noted_store import NotedStore

GROUPS = st.lists(
    st.one_of(
        st.lists(st.integers(1, 3), min_size=1, max_size=5),
        st.sampled_from(["overwrite", "delete", "comment"]),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=examples(60), deadline=None)
@given(GROUPS)
def test_changes_that_share_epochs_leave_what_they_leave_one_after_another(
    groups: list[list[int] | str],
) -> None:
    store, plain = NotedStore(), MemoryStore()
    log, single = make_log(store), make_log(plain)
    base, alone = with_orders(store, log), with_orders(plain, single)
    sent = 0
    for group in groups:
        rowsets = live(log, base.table("orders"))
        if isinstance(group, list):
            changes = [append(*(entry() for _ in range(count))) for count in group]
        elif group == "comment":
            changes = [change(SetComment(table=ORDERS, comment="«new»"))]
        elif rowsets and group == "overwrite":
            changes = [overwrite((rowsets[0].id, rowsets[0].id))]
        else:
            changes = [append(entry(rows=1), entry(rows=2))]
        states = commit_together(store, changes, base)
        assert {state.epoch for state in states} == {base.epoch + 1}
        epoch = epochs_of(store)[-1]
        assert sorted(transactions_of(epoch)) == sorted(each.transaction for each in changes)
        for each in changes_of(epoch):
            alone = single.commit(Change(each.transaction, each.operation, each.ops), alone)
        sent += len(changes)
        base = states[-1]
        mine = [(r.id, r.stored_entry) for r in live(log, base.table("orders"))]
        assert mine == [(r.id, r.stored_entry) for r in live(single, alone.table("orders"))]
        assert base.table("orders").comment == alone.table("orders").comment
    assert contents(log, log.read_head()) == contents(log, replay(store))
    assert alone.epoch - sent == base.epoch - len(groups)


def test_a_change_that_is_sent_again_is_found_in_the_epoch_of_another_one() -> None:
    store = NotedStore()
    base = with_orders(store, make_log(store))
    changes = [append(), append(), append()]
    states = commit_together(store, changes, base)
    later = make_log(store).commit(append(), states[0])
    for each in changes:
        assert make_log(store).commit(each, base).epoch == base.epoch + 1
        found = make_log(store).find_sent(each.transaction, StoreError("The last send failed."))
        assert found.epoch == base.epoch + 1
    assert make_log(store).read_head() == later


def test_changes_of_the_epoch_at_the_floor_are_never_called_failed() -> None:
    """The state at the floor names one transaction. The file of its epoch names all of them."""
    store = NotedStore()
    base = with_orders(store, make_log(store))
    changes = [append(), append(), append()]
    shared = commit_together(store, changes, base)[0].epoch
    make_log(store).commit(append(), make_log(store).read_head())
    file = store.get(epoch_name(shared))
    first, *others = transactions_of(epochs_of(store)[shared])
    vacuum(Log(store), VacuumRequest(hours=0, epochs=2, threads=1, trust_clock=True))
    log, lost = make_log(store), StoreError("The last send failed.")
    assert log.read_head().floor == shared
    assert log.find_sent(first, lost).epoch == shared
    for transaction in others:
        with pytest.raises(CommitUnknownError, match="was committed"):
            log.find_sent(transaction, lost)
    for each in changes:
        if each.transaction != first:
            with pytest.raises(CommitUnknownError):
                log.commit(each, base)
    # A vacuum may end between its epoch and the removal of this file.
    store.put(epoch_name(shared), file, sync=False)
    for transaction in (first, *others):
        assert log.find_sent(transaction, lost).epoch == shared
    with pytest.raises(CommitUnknownError):
        log.find_sent("0" * 32, lost)


def test_each_change_of_a_shared_epoch_is_described_by_itself() -> None:
    store = NotedStore()
    base = with_orders(store, make_log(store))
    first, last = append(), append(entry(), entry())
    first = replace(first, parameters={"by": "me"}, metrics={"rows_inserted": 10})
    commit_together(store, [first, last], base)
    epoch = epochs_of(store)[-1]
    mine, other = find_change(epoch, first.transaction), find_change(epoch, last.transaction)
    assert mine is not None
    assert other is not None
    assert (mine.parameters, mine.metrics, len(mine.ops)) == (
        {"by": "me"},
        {"rows_inserted": 10},
        1,
    )
    assert (other.parameters, other.metrics, len(other.ops)) == ({}, None, 2)
    assert (mine.base, mine.further, other.further) == (base.epoch, None, None)
    assert find_change(epoch, "0" * 32) is None


def test_a_waiting_append_that_meets_a_conflict_fails_alone() -> None:
    store = NotedStore()
    log = make_log(store)
    base = with_orders(store, log)

    def drop_and_append() -> None:
        other = make_log(store)
        after = other.commit(drop(), base)
        with pytest.raises(InvalidInputError):
            other.commit(append(), after)

    store.meanwhile = drop_and_append
    with pytest.raises(ConflictError, match="dropped"):
        log.commit(append(), base)
    assert log.read_head().epoch == base.epoch + 1


def test_an_append_that_waits_when_the_database_is_dropped_is_refused_for_certain() -> None:
    """Its note is of no use after the end of the log, so its writer may delete its files."""
    store = NotedStore()
    log = make_log(store)
    base = with_orders(store, log)
    store.meanwhile = lambda: make_log(store).commit(change(DropDatabase()), base)
    with pytest.raises(NotFoundError, match="was dropped in epoch 2"):
        log.commit(append(), base)


def test_threads_that_wait_at_the_same_time_become_one_epoch(tmp_path: Path) -> None:
    store = LocalStore(tmp_path)
    base = with_orders(store, make_log(store))
    changes = [append() for _ in range(8)]
    found: dict[str, Snapshot] = {}

    def commit(mine: Change) -> None:
        found[mine.transaction] = make_log(LocalStore(tmp_path)).commit(mine, base)

    threads = [threading.Thread(target=commit, args=(each,)) for each in changes]
    patient = partial(wait_for_turn, limit_s=60)
    with patch("colonnade.manifests.log.log.wait_for_turn", patient):
        with store.turn(MANIFEST) as turn:
            assert turn.take(0)
            for thread in threads:
                thread.start()
            deadline = time.monotonic() + 60
            while notes_in(tmp_path) < len(threads):
                assert time.monotonic() < deadline
                time.sleep(0.01)
        for thread in threads:
            thread.join()
    assert {each.epoch for each in found.values()} == {base.epoch + 1}
    epoch = epochs_of(store)[-1]
    assert sorted(transactions_of(epoch)) == sorted(each.transaction for each in changes)
    assert len({each.transaction for each in found.values()}) == 1


def notes_in(path: Path) -> int:
    """The number of notes in the file beside the lock."""
    return sum(each.read_bytes().count(b"\n") for each in path.glob("_manifest/.tmp-*-notes"))
