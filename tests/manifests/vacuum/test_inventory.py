"""A vacuum finds what tags, pins, leases and ages let go, and stops if the log is damaged."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import (
    ConflictError,
    CorruptionError,
    NotFoundError,
)
from colonnade.manifests.ids import new_job_id
from colonnade.manifests.model.operations import (
    AddDeletionVector,
    DropTable,
    Lease,
    Pin,
    Tag,
    Unpin,
    Untag,
)
from colonnade.manifests.object_names import (
    HINT,
    checkpoint_name,
    copy_name,
    deletion_vector_name,
    epoch_name,
    packed_name,
)
from colonnade.manifests.vacuum.floor import read_anchor
from tests.log_samples import ORDERS, append, vector
from tests.manifests.vacuum.world import HOUR, PREFIX, World


@pytest.mark.parametrize("untag", [True, False])
def test_a_pin_below_the_floor_keeps_its_epoch_and_holds_nothing_else(untag: bool) -> None:
    world = World()
    world.overwrite()
    world.commit(Tag(name="kept", epoch=2))
    for _ in range(3):
        world.overwrite()
    floor = world.vacuum().floor
    assert floor > 2
    world.commit(Pin(name="below", epoch=2, until_ms=world.now + 9 * HOUR))
    if untag:
        world.commit(Untag(name="kept"))
    for _ in range(3):
        world.overwrite()
    result = world.vacuum()
    assert result.floor > floor
    assert result.kept_epochs == (2,)
    assert result.held_by == ()
    assert world.keeps(2)
    world.wait(10)
    assert world.vacuum().kept_epochs == (() if untag else (2,))


def test_files_of_failed_jobs_go_once_they_are_older_than_the_retention() -> None:
    world = World()
    world.append()
    old = world.write()
    half = f"{PREFIX}{new_job_id()}{'0' * 16}"
    world.store.put(f"{half}/1.col", b"x", sync=False)
    world.store.put(f"{half}/1.idx", b"x", sync=False)
    world.wait(2)
    world.store.put(f"{half}/2.col", b"x", sync=False)
    young = world.write()
    names = {each.name for each in world.vacuum(1).files}
    assert names == {packed_name(PREFIX, old.object)}
    assert packed_name(PREFIX, young.object) in world.files()
    assert f"{half}/1.col" in world.files()
    world.vacuum()
    world.check_tidy()


def test_a_tag_keeps_its_epoch_and_gives_it_up() -> None:
    world = World()
    for _ in range(6):
        world.overwrite()
    world.commit(Tag(name="month", epoch=3))
    world.overwrite()
    result = world.vacuum()
    assert (result.floor, result.kept_epochs) == (9, (3,))
    assert world.keeps(3)
    world.overwrite()
    world.vacuum()
    assert world.keeps(3)
    world.commit(Pin(name="still", epoch=3, until_ms=world.now + HOUR))
    world.commit(Untag(name="month"))
    world.vacuum()
    assert world.keeps(3)
    world.commit(Unpin(name="still"))
    world.vacuum()
    assert not world.keeps(3)
    world.check_tidy()


def test_a_pin_holds_the_floor_until_its_time() -> None:
    world = World()
    for _ in range(4):
        world.overwrite()
    world.commit(Pin(name="reader", epoch=3, until_ms=world.now + HOUR))
    world.overwrite()
    result = world.vacuum()
    assert (result.floor, result.held_by) == (3, ("pin 'reader'",))
    world.check()
    world.wait(2)
    assert world.vacuum().floor > 3
    assert not world.check().pins


def test_a_lease_keeps_what_its_job_writes_and_reads() -> None:
    world = World()
    world.append(2)
    job = new_job_id()
    base = world.head
    mine = world.write(job)
    world.commit(Lease(job=job, epoch=base.epoch, until_ms=world.now + HOUR))
    world.overwrite()
    result = world.vacuum()
    assert (result.floor, result.held_by) == (base.epoch, (f"lease of job {job}",))
    world.send(append(mine), base)
    world.check()
    world.wait(2)
    world.overwrite()
    world.vacuum()
    assert not world.check().leases
    world.check_tidy()


def test_no_epoch_can_release_an_object_that_a_tag_or_lease_keeps() -> None:
    world = World()
    world.overwrite()
    world.vacuum()
    with pytest.raises(NotFoundError, match="cannot be kept"):
        world.commit(Tag(name="late", epoch=1))
    with pytest.raises(ConflictError, match="no job leases it; read the table again"):
        world.commit(Lease(job=new_job_id(), epoch=1, until_ms=world.now + HOUR))


def test_dropped_tables_and_their_vectors_go_with_their_last_epoch() -> None:
    world = World()
    world.append()
    large = vector(3).model_copy(update={"data": None})
    world.store.put(deletion_vector_name(PREFIX, large.object), b"v", sync=False)
    world.commit(AddDeletionVector(table=ORDERS, rowset=0, vector=large))
    world.vacuum()
    assert deletion_vector_name(PREFIX, large.object) in world.files()
    world.check()
    world.commit(DropTable(table=ORDERS))
    world.vacuum()
    assert world.files() == set()


def _damage(world: World, name: str) -> None:
    data = world.store.get(name)
    world.store.put(name, data[:-9] + b"?" + data[-8:], sync=False)


@pytest.mark.parametrize("number", [0, 3, 5])
def test_a_damaged_epoch_stops_the_run(number: int) -> None:
    world = World(64)
    world.append(4)
    world.overwrite()
    _damage(world, epoch_name(number))
    files = world.files()
    with pytest.raises(CorruptionError, match=epoch_name(number)):
        world.vacuum()
    assert world.files() == files


def test_an_anchor_or_segment_that_is_damaged_at_both_places_stops_the_run() -> None:
    world = World()
    world.append(4)
    world.vacuum()
    world.append()
    [anchor] = world.log.reader.read_head().anchors
    segment = (
        read_anchor(world.log.reader, anchor)[0].table("orders").rowsets.segments[0].segment.object
    )
    world.store.delete(HINT)
    for part in (segment, anchor.root):
        name, second = checkpoint_name(part), copy_name(part)
        whole = world.store.get(name)
        world.store.delete(second)
        for broken in (whole[:-9] + b"?" + whole[-8:], None):
            world.store.delete(name) if broken is None else world.store.put(
                name, broken, sync=False
            )
            files = world.files()
            with pytest.raises(CorruptionError, match=name):
                world.vacuum()
            assert world.files() == files
        world.store.put(name, whole, sync=False)
    world.vacuum()
    world.check_tidy()


def test_an_epoch_that_is_missing_behind_a_long_gap_stops_the_run() -> None:
    world = World(64)
    world.append(4)
    world.store.put(epoch_name(300), world.store.get(epoch_name(4)), sync=False)
    files = world.files()
    with pytest.raises(CorruptionError, match="is missing, although a later epoch"):
        world.vacuum()
    assert world.files() == files
