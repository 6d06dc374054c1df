"""A store on local disk knows its log from another one that took the place of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from colonnade.manifests.errors import NotFoundError
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.store import LocalStore, PutOutcome


def test_no_epoch_is_written_into_a_log_that_replaced_the_one_it_was_made_for(
    tmp_path: Path,
) -> None:
    first, later = (f"_manifest/{number:020d}.json" for number in (0, 77))
    store, other = LocalStore(tmp_path / "db"), LocalStore(tmp_path / "db")
    other.put_if_absent(first, b"one")
    assert store.get(first) == b"one"
    (tmp_path / "db").rename(tmp_path / "gone")
    LocalStore(tmp_path / "db").put_if_absent(first, b"two")
    with pytest.raises(NotFoundError, match="removed or replaced"):
        store.put_if_absent(later, b"x")
    fresh = LocalStore(tmp_path / "db")
    assert fresh.get(first) == b"two"
    assert fresh.put_if_absent(later, b"x") is PutOutcome.CREATED


def test_an_epoch_of_another_log_at_the_same_place_is_not_removed(tmp_path: Path) -> None:
    slept, other = LocalStore(tmp_path / "db"), LocalStore(tmp_path / "db")
    for store in (slept, other):
        for number in (0, 1):
            assert store.put_if_absent(epoch_name(number), b"e") is PutOutcome.CREATED
        if store is slept:
            slept.get(epoch_name(1))
            os.rename(tmp_path / "db", tmp_path / "dropped")
            slept.delete(epoch_name(1))  # nothing is there
    with pytest.raises(NotFoundError, match="removed or replaced"):
        slept.delete(epoch_name(1))
    other.delete(epoch_name(1))
    with pytest.raises(NotFoundError, match="does not exist"):
        other.get(epoch_name(1))
