"""The hint leads to a whole checkpoint, or to none, whoever meets its writer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from colonnade.manifests.checkpoint.hint import put_hint, put_usable_hint
from colonnade.manifests.checkpoint.reader import read_hint
from colonnade.manifests.checkpoint.root import encode_root
from colonnade.manifests.checkpoint.writer import write_checkpoint
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.model.codec import byte_check
from colonnade.manifests.model.operations import CheckpointRef
from colonnade.manifests.object_names import CHECKPOINTS, HINT, checkpoint_name
from colonnade.manifests.state.snapshot import RowSets
from tests.log_samples import contents
from tests.manifests.checkpoint.tables import checkpointed, names
from tests.manifests.vacuum.world import Hooked, busy


def test_a_late_checkpoint_writer_leaves_the_newer_hint() -> None:
    store, log, state = checkpointed(interval=3)
    newest, before = store.get(HINT), names(store, CHECKPOINTS)
    write_checkpoint(store, log.reader.read_at(5))
    assert len(names(store, CHECKPOINTS)) > len(before)
    assert store.get(HINT) == newest
    assert contents(log, log.reader.read_head()) == contents(log, state)


def test_a_checkpoint_that_is_written_meanwhile_does_not_lead_astray() -> None:
    """A vacuum sees its segment before its root names it."""
    world = busy(64)
    state = world.log.reader.read_head()

    def first() -> None:
        store._before[("put_if_absent", "checkpoint/")] = world.vacuum

    store = Hooked(world.store, {("put_if_absent", "checkpoint/"): first})
    with pytest.raises(ConflictError, match="removes parts of the checkpoint"):
        write_checkpoint(store, state)
    world.check_tidy()


@pytest.mark.parametrize("later", [0, 3], ids=["vacuum", "vacuum of later epochs"])
@pytest.mark.parametrize("at", [("put", "hint"), ("put_if_absent", "checkpoint/")])
def test_a_writer_leaves_no_hint_to_a_checkpoint_that_a_vacuum_meets(
    at: tuple[str, str], later: int
) -> None:
    world = busy(64)

    def overtake() -> None:
        world.append(later)
        world.vacuum()

    with pytest.raises(ConflictError, match="removes parts of the checkpoint of epoch 7"):
        write_checkpoint(Hooked(world.store, {at: overtake}), world.log.reader.read_head())
    world.check_hint()
    world.check_tidy()


def test_a_false_checkpoint_costs_no_live_file() -> None:
    """Delta 7174: a partial checkpoint that looks whole."""
    world = busy(64)
    world.append(2)
    state = write_checkpoint(world.store, world.log.reader.read_head())
    [orders] = state.tables.values()
    empty = replace(orders, rowsets=RowSets())
    data = encode_root(replace(state, tables={orders.id: empty}), ())
    world.store.put_if_absent(checkpoint_name("f" * 32), data)
    put_hint(world.store, CheckpointRef(epoch=state.epoch, root="f" * 32, check=byte_check(data)))
    world.vacuum()
    world.store.delete(HINT)
    world.check()


def test_a_hint_that_another_writer_removes_costs_readers_requests_and_nothing_else() -> None:
    """No call compares and removes in one step, so the hint of a concurrent writer can be lost."""
    world = busy(64)
    state = world.log.reader.read_head()

    def overtake() -> None:
        world.vacuum()
        store._before[("delete", "hint")] = put_another

    def put_another() -> None:
        world.append(2)
        write_checkpoint(world.store, world.log.reader.read_head())

    store = Hooked(world.store, {("put", "hint"): overtake})
    lost = CheckpointRef(epoch=state.epoch, root="f" * 32, check=byte_check(b"lost"))
    with pytest.raises(ConflictError, match="removes parts of the checkpoint"):
        put_usable_hint(store, lost, {lost.root}, state.epoch, state.blocks)
    assert read_hint(world.store) is None
    world.check()
    world.append()
    world.check()
    kept = dict(world.store._objects)
    for mend in (world.vacuum, lambda: write_checkpoint(world.store, world.log.reader.read_head())):
        mend()
        assert read_hint(world.store) is not None
        world.check_hint()
        world.check()
        world.store._objects.clear()
        world.store._objects.update(kept)


def test_a_writer_that_removes_its_hint_leaves_the_hint_of_another_writer() -> None:
    world = busy(64)
    state = world.log.reader.read_head()
    found: list[bytes] = []

    def overtake() -> None:
        world.vacuum()
        store._before[("get", "hint")] = replace_it

    def replace_it() -> None:
        write_checkpoint(world.store, world.log.reader.read_head())
        found.append(world.store.get(HINT))

    store = Hooked(world.store, {("put", "hint"): overtake})
    lost = CheckpointRef(epoch=state.epoch, root="f" * 32, check=byte_check(b"lost"))
    with pytest.raises(ConflictError, match="removes parts of the checkpoint"):
        put_usable_hint(store, lost, {lost.root}, state.epoch, state.blocks)
    assert [world.store.get(HINT)] == found
    world.check_hint()
