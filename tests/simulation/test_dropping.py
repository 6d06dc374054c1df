"""Dropping and creating a database beside writers loses no reported commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

import pytest

from colonnade.manifests.commit import attempt
from colonnade.manifests.log import creation, removed_folder
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.state.fold import _Fold
from colonnade.manifests.store import LocalStore
from colonnade.manifests.store.local import first_epoch
from colonnade.manifests.store.local.first_epoch import FileIdentity, FirstEpoch
from tests.simulation.dropping import simulate_dropping

SEEDS = 250
"""Each planted mistake must be found within this many seeds."""


@pytest.mark.slow
@pytest.mark.parametrize("runs", [25, pytest.param(250, marks=pytest.mark.long)])
def test_no_commit_and_no_database_is_lost_beside_drops(runs: int) -> None:
    records = [simulate_dropping(seed) for seed in range(runs)]
    assert sum(len(each.committed) for each in records) > 5 * runs
    assert sum(len(each.created) for each in records) > runs
    assert sum(len(each.ended) for each in records) > runs // 2
    assert sum(each.vacuums for each in records) > runs // 2
    assert sum(len(each.floors) for each in records) > runs // 4


@pytest.mark.parametrize("seed", [63, 83])
def test_a_vacuum_whose_database_is_replaced_meanwhile_calls_nothing_damaged(seed: int) -> None:
    simulate_dropping(seed)


def _makes_folders(store: LocalStore, name: str, *, sync: bool) -> Any:
    return store._folders.open(name, make=True, sync=sync)


def _always_dropped(folder: str) -> bool:
    return True


def _forget_the_end(fold: _Fold, epoch: Epoch) -> None:
    _apply(fold, epoch)
    fold._dropped = False


_apply = _Fold.apply


def _free_anywhere(store: LocalStore, name: str) -> None:
    """A vacuum frees a slot of whatever log is at the place."""
    with patch.object(FirstEpoch, "check", lambda *_: None):
        _delete(store, name)


_delete = LocalStore.delete


@contextmanager
def _an_end_that_no_writer_sees() -> Iterator[None]:
    """Neither writers nor the fold know an epoch that ends a log."""
    with (
        patch.object(attempt, "_ends_log", lambda epoch: False),
        patch.object(_Fold, "apply", _forget_the_end),
    ):
        yield


BUGS: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "epochs follow the one that ends a log": _an_end_that_no_writer_sees,
    "an epoch makes its folder": lambda: patch.object(LocalStore, "_slot", _makes_folders),
    "any log at the place is the one that was read": lambda: patch.object(
        first_epoch, "identity_in", lambda folder: FileIdentity(0, 0, 0)
    ),
    "a vacuum that slept frees the slots of another log": lambda: patch.object(
        LocalStore, "delete", _free_anywhere
    ),
    "a drop removes whatever lies at its place by then": lambda: patch.object(
        removed_folder, "_is_dropped", _always_dropped
    ),
    "a database is created beside what is left of another": lambda: patch.object(
        creation, "_finish_drop", lambda store: None
    ),
}


FOUND = {
    "any log at the place is the one that was read": 9,
    "a vacuum that slept frees the slots of another log": 18,
    "a drop removes whatever lies at its place by then": 139,
}
"""A seed that finds the mistake; the search begins with it."""


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_planted_mistakes_are_found(bug: str) -> None:
    def find() -> None:
        simulate_dropping(FOUND.get(bug, 0))
        for seed in range(SEEDS):
            simulate_dropping(seed)

    with BUGS[bug](), pytest.raises(AssertionError, match="seed"):
        find()
