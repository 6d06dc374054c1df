"""Many anchors are in an object of their own, which only those who need an old epoch read."""

from __future__ import annotations

import pytest

from colonnade.manifests.checkpoint.anchor_list import (
    describe_anchor_list,
    encode_anchor_list,
    read_anchor_list,
    read_anchors,
)
from colonnade.manifests.errors import AlreadyExistsError, CorruptionError, NotFoundError
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.limits import Limits
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import CheckpointRef, Pin, Tag, Untag, Vacuum
from colonnade.manifests.object_names import checkpoint_name
from colonnade.manifests.state.fold import apply_epoch
from tests.faults import FaultyStore
from tests.manifests.vacuum.world import World

LISTED = Limits(listed_anchors=1)


def tagged(tags: int, limits: Limits = LISTED) -> World:
    """A database whose floor is above every one of its tagged epochs."""
    world = World(64, limits=limits)
    world.append(2 * tags)
    world.commit(*(Tag(name=f"t{2 * n}", epoch=2 * n + 2) for n in range(tags)))
    world.append()
    world.vacuum()
    return world


def bytes_to_open(world: World) -> int:
    """The bytes of all objects that opening a database reads."""
    store = FaultyStore(world.store)
    world.open(store).reader.read_head()
    read = [call.name for call in store.trace if call.operation.startswith("get")]
    sizes = {info.name: info.size for info in world.store.list("")}
    return sum(sizes.get(name, 0) for name in read)


@pytest.mark.slow
def test_the_bytes_that_opening_reads_grow_by_the_names_of_tags_and_not_by_their_anchors() -> None:
    few, many = tagged(5), tagged(105)
    names = len(str({f"t{2 * n}": 2 * n + 2 for n in range(100)}))
    for world in (few, many):
        world.vacuum()
        world.log.try_checkpoint(world.log.reader.read_head())
    assert bytes_to_open(many) - bytes_to_open(few) <= 2 * names
    assert not [a for a in many.check().anchors if a.epoch < many.check().floor]


def test_every_kept_epoch_reads_and_a_vacuum_without_work_stores_no_list() -> None:
    world = tagged(4)
    head = world.check()
    assert head.anchor_list is not None
    assert [a.epoch for a in read_anchors(world.store, head)] == [2, 4, 6, 8, head.floor]
    before = {info.name for info in world.store.list("")}
    assert world.vacuum().epoch is None
    assert {info.name for info in world.store.list("")} == before
    world.commit(Untag(name="t2"))
    world.append()
    world.vacuum()
    after = world.check()
    assert [a.epoch for a in read_anchors(world.store, after)] == [2, 6, 8, after.floor]
    # The floor has passed the epoch that named the first list.
    assert checkpoint_name(head.anchor_list.object) not in {i.name for i in world.store.list("")}
    world.commit(*(Untag(name=name) for name in world.log.reader.read_head().tags))
    world.append()
    world.vacuum()
    assert world.check().anchor_list is None
    world.check_tidy()


def test_an_old_head_finds_a_kept_epoch_after_its_list_was_removed() -> None:
    world = tagged(3)
    old = world.check()
    for name in ("t0", "t4"):
        world.commit(Untag(name=name))
        world.append()
        world.vacuum()
    assert old.anchor_list is not None
    world.append()
    world.vacuum()
    assert checkpoint_name(old.anchor_list.object) not in {i.name for i in world.store.list("")}
    assert world.log.reader.read_at(4, head=old).epoch == 4
    with pytest.raises(NotFoundError, match="removed by retention"):
        world.log.reader.read_at(2, head=old)


def test_only_tags_and_pins_of_listed_epochs_commit() -> None:
    world = tagged(3)
    world.commit(Tag(name="again", epoch=4), Pin(name="p", epoch=2, until_ms=world.now + 10**9))
    with pytest.raises(NotFoundError, match="Epoch 3 cannot be kept"):
        world.commit(Tag(name="gone", epoch=3))
    with pytest.raises(AlreadyExistsError):
        world.commit(Tag(name="t0", epoch=2))
    world.append()
    world.vacuum()
    assert world.keeps(4)


def test_a_list_replaces_the_many_anchors_of_an_earlier_version_at_the_next_vacuum() -> None:
    world = tagged(4, Limits())
    assert len(world.check().anchors) == 5
    world.limits = LISTED
    world.log = world.open(world.store)
    assert world.vacuum().epoch is not None
    head = world.check()
    assert (len(head.anchors), head.anchor_list is None) == (1, False)
    assert world.vacuum().epoch is None


def test_a_list_beside_other_anchors_than_that_of_the_floor_is_refused() -> None:
    world = tagged(3)
    head = world.check()
    [floor] = head.anchors
    operation = Vacuum(
        floor=head.floor,
        anchors=(CheckpointRef(epoch=2, root=floor.root, check=floor.check), floor),
        anchor_list=head.anchor_list,
    )
    with pytest.raises(CorruptionError, match="other anchors beside"):
        apply_epoch(
            head,
            Epoch(
                epoch=head.epoch + 1,
                transaction=new_transaction_id(),
                previous=head.transaction,
                base=head.epoch,
                time_ms=head.time_ms + 1,
                operation="vacuum",
                engine="test",
                ops=(operation,),
            ),
        )


def test_an_anchor_list_out_of_order_is_damage() -> None:
    world = tagged(3)
    head = world.check()
    data = encode_anchor_list(head.anchors * 2)
    name = "0" * 32
    world.store.put_if_absent(checkpoint_name(name), data)
    with pytest.raises(CorruptionError, match="do not ascend"):
        read_anchor_list(world.store, describe_anchor_list(name, data))
