"""A change on its way to its slot: what it finds there, what that costs, and what it says of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from unittest import mock

import pytest

from colonnade.manifests.commit.attempt import Attempt, commit
from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.next_epoch import NextEpoch
from colonnade.manifests.commit.outcome import NotCommitted, SendState, SlotFreed, Unknown
from colonnade.manifests.epochs.freed_slots import put_mark
from colonnade.manifests.epochs.slots import read_slot
from colonnade.manifests.errors import (
    ColonnadeError,
    CommitUnknownError,
    ConflictError,
    CorruptionError,
    InvalidInputError,
    NotFoundError,
    StoreError,
)
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.model.codec import encode_epoch
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import DropDatabase
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.state.fold import apply_epoch
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.store.base import Data, PutOutcome
from colonnade.manifests.store.turn import Turn
from tests.far_store import FarStore
from tests.log_samples import (
    append,
    change,
    contents,
    drop,
    epoch_after,
    make_log,
    overwrite,
    with_orders,
)


def started(store: MemoryStore | None = None, epochs: int = 0) -> tuple[MemoryStore, Snapshot]:
    """A log with the table `orders`, and the state before its last `epochs` appends."""
    store = store or MemoryStore()
    log = make_log(store)
    base = state = with_orders(store, log)
    for _ in range(epochs):
        state = log.commit(append(), state)
    return store, base


def sending(
    store: MemoryStore | FarStore,
    change: Change,
    base: Snapshot,
    limits: Limits = LIMITS,
    covers: Callable[[Snapshot], bool] = lambda _: False,
) -> Attempt:
    log = make_log(store, limits=limits)
    log.reader.last_look = mock.Mock(covers=covers)
    made = Attempt(change, base, log._writer)
    made.begin()
    return made


def put(sent: Attempt, change: Change) -> Epoch | None:
    epoch = epoch_after(sent.head.state, change)
    return sent.put(NextEpoch(epoch, encode_epoch(epoch), apply_epoch(sent.head.state, epoch)))


@pytest.mark.parametrize("most", [LIMITS.followed_epochs, 1, 3])
@pytest.mark.parametrize("epochs", [0, 1, 2, 3, 70])
def test_a_change_follows_each_epoch_since_its_base_once_and_then_gets_the_next_slot(
    epochs: int, most: int
) -> None:
    store, base = started(epochs=epochs)
    far = FarStore(store)
    mine = append()
    sent = sending(far, mine, base, Limits(followed_epochs=most))
    with far.counted() as cost:
        sent.look()
        assert not sent.follow(Turn(), waited=False)
    assert cost.requests <= epochs + 2
    assert sent.head.state.epoch == base.epoch + epochs
    assert put(sent, mine) == read_slot(store, base.epoch + epochs + 1)
    log = make_log(store)
    assert contents(log, sent.head.state) == contents(log, log.reader.read_head())
    # The newest epochs are kept without a gap, for what follows the commit.
    newest = sent.head.state.epoch
    assert [each.epoch for each in sent.head.epochs] == sorted(
        range(newest, max(base.epoch, newest - most), -1)
    )


def test_a_free_slot_is_looked_at_once_and_never_where_the_log_was_just_seen() -> None:
    store, base = started()
    far = FarStore(store)
    seen_lately: tuple[Callable[[Snapshot], bool], ...] = (lambda _: True, lambda _: False)
    for covers, requests in zip(seen_lately, (0, 2), strict=True):
        sent = sending(far, append(), base, covers=covers)
        with far.counted() as cost:
            sent.look()
            assert not sent.follow(Turn(), waited=False)
        assert cost.requests == requests


@pytest.mark.parametrize("epochs", [0, 2])
def test_an_earlier_send_is_found_in_the_log_and_not_put_again(epochs: int) -> None:
    store, base = started(epochs=epochs)
    mine = append()
    landed = make_log(store).commit(mine, base)
    make_log(store).commit(append(), landed)
    sent = sending(store, mine, base)
    sent.look()
    done = sent.follow(Turn(), waited=False)
    assert done is not None
    assert done.epoch == landed.epoch == sent.head.state.epoch
    sent.make_durable(done)
    assert make_log(store).reader.read_head().epoch == landed.epoch + 1


def test_a_lost_slot_is_followed_before_the_next_one_is_tried() -> None:
    store, base = started()
    mine = append()
    sent = sending(store, mine, base)
    sent.look()
    assert not sent.follow(Turn(), waited=False)
    other = make_log(store).commit(append(), base)
    assert not put(sent, mine)
    assert not sent.follow(Turn(), waited=False)
    assert sent.head.state.epoch == other.epoch
    assert put(sent, mine)
    found = read_slot(store, other.epoch + 1)
    assert isinstance(found, Epoch)
    assert (found.transaction, found.previous) == (mine.transaction, other.transaction)


def test_a_conflict_with_an_epoch_since_the_base_ends_the_way_and_writes_nothing() -> None:
    store, base = started(epochs=1)
    sent = sending(store, overwrite(), base)
    sent.look()
    with pytest.raises(ConflictError, match="'orders'"):
        sent.follow(Turn(), waited=False)
    assert sent.sent is SendState.NOTHING
    assert make_log(store).reader.read_head().epoch == base.epoch + 1


def test_nothing_follows_a_table_that_was_dropped_meanwhile() -> None:
    store, base = started()
    make_log(store).commit(drop(), base)
    sent = sending(store, append(), base)
    sent.look()
    with pytest.raises(ConflictError, match="was dropped"):
        sent.follow(Turn(), waited=False)


@pytest.mark.parametrize("most", [1, 64])
def test_an_epoch_is_compared_before_the_state_after_it_is_made(most: int) -> None:
    """Objects of that state may be gone, for example because the epoch is the end of the log."""
    limits = replace(LIMITS, followed_epochs=most)
    store, base = started()
    mine = append()
    after = make_log(store).commit(mine, base)
    make_log(store).commit(change(DropDatabase()), after)
    again, late = sending(store, mine, base, limits), sending(store, append(), after, limits)
    gone = NotFoundError("A page of tables was removed.")
    with mock.patch("colonnade.manifests.commit.followed_head.apply_epochs", side_effect=gone):
        found = again.follow(Turn(), waited=False)
        assert found is not None
        assert found.transaction == mine.transaction
        with pytest.raises(NotFoundError, match="was dropped in epoch"):
            late.follow(Turn(), waited=False)


@pytest.mark.parametrize("parallel", [False, True])
def test_another_database_at_the_same_place_is_never_written_to(parallel: bool) -> None:
    _, base = started(epochs=3)
    other, _ = started()
    store = FarStore(other) if parallel else other
    with pytest.raises(NotFoundError, match="removed or replaced"):
        sending(store, append(), base).look()


def freed(store: MemoryStore, base: Snapshot) -> None:
    """Free the blocks of all slots that were taken."""
    blocks = base.blocks
    for block in range(blocks.of(base.epoch + 5) + 1):
        put_mark(store, blocks, block)
    for number in range(max(1, base.epoch), base.epoch + 5):
        store.delete(epoch_name(number))


@pytest.mark.parametrize("fresh", [True, False])
def test_a_change_that_meets_a_removed_epoch_was_not_sent_only_if_it_is_fresh(fresh: bool) -> None:
    store, base = started(epochs=1)
    freed(store, base)
    mine = replace(append(), fresh=fresh)
    with pytest.raises(SlotFreed):
        sending(store, mine, base).look()
    found = commit(mine, base, make_log(store)._writer)
    assert isinstance(found, NotCommitted if fresh else Unknown)
    assert "by retention" in found.error.message


def lost(store: MemoryStore, base: Snapshot, *, fresh: bool = True) -> Attempt:
    """A change that has lost the slot after its base."""
    mine = replace(append(), fresh=fresh)
    sent = sending(store, mine, base)
    sent.look()
    assert not sent.follow(Turn(), waited=False)
    make_log(store).commit(append(), base)
    assert not put(sent, mine)
    return sent


@pytest.mark.parametrize("look", [True, StoreError("The network is away.")])
def test_a_slot_that_may_have_been_freed_before_it_was_read_proves_nothing(look: object) -> None:
    store, base = started()
    sent = lost(store, base)
    conflict = ConflictError("An object in a freed slot conflicts with nothing.")
    with (
        mock.patch("colonnade.manifests.commit.attempt.is_freed", mock.Mock(side_effect=[look])),
        mock.patch("colonnade.manifests.commit.attempt.find_added", return_value=None),
    ):
        found = sent.ended(conflict)
    assert isinstance(found, Unknown)


def test_a_conflict_with_an_epoch_that_was_read_proves_that_nothing_was_committed() -> None:
    store, base = started()
    conflict = ConflictError("The table was changed.")
    for sent in (lost(store, base), sending(store, append(), base)):
        found = sent.ended(conflict)
        assert isinstance(found, NotCommitted)
        assert found.error is conflict


def test_a_slot_that_was_freed_before_it_was_put_leaves_the_outcome_open() -> None:
    store, base = started()
    mine = replace(append(), fresh=True)
    sent = sending(store, mine, base)
    sent.look()
    assert not sent.follow(Turn(), waited=False)
    freed(store, base)
    with pytest.raises(SlotFreed):
        put(sent, mine)
    assert sent.sent is SendState.OPEN
    assert isinstance(sent.search_after_removal(), Unknown)


class Refusing(MemoryStore):
    """A store that refuses to put an epoch, once another writer was first."""

    error: ColonnadeError | None = None

    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        if self.error is not None:
            raise self.error
        return super().put_if_absent(name, data)


@pytest.mark.parametrize(
    "error",
    [
        StoreError("The disk is full."),
        InvalidInputError("The store is read-only."),
        NotFoundError("There is no log."),
    ],
)
def test_a_put_that_wrote_nothing_leaves_no_doubt(error: ColonnadeError) -> None:
    store = Refusing()
    _, base = started(store)
    sent = lost(store, base)
    assert not sent.follow(Turn(), waited=True)
    store.error = error
    with pytest.raises(type(error)):
        put(sent, sent.change)
    assert sent.sent is SendState.LOST


class Forgetful(MemoryStore):
    """A store that cannot be read after a put."""

    broken: ColonnadeError | None = None

    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        done = super().put_if_absent(name, data)
        self.broken = self.broken and StoreError("The network is away.")
        return done

    def get(self, name: str, *, limit: int | None = None) -> bytes:
        if isinstance(self.broken, StoreError):
            raise self.broken
        return super().get(name, limit=limit)


def test_a_put_whose_outcome_cannot_be_read_is_unknown_and_never_a_plain_failure() -> None:
    store = Forgetful()
    _, base = started(store)
    mine = append()
    sent = sending(store, mine, base)
    sent.look()
    store.broken = CorruptionError("Breaks with the next put.")
    with pytest.raises(CommitUnknownError, match=mine.transaction):
        put(sent, mine)
    store.broken = None
    assert make_log(store).commit(mine, base).epoch == base.epoch + 1
