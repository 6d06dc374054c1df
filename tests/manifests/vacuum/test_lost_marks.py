"""Marks that were lost are put again from a listing, whatever else is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.clock import elapsed_s
from colonnade.manifests.errors import ConflictError, CorruptionError, NotFoundError
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.object_names import FREED, HINT, checkpoint_name, copy_name, epoch_name
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum.lost_marks import restore_lost_marks
from tests.far_store import FarStore
from tests.log_samples import TRIPS, change, table
from tests.manifests.epochs.blocks import Blocks


def marks(store: MemoryStore) -> set[str]:
    return {info.name for info in store.list(FREED)}


@pytest.mark.slow
@given(lost=st.sets(st.integers(0, 6)), hint=st.booleans(), damaged=st.booleans())
def test_lost_marks_are_put_again_and_no_other(lost: set[int], hint: bool, damaged: bool) -> None:
    old = Blocks()
    old.vacuum()
    head, before = old.log.reader.read_head(), marks(old.store)
    for block in lost:
        old.store.delete(head.blocks.mark(block))
    if damaged:
        old.store.put(epoch_name(head.epoch - 2), b"damage", sync=False)
    if not hint:
        old.store.delete(HINT)
    assert restore_lost_marks(old.log) == tuple(map(head.blocks.mark, sorted(lost)))
    assert marks(old.store) == before
    assert restore_lost_marks(old.log) == ()


def test_a_log_without_a_vacuum_gets_no_mark() -> None:
    old = Blocks(epochs=9)
    assert restore_lost_marks(old.log) == ()
    assert marks(old.store) == set()
    with pytest.raises(NotFoundError, match="is not a Colonnade database"):
        restore_lost_marks(Log(MemoryStore()))


def test_a_vacuum_of_another_database_or_one_that_nothing_proves_marks_no_block() -> None:
    old, new = Blocks(), MemoryStore()
    old.vacuum()
    head = old.log.reader.read_head()
    create_database(new, lone_table=False, slot_block=head.blocks.size)
    for info in old.store.list(""):
        new.put_if_absent(info.name, old.store.get(info.name))
    with pytest.raises(CorruptionError, match="is of another database"):
        restore_lost_marks(Log(new))
    assert marks(new) == marks(old.store)
    old.store.delete(head.blocks.mark(2))
    for name in (checkpoint_name(head.anchors[-1].root), copy_name(head.anchors[-1].root)):
        old.store.delete(name)
    hint = old.store.get(HINT)
    old.store.delete(HINT)
    with pytest.raises(CorruptionError, match="so no mark is put; restore it"):
        restore_lost_marks(old.log)
    assert head.blocks.mark(2) not in marks(old.store)
    old.store.put(HINT, hint, sync=False)
    assert restore_lost_marks(old.log) == (head.blocks.mark(2),)


def test_a_mark_is_put_when_no_process_trusts_a_look_from_before_the_listing() -> None:
    old = Blocks()
    old.vacuum()
    store, pauses = FarStore(old.store), list[float]()
    log = Log(store, pause=pauses.append)
    restore_lost_marks(log)
    assert pauses == []
    old.store.delete(old.states[0].blocks.mark(3))
    restore_lost_marks(log)
    assert pauses == [pytest.approx(store.trust_s, abs=1)]


@pytest.mark.parametrize("trusted", [False, True])
def test_a_writer_at_epoch_0_commits_into_no_freed_slot_whose_mark_is_lost(trusted: bool) -> None:
    """Epoch 0 stays, so a look at this base finds it whatever was removed since."""
    old = Blocks()
    first = old.states[0]
    log = old.open(FarStore(old.store) if trusted else old.store)
    log.reader.last_look.record_base(first, elapsed_s())
    old.vacuum()
    old.store.delete(first.blocks.mark(0))
    late = replace(change(table(TRIPS, "trips")), fresh=True)
    with pytest.raises(CorruptionError, match="`repair` helps"):
        log.commit(late, first)
    assert 1 not in old.numbers()
    restore_lost_marks(old.log)
    with pytest.raises(ConflictError):
        log.commit(late, first)
    head = old.log.reader.read_head()
    assert log.commit(late, head).epoch == head.epoch + 1
