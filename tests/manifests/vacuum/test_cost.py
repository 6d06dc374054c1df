"""What a vacuum reads follows from what has changed, not from how many states are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from colonnade.manifests.checkpoint.anchor_list import read_anchors
from colonnade.manifests.ids import new_job_id, new_object_id
from colonnade.manifests.model.operations import Untag
from colonnade.manifests.object_names import HINT, SEGMENT_NAMES, packed_name
from colonnade.manifests.store import ObjectInfo
from tests.far_store import FarStore
from tests.faults import FaultyStore
from tests.log_samples import ORDERS
from tests.manifests.vacuum.kept import reads, tagged
from tests.manifests.vacuum.world import World

TAGS = 200


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
            return (info._replace(modified_ms=None) for info in super().list(prefix))

    assert world.vacuum(store=Timeless(world.store)).files == ()
    assert {*names} <= {info.name for info in world.store.list("")}
    assert len(world.vacuum().files) >= 3
