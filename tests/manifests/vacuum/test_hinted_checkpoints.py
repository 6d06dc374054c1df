"""A vacuum leaves the hint at a checkpoint that stays whole, and keeps the objects of such ones."""

from __future__ import annotations

import pytest

from colonnade.manifests.checkpoint.hint import put_hint
from colonnade.manifests.checkpoint.loaded_pages import LoadedPages
from colonnade.manifests.checkpoint.reader import read_hint
from colonnade.manifests.checkpoint.writer import write_checkpoint
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.codec import byte_check
from colonnade.manifests.model.operations import CheckpointRef
from colonnade.manifests.object_names import checkpoint_name
from colonnade.manifests.vacuum.hinted_checkpoints import cached_objects, keep_hint_usable
from tests.log_samples import append, entry
from tests.manifests.vacuum.many_tables import with_tables
from tests.manifests.vacuum.world import busy, during


def test_a_vacuum_leaves_no_hint_to_an_anchor_that_a_later_one_removes() -> None:
    world = busy(64)

    def overtake() -> None:
        world.append(3)
        world.vacuum()

    during(world, ("put", "hint"), overtake)
    world.check_hint()
    world.check_tidy()


def test_a_hint_of_a_killed_writer_is_put_right_by_a_vacuum_without_anything_to_do() -> None:
    world = busy(64)
    for _ in range(3):
        world.vacuum()
    lost = CheckpointRef(epoch=world.head.epoch, root="f" * 32, check=byte_check(b"lost"))
    put_hint(world.store, lost)
    assert world.vacuum().epoch is None
    world.check_hint()
    assert read_hint(world.store) is not None


def test_a_hint_to_a_checkpoint_that_lost_a_part_is_put_right() -> None:
    world = busy(64)
    world.append()
    write_checkpoint(world.store, world.log.reader.read_head())
    found = read_hint(world.store)
    assert found is not None
    [segment] = found[1].tables[0].segments
    world.store.delete(checkpoint_name(segment.segment.object))
    world.vacuum()
    found = read_hint(world.store)
    assert found is not None
    for each in found[1].tables[0].segments:
        assert world.store.get(checkpoint_name(each.segment.object))
    world.check_tidy()


def test_no_hint_is_left_that_leads_to_an_older_checkpoint_which_a_vacuum_removes() -> None:
    world = busy(64)
    for _ in range(2):
        world.append()
        write_checkpoint(world.store, world.log.reader.read_head())
    found = read_hint(world.store)
    assert found is not None
    older = found[1].earlier[0].root
    keep_hint_usable(world.store, world.head, LoadedPages(), (), {older})
    left = read_hint(world.store)
    assert left is None or older not in {ref.root for ref in (left[0], *left[1].earlier)}


@pytest.mark.slow
def test_a_page_that_many_checkpoints_share_is_read_once_to_find_their_objects(
    decoded: list[str],
) -> None:
    store, log, _ = with_tables(1500)
    state = log.reader.read_head()
    key: TableId = state.table("t7").id
    for _ in range(70):
        state = log.commit(append(entry(), to=key), state)
        state = log.try_checkpoint(state)
    decoded.clear()
    found = cached_objects(store, 0)
    assert state.stored_objects() <= found
    assert state.table("t7").listing_objects() <= found
    assert len(decoded) < 5000
