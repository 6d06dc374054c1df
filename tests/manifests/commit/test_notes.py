"""Notes of appends that wait for their turn: which are left, which are used, which do no harm."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from colonnade.manifests.commit.sharing import encode_note
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.members import transactions_of
from colonnade.manifests.store import LocalStore
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.log_samples import (
    append,
    delete,
    entry,
    make_log,
    overwrite,
    vector,
    with_orders,
)
from tests.manifests.commit.together import RefusingTurn, commit_together, epochs_of
from tests.noted_store import NotedStore, NotedTurn


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


def test_a_writer_awaits_changes_of_the_writers_that_shared_its_last_epoch() -> None:
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
    with patch.object(store, "turn", lambda folder: RefusingTurn(store)):
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


def test_old_notes_and_statements_are_removed(tmp_path: Path) -> None:
    """A note may hold rows of a table, so it must not outlive them."""
    store = LocalStore(tmp_path)
    log = make_log(store)
    with_orders(store, log)
    left = [tmp_path / "_manifest" / f".tmp-{0:016x}-{each}" for each in ("notes", "statements")]
    for each in left:
        each.write_bytes(b"x\n")
    vacuum(Log(store), VacuumRequest(hours=24, trust_clock=True))
    assert all(each.exists() for each in left)
    for each in left:
        os.utime(each, (1, 1))
    vacuum(Log(store), VacuumRequest(hours=24, trust_clock=True))
    assert not any(each.exists() for each in left)
