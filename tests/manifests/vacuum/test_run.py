"""Vacuum removes what no kept epoch needs, all of it, and nothing else, and says what holds it."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import ConflictError, StoreError
from colonnade.manifests.limits import Limits
from colonnade.manifests.model.operations import (
    CheckpointRef,
    Tag,
)
from colonnade.manifests.object_names import (
    CHECKPOINTS,
    EPOCH_NAMES,
    SEGMENT_NAMES,
    checkpoint_name,
)
from colonnade.manifests.store.base import Data
from colonnade.manifests.vacuum.floor import read_anchor
from colonnade.manifests.vacuum.hinted_checkpoints import segments_of
from tests.log_samples import append
from tests.manifests.vacuum.world import World


@pytest.mark.parametrize("interval", [2, 3, 64])
def test_kept_epochs_read_as_before_and_nothing_else_is_left(interval: int) -> None:
    world = World(interval)
    world.append(5)
    world.overwrite()
    world.append(2)
    result = world.vacuum()
    assert result.floor == 9
    assert result.epochs_removed == 9
    assert result.bytes_removed == 5 * 110 + sum(
        f.bytes for f in result.files if "checkpoint" in f.name
    )
    assert world.check().floor == 9
    world.check_tidy()
    world.append(3)
    world.overwrite()
    world.vacuum()
    world.check_tidy()


def test_a_dry_run_says_what_the_run_does_and_writes_nothing() -> None:
    world = World()
    world.append(3)
    world.overwrite()
    world.write()
    before = {info.name: world.store.get(info.name) for info in world.store.list("")}
    planned = world.vacuum(dry_run=True)
    assert {info.name: world.store.get(info.name) for info in world.store.list("")} == before
    done = world.vacuum()
    assert (planned.floor, planned.files) == (done.floor, done.files)
    assert planned.epoch is None
    assert done.epoch == world.log.reader.read_head().epoch
    assert str(planned).startswith("Would remove")
    assert planned.to_json()["bytes_removed"] == done.bytes_removed


def test_lists_that_an_anchor_replaces_go_in_the_run_that_stores_it() -> None:
    world = World(64)
    for _ in range(3):
        world.append(2)
        world.overwrite()
        result = world.vacuum()
        assert result.epoch is not None
        lists = {i.name for i in world.store.list(f"{CHECKPOINTS}/")}
        [anchor] = world.check().anchors
        assert lists == {*map(checkpoint_name, read_lists(world, anchor))}
        assert world.vacuum().files == ()


def read_lists(world: World, anchor: CheckpointRef) -> set[str]:
    return segments_of(read_anchor(world.log.reader, anchor)[0]) | {anchor.root}


def test_many_victims_take_several_epochs() -> None:
    world = World(limits=Limits(victims=2))
    world.append(7)
    world.overwrite()
    before = world.head.epoch
    assert (world.vacuum().epoch or 0) >= before + 4
    world.check_tidy()


def test_a_run_without_anything_to_do_leaves_no_epoch() -> None:
    world = World()
    world.append(9)
    world.overwrite()
    first = world.vacuum()
    for _ in range(3):
        world.wait(1)
        assert world.vacuum().epoch is None
    assert world.log.reader.read_head().epoch == first.epoch


@pytest.mark.parametrize("names", [SEGMENT_NAMES, EPOCH_NAMES])
def test_a_run_whose_names_cannot_be_stored_has_not_failed(
    names: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(limits=Limits(listed_anchors=1, remembered_epochs=1))
    for _ in range(6):
        world.overwrite()
    for epoch in (3, 5):
        world.commit(Tag(name=f"of {epoch}", epoch=epoch))
    world.overwrite()
    put, refused = world.store.put, []

    def refuse(name: str, data: Data, *, sync: bool) -> None:
        if name == names:
            refused.append(name)
            raise StoreError("The store is busy.", retryable=True)
        put(name, data, sync=sync)

    monkeypatch.setattr(world.store, "put", refuse)
    assert world.vacuum(epochs=2).kept_epochs == (3, 5)
    assert refused
    assert world.keeps(3)


def test_a_writer_that_slept_past_the_floor_takes_no_old_slot() -> None:
    world = World()
    slept = world.append()
    mine = world.write()
    world.append(4)
    world.wait(5)
    world.vacuum(1)
    with pytest.raises(ConflictError, match="removed by the vacuum"):
        world.log.commit(append(mine), slept)
    world.check()
