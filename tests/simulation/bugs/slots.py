"""Mistakes on the way of a change to its slot: outcomes, own changes, dates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from colonnade.manifests.commit import attempt, next_epoch
from colonnade.manifests.commit.attempt import Attempt
from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.conflicts import check_head
from colonnade.manifests.commit.outcome import NotCommitted, not_sent, removed_base
from colonnade.manifests.epochs import epoch_times
from colonnade.manifests.epochs.slots import read_slot
from colonnade.manifests.errors import ColonnadeError, StoreError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.codec import encode_epoch
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import ObjectStore, PutOutcome
from tests.simulation.actors.driver import Driver
from tests.simulation.actors.reader import Reader
from tests.simulation.actors.vacuumer import Vacuumer
from tests.simulation.actors.writer import Writer
from tests.simulation.bugs.bug import Bug, Plant


def _take_slot(unknown: Callable[[ObjectStore, Epoch], Epoch]) -> Plant:
    """A commit that asks once, and has an idea of its own about unknown outcomes."""

    def take(store: ObjectStore, epoch: Epoch, data: bytes, pause: object) -> Epoch:
        outcome = store.put_if_absent(epoch_name(epoch.epoch), data)
        if outcome is PutOutcome.CREATED:
            return epoch
        if outcome is PutOutcome.UNKNOWN:
            return unknown(store, epoch)
        found = read_slot(store, epoch.epoch)
        assert found is not None
        return found

    return lambda: patch.object(attempt, "take_slot", take)


def _wait_for_slot(store: ObjectStore, epoch: Epoch, data: bytes, pause: object) -> Epoch:
    while True:
        if store.put_if_absent(epoch_name(epoch.epoch), data) is PutOutcome.CREATED:
            return epoch


def _busy_is_free(store: ObjectStore, epoch: Epoch, data: bytes, pause: object) -> Epoch:
    """A commit that goes on to the next slot if a busy server does not show what the slot has."""
    if store.put_if_absent(epoch_name(epoch.epoch), data) is PutOutcome.CREATED:
        return epoch
    try:
        return read_slot(store, epoch.epoch) or _failed(store, epoch)
    except StoreError:
        return _next_slot(store, epoch)


def _failed(store: ObjectStore, epoch: Epoch) -> Epoch:
    raise StoreError("The commit failed.")


def _absent_is_failed(store: ObjectStore, epoch: Epoch) -> Epoch:
    found = read_slot(store, epoch.epoch)
    return _failed(store, epoch) if found is None else found


def _next_slot(store: ObjectStore, epoch: Epoch) -> Epoch:
    after = epoch.model_copy(update={"epoch": epoch.epoch + 1})
    store.put_if_absent(epoch_name(after.epoch), encode_epoch(after))
    return epoch


def _check_head(change: Change, *others: Any) -> None:
    check_head(replace(change, expect_epoch=None), *others)


def _never_sent(met: Attempt) -> NotCommitted:
    """The outcome of a change that no earlier send can have committed."""
    return NotCommitted(not_sent(removed_base(met.change, met.base)))


def _base_or_nothing(
    log: Log, epoch: int, transaction: str, *, fresh: bool = False
) -> tuple[Snapshot, bool]:
    """A commit that is sent again, and that takes an absent base for a commit that failed."""
    return log.reader.read_at(epoch), False


def _failed_again(log: Log, transaction: str, error: ColonnadeError) -> Snapshot:
    """A commit that is sent again, and that fails with its last send."""
    raise error


SENT_AGAIN = (Driver(4), Writer(2), Reader(1), Vacuumer(5))


BUGS: tuple[Bug, ...] = (
    Bug(
        "an own commit is taken for another's",
        lambda: patch.object(Attempt, "_is_own", lambda *_: False),
        0.2,
        long=True,
    ),
    Bug(
        "an unknown outcome is a failure",
        _take_slot(_failed),
        0.2,
        long=True,
    ),
    Bug(
        "a slot that is still free is a failure",
        _take_slot(_absent_is_failed),
        0.2,
        long=True,
    ),
    Bug(
        "a slot that a busy server does not show is taken for free",
        lambda: patch.object(attempt, "take_slot", _busy_is_free),
        0.1,
        far=True,
    ),
    Bug("an unknown outcome is tried again at the next slot", _take_slot(_next_slot), 0.2),
    Bug(
        "a change that meets a removed epoch is called failed",
        lambda: patch.object(Attempt, "search_after_removal", _never_sent),
        0.1,
        actors=SENT_AGAIN,
        seeds=50,
        long=True,
    ),
    Bug(
        "an epoch is not the expected one",
        lambda: patch.object(next_epoch, "check_head", _check_head),
        long=True,
    ),
    Bug(
        "an old state is taken for the newest",
        lambda: patch.object(LogReader, "refresh", lambda log, snapshot: snapshot),
    ),
    Bug(
        "a commit whose base was vacuumed is called failed",
        lambda: patch.object(Log, "resume", _base_or_nothing),
        actors=SENT_AGAIN,
        seeds=20,
        long=True,
    ),
    Bug(
        "an error of a later send is taken for the outcome of the earlier one",
        lambda: patch.object(Log, "find_sent", _failed_again),
        0.1,
        actors=SENT_AGAIN,
        seeds=20,
    ),
    Bug(
        "a slot that is taken is waited for",
        lambda: patch.object(attempt, "take_slot", _wait_for_slot),
        long=True,
    ),
    Bug(
        "a date is believed whatever it says",
        lambda: patch.object(epoch_times, "_likely_ms", lambda store, epoch, *_: epoch.time_ms),
        long=True,
    ),
)
