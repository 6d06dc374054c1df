"""Hint and checkpoints are made anew from the log."""

from __future__ import annotations

from dataclasses import replace

import pytest

from colonnade.manifests.checkpoint.reader import read_hint
from colonnade.manifests.errors import (
    CorruptionError,
)
from colonnade.manifests.log.log import Log
from colonnade.manifests.object_names import HINT, checkpoint_name, epoch_name
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.repair.caches import LogRepairResult
from colonnade.tableformat.table.database import ArrowDatabase
from tests.tableformat.repair.damaged import make, repair_as_planned
from tests.tableformat.verify.damaged import flip, rows

pytestmark = pytest.mark.usefixtures("directories")


def test_hint_and_checkpoint_are_made_anew_from_the_log() -> None:
    store = MemoryStore()
    db = make(store)
    newest = read_hint(store)
    assert newest is not None
    flip(store, checkpoint_name(newest[0].root), 60)
    [finding] = db.verify(1).findings
    assert (finding.kind, finding.file) == ("cache", checkpoint_name(newest[0].root))
    assert db.repair().epoch == 4
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
    lost = ArrowDatabase(store, log, log.reader.read_at(3))
    with pytest.raises(CorruptionError, match="is missing"):
        repair_as_planned(log)
    planned = lost.repair(give_up_lost_epochs=True, dry_run=True)
    assert planned == LogRepairResult(True, 3, 0, (4, 4), ())
    assert "Would give up epoch 4 and all later ones" in str(planned)
    with pytest.raises(CorruptionError, match="is missing"):
        log.reader.read_head()
    assert repair_as_planned(log, give_up_lost_epochs=True) == replace(planned, dry_run=False)
    lost.repair()
    assert lost.verify(1).findings == ()
