"""Appends that wait for a turn at the same time share an epoch, and nothing else changes."""

from __future__ import annotations

import os
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
from colonnade.manifests.commit.rebase.carried import begin
from colonnade.manifests.commit.sending import Sending
from colonnade.manifests.commit.sharing import encode_note
from colonnade.manifests.commit.turns import wait_for_turn
from colonnade.manifests.errors import (
    CommitUnknownError,
    ConflictError,
    CorruptionError,
    InvalidInputError,
    NotFoundError,
    StoreError,
    UnsupportedFormatError,
)
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.log.creation import create_database
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.codec import byte_check, decode_slot, encode_epoch
from colonnade.manifests.model.epoch import Epoch, FurtherChange, Stub
from colonnade.manifests.model.members import changes_of, find_change, transactions_of
from colonnade.manifests.model.operations import Anchor, DropDatabase, RenameTable, SetComment
from colonnade.manifests.object_names import MANIFEST, epoch_name
from colonnade.manifests.state.fold import apply_epoch
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import LocalStore, MemoryStore, ObjectStore
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.log_samples import (
    ORDERS,
    append,
    change,
    contents,
    delete,
    drop,
    entry,
    live,
    make_log,
    overwrite,
    replay,
    table,
    vector,
    with_orders,
)
from tests.noted_store import NotedStore, NotedTurn

OTHER = "f" * 16

ANCHOR = Anchor(epoch=2, root="1" * 32, check=byte_check(b""))


def commit_together(store: NotedStore, changes: list[Change], base: Snapshot) -> list[Snapshot]:
    """Let all changes but the last one wait, and the last one have the turn meanwhile."""
    found: dict[int, Snapshot] = {}

    def commit(number: int) -> None:
        if number + 1 < len(changes):
            store.meanwhile = partial(commit, number + 1)
        found[number] = make_log(store).commit(changes[number], base)

    commit(0)
    store.statements = b""
    return [found[number] for number in range(len(changes))]


def epochs_of(store: ObjectStore) -> list[Epoch]:
    log = make_log(store)
    return [*log.read_epochs(log.read_head().epoch)][::-1]


