"""A later floor is begun only at a whole checkpoint, and readers find it at once."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import Vacuum
from colonnade.manifests.object_names import checkpoint_name, copy_name
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum.floor import lost_states, write_anchor
from colonnade.manifests.vacuum.later_floor import OPERATION, begin_at_checkpoint
from colonnade.manifests.vacuum.references import StateObjects
from tests.log_samples import append, change, contents, make_log, with_orders


def with_lost_floor(interval: int) -> tuple[Log, list[object]]:
    """A log whose floor is epoch 3, and whose anchor is damaged at both places; its contents."""
    store = MemoryStore()
    log = make_log(store, interval)
    state = with_orders(store, log)
    for _ in range(2):
        state = log.commit(append(), state)
    anchor, _ = write_anchor(log.reader, state, StateObjects(log.store))
    vacuum = Vacuum(floor=anchor.epoch, anchors=(anchor,))
    state = log.commit(change(vacuum, name="vacuum"), state)
    for _ in range(3):
        state = log.commit(append(), state)
    expected = [contents(log, state)["rowsets"]]
    for name in (checkpoint_name(anchor.root), copy_name(anchor.root)):
        store.put(name, b"damaged", sync=False)
    return log, expected


def test_the_oldest_whole_checkpoint_becomes_the_floor_and_nothing_after_it_is_lost() -> None:
    log, expected = with_lost_floor(interval=2)
    head = log.reader.read_head()
    assert lost_states(log.reader, head).keys() == {head.floor}
    after = begin_at_checkpoint(log, head)
    assert head.floor < after.floor <= head.epoch
    assert lost_states(log.reader, after) == {}
    [epoch] = log.reader.read_epochs(after.epoch, 1)
    assert epoch.operation == OPERATION
    reader = make_log(log.store)
    assert [contents(reader, reader.reader.read_head())["rowsets"]] == expected
    assert reader.reader.read_at(after.floor).epoch == after.floor


def test_without_a_later_checkpoint_the_lost_state_is_named_and_nothing_is_written() -> None:
    log, _ = with_lost_floor(interval=1000)
    before = {each.name for each in log.store.list("")}
    state = log.reader.read_head()
    with pytest.raises(CorruptionError, match="No later checkpoint of memory: is whole"):
        begin_at_checkpoint(log, state)
    assert {each.name for each in log.store.list("")} == before
