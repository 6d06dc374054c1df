"""A verification beside writers and vacuums finds no damage where there is none."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from colonnade.manifests.log.log import Log
from colonnade.manifests.store import MemoryStore, ObjectStore
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.verify.run import verify
from tests.faults import Fault, FaultyStore
from tests.tableformat.verify.damaged import make, rows


class MeetingStore(FaultyStore):
    """Passes calls on; something happens right before one of them."""

    def __init__(self, inner: ObjectStore, number: int, act: Callable[[], None]) -> None:
        super().__init__(inner)
        self.met = False
        self._number = number
        self._act = act

    def _fault_at(self, number: int, operation: str) -> Fault | None:
        if number == self._number:
            self.met = True
            self._act()
        return None


def _commit(db: ArrowDatabase) -> None:
    for name in ("one", "two"):
        db.tag(name)


def _vacuum(db: ArrowDatabase) -> None:
    db.table("b").overwrite(rows(count=9))
    db.vacuum(0, force=True)


def _copy(store: ObjectStore) -> ObjectStore:
    copied = MemoryStore()
    for info in store.list(""):
        copied.put(info.name, store.get(info.name), sync=False)
    return copied


@pytest.mark.slow
@pytest.mark.parametrize("act", [_commit, _vacuum])
def test_epochs_that_come_before_any_call_of_a_verification_are_no_damage(
    act: Callable[[ArrowDatabase], None],
) -> None:
    store = MemoryStore()
    made = make(store)
    made.tag("kept", 5)
    made.vacuum(0, force=True)
    number, met = 1, True
    while met:
        copied = _copy(store)
        log = Log(copied, pause=lambda _: None)
        db = ArrowDatabase(copied, log, log.reader.read_head())
        meeting = MeetingStore(copied, number, partial(act, db))
        report = verify(Log(meeting), 1, threads=1)
        assert not report.findings, (number, str(report))
        number, met = number + 1, meeting.met
    assert number > 30
