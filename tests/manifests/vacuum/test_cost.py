"""What a vacuum reads follows from what has changed, not from how many states are kept."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from colonnade.manifests.checkpoint.anchor_list import read_anchors
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.ids import TableId, new_job_id, new_object_id, new_table_id
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import (
    AddDeletionVector,
    AddRowSet,
    DropRowSet,
    Operation,
    Tag,
)
from colonnade.manifests.object_names import CHECKPOINTS, COPIES, checkpoint_name, packed_name
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore, ObjectInfo
from colonnade.manifests.vacuum.references import StateObjects
from colonnade.manifests.vacuum.run import VacuumRequest, read_used_objects, vacuum
from tests.far_store import FarStore
from tests.faults import FaultyStore
from tests.log_samples import ORDERS, change, contents, database, entry, make_log, table, vector
from tests.manifests.vacuum.world import World

SMALL = Limits(segment_rowsets=16, segment_vectors=4, root_tables=2, root_bytes=100, page_bytes=512)
TAGS = 400


def tagged(epochs: int, tags: int, limits: Limits | None = None) -> World:
    """Make a database of appends with a tag at regular intervals of epochs."""
    world = World(64, limits=limits or Limits())
    state = world.head
    every = epochs // tags
    for number in range(epochs):
        state = world.log.commit(change(AddRowSet(table=ORDERS, rowset=world.write())), state)
        if number % every == 0 and number // every % 10 == 0:
            world.note(state)
    first = world.head.epoch + 1
    names = [Tag(name=f"t{each}", epoch=first + each * every) for each in range(tags)]
    world.commit(*names)
    world.append()
    return world


def reads(world: World) -> Counter[str]:
    """How often a vacuum reads each object."""
    store = FaultyStore(world.store)
    world.vacuum(store=store)
    return Counter(call.name for call in store.trace if call.operation.startswith("get"))


def of_checkpoints(found: Counter[str]) -> int:
    return sum(count for name, count in found.items() if "checkpoint" in name)


def test_many_tags_that_a_floor_passes_cost_one_pass_over_the_log() -> None:
    world = tagged(epochs=2 * TAGS, tags=TAGS)
    first = reads(world)
    assert len(read_anchors(world.store, world.check())) == TAGS + 1
    assert of_checkpoints(first) <= 8 * TAGS
    # Besides the pass, bisections look at some epochs, and readers at the newest ones. The mark of
    # its block tells of each state that is kept whether its slot was freed.
    assert first.total() - of_checkpoints(first) <= 3 * TAGS + 150
    again = reads(world)
    assert again.total() <= 3 * TAGS
    assert world.vacuum().epoch is None


def test_what_kept_states_share_is_stored_and_read_once() -> None:
    world = tagged(epochs=200, tags=50, limits=Limits(segment_rowsets=16))
    world.vacuum()
    head = world.check()
    listed = Counter[str]()
    for anchor in read_anchors(world.store, head):
        state = world.log.read_at(anchor.epoch, head=head)
        listed.update(ref.segment.object for ref in state.table("orders").rowsets.segments)
    assert listed.total() > 2 * len(listed)
    again = reads(world)
    floor = world.log.read_from_log(head.floor).table("orders").rowsets.segments
    of_floor = {ref.segment.object for ref in floor}
    for name in listed.keys() - of_floor:
        assert again[checkpoint_name(name)] == 1, name


@pytest.mark.parametrize("seed", range(4))
def test_kept_states_read_as_before_and_together_name_what_each_of_them_names(seed: int) -> None:
    """Odd seeds have more tables than a root holds."""
    order = random.Random(seed)
    store = MemoryStore(now_ms=lambda: 0)
    database(store)
    log = make_log(store, 5, limits=SMALL)
    tables = [new_table_id() for _ in range(6 if seed % 2 else 1)]
    state = log.commit(change(*(table(key, f"t{key}") for key in tables)), log.read_head())
    expected: dict[int, Any] = {}
    for number in range(60):
        state = log.commit(change(*some_operations(order, log, state, order.choice(tables))), state)
        if number % 4 == 0:
            expected[state.epoch] = contents(log, state)
            state = log.commit(change(Tag(name=f"t{number}", epoch=state.epoch)), state)
        if number % 30 == 29:
            vacuum(log, VacuumRequest(hours=0, epochs=1, threads=1, force=True))
            state = log.read_head()
    assert len(read_anchors(store, state)) == len(expected) + 1
    together = StateObjects(store)
    apart = set[str]()
    for epoch, what in expected.items():
        kept = log.read_at(epoch, head=state)
        assert contents(log, kept) == what
        together.add(kept)
        apart |= named(log, kept)
    lists = {info.name for info in store.list("_manifest/checkpoint/")}
    found = together.read()
    assert {each for each in found if checkpoint_name(each) not in lists} == apart
    assert apart <= read_used_objects(log)


def some_operations(
    order: random.Random, log: Log, state: Snapshot, key: TableId
) -> list[Operation]:
    """Some RowSets more, some dropped, and some with rows deleted."""
    live = log.read_rowsets(state.tables[key])
    made: list[Operation] = [AddRowSet(table=key, rowset=entry()) for _ in range(3)]
    for rowset in order.sample(live, min(len(live), order.randrange(4))):
        deleted = rowset.vector.cardinality if rowset.vector else 0
        if order.random() < 0.4 or deleted == rowset.entry.rows:
            made.append(DropRowSet(table=key, rowsets=((rowset.id, rowset.id),)))
        else:
            new = vector(deleted + 1, rowset.vector)
            made.append(AddDeletionVector(table=key, rowset=rowset.id, vector=new))
    return made


def named(log: Log, state: Snapshot) -> set[str]:
    """The objects of the RowSets of a state, one by one."""
    live = [r for each in state.tables.values() for r in log.read_rowsets(each)]
    return {r.entry.object for r in live} | {r.vector.object for r in live if r.vector}


def test_a_damaged_part_that_kept_states_share_stops_the_run() -> None:
    world = tagged(epochs=60, tags=10, limits=Limits(segment_rowsets=16))
    world.vacuum()
    head = world.log.read_head()
    first = world.log.read_at(read_anchors(world.store, head)[0].epoch, head=head)
    name = checkpoint_name(first.table("orders").rowsets.segments[0].segment.object)
    world.store.delete(name.replace(CHECKPOINTS, COPIES))
    files = world.files()
    whole = world.store.get(name)
    for broken in (whole[:-9] + b"?" + whole[-8:], None):
        if broken is None:
            world.store.delete(name)
        else:
            world.store.put(name, broken, sync=False)
        with pytest.raises(CorruptionError, match=name):
            world.vacuum()
        assert world.files() == files


def litter(world: World, count: int) -> list[str]:
    """Put data objects that no epoch names, and return their names."""
    job = new_job_id()
    names = [packed_name(f"{ORDERS}/", new_object_id(job)) for _ in range(count)]
    for name in names:
        world.store.put(name, b"x", sync=False)
    return names


def test_a_vacuum_of_100_000_objects_behind_a_network_costs_at_most_300_requests() -> None:
    world = World(64)
    for _ in range(5):
        world.append()
    litter(world, 100_000)
    store = FarStore(world.store)
    with store.counted() as cost:
        result = world.vacuum(store=store)
    assert len(result.files) >= 100_000
    assert cost.requests <= 300
    world.check()


def test_an_object_whose_age_the_store_does_not_know_is_never_removed() -> None:
    world = World(64)
    world.append()
    names = litter(world, 3)

    class Timeless(FaultyStore):
        """A store that does not know when an object was written."""

        def list(self, prefix: str) -> Iterator[ObjectInfo]:
            return (replace(info, modified_ms=None) for info in super().list(prefix))

    assert world.vacuum(store=Timeless(world.store)).files == ()
    assert {*names} <= {info.name for info in world.store.list("")}
    assert len(world.vacuum().files) >= 3
