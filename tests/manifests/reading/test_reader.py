"""Readers find every epoch and every time, and stop where the log is not whole."""

from __future__ import annotations

import pytest

from colonnade.manifests.epochs.slots import read_slot
from colonnade.manifests.errors import (
    CorruptionError,
    NotFoundError,
)
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.log_samples import (
    append,
    change,
    contents,
    database,
    make_log,
    table,
    with_orders,
)


def test_any_epoch_and_any_time_is_found_whatever_the_checkpoints() -> None:
    store = MemoryStore()
    log = make_log(store, 3)
    states = [database(store)]
    states.append(log.commit(change(table()), states[-1]))
    for _ in range(20):
        states.append(log.commit(append(), states[-1]))
    for state in states:
        assert contents(log, log.reader.read_at(state.epoch)) == contents(log, state)
        assert log.reader.read_at(timestamp_ms=state.time_ms).epoch == state.epoch
        assert log.reader.read_at(timestamp_ms=state.time_ms, head=states[-1]).epoch == state.epoch
    assert log.reader.read_at(timestamp_ms=10**15).epoch == 21
    assert log.reader.read_at(timestamp_ms=500).epoch == 0
    assert log.reader.read_at().epoch == 21
    for missing in (22, -1):
        with pytest.raises(NotFoundError, match=f"Epoch {missing} "):
            log.reader.read_at(missing)
    with pytest.raises(NotFoundError, match="1969-12-31"):
        log.reader.read_at(timestamp_ms=-1)
    with pytest.raises(NotFoundError):
        list(log.reader.read_epochs(22))
    assert [e.epoch for e in log.reader.read_epochs(21, limit=2)] == [21, 20]


def test_an_exchanged_or_missing_epoch_stops_the_reader() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = with_orders(store, log)
    other = MemoryStore()
    make_log(other).commit(append(), with_orders(other, make_log(other)))
    log.commit(append(), log.commit(append(), base))
    store.put(epoch_name(2), other.get(epoch_name(2)), sync=False)
    with pytest.raises(CorruptionError, match="follows transaction"):
        log.reader.read_head()


class StaleStore(MemoryStore):
    """Does not show the object `stale` at the next look: it is written right after it."""

    stale = ""

    def get(self, name: str, *, limit: int | None = None) -> bytes:
        if name == self.stale:
            self.stale = ""
            raise NotFoundError(f"{name} is not there yet")
        return super().get(name, limit=limit)


def test_epochs_that_land_during_a_look_are_no_gap() -> None:
    store = StaleStore()
    log = make_log(store)
    base = with_orders(store, log)
    log.commit(append(), log.commit(append(), base))
    store.stale = epoch_name(2)
    assert log.reader.refresh(base).epoch == 3


def test_an_old_floor_is_removed_even_while_its_checkpoint_can_still_be_read() -> None:
    # It may still be in the store, or in a cache.
    store = MemoryStore()
    log = make_log(store)
    state, floors = with_orders(store, log), []
    for _ in range(2):
        for _ in range(5):
            state = log.commit(append(), state)
        vacuum(log, VacuumRequest(hours=0, epochs=1, threads=1))
        state = log.reader.read_head()
        floors.append(state.floor)
    assert read_slot(store, floors[0]) is not None
    with pytest.raises(NotFoundError, match=f"oldest readable epoch is {floors[1]}"):
        log.reader.read_at(floors[0])
    assert log.reader.is_removed(floors[0])
    assert not log.reader.is_removed(floors[1])
