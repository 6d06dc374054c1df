"""Entries of dropped RowSets in shared segments are found, and an erasing vacuum leaves none."""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.checkpoint.reader import read_state
from colonnade.manifests.ids import TableId
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.model.operations import DropRowSet, Tag
from colonnade.manifests.vacuum.dropped_entries import (
    anchors_with_remains,
    caches_have_remains,
    has_remains,
)
from tests.log_samples import ORDERS
from tests.manifests.vacuum.world import World

TABLE = TableId(ORDERS)


def world_with_remains(interval: int = 2**40) -> World:
    """A world whose anchor shares a large segment, one RowSet of which was dropped."""
    world = World(interval, limits=replace(LIMITS, segment_rowsets=16))
    world.append(20)
    world.vacuum()
    assert not anchors_with_remains(world.log.reader, world.log.reader.read_head(), TABLE)
    world.commit(DropRowSet(table=ORDERS, rowsets=((3, 3),)))
    return world


def test_a_vacuum_leaves_entries_of_dropped_rowsets_and_one_that_erases_leaves_none() -> None:
    world = world_with_remains()
    dropped = world.commit(Tag(name="kept", epoch=world.head.epoch)).tags["kept"]
    world.append()
    world.vacuum()
    head = world.log.reader.read_head()
    assert [each.epoch for each in anchors_with_remains(world.log.reader, head, TABLE)] == [
        dropped,
        head.floor,
    ]
    result = world.vacuum(erased=TABLE)
    head = world.log.reader.read_head()
    assert head.floor == result.floor > dropped
    assert anchors_with_remains(world.log.reader, head, TABLE) == []
    for anchor in head.anchors:
        assert not has_remains(read_state(world.store, anchor), TABLE)
    world.check()
    assert world.vacuum(erased=TABLE).epoch is None
    world.check_tidy()


def test_remains_in_a_checkpoint_above_the_floor_are_found() -> None:
    world = world_with_remains()
    assert not caches_have_remains(world.log.reader, TABLE)
    world.log.try_checkpoint(world.log.reader.read_head())
    assert caches_have_remains(world.log.reader, TABLE)
    assert has_remains(world.log.reader.read_head(), TABLE)
    world.append()
    world.vacuum(erased=TABLE)
    assert not caches_have_remains(world.log.reader, TABLE)
    world.check()


def test_a_floor_that_cannot_rise_keeps_its_anchor() -> None:
    world = world_with_remains()
    world.vacuum()
    head = world.log.reader.read_head()
    [before] = anchors_with_remains(world.log.reader, head, TABLE)
    world.vacuum(erased=TABLE, epochs=100)
    assert anchors_with_remains(world.log.reader, world.log.reader.read_head(), TABLE) == [before]
    world.store.delete("_manifest/hint.json")
    world.check()
