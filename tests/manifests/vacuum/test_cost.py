"""What a vacuum reads follows from what has changed, not from how many states are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from colonnade.manifests.checkpoint.anchor_list import read_anchors
from colonnade.manifests.ids import new_job_id, new_object_id, new_table_id
from colonnade.manifests.model.operations import Untag
from colonnade.manifests.object_names import (
    HINT,
    SEGMENT_NAMES,
    checkpoint_name,
    epoch_name,
    packed_name,
)
from colonnade.manifests.store import MemoryStore, ObjectInfo
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from tests.far_store import FarStore
from tests.faults import FaultyStore
from tests.log_samples import ORDERS, append, change, database, entry, make_log, table
from tests.manifests.vacuum.kept import reads, tagged
from tests.manifests.vacuum.world import World

TAGS = 200
NOW = VacuumRequest(hours=0, epochs=1, trust_clock=True)


def of_checkpoints(found: Counter[str]) -> int:
    return sum(count for name, count in found.items() if "checkpoint" in name)


@pytest.mark.slow
def test_many_tags_that_a_floor_passes_cost_one_pass_over_the_log() -> None:
    world = tagged(epochs=2 * TAGS, tags=TAGS)
    first = reads(world)
    assert len(read_anchors(world.store, world.check())) == TAGS + 1
    assert of_checkpoints(first) <= 8 * TAGS
    # Besides the pass, bisections look at some epochs, and readers at the newest ones. The mark of
    # its block tells of each state that is kept whether its slot was freed.
    assert first.total() - of_checkpoints(first) <= 3 * TAGS + 150
    # A look at the head takes up to about a hundred slots, and each tag a root.
    assert reads(world).total() <= TAGS + 120
    world.commit(*(Untag(name=name) for name in sorted(world.log.reader.read_head().tags)[::7]))
    world.append()
    assert reads(world).total() <= TAGS + 120
    world.check_tidy()
    world.store.delete(SEGMENT_NAMES)
    assert reads(world).total() <= 3 * TAGS
    assert world.vacuum().epoch is None
    world.store.delete(SEGMENT_NAMES)
    far = FarStore(world.store)
    with far.counted() as cost:
        assert world.vacuum(store=far).epoch is None
    # The roots of all anchors are read side by side.
    assert cost.requests >= TAGS
    assert cost.rounds <= TAGS // 2


@pytest.mark.slow
def test_a_vacuum_reads_no_more_after_many_vacuums() -> None:
    """Each vacuum has a floor of its own, whose anchor the next one removes."""
    world = World(64)
    for _ in range(8):
        world.append()
        early = reads(world).total()
    for _ in range(60):
        world.append()
        late = reads(world).total()
    # A checkpoint may be a few epochs back.
    assert late <= early + 32
    newest = world.log.reader.read_head().epoch
    world.store.delete(HINT)
    # Without the hint a reader finds the last of 68 floors in the blocks that were not freed.
    store = FaultyStore(world.store)
    assert world.open(store).reader.read_head().epoch == newest
    assert len(store.trace) <= 70


def litter(world: World, count: int) -> list[str]:
    """Put data objects that no epoch names, and return their names."""
    job = new_job_id()
    names = [packed_name(f"{ORDERS}/", new_object_id(job)) for _ in range(count)]
    for name in names:
        world.store.put(name, b"x", sync=False)
    return names


@pytest.mark.slow
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


CHANGED = 10


@pytest.mark.slow
@pytest.mark.parametrize(("tables", "most"), [(CHANGED, 95), (2_000, 130)])
def test_a_vacuum_after_changes_of_ten_tables_reads_each_epoch_and_segment_once(
    tables: int, most: int
) -> None:
    """For each of them it reads the old segment, stores the new one twice, and reads it back.

    Ids are random: the ten tables may be in more or fewer pages of many tables.
    """
    store = MemoryStore(now_ms=lambda: 0)
    log, state = make_log(store, 2**40), database(store)
    keys = [new_table_id() for _ in range(tables)]
    state = log.commit(change(*(table(key, f"t{key}") for key in keys)), state)
    for _ in range(3):
        for key in keys[:CHANGED]:
            state = log.commit(append(entry(), to=key), state)
        changes = range(state.epoch - CHANGED + 1, state.epoch)
        far = FarStore(store)
        with far.counted() as cost:
            vacuum(make_log(far), NOW)
        assert cost.requests <= most
        state = log.reader.read_head()
        reads = Counter(call.name for call in cost.calls if call.operation == "get")
        new = [ref for key in keys[:CHANGED] for ref in state.tables[key].rowsets.segments]
        assert {reads[checkpoint_name(ref.segment.object)] for ref in new} == {1}
        assert {reads[epoch_name(number)] for number in changes} == {1}


def test_an_object_whose_age_the_store_does_not_know_is_never_removed() -> None:
    world = World(64)
    world.append()
    names = litter(world, 3)

    class Timeless(FaultyStore):
        """A store that does not know when an object was written."""

        def list(self, prefix: str) -> Iterator[ObjectInfo]:
            return (info._replace(modified_ms=None) for info in super().list(prefix))

    assert world.vacuum(store=Timeless(world.store)).files == ()
    assert {*names} <= {info.name for info in world.store.list("")}
    assert len(world.vacuum().files) >= 3