GROUPS = st.lists(
    st.one_of(
        st.lists(st.integers(1, 3), min_size=1, max_size=5),
        st.sampled_from(["overwrite", "delete", "comment"]),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=60, deadline=None)
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
    vacuum(Log(store), VacuumRequest(hours=0, epochs=2, threads=1, force=True))
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


def test_a_note_is_not_used_after_an_epoch_that_is_not_an_append() -> None:
    store = NotedStore()
    log = make_log(store)
    base = log.commit(append(), with_orders(store, log))
    mine, other = append(), append()

    def overwrite_and_append() -> None:
        another = make_log(store)
        another.commit(overwrite((0, 0)), base)
        another.commit(other, base)

    store.meanwhile = overwrite_and_append
    assert log.commit(mine, base).epoch == base.epoch + 3
    assert [transactions_of(each) for each in epochs_of(store)[-2:]] == [
        (other.transaction,),
        (mine.transaction,),
    ]


def test_an_append_that_waits_when_the_database_is_dropped_is_refused_for_certain() -> None:
    """Its note is of no use after the end of the log, so its writer may delete its files."""
    store = NotedStore()
    log = make_log(store)
    base = with_orders(store, log)
    store.meanwhile = lambda: make_log(store).commit(change(DropDatabase()), base)
    with pytest.raises(NotFoundError, match="was dropped in epoch 2"):
        log.commit(append(), base)


def test_a_note_of_a_writer_that_has_followed_other_epochs_is_not_used() -> None:
    """It has followed what a sleeper put into a freed slot, or a copy of the database."""
    store = NotedStore()
    start = with_orders(store, make_log(store))
    copy = NotedStore()
    for info in store.list(""):
        copy.put(info.name, store.get(info.name), sync=False)
    there, here = make_log(copy).commit(append(), start), make_log(store).commit(append(), start)
    assert there.database == here.database
    assert there.epoch == here.epoch
    kept: list[bytes] = []
    copy.meanwhile = lambda: kept.extend(copy.notes)
    make_log(copy).commit(append(), there)
    for base in (start, here):
        store.notes = [*kept]
        make_log(store).commit(append(), base)
    assert kept
    assert not any(each.further for each in epochs_of(store))


def test_damage_that_a_freed_slot_explains_is_not_reported_while_an_append_waits() -> None:
    store = NotedStore()
    base = with_orders(store, make_log(store))
    sending = Sending(append(), base, store)
    sending.carried = begin(sending.change, base, make_log(store))
    # A renaming of a table that does not exist. Its epoch does not fit the state.
    odd = shared_epoch(base).model_copy(
        update={"further": None, "ops": (RenameTable(table=OTHER, name="x"),)}
    )
    store.put(epoch_name(odd.epoch), encode_epoch(odd), sync=False)
    sending.look()
    assert not sending.follow(store.turn(MANIFEST), waited=True)
    removed = Stub(removed=odd.epoch, floor=odd.epoch, anchor=ANCHOR)
    with (
        patch("colonnade.manifests.commit.sending.find_freed", lambda *_: removed),
        pytest.raises(CommitUnknownError, match="removed by retention"),
    ):
        sending.offer(store.turn(MANIFEST), "test", Limits())


def test_a_writer_uses_the_note_of_one_who_has_followed_fewer_epochs() -> None:
    """It remembers the epochs of its earlier commits, so it knows them without another read."""
    store = NotedStore()
    start = with_orders(store, make_log(store))
    log = make_log(store)
    base = log.commit(append(), log.commit(append(), start))
    # This process has read that state, and knows nothing of the epochs before.
    stranger = make_log(store)
    line = encode_note(append(), start.epoch, start, "test", LIMITS)
    for process, uses in ((stranger, False), (log, True)):
        store.notes = [line or b""]
        process.commit(append(), base)
        assert bool(epochs_of(store)[-1].further) is uses


def test_a_writer_awaits_the_next_changes_of_those_who_have_shared_the_last_epoch() -> None:
    """A writer whose last epoch was not shared waits for no other writer."""
    store, awaited = NotedStore(), list[int]()
    base = with_orders(store, make_log(store))
    with patch.object(NotedTurn, "await_notes", lambda turn, count: awaited.append(count)):
        log = make_log(store)
        alone = log.commit(append(), log.commit(append(), base))
        assert awaited == [0]
        shared = commit_together(store, [append(), append(), append()], alone)
        assert len({each.epoch for each in shared}) == 1
        awaited.clear()
        log.commit(append(), alone)
        assert awaited == [2]


@pytest.mark.parametrize("kind", ["overwrite", "delete", "expects", "large"])
def test_only_short_appends_leave_notes(kind: str) -> None:
    store = NotedStore()
    log = Log(store, limits=Limits(note_bytes=2000), pause=lambda _: None)
    base = log.commit(append(), with_orders(store, make_log(store)))
    chosen = {
        "overwrite": overwrite((0, 0)),
        "delete": delete(0, vector(1)),
        "expects": replace(append(), expect_epoch=base.epoch),
        "large": append(entry(data="A" * 2000)),
    }
    with patch.object(store, "turn", lambda folder: _Refusing(store)):
        assert log.commit(chosen[kind], base).epoch == base.epoch + 1


def test_notes_that_are_damaged_old_or_foreign_do_no_harm() -> None:
    store = NotedStore()
    log = make_log(store)
    base = with_orders(store, log)
    kept: list[bytes] = []
    store.meanwhile = lambda: kept.extend(store.notes)
    waiting = append()
    after = log.commit(waiting, base)
    [note] = kept
    other = NotedStore()
    foreign = with_orders(other, make_log(other))
    other.notes = [note]
    assert not epochs_of(other)[-1].further
    assert make_log(other).commit(append(), foreign).epoch == foreign.epoch + 1
    assert not epochs_of(other)[-1].further
    store.notes = [note, note[:-10] + b"\n", b"\x00\n", note.replace(b"append", b"APPEND")]
    make_log(store).commit(append(), after)
    store.notes = [note]
    make_log(store).commit(append(), base)
    assert not any(each.further for each in epochs_of(store))


def test_a_database_without_the_feature_has_no_shared_epochs() -> None:
    store = NotedStore()
    log = make_log(store)
    create_database(store, lone_table=False, shared_epochs=False)
    base = with_orders_in(log)
    with patch.object(store, "turn", lambda folder: _Refusing(store)):
        after = log.commit(append(), base)
    shared = shared_epoch(after)
    with pytest.raises(CorruptionError, match="without the feature 'shared_epochs'"):
        apply_epoch(after, shared)


def test_a_reader_that_does_not_know_shared_epochs_refuses_the_database() -> None:
    store = NotedStore()
    with_orders(store, make_log(store))
    known = frozenset({"freed_slots", "partitions", "replace_column"})
    with (
        patch("colonnade.manifests.state.features.READER_FEATURES", known),
        pytest.raises(UnsupportedFormatError, match="shared_epochs"),
    ):
        make_log(store).read_head()


@pytest.mark.parametrize(
    ("update", "message"),
    [
        ({"further": ()}, "without operations"),
        ({"ops": 1}, "without operations"),
        ({"transaction": 0}, "one transaction twice"),
        ({"base": 2}, "a later epoch"),
        ({"comment": 1}, "not an append"),
    ],
)
def test_a_shared_epoch_that_contradicts_itself_is_refused(
    update: dict[str, object], message: str
) -> None:
    store = NotedStore()
    base = with_orders(store, make_log(store))
    good = shared_epoch(base)
    data = encode_epoch(good)
    assert decode_slot(data, good.epoch, epoch_name(good.epoch)) == good
    assert apply_epoch(base, good).table("orders").rowsets.rowset_count == 2
    [further] = good.further or ()
    bad = {
        "further": good.model_copy(update={"further": ()}),
        "ops": good.model_copy(update={"ops": good.ops[:1]}),
        "transaction": good.model_copy(update={"transaction": further.transaction}),
        "base": good.model_copy(
            update={"further": (further.model_copy(update={"base": good.epoch}),)}
        ),
        "comment": good.model_copy(
            update={"ops": (SetComment(table=ORDERS, comment="x"), *good.ops[1:])}
        ),
    }
    with pytest.raises(CorruptionError, match=message):
        apply_epoch(base, bad[next(iter(update))])


def shared_epoch(base: Snapshot) -> Epoch:
    """An epoch after `base` with two appends."""
    mine, other = append(), append()
    return Epoch(
        epoch=base.epoch + 1,
        transaction=mine.transaction,
        previous=base.transaction,
        base=base.epoch,
        time_ms=base.time_ms + 1,
        operation="append",
        engine="test",
        further=(
            FurtherChange(
                transaction=other.transaction,
                base=base.epoch,
                operation="append",
                engine="test",
                ops=1,
            ),
        ),
        ops=(*mine.ops, *other.ops),
    )


def with_orders_in(log: Log) -> Snapshot:
    """Create the table in a database that exists already."""
    return log.commit(change(table()), log.read_head())


class _Refusing(NotedTurn):
    """A turn that refuses its writer at first, so that the writer waits without a note."""

    def __init__(self, store: NotedStore) -> None:
        super().__init__(store)
        self._asked = 0

    def take(self, wait_s: float) -> bool:
        self._asked += 1
        return self._asked > 1

    def leave(self, note: bytes) -> bool:
        raise AssertionError("a note was left")


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


def test_old_notes_and_statements_are_removed(tmp_path: Path) -> None:
    """A note may hold rows of a table, so it must not outlive them."""
    store = LocalStore(tmp_path)
    log = make_log(store)
    with_orders(store, log)
    left = [tmp_path / "_manifest" / f".tmp-{0:016x}-{each}" for each in ("notes", "statements")]
    for each in left:
        each.write_bytes(b"x\n")
    vacuum(Log(store), VacuumRequest(hours=24, force=True))
    assert all(each.exists() for each in left)
    for each in left:
        os.utime(each, (1, 1))
    vacuum(Log(store), VacuumRequest(hours=24, force=True))
    assert not any(each.exists() for each in left)
