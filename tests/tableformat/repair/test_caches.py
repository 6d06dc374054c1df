"""Hint and checkpoints are made anew from the log."""

from __future__ import annotations

import pytest

from colonnade.manifests.checkpoint.reader import read_hint
from colonnade.manifests.errors import (
    CorruptionError,
)
from colonnade.manifests.log.log import Log
from colonnade.manifests.object_names import HINT, checkpoint_name, epoch_name
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.table.database import ArrowDatabase
from tests.tableformat.repair.damaged import make
from tests.tableformat.verify.damaged import flip, rows

pytestmark = pytest.mark.usefixtures("directories")


def test_hint_and_checkpoint_are_made_anew_from_the_log() -> None:
    store = MemoryStore()
    db = make(store)
    newest = read_hint(store)
    assert newest is not None
    flip(store, checkpoint_name(newest[0].root), 60)
    assert [each.kind for each in db.verify(1).findings] == ["cache"]
    assert db.repair() == 4
    assert db.verify(1).findings == ()
    assert read_hint(store) != newest
    store.delete(HINT)
    db.repair()
    found = read_hint(store)
    assert found is not None
    assert found[0].epoch == 4


def test_epochs_that_were_lost_are_given_up_only_when_told_to() -> None:
    store = MemoryStore()
    db = make(store)
    db.table("a").append(rows(900, 1))
    for number in (4, 5):
        store.delete(epoch_name(number))
    log = Log(store)
    lost = ArrowDatabase(store, log, log.read_at(3))
    with pytest.raises(CorruptionError, match="is missing"):
        lost.repair()
    assert lost.repair(give_up_lost_epochs=True) == 3
    assert lost.verify(1).findings == ()
